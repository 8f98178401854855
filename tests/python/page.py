"""Runs the Python code of a Markdown page, block by block, as one program.

    python page.py PAGE
"""

import re
import sys
from pathlib import Path

page = Path(sys.argv[1]).read_text(encoding="utf-8")
blocks = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
assert blocks, f"no code in {sys.argv[1]}"
names = {}
for block in blocks:
    exec(compile(block, sys.argv[1], "exec"), names)
print(f"ok: {len(blocks)} blocks")

"""The picture of the report in README.md.

    cargo run -- --data-path sample --output /tmp/picture
    python3 tests/browser/picture.py /tmp/picture/runs/*/report.html docs/images/report.webp
"""

import base64
import sys
from pathlib import Path

import chromium

report, picture = map(Path, sys.argv[1:])
with chromium.tab(chromium.find()) as page:
    page.theme("light")
    page.size(1280, 1100)
    page.open(report.resolve().as_uri(), "document.querySelector('#list tr.row')")
    data = page.do("Page.captureScreenshot", format="webp", quality=80)["data"]
picture.write_bytes(base64.b64decode(data))
print(f"{picture}: {picture.stat().st_size} bytes")

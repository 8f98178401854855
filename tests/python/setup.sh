#!/usr/bin/env bash
# Makes the two virtual environments in which the real OpenEnv clients and the
# official MCP SDK are tested against the server. Safe to run again: an
# environment that already holds the pinned versions is left as it is.
#
#   tests/python/setup.sh
#
# PYTHON names the interpreter (3.10 or newer; default python3).
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
python=${PYTHON:-python3}

"$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' || {
  echo "tests/python/setup.sh: $python is not Python 3.10 or newer; set PYTHON" >&2
  exit 1
}

for name in openenv-0.2.3 openenv-0.10.0; do
  pins="$here/$name.txt"
  venv="$root/.venv/$name"
  if [ -f "$venv/pins.txt" ] && cmp -s "$pins" "$venv/pins.txt"; then
    echo "$name: ready"
    continue
  fi
  echo "$name: installing (about a minute)"
  rm -f "$venv/pins.txt"
  "$python" -m venv "$venv"
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --requirement "$pins"
  "$venv/bin/python" -c 'import openenv.core, mcp'
  # Last, so that a broken install is not taken for a finished one.
  cp "$pins" "$venv/pins.txt"
  echo "$name: ready"
done

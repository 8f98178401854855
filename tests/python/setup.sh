#!/usr/bin/env bash
# Makes the virtual environments in which the real OpenEnv clients and the
# official MCP SDK are tested against our server, our tracking against a real
# MLflow server, and our logs by Inspect. Safe to run again: an environment with the
# pinned versions is left as it is.
#
#   tests/python/setup.sh
#   tests/python/setup.sh deploy      only that of .ci/deploy
#   tests/python/setup.sh openenv     only that of .ci/release
#   tests/python/setup.sh trainers    those of .ci/trainers instead, 7 GB
#   tests/python/setup.sh --is-ready  installs nothing; fails if one is missing
#
# PYTHON names the interpreter (3.10 or newer; default python3).
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)

is_ready() { cmp -s "$here/$1.txt" "$root/.venv/$1/pins.txt"; }
if [ "${1:-}" = --is-ready ]; then
  for name in deploy openenv-0.2.3 openenv-0.10.0 mlflow inspect; do
    is_ready "$name"
  done
  exit
fi

python=${PYTHON:-python3}

"$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' || {
  echo "tests/python/setup.sh: $python is not Python 3.10 or newer; set PYTHON" >&2
  exit 1
}

# install NAME IMPORTS [OPTION OF PIP…]
install() {
  local name=$1 imports=$2 pins="$here/$1.txt" venv="$root/.venv/$1"
  shift 2
  if is_ready "$name"; then
    echo "$name: ready"
    return
  fi
  echo "$name: installing (about a minute)"
  rm -f "$venv/pins.txt"
  "$python" -m venv "$venv"
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check "$@" --requirement "$pins"
  "$venv/bin/python" -c "import $imports"
  # Last, so that a broken install does not look finished.
  cp "$pins" "$venv/pins.txt"
  echo "$name: ready"
}

if [ "${1:-}" = trainers ]; then
  install trl-1.16.0 'trl, openenv.core'
  install verifiers-0.4.0 'verifiers.v1, openenv'
  exit
fi
if [ "${1:-}" = openenv ]; then
  install openenv-0.10.0 'openenv.core, mcp'
  exit
fi
install deploy 'kubernetes_validate, prometheus_client'
if [ "${1:-}" = deploy ]; then
  exit
fi
install openenv-0.2.3 'openenv.core, mcp'
install openenv-0.10.0 'openenv.core, mcp'
# Half the size: what only its machine-learning clients need is left out.
install mlflow 'mlflow.server.fastapi_app' --no-deps
install inspect 'inspect_ai.log'

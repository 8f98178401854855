#!/usr/bin/env bash
# Passes the tests: prepares what they need, then runs them all.
#   tests/run.sh [arguments of cargo nextest run / cargo test]
# It needs cargo, python3 with venv, and for the browser tests Chromium, which it
# installs from Debian's packages where it may. It fails where it cannot prepare.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { echo "tests/run.sh: $*" >&2; }

# The public Python clients, in virtual environments under .venv/.
if [ -x tests/python/setup.sh ]; then
  tests/python/setup.sh
  export CONVFINQA_REQUIRE_PYTHON=1
fi

# A real browser for the page and the report.
if ! command -v chromium >/dev/null && ! command -v google-chrome >/dev/null; then
  say "installing chromium from Debian's packages"
  sudo=""
  [ "$(id -u)" = 0 ] || sudo=sudo
  $sudo apt-get update -qq
  $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null \
    || { say "chromium could not be installed; install it by hand and run this again"; exit 1; }
fi
export CONVFINQA_REQUIRE_BROWSER=1

if cargo nextest --version >/dev/null 2>&1; then
  cargo nextest run --locked --workspace "$@"
  cargo test --locked --workspace --doc --quiet
else
  cargo test --locked --workspace "$@"
fi

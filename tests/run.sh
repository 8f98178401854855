#!/usr/bin/env bash
# Passes the tests: prepares what they need, then runs them.
#   tests/run.sh [arguments of cargo nextest run / cargo test]
#   tests/run.sh --left-out    only says which tests it leaves out here
# It needs cargo, python3 with venv, and for the browser tests Chromium, which it
# installs from Debian's packages where it may. It fails where it cannot prepare.
#
# Tests that need more than cargo are ignored and have what they need in their path:
# needs_python, needs_browser, needs_data and so on. Those whose need is met are run.
# CONVFINQA_REQUIRE_DATA (a folder, or 1 for ../shared/data) says where the published
# files of ConvFinQA are; without it the tests on whole files are left out.
# CONVFINQA_SOAK=1 runs those that take many minutes (20,000 questions, 200 kills).
set -euo pipefail
cd "$(dirname "$0")/.."

say() { echo "tests/run.sh: $*" >&2; }

skip=()
left_out=()
leave_out() {
  skip+=(--skip "needs_$1")
  left_out+=("left out: tests that need $2 (needs_$1)")
}
[ -n "${CONVFINQA_REQUIRE_DATA-}" ] || leave_out data "the published files; set CONVFINQA_REQUIRE_DATA"
[ -n "${CONVFINQA_SOAK-}" ] || leave_out time "many minutes; set CONVFINQA_SOAK=1"
command -v haproxy >/dev/null || leave_out haproxy "haproxy, which is not installed"
say_left_out() { for line in ${left_out[@]+"${left_out[@]}"}; do say "$line"; done; }
if [ "${1-}" = --left-out ]; then
  say_left_out
  exit
fi

# The public Python clients, in virtual environments under .venv/.
tests/python/setup.sh

# A real browser for the page and the report.
if ! command -v chromium >/dev/null && ! command -v google-chrome >/dev/null; then
  say "installing chromium from Debian's packages"
  sudo=""
  [ "$(id -u)" = 0 ] || sudo=sudo
  $sudo apt-get update -qq
  $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null \
    || { say "chromium could not be installed; install it by hand and run this again"; exit 1; }
fi

# Most tests wait for servers and processes of their own: more of them at a time than
# there are cores.
cores=$(getconf _NPROCESSORS_ONLN)
export NEXTEST_TEST_THREADS=${NEXTEST_TEST_THREADS:-$((2 * cores))}

trap say_left_out EXIT
if cargo nextest --version >/dev/null 2>&1; then
  cargo nextest run --locked --workspace "$@" -- --include-ignored ${skip[@]+"${skip[@]}"}
  cargo test --locked --workspace --doc --quiet
else
  cargo test --locked --workspace "$@" -- --include-ignored ${skip[@]+"${skip[@]}"}
fi

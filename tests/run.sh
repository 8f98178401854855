#!/usr/bin/env bash
# Runs the tests. It needs cargo alone and installs nothing: tests that need more run if what
# they need is there, and the others are listed at the end.
#   tests/run.sh [arguments of cargo nextest run / cargo test]
#   tests/run.sh --all [arguments]   first prepares Python clients, Chromium and HAProxy, and
#                                    fails if it cannot
#   tests/run.sh --left-out          only lists the tests that it would leave out
#
# Tests that need more than cargo are ignored and name it in their path: needs_python,
# needs_browser, needs_haproxy; needs_data (CONVFINQA_REQUIRE_DATA is the folder of ConvFinQA's
# published files, or 1 for ../shared/data); needs_time (CONVFINQA_SOAK=1 runs them: 20,000
# questions, 320 kills).
set -euo pipefail
cd "$(dirname "$0")/.."

say() { echo "tests/run.sh: $*" >&2; }
has() { command -v "$1" >/dev/null; }
has_browser() { has chromium || has chromium-browser || has google-chrome || has chrome; }

if [ "${1-}" = --all ]; then
  shift
  tests/python/setup.sh
  packages=()
  has_browser || packages+=(chromium)
  has haproxy || packages+=(haproxy)
  if [ ${#packages[@]} -gt 0 ]; then
    if ! has apt-get || [ "$(id -u)" != 0 ]; then
      say "missing: ${packages[*]}; install them (Debian: sudo apt-get install ${packages[*]}) and run this again"
      exit 1
    fi
    say "installing ${packages[*]} from Debian's packages"
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${packages[@]}" >/dev/null
  fi
fi

skip=()
left_out=()
leave_out() {
  skip+=(--skip "needs_$1")
  left_out+=("left out: needs_$1, tests that need $2")
}
[ -n "${CONVFINQA_REQUIRE_DATA-}" ] || leave_out data "the published files; set CONVFINQA_REQUIRE_DATA"
[ -n "${CONVFINQA_SOAK-}" ] || leave_out time "many minutes; set CONVFINQA_SOAK=1"
tests/python/setup.sh --is-ready || leave_out python "Python clients in .venv; tests/run.sh --all installs them"
has_browser && has python3 || leave_out browser "python3 and Chromium; tests/run.sh --all installs Chromium"
has haproxy || leave_out haproxy "HAProxy; tests/run.sh --all installs it"
say_left_out() { for line in ${left_out[@]+"${left_out[@]}"}; do say "$line"; done; }
if [ "${1-}" = --left-out ]; then
  say_left_out
  exit
fi

# Most tests wait for servers and processes of their own: more of them at a time than
# there are cores.
cores=$(getconf _NPROCESSORS_ONLN)
export NEXTEST_TEST_THREADS=${NEXTEST_TEST_THREADS:-$((2 * cores))}

trap say_left_out EXIT
# Examples are left to .ci/run.
targets=(--lib --bins --tests)
if cargo nextest --version >/dev/null 2>&1; then
  cargo nextest run --locked --workspace "${targets[@]}" "$@" -- --include-ignored ${skip[@]+"${skip[@]}"}
else
  cargo test --locked --workspace "${targets[@]}" "$@" -- --include-ignored ${skip[@]+"${skip[@]}"}
fi
cargo test --locked --workspace --doc --quiet

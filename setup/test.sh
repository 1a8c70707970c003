#!/bin/sh
# npm test: makes a fresh Debian 12 with Node 20 ready and runs the whole test suite.
# Arguments go to jest: npm test -- storage   or   npm test -- --json --outputFile=results.json
set -u
cd "$(dirname "$0")/.." || exit 1
. setup/debian.sh
need_node
# shellcheck disable=SC2086
need_packages $runtime_packages $test_packages
need_npm_packages
need_build
# The tests drive the machine's own kubectl; Debian has an old one that will do where there is none.
command -v kubectl >/dev/null 2>&1 || need_packages kubernetes-client
say "running jest $*"
exec node node_modules/jest/bin/jest.js "$@"

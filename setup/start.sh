#!/bin/sh
# npm start: makes a fresh Debian 12 with Node 20 ready and runs a single-node cluster in the foreground.
# Arguments go to `orbit server`: npm start -- --data-dir /tmp/orbit
set -u
cd "$(dirname "$0")/.." || exit 1
. setup/debian.sh
need_node
# shellcheck disable=SC2086
need_packages $runtime_packages
need_npm_packages
need_build
say "starting: bin/orbit server $*"
exec bin/orbit server "$@"

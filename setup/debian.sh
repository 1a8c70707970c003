# What a Debian machine needs for Orbit; read by start.sh and test.sh (. setup/debian.sh). Installs only what is missing.

say() { printf '[setup] %s\n' "$*"; }
die() { printf '[setup] error: %s\n' "$*" >&2; exit 1; }

# need_packages NAME...: installs those that are not installed.
need_packages() {
	missing=
	for package in "$@"; do
		# The status file itself: starting dpkg-query once a package would take longer than all the rest.
		if ! grep -A1 "^Package: $package\$" /var/lib/dpkg/status 2>/dev/null | grep -q '^Status: install ok installed'; then
			missing="$missing $package"
		fi
	done
	[ -z "$missing" ] && return 0
	command -v apt-get >/dev/null 2>&1 || die "these packages are missing and there is no apt-get to install them:$missing"
	[ "$(id -u)" = 0 ] || die "these Debian packages are missing; run as root, or: apt-get install$missing"
	say "installing Debian packages:$missing"
	# Services of the packages (Debian's containerd, etcd) are not started by the installation: Orbit starts its own.
	policy=/usr/sbin/policy-rc.d
	made_policy=
	if [ ! -e "$policy" ]; then
		printf '#!/bin/sh\nexit 101\n' >"$policy" && chmod 755 "$policy" && made_policy=1
		trap 'rm -f /usr/sbin/policy-rc.d' EXIT INT TERM
	fi
	export DEBIAN_FRONTEND=noninteractive
	status=0
	# shellcheck disable=SC2086
	apt-get install -y -q --no-install-recommends $missing || {
		say "refreshing the package lists"
		apt-get update -q && apt-get install -y -q --no-install-recommends $missing
	} || status=$?
	if [ -n "$made_policy" ]; then
		rm -f "$policy"
		trap - EXIT INT TERM
	fi
	[ "$status" = 0 ] || die "apt-get could not install:$missing"
}

runtime_packages="containerd runc crun containernetworking-plugins nftables conntrack iptables iproute2 zstd"
test_packages="busybox-static dbus docker.io etcd-client etcd-server faketime openssl procps socat systemd systemd-container wireguard-go wireguard-tools"

need_node() {
	command -v node >/dev/null 2>&1 || die "Node.js 20.19 or newer is needed (https://nodejs.org)"
	node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || (a === 20 && b >= 19) ? 0 : 1)' ||
		die "Node.js 20.19 or newer is needed; this is $(node --version)"
}

# npm packages, when package-lock.json is not the one they were installed from.
need_npm_packages() {
	stamp=node_modules/.orbit-lock
	if [ -d node_modules ] && cmp -s package-lock.json "$stamp" 2>/dev/null; then return 0; fi
	if [ -L node_modules ]; then return 0; fi # a shared folder somebody else keeps
	say "installing npm packages"
	npm ci --no-audit --no-fund --loglevel=error || die "the npm packages could not be installed"
	cp package-lock.json "$stamp"
}

# Builds when a source is newer than the last build.
need_build() {
	if [ -e dist/orbit.js ] && [ -z "$(find api grpc storage client apiserver-lite controllers scheduler agent cri eviction server network cli index.ts tools/build.mjs package.json \
		-newer dist/orbit.js -type f -print 2>/dev/null | head -n 1)" ]; then return 0; fi
	say "building"
	node tools/build.mjs || die "the build failed"
}

#!/bin/sh
# Installs Orbit on this machine: the program under /usr/local/lib/orbit, commands in /usr/local/bin, the systemd units and
# their directories; then enables and starts the service where systemd runs. Again: an upgrade; pods keep running. An
# upgrade whose service does not get ready goes back to the version before.
#   sh systemd/install.sh [--dry-run] [--no-start]
# DESTDIR=/some/root installs below another root (then nothing is started).
set -eu

dry_run=
start=1
for argument in "$@"; do
	case $argument in
	--dry-run) dry_run=1 ;;
	--no-start) start= ;;
	-h | --help)
		sed -n '2,6s/^# \{0,1\}//p' "$0"
		exit 0
		;;
	*)
		echo "install.sh: unknown option $argument (--dry-run, --no-start)" >&2
		exit 1
		;;
	esac
done

source_directory=$(cd "$(dirname "$0")/.." && pwd)
root=${DESTDIR:-}
library=/usr/local/lib/orbit
commands=/usr/local/bin
units=/etc/systemd/system

say() { printf '%s\n' "$*"; }
do_it() {
	say "+ $*"
	[ -n "$dry_run" ] || "$@"
}
fail() {
	printf 'install.sh: %s\n' "$*" >&2
	exit 1
}

[ -n "$dry_run" ] || [ -n "$root" ] || [ "$(id -u)" = 0 ] || fail "run as root"
[ -e "$source_directory/dist/orbit.js" ] || [ -n "$dry_run" ] || fail "the program is not built: run npm ci && npm run build in $source_directory"
node=$(command -v node) || fail "Node.js 20.19 or newer is needed"

running_systemd=
if [ -z "$root" ] && [ -d /run/systemd/system ]; then running_systemd=1; fi

say "Installing Orbit from $source_directory to $root$library"
if [ "$source_directory" != "$root$library" ]; then
	# What an installation that was interrupted left.
	do_it rm -rf "$root$library.new"
	do_it mkdir -p "$root$library.new"
	for part in bin dist systemd setup tools docs README.md package.json package-lock.json; do
		[ -e "$source_directory/$part" ] && do_it cp -R "$source_directory/$part" "$root$library.new/"
	done
	# Only what the program needs at run time: the native and worker-using packages with their dependencies.
	if [ -n "$dry_run" ]; then
		say "+ copy the production packages of node_modules"
	else
		say "+ copy the production packages of node_modules"
		(cd "$source_directory" && "$node" tools/production-packages.mjs) | while read -r package; do
			mkdir -p "$root$library.new/$(dirname "$package")"
			cp -R "$source_directory/$package" "$root$library.new/$(dirname "$package")/"
		done
	fi
	do_it rm -rf "$root$library.old"
	if [ -e "$root$library" ]; then
		do_it mv "$root$library" "$root$library.old"
	fi
	do_it mv "$root$library.new" "$root$library"
fi
do_it mkdir -p "$root$commands"
for command in orbit orbitctl orbitlet; do
	do_it ln -sf "$library/bin/$command" "$root$commands/$command"
done
do_it mkdir -p -m 0755 "$root/etc/orbit" "$root/etc/orbit/manifests"
do_it mkdir -p -m 0700 "$root/var/lib/orbit"
do_it mkdir -p "$root$units"
# place_units LIBRARY: the units that belong to that version of the program.
place_units() {
	for unit in orbit orbit-pods; do
		if [ -e "$1/systemd/$unit.service" ] || [ -n "$dry_run" ]; then
			do_it cp "$1/systemd/$unit.service" "$root$units/$unit.service"
			do_it chmod 0644 "$root$units/$unit.service"
		fi
	done
	if [ -e "$1/systemd/orbit.slice.conf" ] || [ -n "$dry_run" ]; then
		for slices in orbit orbit-; do
			do_it mkdir -p "$root$units/$slices.slice.d"
			do_it cp "$1/systemd/orbit.slice.conf" "$root$units/$slices.slice.d/orbit.conf"
			do_it chmod 0644 "$root$units/$slices.slice.d/orbit.conf"
		done
	fi
}
place_units "$source_directory"

if [ -n "$dry_run" ]; then
	say "Dry run: nothing was changed."
	exit 0
fi
if [ -z "$running_systemd" ]; then do_it rm -rf "$root$library.old"; fi
if [ -n "$root" ]; then
	say "Installed below $root; nothing was started."
elif [ -n "$running_systemd" ]; then
	do_it systemctl daemon-reload
	if [ -z "$start" ]; then
		do_it rm -rf "$library.old"
		say "Installed. Start it with: systemctl enable --now orbit"
		exit 0
	fi
	do_it systemctl enable orbit.service orbit-pods.service
	do_it systemctl start orbit-pods.service
	since=$(date '+%Y-%m-%d %H:%M:%S')
	if do_it systemctl restart orbit.service; then
		do_it rm -rf "$library.old"
		say "Orbit runs. Try: export KUBECONFIG=/etc/orbit/orbit.yaml; kubectl get nodes"
		exit 0
	fi
	say "The service did not start. What it wrote last:"
	# With --since, --lines of a systemd before 255 are the first ones: those of the version before, as it stops.
	journalctl --unit orbit.service --since "$since" --no-pager --output cat 2>/dev/null | tail -n 20
	[ -e "$library.old" ] || fail "the service did not start; the program is installed all the same"
	say "Going back to the version before"
	do_it rm -rf "$library"
	do_it mv "$library.old" "$library"
	place_units "$library"
	do_it systemctl daemon-reload
	do_it systemctl reset-failed orbit.service || true
	do_it systemctl restart orbit.service || fail "the upgrade failed, and the version before does not start either"
	fail "the upgrade failed; the version before runs again"
else
	say "systemd does not run on this machine (it is not process 1): the unit is installed but nothing was started."
	say "Run the cluster in the foreground with: orbit server"
fi

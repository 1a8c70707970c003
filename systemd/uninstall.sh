#!/bin/sh
# Removes Orbit from this machine and leaves nothing behind: the service, its pods, the private containerd, mounts, cgroups,
# nftables tables, network interfaces and configuration, logs, the program and the data. Only what belongs to the cluster of
# the data directory is touched: other clusters on this machine, Orbit's or others', go on.
#   sh systemd/uninstall.sh [--dry-run] [--keep-data]
# DESTDIR=/some/root removes what install.sh put below that root. ORBIT_DATA_DIR, ORBIT_CGROUP_ROOT: when not the defaults.
set -u

dry_run=
keep_data=
for argument in "$@"; do
	case $argument in
	--dry-run) dry_run=1 ;;
	--keep-data) keep_data=1 ;;
	--purge) ;; # what happens anyway
	-h | --help)
		sed -n '2,6s/^# \{0,1\}//p' "$0"
		exit 0
		;;
	*)
		echo "uninstall.sh: unknown option $argument (--dry-run, --keep-data)" >&2
		exit 1
		;;
	esac
done

root=${DESTDIR:-}
data=${ORBIT_DATA_DIR:-/var/lib/orbit}
agent_data=/var/lib/orbitlet
cgroup_root=${ORBIT_CGROUP_ROOT:-/orbit}
library=/usr/local/lib/orbit
program=$library/bin/orbit
[ -x "$program" ] || program=$(cd "$(dirname "$0")/.." && pwd)/bin/orbit

say() { printf '%s\n' "$*"; }
do_it() {
	say "+ $*"
	[ -n "$dry_run" ] || "$@"
}
# For what may be gone already.
try() {
	say "+ $*"
	[ -n "$dry_run" ] || "$@" >/dev/null 2>&1 || true
}
[ -n "$dry_run" ] || [ -n "$root" ] || [ "$(id -u)" = 0 ] || {
	echo "uninstall.sh: run as root" >&2
	exit 1
}

case $cgroup_root in
/?*) ;;
*)
	echo "uninstall.sh: ORBIT_CGROUP_ROOT must be a path such as /orbit" >&2
	exit 1
	;;
esac
# The cluster's own cgroup in the unified hierarchy and in every controller of version 1; never one that only starts alike.
cgroups() {
	for group in "/sys/fs/cgroup$cgroup_root" /sys/fs/cgroup/*"$cgroup_root"; do
		[ -d "$group" ] || continue
		case ${group#/sys/fs/cgroup} in
		"$cgroup_root" | /*"$cgroup_root") printf '%s\n' "$group" ;;
		esac
	done
}
# The pods this cluster's agents made, by uid.
own_pods=$(ls "$data/agent/pods" "$agent_data/pods" 2>/dev/null | grep -E '^[0-9a-f][0-9a-f-]+$' | sort -u)
# Processes in their cgroups.
pod_processes() {
	cgroups | while read -r group; do
		for uid in $own_pods; do
			find "$group" -type d -name "pod$uid" -exec find {} -name cgroup.procs -exec cat {} + \; 2>/dev/null
		done
	done | sort -un
}
# Ranges of pod addresses, from the network configuration that was written for this cluster.
pod_ranges() {
	cat "$data/containerd/cni/net.d/99-orbit.conflist" /etc/cni/net.d/99-orbit.conflist 2>/dev/null |
		sed -n 's/.*"subnet": *"\([^"]*\)".*/\1/p' | sort -u
}
ranges=$(pod_ranges)
# Where secrets and tokens are mounted: a directory for each root directory of an agent.
memory_directory() { printf '/run/orbit/volumes/%s' "$(printf %s "$1" | sha256sum | cut -c1-12)"; }
# Shims and the containerd itself name the data directory in their command lines.
runtime_processes() {
	for directory in /proc/[0-9]*; do
		[ -r "$directory/cmdline" ] || continue
		line=$(tr '\0' ' ' <"$directory/cmdline" 2>/dev/null) || continue
		case $line in
		*containerd*[\ =]"$data/containerd/"*) printf '%s\n' "${directory#/proc/}" ;;
		esac
	done
}
# A server of this cluster that was started by hand: whoever holds the lock of its store.
server_processes() {
	holder=$(cut -d ' ' -f 1 "$data/store/lock" 2>/dev/null)
	[ -n "$holder" ] && [ -r "/proc/$holder/cmdline" ] || return 0
	case $(tr '\0' ' ' <"/proc/$holder/cmdline") in
	*orbit*server*) printf '%s\n' "$holder" ;;
	esac
}
end_processes() {
	[ -n "$2" ] || return 0
	for process in $2; do try kill "-$1" "$process"; done
}

if [ -z "$root" ]; then
	if [ -d /run/systemd/system ]; then
		try systemctl disable --now orbit.service
	else
		say "systemd does not run on this machine (it is not process 1): there is no service to stop."
	fi
	running=$(server_processes)
	if [ -n "$running" ]; then
		say "Stopping the server"
		end_processes TERM "$running"
		waited=0
		while [ -z "$dry_run" ] && [ $waited -lt 20 ] && [ -n "$(server_processes)" ]; do
			sleep 0.5
			waited=$((waited + 1))
		done
		end_processes KILL "$(server_processes)"
	fi
	say "Ending pods and their runtime"
	# By their runtime while it answers: that removes their network too.
	endpoint=$(cat "$data/runtime-endpoint" 2>/dev/null || true)
	if [ -n "$endpoint" ] && [ -x "$program" ] && [ -S "${endpoint#unix://}" ]; then
		try "$program" remove-pods --container-runtime-endpoint "$endpoint" --root-dir "$data/agent"
	fi
	end_processes TERM "$(pod_processes)"
	[ -n "$dry_run" ] || sleep 1
	end_processes KILL "$(pod_processes)"
	end_processes TERM "$(runtime_processes)"
	[ -n "$dry_run" ] || sleep 1
	end_processes KILL "$(runtime_processes)"

	say "Removing mounts"
	# The deepest first.
	memory=$(memory_directory "$data/agent")
	agent_memory=$(memory_directory "$agent_data")
	awk -v a="$data/" -v b="$agent_data/" -v c="$memory/" -v d="$agent_memory/" '{ gsub(/\\040/, " ", $5); if (index($5, a) == 1 || index($5, b) == 1 || index($5, c) == 1 || index($5, d) == 1) print $5 }' /proc/self/mountinfo | sort -r | while read -r mount; do
		try umount -l "$mount"
	done
	do_it rm -rf "$memory" "$agent_memory"
	for file in apiserver controller-manager scheduler; do
		do_it rm -f "/run/orbit/$file.crt" "/run/orbit/$file.key" "/run/orbit/$file-ca.crt" "/run/orbit/$file-ca.key"
	done
	[ -n "$dry_run" ] || rmdir /run/orbit/volumes /run/orbit 2>/dev/null || true

	say "Removing network"
	for range in $ranges; do
		family=ip
		case $range in *:*) family=ip6 ;; esac
		try nft delete table "$family" "orbit-pods-$(printf %s "$range" | tr -c '0-9a-fA-F' '-')"
	done
	[ -e /etc/cni/net.d/99-orbit.conflist ] && [ -e "$library/bin/orbit" ] && do_it rm -f /etc/cni/net.d/99-orbit.conflist
	# Leases of addresses in those ranges that pods left behind.
	for range in $ranges; do
		prefix=${range%.*}
		for lease in "/var/lib/cni/networks/orbit/$prefix".*; do
			[ -e "$lease" ] && do_it rm -f "$lease"
		done
	done
	if [ -z "$dry_run" ] && [ -d /var/lib/cni/networks/orbit ] && [ -z "$(find /var/lib/cni/networks/orbit -name '*[.:]*[0-9]' ! -name 'last_reserved_ip*' 2>/dev/null)" ]; then
		do_it rm -rf /var/lib/cni/networks/orbit
	fi
	[ -n "$dry_run" ] || rmdir /var/lib/cni/networks /var/lib/cni/results /var/lib/cni /etc/cni/net.d /etc/cni 2>/dev/null || true

	say "Removing cgroups"
	cgroups | while read -r top; do
		say "+ rmdir $top and all below"
		[ -n "$dry_run" ] || find "$top" -depth -type d -exec rmdir {} \; 2>/dev/null || true
	done
	say "Removing logs of pods"
	for uid in $own_pods; do
		for directory in /var/log/pods/*_"$uid"; do
			[ -d "$directory" ] && do_it rm -rf "$directory"
		done
	done
	# Links into the directories just removed.
	for link in /var/log/containers/*; do
		[ -L "$link" ] && [ ! -e "$link" ] && do_it rm -f "$link"
	done
	[ -n "$dry_run" ] || rmdir /var/log/pods /var/log/containers 2>/dev/null || true
fi

say "Removing the program"
do_it rm -f "$root/etc/systemd/system/orbit.service" "$root/etc/systemd/system/multi-user.target.wants/orbit.service"
for command in orbit orbitctl orbitlet; do
	do_it rm -f "$root/usr/local/bin/$command"
done
do_it rm -rf "$root$library"
if [ -z "$root" ] && [ -d /run/systemd/system ]; then try systemctl daemon-reload; fi

if [ -n "$keep_data" ]; then
	say "Kept: $root$data, $root/etc/orbit"
else
	say "Removing data"
	do_it rm -rf "$root$data" "$root$agent_data" "$root/etc/orbit"
fi
[ -z "$dry_run" ] || say "Dry run: nothing was changed."

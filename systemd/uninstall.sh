#!/bin/sh
# Removes Orbit from this machine and leaves nothing behind: the service, all its pods, the private containerd, mounts,
# cgroups, nftables tables, network interfaces and configuration, the program, and the data.
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
		sed -n '2,5s/^# \{0,1\}//p' "$0"
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
# Processes in them: the pods'.
pod_processes() {
	cgroups | while read -r group; do find "$group" -name cgroup.procs -exec cat {} + 2>/dev/null; done | sort -un
}
# Shims and the containerd itself name the data directory in their command lines.
runtime_processes() {
	for directory in /proc/[0-9]*; do
		[ -r "$directory/cmdline" ] || continue
		line=$(tr '\0' ' ' <"$directory/cmdline" 2>/dev/null) || continue
		case $line in
		*containerd*"$data/containerd/"*) printf '%s\n' "${directory#/proc/}" ;;
		esac
	done
}
end_processes() {
	[ -n "$2" ] || return 0
	for process in $2; do try kill "-$1" "$process"; done
}

if [ -z "$root" ]; then
	if [ -d /run/systemd/system ]; then
		try systemctl disable --now orbit.service
	fi
	say "Ending pods and their runtime"
	# When the machine's own containerd ran the pods, it has to be told; removing its sandboxes also removes their network.
	endpoint=$(cat "$data/runtime-endpoint" 2>/dev/null || true)
	if [ -n "$endpoint" ] && [ -x "$library/bin/orbit" ] && [ -S "${endpoint#unix://}" ]; then
		try "$library/bin/orbit" remove-pods --container-runtime-endpoint "$endpoint"
	fi
	end_processes TERM "$(pod_processes)"
	[ -n "$dry_run" ] || sleep 1
	end_processes KILL "$(pod_processes)"
	end_processes TERM "$(runtime_processes)"
	[ -n "$dry_run" ] || sleep 1
	end_processes KILL "$(runtime_processes)"

	say "Removing mounts"
	# The deepest first.
	awk -v a="$data/" -v b="$agent_data/" -v c="/run/orbit" '{ gsub(/\\040/, " ", $5); if (index($5, a) == 1 || index($5, b) == 1 || index($5, c) == 1) print $5 }' /proc/self/mountinfo | sort -r | while read -r mount; do
		try umount -l "$mount"
	done

	say "Removing network"
	for table in $(nft list tables 2>/dev/null | awk '$3 ~ /^orbit/ { print $2 "/" $3 }'); do
		try nft delete table "${table%/*}" "${table#*/}"
	done
	for directory in /etc/cni/net.d; do
		[ -e "$directory/99-orbit.conflist" ] && do_it rm -f "$directory/99-orbit.conflist"
	done
	[ -d /var/lib/cni/networks/orbit ] && do_it rm -rf /var/lib/cni/networks/orbit
	rmdir /var/lib/cni/networks /var/lib/cni/results /var/lib/cni /etc/cni/net.d /etc/cni 2>/dev/null || true

	say "Removing cgroups"
	cgroups | while read -r top; do
		find "$top" -depth -type d | while read -r group; do try rmdir "$group"; done
	done
	say "Removing logs of pods"
	if [ -d /var/lib/kubelet ]; then
		say "A kubelet lives on this machine: /var/log/pods and /var/log/containers are left alone"
	elif [ "$data" = /var/lib/orbit ]; then
		[ -d /var/log/pods ] && do_it rm -rf /var/log/pods
		[ -d /var/log/containers ] && do_it rm -rf /var/log/containers
	fi
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
	do_it rm -rf "$root$data" "$root$agent_data" "$root/etc/orbit" "$root/var/run/orbit"
fi
[ -z "$dry_run" ] || say "Dry run: nothing was changed."

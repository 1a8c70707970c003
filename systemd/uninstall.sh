#!/bin/sh
# Removes Orbit from this machine and leaves nothing behind: the service, its pods, the private containerd, mounts, cgroups,
# nftables tables, network interfaces and configuration, logs, the program and the data. Only what belongs to the cluster of
# the data directory is touched: other clusters on this machine, Orbit's or others', go on.
#   sh systemd/uninstall.sh [--dry-run] [--keep-data] [--host-only]
# --host-only leaves service, program and data alone and takes back everything else, as `orbit cleanup` does.
# DESTDIR=/some/root removes what install.sh put below that root. ORBIT_DATA_DIR, ORBIT_CGROUP_ROOT: when not the defaults.
set -u

dry_run=
keep_data=
host_only=
for argument in "$@"; do
	case $argument in
	--dry-run) dry_run=1 ;;
	--keep-data) keep_data=1 ;;
	--host-only) host_only=1 ;;
	--purge) ;; # what happens anyway
	-h | --help)
		sed -n '2,7s/^# \{0,1\}//p' "$0"
		exit 0
		;;
	*)
		echo "uninstall.sh: unknown option $argument (--dry-run, --keep-data, --host-only)" >&2
		exit 1
		;;
	esac
done

root=${DESTDIR:-}
default_data=/var/lib/orbit
data=${ORBIT_DATA_DIR:-$default_data}
# An agent that ran alone belongs to the main cluster only.
agent_data=$data/agent
[ "$data" != "$default_data" ] || agent_data=/var/lib/orbitlet
# Of a server whose agent has a root directory elsewhere (--root-dir).
elsewhere=$(sed -n '1s,^/..*,&,p' "$data/agent-directory" 2>/dev/null)
agent_data=${elsewhere:-$agent_data}
# The root directory of an agent that runs alone.
agent_data=${ORBIT_AGENT_DIR:-$agent_data}
machine_runtime=/run/containerd/containerd.sock
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
# With the driver systemd the cluster's own cgroup is a slice: of /a-b/c that is a_b-c.slice, which lies in a_b.slice.
slice=$(printf %s "${cgroup_root#/}" | tr - _ | tr / -).slice
slice_directory() {
	place=
	level=
	for part in $(printf %s "${slice%.slice}" | tr - ' '); do
		level=${level:+$level-}$part
		place=$place/$level.slice
	done
	printf %s "$place"
}
# The cluster's own cgroup in the unified hierarchy and in every controller of version 1; never one that only starts alike.
cgroups() {
	for name in "$cgroup_root" "$cgroup_root-runtime" "$(slice_directory)"; do
		for group in "/sys/fs/cgroup$name" /sys/fs/cgroup/*"$name"; do
			[ -d "$group" ] || continue
			case ${group#/sys/fs/cgroup} in
			"$name" | /*"$name") printf '%s\n' "$group" ;;
			esac
		done
	done
}
# The pods this cluster's agents made, by uid.
own_pods=$(ls "$data/agent/pods" "$agent_data/pods" 2>/dev/null | grep -E '^[0-9a-f][0-9a-f-]+$' | sort -u)
# Processes in their cgroups.
pod_processes() {
	cgroups | while read -r group; do
		for uid in $own_pods; do
			find "$group" \( -path "*/pod$uid/*" -o -path "*-pod$(printf %s "$uid" | tr - _).slice/*" \) -name cgroup.procs -exec cat {} + 2>/dev/null
		done
	done | sort -un
}
# What the cluster made outside of its data directory: paths it listed itself.
machine_files() { cat "$data/machine-files" "$agent_data/machine-files" 2>/dev/null | sort -ru; }
# Network configurations that were written for this cluster; another cluster's has the same name.
network_files() {
	for runtime in containerd docker; do
		ls "$data/$runtime/cni/net.d/99-orbit.conflist" "$agent_data/$runtime/cni/net.d/99-orbit.conflist" 2>/dev/null
	done | sort -u
	machine_files | grep '\.conflist$'
}
# Ranges of pod addresses in them.
pod_ranges() {
	network_files | while read -r file; do
		sed -n 's/.*"subnet": *"\([^"]*\)".*/\1/p' "$file" 2>/dev/null
	done | sort -u
}
ranges=$(pod_ranges)
# Service rules in iptables: the rules that enter the chains of this prefix, and the chains.
remove_service_chains() {
	for tool in iptables ip6tables; do
		command -v "$tool-save" >/dev/null || continue
		script=$("$tool-save" 2>/dev/null | awk -v prefix="$1" '
			/^\*/ { table = $0; declared = entered = removed = "" }
			index($1, ":" prefix) == 1 { declared = declared $1 " - [0:0]\n"; removed = removed "-X " substr($1, 2) "\n" }
			/^-A / && index($2, prefix) != 1 && index($0, " -j " prefix) { sub(/^-A/, "-D"); entered = entered $0 "\n" }
			/^COMMIT/ && declared != "" { printf "%s\n%s%s%sCOMMIT\n", table, declared, entered, removed }')
		[ -n "$script" ] || continue
		say "+ $tool-restore: remove the chains $1*"
		[ -n "$dry_run" ] || printf '%s\n' "$script" | "$tool-restore" --noflush --wait 5 || true
	done
}
# Whether a table of iptables is there; iptables itself makes the one that it lists.
has_table() {
	nft list table "$1" "$2" >/dev/null 2>&1 || grep -qsx "$2" "/proc/net/$1_tables_names"
}
remove_util_chains() {
	for tool in iptables ip6tables; do
		command -v "$tool" >/dev/null || continue
		family=ip
		[ "$tool" = iptables ] || family=ip6
		for table in mangle nat filter; do
			has_table $family $table || continue
			for from in OUTPUT INPUT; do
				! "$tool" -w -t $table -C $from -j KUBE-FIREWALL 2>/dev/null || try "$tool" -w -t $table -D $from -j KUBE-FIREWALL
			done
			for chain in KUBE-FIREWALL KUBE-IPTABLES-HINT KUBE-KUBELET-CANARY; do
				"$tool" -w -t $table -S $chain >/dev/null 2>&1 || continue
				try "$tool" -w -t $table -F $chain
				try "$tool" -w -t $table -X $chain
			done
		done
	done
}
# Tables of iptables without rules, which were not there before. Without the list nothing is known about them.
remove_empty_tables() {
	[ -e "$data/nat-tables" ] || [ -e "$agent_data/nat-tables" ] || return 0
	recorded=$(cat "$data/nat-tables" "$agent_data/nat-tables" 2>/dev/null)
	for tool in iptables ip6tables; do
		command -v "$tool" >/dev/null || continue
		family=ip
		[ "$tool" = iptables ] || family=ip6
		for table in mangle nat filter; do
			nft list table $family $table >/dev/null 2>&1 || continue
			case "$recorded
" in
			*"table $family $table
"*) continue ;;
			esac
			if [ -z "$("$tool" -w -t $table -S 2>/dev/null | grep -v '^-P .* ACCEPT$')" ]; then
				try nft delete table $family $table
			fi
		done
	done
}
# Where secrets and tokens lay in earlier versions: a directory for each root directory of an agent.
memory_directory() { printf '/run/orbit/volumes/%s' "$(printf %s "$1" | sha256sum | cut -c1-12)"; }
# This script and all it was started by.
ancestors() {
	process=$$
	while [ "${process:-0}" -gt 0 ]; do
		printf ' %s' "$process"
		process=$(sed -n 's/^PPid:[[:space:]]*//p' "/proc/$process/status" 2>/dev/null)
	done
	printf ' '
}
own_line=$(ancestors)
# Where the private containerd listens when its directory's name is too long for a socket's.
socket_directories() {
	cat "$data/runtime-endpoint" "$agent_data/runtime-endpoint" 2>/dev/null | sed -n 's,^unix://\(/run/orbit-[0-9a-f]*\)/containerd.sock$,\1,p' | sort -u
}
sockets=$(socket_directories)
# The private containerd and its shims: programs of that name, by what they really execute, which name the data directory.
# A shell or an editor whose command line mentions the same is none of them.
runtime_processes() {
	for directory in /proc/[0-9]*; do
		case $own_line in *" ${directory#/proc/} "*) continue ;; esac
		executable=$(readlink "$directory/exe" 2>/dev/null) || continue
		executable=${executable% (deleted)}
		case ${executable##*/} in
		containerd | containerd-shim-*) ;;
		*) continue ;;
		esac
		line=$(tr '\0' ' ' <"$directory/cmdline" 2>/dev/null) || continue
		for place in "$data/containerd" "$agent_data/containerd" $sockets; do
			case $line in
			*[\ =]"$place/"*)
				printf '%s\n' "${directory#/proc/}"
				break
				;;
			esac
		done
	done
}
# A server of this cluster that was started by hand: a Node process that has files of its store open; and an agent that
# was started with the root directory.
server_processes() {
	for directory in /proc/[0-9]*; do
		case $own_line in *" ${directory#/proc/} "*) continue ;; esac
		executable=$(readlink "$directory/exe" 2>/dev/null) || continue
		executable=${executable% (deleted)}
		case ${executable##*/} in
		node | orbit) ;;
		*) continue ;;
		esac
		case "$(tr '\0' ' ' <"$directory/cmdline" 2>/dev/null) " in
		*" agent "*"--root-dir=$agent_data "* | *" agent "*"--root-dir $agent_data "*) printf '%s\n' "${directory#/proc/}" ;;
		esac
		for file in "$directory"/fd/*; do
			case $(readlink "$file" 2>/dev/null) in
			"$data/store/"*)
				printf '%s\n' "${directory#/proc/}"
				break
				;;
			esac
		done
	done
}
# Programs by which these processes change the network at this moment.
network_programs() {
	for process in $1; do
		grep -lsE "^PPid:[[:space:]]*$process\$" /proc/[0-9]*/status
	done | while read -r file; do
		directory=${file%/status}
		executable=$(readlink "$directory/exe" 2>/dev/null) || continue
		case ${executable##*/} in
		nft | ip | wg | xtables-*) printf '%s\n' "${directory#/proc/}" ;;
		esac
	done
}
# The sockets of all runtimes the cluster may have used: the recorded one, the private one, the machine's.
runtimes() {
	{
		cat "$data/runtime-endpoint" "$agent_data/runtime-endpoint" 2>/dev/null | sed 's,^unix://,,'
		printf '%s\n' "$data/containerd/run/containerd.sock" "$agent_data/containerd/run/containerd.sock" "$machine_runtime"
	} | sort -u | while read -r socket; do
		[ ! -S "$socket" ] || printf '%s\n' "$socket"
	done
}
# Tables of nftables and chains of iptables that only a cluster or a container engine makes; own tables left out.
foreign_rules() {
	own=
	for range in $ranges; do own="$own|-$(printf %s "$range" | tr -cs '0-9a-fA-F' '-')"; done
	nft list tables 2>/dev/null | grep -E '^table [a-z0-9]+ (orbit-.*|kube-proxy|kube-router|cilium.*|calico.*)$' | grep -vE "(no such table$own)$"
	for tool in iptables-save ip6tables-save; do
		"$tool" 2>/dev/null | grep -E '^:(KUBE-SERVICES|KUBE-POSTROUTING|KUBE-ROUTER|OP[0-9a-f]{6}-|CNI-DN-|DOCKER|cali-|CILIUM_|FLANNEL)'
	done
}
# Programs that run pods or containers in this namespace (net or mnt), but those of this cluster.
foreign_programs() {
	namespace=$(readlink "/proc/self/ns/$1" 2>/dev/null)
	ours=" $(server_processes | tr '\n' ' ')"
	for directory in /proc/[0-9]*; do
		[ "$(readlink "$directory/ns/$1" 2>/dev/null)" = "$namespace" ] || continue
		executable=$(readlink "$directory/exe" 2>/dev/null) || continue
		executable=${executable% (deleted)}
		case ${executable##*/} in
		kubelet | kube-proxy | kubelite | k3s | k0s | crio | dockerd) ;;
		containerd)
			# It uses the directory of namespaces; what needs the kernel's settings is what uses it.
			[ "$1" = mnt ] || continue
			;;
		node | orbit)
			case "$(tr '\0' ' ' <"$directory/cmdline" 2>/dev/null)" in
			*/orbit" server "* | *orbit" agent "* | *orbit" proxy "* | *orbitlet" "*) ;;
			*) continue ;;
			esac
			# The caller's is `orbit cleanup`.
			case $ours$own_line in *" ${directory#/proc/} "*) continue ;; esac
			;;
		*) continue ;;
		esac
		printf '%s\n' "${executable##*/} (process ${directory#/proc/})"
	done
}
# What a cluster that left before another one did hands on to it: /proc/sys belongs to the network namespace.
left_settings=/run/orbit/kernel-settings-$(readlink /proc/self/ns/net 2>/dev/null | tr -dc 0-9)
# Names of namespaces that the runtime did not remove, by the gateway that only this cluster's pods have.
own_namespaces() {
	command -v ip >/dev/null || return 0
	for file in /run/netns/cni-*; do
		[ -e "$file" ] || continue
		for range in $ranges; do
			base=${range%/*}
			case $base in
			*:*) gateway=${base}1 family=-6 ;;
			*) gateway=${base%.*}.$((${base##*.} + 1)) family=-4 ;;
			esac
			if ip $family -n "${file##*/}" route show default 2>/dev/null | grep -q "^default via $gateway "; then
				printf '%s\n' "$file"
				break
			fi
		done
	done
}
end_processes() {
	[ -n "$2" ] || return 0
	for process in $2; do try kill "-$1" "$process"; done
}

if [ -z "$root" ]; then
	if [ -n "$host_only" ]; then
		:
	elif [ -d /run/systemd/system ]; then
		try systemctl disable --now orbit.service
		# Stopping it ends the pods within their grace.
		try systemctl disable --now orbit-pods.service
	else
		say "systemd does not run on this machine (it is not process 1): there is no service to stop."
	fi
	running=$(server_processes)
	if [ -n "$running" ]; then
		say "Stopping the server"
		changing=$(network_programs "$running")
		end_processes TERM "$running"
		waited=0
		while [ -z "$dry_run" ] && [ $waited -lt 20 ] && [ -n "$(server_processes)" ]; do
			changing="$changing$(network_programs "$running" | sed 's/^/ /')"
			sleep 0.5
			waited=$((waited + 1))
		done
		end_processes KILL "$(server_processes)"
		# A server that was stopping already ends at once, and they go on: what they write now would stay.
		waited=0
		[ -z "$changing" ] || say "Waiting for the changes to the network that it had begun"
		for process in $changing; do
			while [ -z "$dry_run" ] && [ $waited -lt 20 ] && readlink "/proc/$process/exe" >/dev/null; do
				sleep 0.5
				waited=$((waited + 1))
			done
		done
	fi
	say "Ending pods and their runtime"
	# By their runtime while it answers: that removes their network too.
	for socket in $(runtimes); do
		[ -x "$program" ] || continue
		for agent in "$data/agent" "$agent_data"; do
			[ -d "$agent/pods" ] || continue
			try "$program" remove-pods --container-runtime-endpoint "unix://$socket" --root-dir "$agent"
		done
	done
	if [ -z "$dry_run" ] && [ -S "$machine_runtime" ] && [ -x "$program" ] && grep -qs "$machine_runtime" "$data/runtime-endpoint" "$agent_data/runtime-endpoint"; then
		images=$("$program" image list --container-runtime-endpoint "unix://$machine_runtime" 2>/dev/null | cut -d ' ' -f 1 | tr '\n' ' ')
		[ -z "$images" ] || say "Images stay in the machine's containerd (ctr -n k8s.io images rm NAME removes one): $images"
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
	for directory in "$data" "$agent_data" "$memory" "$agent_memory" $sockets; do
		awk -v below="$directory/" '{ gsub(/\\040/, " ", $5); if (index($5, below) == 1) print $5 }' /proc/self/mountinfo
	done | sort -ru | while read -r mount; do
		try umount -l "$mount"
	done
	for directory in "$memory" "$agent_memory" $sockets; do
		[ -d "$directory" ] && do_it rm -rf "$directory"
	done
	if [ "$data" = "$default_data" ]; then
		for file in apiserver controller-manager scheduler; do
			do_it rm -f "/run/orbit/$file.crt" "/run/orbit/$file.key" "/run/orbit/$file-ca.crt" "/run/orbit/$file-ca.key"
		done
	fi
	[ -n "$dry_run" ] || rmdir /run/orbit/volumes /run/orbit 2>/dev/null || true

	say "Removing network"
	for range in $ranges; do
		family=ip
		case $range in *:*) family=ip6 ;; esac
		name=$(printf %s "$range" | tr -cs '0-9a-fA-F' '-')
		try nft delete table "$family" "orbit-pods-$name"
		try nft delete table "$family" "orbit-ports-$name"
		try nft delete table "$family" "orbit-share-$name"
		[ "$family" = ip6 ] || try nft delete table arp "orbit-pods-$name"
		try nft delete table ip "orbit-proxy-$name"
		try nft delete table ip6 "orbit-proxy-$name"
		try nft delete table inet "orbit-policy-$name"
		remove_service_chains "OP$(printf %s "orbit-proxy-$name" | sha256sum | cut -c1-6)-"
		# The routes to other nodes and the tunnel are known by the first of the node's ranges. wireguard-go ends with its link.
		digest=$(printf %s "$range" | sha256sum)
		protocol=$((200 + 0x$(printf %s "$digest" | cut -c1-2) % 50))
		device=orbit-$(printf %s "$digest" | cut -c1-8)
		if [ -n "$(ip route show proto "$protocol" 2>/dev/null)" ]; then try ip route flush proto "$protocol"; fi
		if [ -n "$(ip -6 route show proto "$protocol" 2>/dev/null)" ]; then try ip -6 route flush proto "$protocol"; fi
		! ip link show "$device" >/dev/null 2>&1 || try ip link delete "$device"
		# Announced addresses of load balancers: IPv4 ones are known by a label, IPv6 ones by a metric.
		try nft delete table inet "orbit-lb-$name"
		label=lo:orb-$(printf %s "$digest" | cut -c1-8)
		[ -z "$(ip -4 address show dev lo label "$label" 2>/dev/null)" ] || try ip -4 address flush dev lo label "$label"
		metric=$((1000000 + 0x$(printf %s "$digest" | cut -c1-6)))
		ip -6 -o address show 2>/dev/null | grep " metric $metric " | while read -r _ link _ address _; do
			try ip address del "$address" dev "$link"
		done
	done
	# The port mapping plug-in leaves its chains when its last pod is gone; while another pod has a port they are in use.
	for tool in iptables ip6tables; do
		family=ip
		[ "$tool" = iptables ] || family=ip6
		# Listing makes the table where there is none.
		nft list table $family nat >/dev/null 2>&1 || continue
		chains=$($tool -w -t nat -S 2>/dev/null | sed -n 's/^-N \(CNI-.*\)/\1/p')
		case $chains in
		*CNI-DN-*) continue ;;
		esac
		[ -z "$chains" ] || $tool -w -t nat -S | sed -n 's/^-A \(\(PREROUTING\|OUTPUT\|POSTROUTING\) .*-j CNI-HOSTPORT-.*\)/\1/p' | while read -r rule; do
			[ -n "$dry_run" ] || printf '%s\n' "-t nat -D $rule" | xargs "$tool" -w
		done
		for chain in $chains; do try "$tool" -w -t nat -F "$chain"; done
		for chain in $chains; do try "$tool" -w -t nat -X "$chain"; done
	done
	others=$(
		foreign_rules
		foreign_programs net
	)
	# The utility chains of a node have the same names for every cluster.
	[ -n "$others" ] || remove_util_chains
	remove_empty_tables
	# Of pods whose runtime was gone, or could not end them.
	own_namespaces | while read -r file; do
		try umount -l "$file"
		do_it rm -f "$file" || say "The network namespace ${file##*/} stays: another mount hides it (umount -l /run/netns shows it)."
	done
	# What the kernel was set to before, unless somebody else's containers need it as it is.
	settings=$(cat "$left_settings" "$data/kernel-settings" "$agent_data/kernel-settings" 2>/dev/null | awk '!seen[$1]++')
	if [ -n "$others" ] && [ -n "$settings" ]; then
		say "Settings of the kernel stay, as others on this machine may need them: $(printf %s "$others" | head -n 1)"
		printf '%s\n' "$settings" | while read -r file value; do say "  $file was $value"; done
		if [ -z "$dry_run" ]; then
			mkdir -p /run/orbit
			printf '%s\n' "$settings" >"$left_settings"
		fi
	elif [ -n "$settings" ]; then
		printf '%s\n' "$settings" | while read -r file value; do
			case $file in
			/proc/sys/net/*)
				say "+ echo $value > $file"
				[ -n "$dry_run" ] || printf '%s\n' "$value" >"$file"
				;;
			esac
		done
		[ -n "$dry_run" ] || rm -f "$left_settings"
	fi
	[ -n "$dry_run" ] || rm -f "$data/kernel-settings" "$agent_data/kernel-settings" "$data/nat-tables" "$agent_data/nat-tables"
	# Files, and directories that are empty now; what a package or another cluster made is not listed.
	machine_files | while read -r file; do
		if [ -d "$file" ]; then try rmdir "$file"; elif [ -e "$file" ]; then do_it rm -f "$file"; fi
	done
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
	# The mount that keeps `ip netns` from hiding pods' namespaces; not with namespaces in it.
	if mountpoint -q /run/netns && [ -z "$(
		ls -A /run/netns
		foreign_programs mnt
	)" ]; then try umount /run/netns; fi
	[ -n "$dry_run" ] || rmdir /run/orbit /run/netns /run/wireguard /var/lib/cni/networks /var/lib/cni/results /var/lib/cni 2>/dev/null || true

	say "Removing cgroups"
	# systemd's own slice first, and with it all that lie in it, else systemd would keep the units.
	if [ -d /run/systemd/system ] && systemctl is-active --quiet "$slice"; then try systemctl stop "$slice"; fi
	cgroups | while read -r top; do
		say "+ rmdir $top and all below"
		[ -n "$dry_run" ] || find "$top" -depth -type d -exec rmdir {} \; 2>/dev/null || true
	done
	say "Removing logs of pods"
	for uid in $own_pods; do
		for link in /var/log/containers/*; do
			case $(readlink "$link") in
			/var/log/pods/*_"$uid"/*) do_it rm -f "$link" ;;
			esac
		done
		for directory in /var/log/pods/*_"$uid"; do
			[ -d "$directory" ] && do_it rm -rf "$directory"
		done
	done
	[ -n "$dry_run" ] || rmdir /var/log/pods /var/log/containers 2>/dev/null || true
fi

[ -z "$host_only" ] || exit 0

say "Removing the program"
for unit in orbit orbit-pods; do
	do_it rm -f "$root/etc/systemd/system/$unit.service" "$root/etc/systemd/system/multi-user.target.wants/$unit.service"
done
for slices in orbit orbit-; do
	do_it rm -f "$root/etc/systemd/system/$slices.slice.d/orbit.conf"
	[ -n "$dry_run" ] || rmdir "$root/etc/systemd/system/$slices.slice.d" 2>/dev/null || true
done
for command in orbit orbitctl orbitlet; do
	do_it rm -f "$root/usr/local/bin/$command"
done
do_it rm -rf "$root$library"
if [ -z "$root" ] && [ -d /run/systemd/system ]; then
	try systemctl daemon-reload
	# One that failed, such as an end of pods for which the runtime was too slow, would be listed without its file.
	try systemctl reset-failed orbit.service orbit-pods.service
	# systemd removes a service's cgroup when it hears that the last process is gone, and never when that came too late for it.
	for group in /sys/fs/cgroup/system.slice /sys/fs/cgroup/*/system.slice; do
		for unit in orbit orbit-pods; do
			[ ! -d "$group/$unit.service" ] || [ -n "$dry_run" ] || find "$group/$unit.service" -depth -type d -exec rmdir {} \; 2>/dev/null || true
		done
	done
fi

if [ -n "$keep_data" ]; then
	say "Kept: $root$data, $root/etc/orbit"
else
	say "Removing data"
	if [ -z "$elsewhere" ]; then
		do_it rm -rf "$root$data" "$root$agent_data" "$root/etc/orbit"
	else
		do_it rm -rf "$root$data" "$root/etc/orbit"
		# Others may have files beside the agent's there.
		for name in checkpoints device-plugins local-path memory plugins plugins_registry pod-resources pods; do
			do_it rm -rf "$root$agent_data/$name"
		done
		for name in cpu_manager_state dra_manager_state graceful_node_shutdown_state memory_manager_state; do
			do_it rm -f "$root$agent_data/$name"
		done
		[ -n "$dry_run" ] || rmdir "$root$agent_data" 2>/dev/null || true
	fi
fi
[ -z "$dry_run" ] || say "Dry run: nothing was changed."

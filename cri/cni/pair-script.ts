// Our own network plug-in for a private containerd: the routed pair of links that the plug-ins ptp and host-local make, as one
// shell script that knows its settings and runs `ip` twice, where those are two programs that take four times its CPU.
// Leases are host-local's files in host-local's directory, so that either gives back what the other gave out; beside them
// `by-container` names the addresses of each container.
// It sets the link `lo` up, too, so that the plug-in loopback has only to answer (`loopback-script.ts`).
// The link of a pod that ends goes with its namespace, a moment later: a route replaces one that is still there.
// Invariant: what the script does not know how to do it hands to ptp, before it made anything.
import { isIP } from "node:net";
import { basename, join } from "node:path";
import { addressText, cidrRange } from "../../api/addresses/address-range.ts";
import { findProgram } from "../process.ts";
import { bandwidthFunctions, limiterPrefix } from "./bandwidth-script.ts";
import { machineLoopbackName } from "./loopback-script.ts";
import { installProgram, shellQuoted } from "../program-file.ts";

/** The plug-in's type in a configuration. */
export const pairPluginName = "orbit-pair";
/** Links of pods on the host's side begin so, followed by the first characters of the sandbox's id. */
export const pairLinkPrefix = "vethorb";

interface PairSettings {
  /** Of the network's leases: host-local's data directory and the network's name. */
  leaseDirectory: string;
  /** One of IPv4 at least, one of each family at most. */
  ranges: readonly string[];
  mtu?: number | undefined;
  /** The plug-in ptp. */
  fallback: string;
}

/** Addresses of IPv6 that are counted through: one group of hexadecimal digits. */
const maxCounted6 = 0xfffe;

/** Assignments of what the script needs of a range; undefined: it can't use the range. */
function rangeSettings(range: string): Record<string, string> | undefined {
  const found = cidrRange(range);
  if (!found || found.last - found.first < 3n) return undefined;
  const { family, first, last } = found;
  const bits = range.slice(range.indexOf("/") + 1);
  const network = `${addressText(first, family)}/${bits}`;
  const gateway = addressText(first + 1n, family);
  // host-local's choice: the first address is the gateway's.
  if (family === "IPv4")
    return {
      net4: network,
      bits4: bits,
      gateway4: gateway,
      first4: String(first + 2n),
      last4: String(last - 1n),
    };
  const end = last - first < maxCounted6 ? last - first : BigInt(maxCounted6);
  const prefix = gateway.slice(0, -1);
  const plain = [2n, end].every(
    (n) => addressText(first + n, family) === `${prefix}${n.toString(16)}`,
  );
  if (!gateway.endsWith(":1") || !plain) return undefined;
  return {
    net6: network,
    bits6: bits,
    gateway6: gateway,
    prefix6: prefix,
    first6: "2",
    last6: String(end),
  };
}

/** Undefined: the settings are not ones that it can do. */
export function pairScript({
  leaseDirectory,
  ranges,
  mtu,
  fallback,
}: PairSettings): string | undefined {
  const families = ranges.map((range) => isIP(range.split("/")[0]!));
  if (!families.includes(4) || new Set(families).size !== families.length)
    return undefined;
  const known = ranges.map(rangeSettings);
  if (known.includes(undefined)) return undefined;
  const settings = Object.entries({
    leases: leaseDirectory,
    ptp: fallback,
    mtu: mtu === undefined ? "" : `mtu ${mtu}`,
    net6: "",
    ...Object.assign({}, ...known),
  } as Record<string, string>)
    .map(([name, value]) => `${name}=${shellQuoted(value)}\n`)
    .join("");
  return `#!/bin/sh
# Written by orbit with the network's configuration; changes are lost.
${settings}${scriptBody}`;
}

const scriptBody = String.raw`
[ "$1" = check ] && exit 0
umask 022
failed() {
  message=$(printf %s "$1" | tr '"\\\n\t' "''  ")
  printf '{"cniVersion":"0.4.0","code":100,"msg":"%s"}' "$message"
  exit 1
}
${bandwidthFunctions}
# Hands the call to ptp, once the link lo is up, which the plug-in loopback leaves to this script. ptp knows no limits.
other() {
  [ "$CNI_COMMAND" = ADD ] || exec "$ptp"
  limits
  [ "$ingress$egress" = 00 ] || failed "the bandwidth of such a container can't be limited"
  loopback=${"$"}{ptp%/*}/${machineLoopbackName}
  if [ -e "$loopback" ]; then
    text=$(echo '{"cniVersion":"0.4.0","name":"lo","type":"loopback"}' | CNI_IFNAME=lo "$loopback") || {
      printf %s "$text"
      exit 1
    }
  fi
  exec "$ptp" <<INPUT
$config
INPUT
}
id=$CNI_CONTAINERID name=$CNI_IFNAME namespace=${"$"}{CNI_NETNS##*/}
case $CNI_COMMAND in ADD | DEL) ;; *) other ;; esac
case $id in *[!0-9a-f]*) other ;; esac
case $name in *[!A-Za-z0-9._-]* | "") other ;; esac
[ ${"$"}{#id} -ge 8 ] || other
case $CNI_NETNS in
"/run/netns/$namespace" | "/var/run/netns/$namespace") ;;
"") [ "$CNI_COMMAND" = DEL ] || other ;;
*) other ;;
esac
return='${"\r"}'
short=${"$"}{id%"${"$"}{id#????????}"}
host=${pairLinkPrefix}$short limiter=${limiterPrefix}$short
index=$leases/by-container/$id-$name

# Removes the container's leases: those that its index names, else those that hold its id.
release() {
  addresses= files=
  if read -r addresses 2>/dev/null <"$index" || [ -n "$addresses" ]; then
    for address in $addresses; do
      owner=
      read -r owner 2>/dev/null <"$leases/$address" || :
      [ "${"$"}{owner%"$return"}" != "$id" ] || files="$files $address"
    done
  elif [ -d "$leases" ]; then
    files=$(cd "$leases" && grep -ls "^$id" [0-9a-f]*[0-9a-f:])
  fi
  [ ! -d "$leases" ] || (cd "$leases" && exec rm -f $files "by-container/$id-$name")
}

if [ "$CNI_COMMAND" = DEL ]; then
  if [ -e "/proc/sys/net/ipv4/conf/$limiter" ] && ! text=$(ip link del "$limiter" 2>&1); then
    case $text in *"Cannot find device"*) ;; *) failed "$text" ;; esac
  fi
  # A namespace of containerd's own is removed next, and the link with it, with no waiting for the kernel in between.
  if [ "${"$"}{namespace#cni-}" = "$namespace" ] && [ -n "$namespace" ] && [ -e "$CNI_NETNS" ]; then
    if ! text=$(ip -n "$namespace" link del "$name" 2>&1); then
      case $text in
      *"Cannot find device"*) ;;
      # Gone between the two.
      *) [ ! -e "$CNI_NETNS" ] || failed "$text" ;;
      esac
    fi
  fi
  release
  exit 0
fi
limits

# Sets "number" to the first free one after the last that was given out, and takes it.
# $1 $2: first and last; $3: the last one given out; $4: 4 or 6.
take() {
  number=$3 left=$(($2 - $1 + 1))
  while [ $left -gt 0 ]; do
    number=$((number + 1)) left=$((left - 1))
    if [ $number -gt $2 ] || [ $number -lt $1 ]; then number=$1; fi
    address$4
    if [ ! -e "$leases/$address" ] && { printf '%s\r\n%s' "$id" "$name" >"$leases/$address"; } 2>/dev/null; then
      return 0
    fi
  done
  return 1
}
address4() {
  address=$((number >> 24 & 255)).$((number >> 16 & 255)).$((number >> 8 & 255)).$((number & 255))
}
address6() {
  # As printf would, without a process.
  digits= rest=$number
  while [ $rest -gt 0 ]; do
    digit=$((rest & 15)) rest=$((rest >> 4))
    case $digit in 10) digit=a ;; 11) digit=b ;; 12) digit=c ;; 13) digit=d ;; 14) digit=e ;; 15) digit=f ;; esac
    digits=$digit$digits
  done
  address=$prefix6$digits
}
forward() {
  on=
  # The kernel ends the file after the number, without the line's end, when it is read byte by byte.
  read -r on 2>/dev/null <"$1" || [ -n "$on" ] || return 0
  [ "$on" = 1 ] || echo 1 >|"$1"
}

# A pod is no router of the node's: what it announces must give the node neither routes nor addresses; and questions that
# it asks under others' addresses must not fill the kernel's table of neighbours, which is one for the whole machine. Where
# pods have no IPv6 the node's end has none. Called before the pod's end is up. A kernel without IPv6 has no such file.
deaf() {
  echo 1 >|"/proc/sys/net/ipv4/conf/$host/rp_filter" || :
  six=/proc/sys/net/ipv6/conf/$host
  [ -e "$six" ] || return 0
  if [ -n "$ip6" ]; then echo 0 >|"$six/accept_ra"; else echo 1 >|"$six/disable_ipv6"; fi || :
}

# A file that is there is another's lease.
set -C
[ -d "$leases/by-container" ] || mkdir -p "$leases/by-container" || failed "$leases can't be made"
# The last addresses, by family, as host-local keeps them. They are where the search begins and no more: one that another
# run writes at this moment may be read in part.
last=
read -r last 2>/dev/null <"$leases/last_reserved_ip.0" || :
case $last in
[0-9]*.[0-9]*.[0-9]*.[0-9]*) IFS=. && set -- $last && unset IFS && last=$((($1 << 24) + ($2 << 16) + ($3 << 8) + $4)) ;;
*) last=0 ;;
esac
take "$first4" "$last4" "$last" 4 || failed "no IP addresses available in range set: $net4"
ip4=$address
printf %s "$ip4" >|"$leases/last_reserved_ip.0"
ip6=
if [ -n "$net6" ]; then
  last=
  read -r last 2>/dev/null <"$leases/last_reserved_ip.1" || :
  case $last in
  "$prefix6"[0-9a-f]*) last=$((0x${"$"}{last#"$prefix6"})) ;;
  *) last=0 ;;
  esac
  if ! take "$first6" "$last6" "$last" 6; then
    printf '%s\n' "$ip4" >|"$index"
    release
    failed "no IP addresses available in range set: $net6"
  fi
  ip6=$address
  printf %s "$ip6" >|"$leases/last_reserved_ip.1"
fi
printf '%s\n' "$ip4 $ip6" >|"$index"

# Each link has a peer of its own: the addresses need not differ from those of other pods. Either end knows the other's for
# good: that needs no question, and no place in the table of neighbours that another pod may fill.
tail=${"$"}{short#??}
mac=0a:58:${"$"}{short%??????}:${"$"}{tail%????}
tail=${"$"}{tail#??}
mac=$mac:${"$"}{tail%??}:${"$"}{tail#??}
gateway=ee:ee:ee:ee:ee:ee
outside="link add $host $mtu address $gateway type veth peer name $name $mtu address $mac netns $namespace
addr add $gateway4/32 dev $host
link set $host up
neigh replace $ip4 lladdr $mac nud permanent dev $host
route replace $ip4/32 dev $host scope host"
inside="link set lo up
link set $name up
addr add $ip4/$bits4 brd + dev $name noprefixroute
neigh replace $gateway4 lladdr $gateway nud permanent dev $name
route add $gateway4/32 dev $name scope link src $ip4
route add $net4 via $gateway4 dev $name src $ip4
route add 0.0.0.0/0 via $gateway4 dev $name"
addresses="{\"version\":\"4\",\"interface\":1,\"address\":\"$ip4/$bits4\",\"gateway\":\"$gateway4\"}"
routes='{"dst":"0.0.0.0/0"}'
forward /proc/sys/net/ipv4/ip_forward
if [ -n "$ip6" ]; then
  outside="$outside
addr add $gateway6/128 dev $host nodad
neigh replace $ip6 lladdr $mac nud permanent dev $host
route replace $ip6/128 dev $host"
  inside="$inside
addr add $ip6/$bits6 dev $name nodad noprefixroute
neigh replace $gateway6 lladdr $gateway nud permanent dev $name
route add $gateway6/128 dev $name
route add $net6 via $gateway6 dev $name
route add ::/0 via $gateway6 dev $name"
  addresses="$addresses,{\"version\":\"6\",\"interface\":1,\"address\":\"$ip6/$bits6\",\"gateway\":\"$gateway6\"}"
  routes="$routes,{\"dst\":\"::/0\"}"
  forward /proc/sys/net/ipv6/conf/all/forwarding
fi
# Few forks: ip reads what the shell itself has put into a pipe, and the second one takes the subshell's place.
if ! text=$({
  ip -batch - <<OUTSIDE && deaf && exec ip -n "$namespace" -batch - <<INSIDE
$outside
OUTSIDE
$inside
INSIDE
} 2>&1); then
  # Only what this call made: a link of that name may be another container's.
  case $text in *"File exists"*"-:1"*) ;; *) ip link del "$host" 2>/dev/null ;; esac
  release
  failed "$text"
fi
if [ "$ingress$egress" != 00 ] && ! text=$(limit 2>&1); then
  ip link del "$host" 2>/dev/null
  ip link del "$limiter" 2>/dev/null
  release
  failed "the bandwidth can't be limited: $text"
fi
printf '{"cniVersion":"0.4.0","interfaces":[{"name":"%s","mac":"ee:ee:ee:ee:ee:ee"},{"name":"%s","mac":"%s","sandbox":"%s"}],"ips":[%s],"routes":[%s],"dns":{}}' "$host" "$name" "$mac" "$CNI_NETNS" "$addresses" "$routes"
`;

/** The file that names the addresses of a container's interface. */
export function leaseIndex(
  leaseDirectory: string,
  {
    containerId,
    interfaceName,
  }: { readonly containerId: string; readonly interfaceName: string },
): string {
  return join(
    leaseDirectory,
    "by-container",
    `${basename(containerId)}-${basename(interfaceName)}`,
  );
}

/** Resolves to true when the plug-in can be used; where anything is missing for it the usual plug-ins are left. */
export async function installPairScript(
  directory: string,
  settings: Omit<PairSettings, "fallback">,
): Promise<boolean> {
  const text = pairScript({ ...settings, fallback: join(directory, "ptp") });
  if (text === undefined || !(await findProgram("ip"))) return false;
  return await installProgram(join(directory, pairPluginName), text);
}

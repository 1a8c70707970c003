// The part of our network plug-in (`pair-script.ts`) that limits a pod's bandwidth, with token buckets of the kernel: what goes
// to the pod is shaped on the host's end of its link; what it sends is led through a device of its own on the host (ifb),
// which a pod with NET_ADMIN can't change and which DEL removes.
// The limits that were asked for are kept or the pod does not start: no `tc`, or a kernel without these parts, is an error.
// The burst that the runtime hands over is not used: containerd gives 4 Gbit, which is no limit for minutes.
import {
  burstsASecond,
  largestBurstBytes,
  smallestBurstBytes,
} from "./bandwidth.ts";

/** Devices of limited pods on the host begin so, followed by the first characters of the sandbox's id. */
export const limiterPrefix = "ifborb";

/** The device of a sandbox, which is there while the sandbox's egress is limited. */
export const limiterName = (containerId: string): string =>
  limiterPrefix + containerId.slice(0, 8);

/**
 * Functions of the script, which has "failed" and sets $host, $mtu and $limiter, the name of the device.
 * - limits: reads the configuration from standard input, sets "ingress" and "egress" (bits a second, 0 for none).
 * - limit: sets the limits up; prints what went wrong.
 */
export const bandwidthFunctions = String.raw`
# Sets "rate" to the number of the configuration's field. $1: a pattern of its name.
rate() {
  rest=${"$"}{config#*\"$1\":}
  rate=0
  [ "$rest" = "$config" ] || rate=${"$"}{rest%%[!0-9]*}
  [ -n "$rate" ] || failed "the bandwidth is no number: $config"
}
limits() {
  config= line=
  while read -r line || [ -n "$line" ]; do config=$config$line; done
  # containerd 1.6 has large letters.
  rate '[Ii]ngressRate'
  ingress=$rate
  rate '[Ee]gressRate'
  egress=$rate
  # What asks for limits in words that are not known is not without limits.
  case $ingress$egress$config in 00*'"bandwidth":{'*'"runtimeConfig"'* | 00*'"runtimeConfig"'*'"bandwidth":{'*) failed "the bandwidth is not known: $config" ;; esac
}
# Prints the arguments of a token bucket.
bucket() {
  burst=$(($1 / ${8 * burstsASecond}))
  [ $burst -ge ${smallestBurstBytes} ] || burst=${smallestBurstBytes}
  [ $burst -le ${largestBurstBytes} ] || burst=${largestBurstBytes}
  echo "root tbf rate ${"$"}{1}bit burst $burst latency 25ms"
}
limit() {
  if [ "$ingress" != 0 ]; then
    tc qdisc add dev "$host" $(bucket "$ingress") || return 1
  fi
  if [ "$egress" != 0 ]; then
    ip link add "$limiter" $mtu type ifb || return 1
    six=/proc/sys/net/ipv6/conf/$limiter/disable_ipv6
    [ ! -e "$six" ] || echo 1 >|"$six"
    ip link set "$limiter" up &&
      tc qdisc add dev "$limiter" $(bucket "$egress") &&
      tc qdisc add dev "$host" handle ffff: ingress &&
      tc filter add dev "$host" parent ffff: protocol all prio 1 u32 match u32 0 0 action mirred egress redirect dev "$limiter"
  fi
}
`;

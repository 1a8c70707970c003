// The fixed part of the table of network policies: who is isolated, and where packets meet that. The rules are for
// what is forwarded: a pod's own node reaches it, and is reached, whatever the policies say. Packets that belong to no
// connection are dropped where either end is isolated: the chains of pods then match nothing. What comes from a link of a pod
// with an address that is not routed there is dropped. Each link-local source that the node answers, or that asks for
// neighbours or for routers, takes a place in the kernel's table of neighbours, which is one for the whole machine: a link may
// ask for neighbours so once a second, and sends nothing else under such addresses that makes the node answer. Neither may a
// pod announce routes (CVE-2020-10749). Our own network plug-in's links are known by their name, others are in pod-links, so
// that a pod that starts or ends changes nothing here.
import { pairLinkPrefix } from "../../cri/cni/pair-script.ts";

export const policyTableText = `  set pod-links { type ifname; }
  set solicitations { type iface_index; flags dynamic; timeout 1m; size 65535; }
  set self4 { type ipv4_addr . ipv4_addr; }
  set self6 { type ipv6_addr . ipv6_addr; }
  map ingress4 { type ipv4_addr : verdict; }
  map ingress6 { type ipv6_addr : verdict; }
  map egress4 { type ipv4_addr : verdict; }
  map egress6 { type ipv6_addr : verdict; }
  chain unknown-connection {
    ip daddr vmap @ingress4
    ip saddr vmap @egress4
    ip6 daddr vmap @ingress6
    ip6 saddr vmap @egress6
  }
  chain forward {
    type filter hook forward priority filter - 1; policy accept;
    ct state invalid,untracked goto unknown-connection
    meta l4proto { icmp, icmpv6 } ct state related accept
    ct reply ip saddr vmap @ingress4
    ct original ip saddr vmap @egress4
    ct reply ip6 saddr vmap @ingress6
    ct original ip6 saddr vmap @egress6
  }
  chain pod-neighbors {
    icmpv6 type nd-neighbor-solicit ip6 saddr fe80::/10 add @solicitations { iif limit rate over 1/second burst 10 packets } drop
    icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert, echo-reply, 131, 132, 143 } accept
    counter drop
  }
  chain pod-sources {
    ip6 saddr { ::, fe80::/10 } goto pod-neighbors
    fib saddr . iif oif missing counter drop
  }
  chain sources {
    type filter hook prerouting priority raw; policy accept;
    iifname "${pairLinkPrefix}*" goto pod-sources
    iifname @pod-links goto pod-sources
  }
`;

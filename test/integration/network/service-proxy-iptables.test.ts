// The service proxy in iptables: the variant on nf_tables, and the legacy one.
import { chainPrefix } from "../../../network/proxy/iptables-rules.ts";
import { testServiceProxy } from "./service-proxy-suite.ts";

const prefix = chainPrefix("orbit-proxy");

describe.each(["iptables-nft", "iptables-legacy"])("%s", (iptables) => {
  testServiceProxy({
    options: { mode: "iptables", iptables, lookMs: 300 },
    addForeign: (node) => node.run(iptables, "-t", "nat", "-N", "somebody"),
    removeOurs(node) {
      for (const chain of ["PREROUTING", "OUTPUT", `${prefix}SERVICES`])
        node.run(iptables, "-t", "nat", "-F", chain);
    },
    flushAll(node) {
      for (const table of ["nat", "filter", "mangle"]) {
        node.run(iptables, "-t", table, "-F");
        node.run(iptables, "-t", table, "-X");
      }
    },
    flushServices: (node) =>
      node.run(iptables, "-t", "nat", "-F", `${prefix}SERVICES`),
    listed: (node) => node.run(iptables, "-t", "nat", "-S"),
  });
});

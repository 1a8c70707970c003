// The service proxy in nftables.
import { testServiceProxy } from "./service-proxy-suite.ts";

testServiceProxy({
  options: { mode: "nftables" },
  addForeign: (node) => node.run("nft", "add", "table", "ip", "somebody"),
  removeOurs: (node) => node.run("nft", "delete", "table", "ip", "orbit-proxy"),
  flushAll: (node) => node.run("nft", "flush", "ruleset"),
  flushServices: (node) =>
    node.run("nft", "flush", "chain", "ip", "orbit-proxy", "services"),
  listed: (node) => node.run("nft", "list", "tables"),
});

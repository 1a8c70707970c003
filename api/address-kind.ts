// What an IP address leads to, by its value and not by how it is written: `::1`, `0:0:0:0:0:0:0:1`, `::ffff:127.0.0.1`
// and `::ffff:7f00:1` are all loopback. The one place that says which addresses lead to this machine or its link alone;
// all code that dials or publishes an address from a client or an object asks here.
import { BlockList, isIP } from "node:net";

/** `outside`: an address that means the same on every machine (Go's IsGlobalUnicast, private ranges included). */
export type AddressKind =
  | "unspecified"
  | "loopback"
  | "link-local"
  | "link-local multicast"
  | "multicast"
  | "broadcast"
  | "outside";

/** IPv4 ranges are also those of the IPv4-mapped IPv6 addresses. The first that holds an address names it. */
const ranges: readonly [AddressKind, ...string[]][] = [
  ["unspecified", "0.0.0.0/32", "::/128"],
  ["loopback", "127.0.0.0/8", "::1/128"],
  ["link-local", "169.254.0.0/16", "fe80::/10"],
  [
    "link-local multicast",
    "224.0.0.0/24",
    // ff02::/16 with any of the flags.
    ...Array.from(
      { length: 16 },
      (_, flags) => `ff${flags.toString(16)}2::/16`,
    ),
  ],
  ["multicast", "224.0.0.0/4", "ff00::/8"],
  ["broadcast", "255.255.255.255/32"],
];

const lists = ranges.map(([kind, ...nets]) => {
  const list = new BlockList();
  for (const net of nets) {
    const [base = "", prefix] = net.split("/");
    list.addSubnet(base, Number(prefix), base.includes(":") ? "ipv6" : "ipv4");
  }
  return { kind, list };
});

/** Undefined for a text that is no address; one with a zone (`fe80::1%eth0`) is none. */
export function addressKind(text: string): AddressKind | undefined {
  const family = isIP(text);
  if (family === 0 || text.includes("%")) return undefined;
  const found = lists.find(({ list }) =>
    list.check(text, family === 6 ? "ipv6" : "ipv4"),
  );
  return found?.kind ?? "outside";
}

export function isLoopbackAddress(text: string): boolean {
  return addressKind(text) === "loopback";
}

/** Where a client on this machine reaches a server bound to `bindAddress`. */
export function localAddress(bindAddress: string): string {
  if (bindAddress === "0.0.0.0" || bindAddress === "") return "127.0.0.1";
  return bindAddress === "::" ? "::1" : bindAddress;
}

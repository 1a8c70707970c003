// Network interfaces as node:os reports them, for tests of which addresses a node has.
import type { NetworkInterfaceInfo } from "node:os";

/** The addresses of one interface. */
export const at = (...addresses: string[]): NetworkInterfaceInfo[] =>
  addresses.map(
    (address) =>
      ({
        address,
        family: address.includes(":") ? "IPv6" : "IPv4",
        internal: address.startsWith("127."),
        netmask: "",
        mac: "",
        cidr: null,
        ...(address.includes(":") ? { scopeid: 0 } : {}),
      }) as NetworkInterfaceInfo,
  );

/** A machine with one interface. */
export const withAddresses = (
  ...addresses: string[]
): NodeJS.Dict<NetworkInterfaceInfo[]> => ({ eth0: at(...addresses) });

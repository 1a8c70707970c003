// The names and addresses this machine has, and those a cluster's services get.
import { addressKind, isLoopbackAddress } from "../../api/address-kind.ts";
import * as net from "node:net";
import { hostInterfaces } from "../../agent/node/host-interfaces.ts";
import { UsageError } from "../options/table.ts";

/**
 * All addresses of the machine's interfaces that others could use, IPv4 first; link-local ones are left out, and those of
 * pods' interfaces, which come and go.
 */
export function machineAddresses(): string[] {
  const all = Object.entries(hostInterfaces())
    .filter(([name]) => !/^(veth|cni|flannel|cali|orbit-)/.test(name))
    .flatMap(([, addresses]) => addresses ?? [])
    .filter(
      ({ internal, address }) =>
        !internal && addressKind(address.split("%", 1)[0]!) === "outside",
    );
  return [
    ...all.filter(({ family }) => family === "IPv4"),
    ...all.filter(({ family }) => family === "IPv6"),
  ].map(({ address }) => address);
}

/**
 * Where the machine's DNS server listens: at an address of the family of the Service's, as no rule leads from one family to
 * the other. `current` stays as long as the machine has it, and while it has none of that family: a lease may end before the
 * next one begins.
 *
 * @param serviceAddress undefined: any family will do
 * @returns undefined only where there is neither an address nor a current one
 */
export function dnsAddress(
  addresses: readonly string[],
  serviceAddress: string | undefined,
  current?: string,
): string | undefined {
  const family = net.isIP(serviceAddress ?? "");
  const reached =
    family === 0
      ? addresses
      : addresses.filter((each) => net.isIP(each) === family);
  if (current !== undefined && reached.includes(current)) return current;
  return reached[0] ?? current ?? addresses[0];
}

function isLoopback(address: string): boolean {
  return isLoopbackAddress(address) || address === "localhost";
}

/** The address that the server advertises: the one given, else the one bound to, else the machine's first, else loopback. */
export function advertisedAddress(
  bindAddress: string,
  advertise: string | undefined,
  addresses: () => readonly string[] = machineAddresses,
): string {
  if (advertise) {
    if (net.isIP(advertise) === 0)
      throw new UsageError(
        `invalid argument "${advertise}" for "--advertise-address": must be an IP address`,
      );
    return advertise;
  }
  if (!["0.0.0.0", "::", ""].includes(bindAddress) && !isLoopback(bindAddress))
    return bindAddress;
  return addresses()[0] ?? "127.0.0.1";
}

export function urlHost(address: string): string {
  return net.isIPv6(address) ? `[${address}]` : address;
}

/** The n-th address of an IPv4 or IPv6 range: the first (1) is the kubernetes service's, the tenth DNS's. */
export function addressInRange(
  range: string,
  index: number,
  optionName: string,
): string {
  const [base = "", bits = ""] = range.split("/");
  const family = net.isIP(base);
  if (
    family === 0 ||
    !/^\d+$/.test(bits) ||
    Number(bits) > (family === 4 ? 32 : 128)
  ) {
    throw new UsageError(
      `invalid argument "${range}" for "--${optionName}": must be a range such as 10.43.0.0/16`,
    );
  }
  if (family === 4) {
    const number =
      base.split(".").reduce((sum, part) => sum * 256 + Number(part), 0) +
      index;
    return [24, 16, 8, 0]
      .map((shift) => Math.floor(number / 2 ** shift) % 256)
      .join(".");
  }
  // IPv6 ranges of services end in zeros.
  return base.endsWith("::") && index > 0
    ? `${base}${index.toString(16)}`
    : base;
}

/** The first part of the cluster's pod range that a node gets: a /24 or a /64, or the whole, when it is smaller. */
export function nodePodCidr(
  clusterCidr: string,
  optionName: string,
  nodeBits?: number,
): string {
  const first = addressInRange(clusterCidr, 0, optionName);
  const bits = Number(clusterCidr.split("/")[1]);
  return `${first}/${nodeBits ?? Math.max(bits, net.isIPv4(first) ? 24 : 64)}`;
}

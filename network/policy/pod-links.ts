// Which links are those of this node's pods: the ones that a route to a single address of the node's ranges leads to, as the
// pod network makes one for each pod. Read from the kernel, which has them before a pod's containers start.
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { pairLinkPrefix } from "../../cri/cni/pair-script.ts";
import {
  cidrRange,
  type AddressRange,
} from "../../api/addresses/address-range.ts";

interface PodLinkOptions {
  readonly podRanges: readonly string[];
  /** As nftCommand's. */
  readonly wrapper?: readonly string[];
}

const gateway = 0x2;
const anycast = 0x100000;
const local = 0x80000000;

function read(file: string, wrapper: readonly string[] = []): Promise<string> {
  const [program, ...leading] = wrapper;
  if (program === undefined) return readFile(file, "utf8");
  return new Promise((resolve, reject) => {
    execFile(program, [...leading, "cat", file], (error, output) =>
      error ? reject(error) : resolve(output),
    );
  });
}

interface HostRoute {
  readonly link: string;
  readonly address: bigint;
}

/** By the beginning of its name: most are, and their routes are not taken apart. */
function isKnown(link: string): boolean {
  return link.startsWith(pairLinkPrefix);
}

/** Lines of /proc/net/route: numbers are in the machine's byte order, which is the little one. */
function hostRoutes4(text: string): HostRoute[] {
  return text
    .split("\n")
    .slice(1)
    .flatMap((line) => {
      const [link = "", destination = "", , flags = "0", , , , mask] =
        line.split("\t");
      if (mask !== "FFFFFFFF" || isKnown(link)) return [];
      if (parseInt(flags, 16) & gateway) return [];
      const bytes = destination.match(/../g)!.reverse().join("");
      return [{ link, address: BigInt(`0x${bytes}`) }];
    });
}

/** Lines of /proc/net/ipv6_route. */
function hostRoutes6(text: string): HostRoute[] {
  return text.split("\n").flatMap((line) => {
    const [destination, bits, , , , , , , flags = "0", link = ""] = line
      .trim()
      .split(/\s+/);
    if (bits !== "80" || isKnown(link)) return [];
    if (parseInt(flags, 16) & (gateway | anycast)) return [];
    return parseInt(flags, 16) >= local
      ? []
      : [{ link, address: BigInt(`0x${destination}`) }];
  });
}

/** Names, sorted, without those that the table knows by their beginning. Rejects when the routes can't be read. */
export async function podLinks({
  podRanges,
  wrapper,
}: PodLinkOptions): Promise<string[]> {
  const ranges = podRanges.flatMap((range) => cidrRange(range) ?? []);
  const within = (family: AddressRange["family"], routes: HostRoute[]) =>
    routes.filter(({ address }) =>
      ranges.some(
        (range) =>
          range.family === family &&
          range.first <= address &&
          address <= range.last,
      ),
    );
  const has = (family: AddressRange["family"]): boolean =>
    ranges.some((range) => range.family === family);
  const found = [
    ...(has("IPv4")
      ? within("IPv4", hostRoutes4(await read("/proc/net/route", wrapper)))
      : []),
    ...(has("IPv6")
      ? within("IPv6", hostRoutes6(await read("/proc/net/ipv6_route", wrapper)))
      : []),
  ];
  return [...new Set(found.map(({ link }) => link))].sort();
}

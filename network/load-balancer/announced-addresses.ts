// Has the kernel announce addresses: it answers ARP for every address of the machine, on whichever link, and NDP for those of
// the link that is asked. So IPv4 addresses are on loopback, of a scope, and IPv6 ones on the link, deprecated, so that
// nothing is sent from them that does not ask for it. Ours are known by a label, and by a metric.
// Neighbours that knew the address elsewhere learn at once where it is: the kernel itself sends an unsolicited advertisement
// for IPv6 (ndisc_notify), and for IPv4 a packet that leaves from the address to a neighbour that is not known makes it
// ask for that one, by broadcast and in the address's name, which is what a gratuitous request says.
// An address with a lifetime goes by itself when it is not renewed.
import { createHash } from "node:crypto";
import { createSocket } from "node:dgram";
import { isIP } from "node:net";
import { addressText, cidrRange } from "../../api/addresses/address-range.ts";
import { AddressRanges } from "../address-ranges.ts";
import type { OnKernelSetting } from "../kernel-settings.ts";
import { queryJson, type RunProgram } from "../links/ip-command.ts";

interface LinkAnswer {
  readonly ifname?: string;
  readonly flags?: readonly string[];
  readonly addr_info?: readonly {
    readonly local?: string;
    readonly prefixlen?: number;
    readonly scope?: string;
    readonly label?: string;
    readonly metric?: number;
    readonly dadfailed?: boolean;
    readonly valid_life_time?: number;
  }[];
}

interface Present {
  readonly address: string;
  readonly link: string;
  /** It is on the link twice: another machine has it yet. */
  readonly failed: boolean;
  /** It does not go by itself. */
  readonly forever: boolean;
}

/** How long an address lives that other nodes would take over: less than it takes them to. */
const lifetimeSeconds = 30;
const endless = 0xffffffff;
const firstMetric = 1_000_000;
const discardPort = 9;

interface AnnouncedAddressesOptions {
  readonly run: RunProgram;
  /** Of the node: clusters on one machine differ in it. */
  readonly podRange: string;
  readonly onKernelSetting?: OnKernelSetting | undefined;
}

/** Sends a packet from the address. */
function send(from: string, to: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = createSocket("udp4");
    const end = (error?: Error | null): void => {
      socket.close();
      if (error) reject(error);
      else resolve();
    };
    socket.once("error", end);
    socket.bind(0, from, () => socket.send("", discardPort, to, end));
  });
}

export class AnnouncedAddresses {
  readonly #options: AnnouncedAddressesOptions;
  readonly #label: string;
  readonly #metric: number;

  constructor(options: AnnouncedAddressesOptions) {
    this.#options = options;
    const digest = createHash("sha256").update(options.podRange).digest("hex");
    this.#label = `lo:orb-${digest.slice(0, 8)}`;
    this.#metric = firstMetric + parseInt(digest.slice(0, 6), 16);
  }

  /**
   * These and no others are announced. Resolves to those that were not before.
   * @param forever they stay when this is not called again
   * @param again neighbours may have them elsewhere, although they were here all the time: `link`, since a link went and
   * came back, where the kernel announces IPv6 by itself, or since this node was cut off
   */
  async set(
    addresses: readonly string[],
    forever: boolean,
    again?: "link" | "node",
  ): Promise<string[]> {
    const { run } = this.#options;
    const links = await queryJson<LinkAnswer>(run, [
      "ip",
      "-j",
      "addr",
      "show",
    ]);
    const present = this.#own(links).map((each) =>
      // One that is added is announced by the kernel.
      again === "node" && isIP(each.address) === 6
        ? { ...each, failed: true }
        : each,
    );
    const plan = await this.#placed(addresses, links);
    const commands: string[] = [];
    for (const { address, link, failed } of present)
      if (failed || plan.get(address) !== link)
        commands.push(
          `addr del ${address}/${isIP(address) === 4 ? 32 : 128} dev ${link}`,
        );
    const added: string[] = [];
    for (const [address, link] of plan) {
      const has = present.find(
        (each) =>
          each.address === address && each.link === link && !each.failed,
      );
      if (!has) added.push(address);
      if (has?.forever && forever) continue;
      commands.push(this.#command(address, link, forever));
    }
    if (added.some((address) => isIP(address) === 6))
      await this.#notify(new Set(plan.values()));
    if (commands.length > 0)
      await run(["ip", "-force", "-batch", "-"], `${commands.join("\n")}\n`);
    for (const address of again ? plan.keys() : added)
      if (isIP(address) === 4) await this.#request(address, links);
    return added;
  }

  #own(links: readonly LinkAnswer[]): Present[] {
    return links.flatMap(({ ifname: link = "", addr_info = [] }) =>
      addr_info
        .filter(
          ({ label, metric }) =>
            label === this.#label || metric === this.#metric,
        )
        .map(({ local: address = "", dadfailed, valid_life_time }) => ({
          address,
          link,
          failed: dadfailed === true,
          forever: valid_life_time === endless,
        })),
    );
  }

  /** Address to link. An IPv6 address that is on no link is announced on the one with the default route. */
  async #placed(
    addresses: readonly string[],
    links: readonly LinkAnswer[],
  ): Promise<Map<string, string>> {
    const placed = new Map<string, string>();
    let fallback: string | undefined;
    for (const address of addresses) {
      if (isIP(address) === 4) placed.set(address, "lo");
      else {
        const own = this.#linkOf(address, links)?.link;
        fallback ??= own ? undefined : await this.#defaultLink();
        const link = own ?? fallback;
        if (link !== undefined) placed.set(address, link);
      }
    }
    return placed;
  }

  #linkOf(
    address: string,
    links: readonly LinkAnswer[],
  ): { link: string; range: string } | undefined {
    for (const { ifname: link = "", flags = [], addr_info = [] } of links) {
      if (flags.includes("LOOPBACK") || !flags.includes("UP")) continue;
      for (const { local = "", prefixlen = 128, scope } of addr_info) {
        const range = `${local}/${prefixlen}`;
        if (
          scope === "global" &&
          local !== address &&
          new AddressRanges([range]).contains(address)
        )
          return { link, range };
      }
    }
    return undefined;
  }

  async #defaultLink(): Promise<string | undefined> {
    const [route] = await queryJson<{ dev?: string }>(this.#options.run, [
      ..."ip -j -6 route show default".split(" "),
    ]);
    return route?.dev;
  }

  #command(address: string, link: string, forever: boolean): string {
    const valid = forever ? "forever" : String(lifetimeSeconds);
    return isIP(address) === 4
      ? `addr replace ${address}/32 dev lo scope host label ${this.#label} valid_lft ${valid} preferred_lft ${valid}`
      : `addr replace ${address}/128 dev ${link} metric ${this.#metric} valid_lft ${valid} preferred_lft 0 noprefixroute`;
  }

  async #notify(links: ReadonlySet<string>): Promise<void> {
    const { run, onKernelSetting } = this.#options;
    for (const link of links)
      if (link !== "lo") {
        const file = `/proc/sys/net/ipv6/conf/${link}/ndisc_notify`;
        const before = (await run(["cat", file])).trim();
        if (before === "1") continue;
        onKernelSetting?.(file, before);
        await run(["tee", file], "1");
      }
  }

  /** The last addresses of the range that are not known as neighbours: two, as one of them may come to be known. */
  async #request(address: string, links: readonly LinkAnswer[]): Promise<void> {
    const range = cidrRange(this.#linkOf(address, links)?.range ?? "");
    // A router leads it here: no neighbour asks for it.
    if (!range) return;
    const known = new Set([
      address,
      ...links.flatMap(({ addr_info = [] }) =>
        addr_info.flatMap(({ local }) => local ?? []),
      ),
      ...(
        await queryJson<{ dst?: string }>(this.#options.run, [
          ..."ip -j -4 neigh show".split(" "),
        ])
      ).flatMap(({ dst }) => dst ?? []),
    ]);
    let sent = 0;
    for (let n = range.last - 1n; n > range.first && sent < 2; n--) {
      const target = addressText(n, "IPv4");
      if (known.has(target)) continue;
      await send(address, target);
      sent++;
    }
  }
}

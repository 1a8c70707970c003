// Brings the kernel's routes and the VXLAN in step with a plan. Ours are known by their protocol number, and the VXLAN by its
// name; everything else is left alone. Nothing is written where the kernel has what is wanted, so that a look at it after
// each of its reports ends by itself.
import { familyOf, type Family } from "./peers.ts";
import { queryJson, type RunProgram } from "../links/ip-command.ts";
import type { Link, RoutePlan } from "./route-plan.ts";

interface LinkAnswer {
  readonly ifname?: string;
  readonly flags?: readonly string[];
  readonly mtu?: number;
  readonly address?: string;
  readonly addr_info?: readonly {
    readonly local?: string;
    readonly prefixlen?: number;
    readonly scope?: string;
  }[];
  readonly linkinfo?: {
    readonly info_kind?: string;
    readonly info_data?: {
      readonly id?: number;
      readonly local?: string;
      readonly local6?: string;
    };
  };
}

interface RouteAnswer {
  readonly dst?: string;
  readonly gateway?: string;
  readonly dev?: string;
}

/** UDP port of the VXLAN: the kernel's own default, as flannel uses it. */
const tunnelPort = 8472;

interface KernelRoutesOptions {
  readonly run: RunProgram;
  /** Name of the VXLAN's device, and its network's number, which all nodes of the cluster have. */
  readonly device: string;
  readonly network: number;
  /** By which our routes are known: 1 to 255, none of /etc/iproute2/rt_protos. */
  readonly protocol: number;
}

const routeText = (dst: string, via: string, device: string): string =>
  `${dst} via ${via} dev ${device}`;

export class KernelRoutes {
  readonly #options: KernelRoutesOptions;

  constructor(options: KernelRoutesOptions) {
    this.#options = options;
  }

  async #answers(): Promise<LinkAnswer[]> {
    return queryJson<LinkAnswer>(this.#options.run, [
      "ip",
      "-d",
      "-j",
      "address",
      "show",
    ]);
  }

  /** The node's links to others; those of pods, of loopback and our own are left out. */
  async links(): Promise<Link[]> {
    return (await this.#answers())
      .filter(
        ({ ifname = "", flags = [] }) =>
          !flags.includes("LOOPBACK") && !/^(veth|cni|orbit-)/.test(ifname),
      )
      .map(({ ifname = "", flags = [], mtu = 1500, addr_info = [] }) => ({
        name: ifname,
        mtu,
        up: flags.includes("UP") && flags.includes("LOWER_UP"),
        addresses: addr_info.flatMap(({ local, prefixlen, scope }) =>
          local !== undefined && prefixlen !== undefined && scope !== "link"
            ? [{ address: local, bits: prefixlen }]
            : [],
        ),
      }));
  }

  /** Resolves to whether anything was written. Rejects with the program's text. */
  async apply(plan: RoutePlan): Promise<boolean> {
    const commands: Record<Family, string[]> = { 4: [], 6: [] };
    const tunnelWritten = await this.#applyTunnel(plan);
    for (const family of [4, 6] as const) {
      const present = await this.#routes(family);
      const wanted = new Map(
        plan.routes
          .filter(({ range }) => familyOf(range) === family)
          .map((route) => [
            routeText(route.range, route.via, route.device),
            route,
          ]),
      );
      const kept = new Set([...wanted.values()].map(({ range }) => range));
      for (const [text, dst] of present)
        if (!wanted.has(text) && !kept.has(dst))
          commands[family].push(
            `route del ${dst} proto ${this.#options.protocol}`,
          );
      for (const [text, { onlink }] of wanted)
        if (!present.has(text))
          commands[family].push(
            `route replace ${text}${onlink ? " onlink" : ""} proto ${this.#options.protocol}`,
          );
      await this.#batch(
        ["ip", `-${family}`, "-force", "-batch", "-"],
        commands[family],
      );
    }
    return tunnelWritten || commands[4].length > 0 || commands[6].length > 0;
  }

  /** Takes back all that is ours. */
  async clear(): Promise<void> {
    await this.apply({ routes: [], unreachable: new Map() });
  }

  /** Ours, by their text, with what they lead to. */
  async #routes(family: Family): Promise<Map<string, string>> {
    const answers = await queryJson<RouteAnswer>(this.#options.run, [
      "ip",
      `-${family}`,
      "-j",
      "route",
      "show",
      "proto",
      String(this.#options.protocol),
    ]);
    return new Map(
      answers.map(({ dst = "", gateway = "", dev = "" }) => [
        routeText(dst, gateway, dev),
        dst,
      ]),
    );
  }

  async #batch(
    words: readonly string[],
    commands: readonly string[],
  ): Promise<void> {
    if (commands.length > 0)
      await this.#options.run(words, `${commands.join("\n")}\n`);
  }

  /** The device is made again when what can't be changed of it is another. */
  async #applyTunnel({ tunnel }: RoutePlan): Promise<boolean> {
    const { device, network } = this.#options;
    const found = (await this.#answers()).find(
      ({ ifname }) => ifname === device,
    );
    if (!tunnel) {
      if (found)
        await this.#batch(["ip", "-batch", "-"], [`link del ${device}`]);
      return found !== undefined;
    }
    const { local, mtu, hardwareAddress, addresses } = tunnel;
    const data = found?.linkinfo?.info_data;
    const same =
      data?.id === network &&
      (data.local ?? data.local6) === local &&
      found?.address === hardwareAddress;
    const commands = [
      ...(found && !same ? [`link del ${device}`] : []),
      ...(same
        ? []
        : [
            `link add ${device} address ${hardwareAddress} mtu ${mtu} type vxlan id ${network} local ${local} dstport ${tunnelPort} nolearning`,
          ]),
      ...(same && found?.mtu !== mtu ? [`link set ${device} mtu ${mtu}`] : []),
      ...addresses
        .filter(
          (address) =>
            !same ||
            !found?.addr_info?.some(({ local: has }) => has === address),
        )
        .map(
          (address) =>
            `address replace ${address}/${familyOf(address) === 4 ? 32 : 128} dev ${device}${familyOf(address) === 6 ? " nodad" : ""}`,
        ),
      ...(same && found?.flags?.includes("UP")
        ? []
        : [`link set ${device} up`]),
    ];
    await this.#batch(["ip", "-batch", "-"], commands);
    return (await this.#applyNeighbours(tunnel)) || commands.length > 0;
  }

  async #applyNeighbours({
    neighbours,
    destinations,
  }: NonNullable<RoutePlan["tunnel"]>): Promise<boolean> {
    const { run, device } = this.#options;
    const has = new Map(
      (
        await queryJson<{ dst?: string; lladdr?: string }>(run, [
          "ip",
          "-j",
          "neigh",
          "show",
          "dev",
          device,
          "nud",
          "permanent",
        ])
      ).map(({ dst = "", lladdr = "" }) => [dst, lladdr]),
    );
    const entries = (
      await queryJson<{ mac?: string; dst?: string }>(run, [
        "bridge",
        "-j",
        "fdb",
        "show",
        "dev",
        device,
      ])
    ).flatMap(({ mac, dst }) => (mac && dst ? [{ mac, dst }] : []));
    const wanted = new Map(
      neighbours.map((each) => [each.address, each.hardwareAddress]),
    );
    const commands = [
      ...[...has.keys()]
        .filter((address) => !wanted.has(address))
        .map((address) => `neigh del ${address} dev ${device}`),
      ...[...wanted]
        .filter(([address, mac]) => has.get(address) !== mac)
        .map(
          ([address, mac]) =>
            `neigh replace ${address} lladdr ${mac} dev ${device} nud permanent`,
        ),
    ];
    const frames = [
      ...entries
        .filter(
          ({ mac, dst }) =>
            !destinations.some(
              (each) => each.hardwareAddress === mac && each.address === dst,
            ),
        )
        .map(({ mac, dst }) => `fdb del ${mac} dev ${device} dst ${dst} self`),
      ...destinations
        .filter(
          (each) =>
            !entries.some(
              ({ mac, dst }) =>
                mac === each.hardwareAddress && dst === each.address,
            ),
        )
        .map(
          ({ hardwareAddress, address }) =>
            `fdb append ${hardwareAddress} dev ${device} dst ${address} self permanent`,
        ),
    ];
    await this.#batch(["ip", "-force", "-batch", "-"], commands);
    await this.#batch(["bridge", "-force", "-batch", "-"], frames);
    return commands.length > 0 || frames.length > 0;
  }
}

// Brings the kernel's routes and the VXLAN in step with a plan. Ours are known by their protocol number, and the VXLAN by its
// name; everything else is left alone. Nothing is written where the kernel has what is wanted, so that a look at it after
// each of its reports ends by itself.
import { familyOf } from "./peers.ts";
import { queryJson, type RunProgram } from "../links/ip-command.ts";
import { allLinks } from "./node-links.ts";
import { RouteTable } from "./route-table.ts";
import type { RoutePlan } from "./route-plan.ts";

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

export class KernelRoutes {
  readonly #options: KernelRoutesOptions;
  readonly #table: RouteTable;

  constructor(options: KernelRoutesOptions) {
    this.#options = options;
    this.#table = new RouteTable(options.run, options.protocol);
  }

  /** Resolves to whether anything was written. Rejects with the program's text. */
  async apply(plan: RoutePlan): Promise<boolean> {
    const tunnelWritten = await this.#applyTunnel(plan);
    return (await this.#table.apply(plan.routes)) || tunnelWritten;
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
    const found = (await allLinks(this.#options.run)).find(
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

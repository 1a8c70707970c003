// Routes on links and the VXLAN, as the plan for the Nodes of the moment says. What is there stays when the program stops.
import type { Node } from "../../api/types/core-v1.ts";
import type { RunProgram } from "../links/ip-command.ts";
import { KernelRoutes } from "./kernel-routes.ts";
import { nodeLinks } from "./node-links.ts";
import { peerOf } from "./peers.ts";
import { planRoutes, type RouteMode } from "./route-plan.ts";
import type { AppliedRoutes, RoutesBackend } from "./routes-backend.ts";

interface PlainRoutesOptions {
  readonly run: RunProgram;
  readonly nodeName: string;
  readonly podRanges: readonly string[];
  readonly mode: Exclude<RouteMode, "wireguard">;
  /** Name of the VXLAN's device, and its network's number, which all nodes of the cluster have. */
  readonly device: string;
  readonly network: number;
  /** By which our routes are known. */
  readonly protocol: number;
}

export class PlainRoutes implements RoutesBackend {
  readonly #options: PlainRoutesOptions;
  readonly #kernel: KernelRoutes;

  constructor(options: PlainRoutesOptions) {
    this.#options = options;
    this.#kernel = new KernelRoutes(options);
  }

  describe(node: Node): string {
    return JSON.stringify(peerOf(node));
  }

  async apply(nodes: readonly Node[]): Promise<AppliedRoutes> {
    const { run, nodeName, podRanges, mode, device } = this.#options;
    const all = nodes.map(peerOf);
    const peers = all
      .filter(({ name, ranges }) => name !== nodeName && ranges.length > 0)
      .toSorted((a, b) => (a.name < b.name ? -1 : 1));
    const own = all.find(({ name }) => name === nodeName) ?? {
      name: nodeName,
      ranges: podRanges,
      addresses: {},
    };
    const links = await nodeLinks(run);
    const plan = planRoutes({ mode, own, peers, links, device });
    await this.#kernel.apply(plan);
    return {
      ranges: peers.flatMap(({ ranges }) => ranges),
      mtu: plan.tunnel?.mtu,
      unreachable: plan.unreachable,
    };
  }

  async stop(): Promise<void> {}
}

// Routes to the pods of all other nodes: follows the Nodes and this machine's links, and keeps routes, the tunnel and the
// masquerading in step with both. A node that is gone, NotReady or not, keeps its routes until its Node object is deleted.
// What is there stays when the program stops, as the pods do; only what wireguard-go does ends with it.
import { createHash } from "node:crypto";
import type { Logger } from "pino";
import type { Clock, Timer } from "../../api/clock.ts";
import { backoffMs } from "../../api/queueing/backoff.ts";
import type { Node } from "../../api/types/core-v1.ts";
import type { Client } from "../../client/client.ts";
import type { Informer } from "../../client/informer.ts";
import { nodes } from "../../client/resources.ts";
import type { PodMasquerade } from "../pods/masquerade.ts";
import { programRunner } from "../links/ip-command.ts";
import type { HostLinks } from "../links/host-links.ts";
import { PlainRoutes } from "./plain-routes.ts";
import type { RouteMode } from "./route-plan.ts";
import type { RoutesBackend } from "./routes-backend.ts";
import {
  EncryptedRoutes,
  type WireguardSettings,
} from "./wireguard/encrypted-routes.ts";

/** Changes within this time are looked at together. */
const quietMs = 100;
const retries = { baseMs: 500, maxMs: 30_000 };
/** Protocol numbers that the kernel and routing programs do not use. */
const firstProtocol = 200;
const protocols = 50;

interface NodeRoutesOptions {
  readonly client: Client;
  readonly nodeName: string;
  /** This node's ranges: they name its device. */
  readonly podRanges: readonly string[];
  /** The same text on all nodes of the cluster, another for another cluster. */
  readonly clusterIdentity: string;
  readonly mode:
    Exclude<RouteMode, "wireguard"> | { readonly wireguard: WireguardSettings };
  readonly masquerade: PodMasquerade;
  readonly links: HostLinks;
  /** The largest packet that the tunnel takes; undefined: there is none. */
  readonly onTunnelMtu?: (mtu: number | undefined) => void;
  readonly clock: Clock;
  readonly logger: Logger;
  /** As the proxy's. */
  readonly wrapper?: readonly string[];
}

const hash = (text: string): Buffer =>
  createHash("sha256").update(text).digest();

/** At most 15 letters, as the kernel wants it. */
function tunnelDevice(podRange: string): string {
  return `orbit-${hash(podRange).toString("hex").slice(0, 8)}`;
}

/** 24 bits, without the first numbers, which people use. */
function tunnelNetwork(clusterIdentity: string): number {
  return 0x10000 + (hash(clusterIdentity).readUIntBE(0, 3) % 0xff0000);
}

/** By which the routes of a node are known. */
function routeProtocol(podRange: string): number {
  return firstProtocol + (hash(podRange)[0]! % protocols);
}

export class NodeRoutes {
  readonly #options: NodeRoutesOptions;
  readonly #nodes: Informer<Node>;
  readonly #backend: RoutesBackend;
  /** Whether the machine's links matter while there is no other node. */
  readonly #alwaysLooks: boolean;
  #dispose: () => void = () => undefined;
  #timer: Timer | undefined;
  #working: Promise<void> | undefined;
  #again = false;
  #failures = 0;
  #hasPeers = false;
  #stopped = false;
  #reported = "";

  constructor(options: NodeRoutesOptions) {
    this.#options = options;
    const { client, podRanges, clusterIdentity, mode, wrapper = [] } = options;
    const own = podRanges[0] ?? options.nodeName;
    const shared = {
      ...options,
      run: programRunner(wrapper),
      device: tunnelDevice(own),
      protocol: routeProtocol(own),
    };
    this.#nodes = client.informer(nodes);
    this.#alwaysLooks = typeof mode === "object";
    this.#backend =
      typeof mode === "object"
        ? new EncryptedRoutes({ ...shared, ...mode.wireguard })
        : new PlainRoutes({
            ...shared,
            mode,
            network: tunnelNetwork(clusterIdentity),
          });
  }

  /** Resolves when the nodes that exist can be reached, as far as they can be. */
  async start(): Promise<void> {
    const look = (): void => this.#due(quietMs);
    const before = new Map<string, string>();
    const changed = (node: Node): void => {
      // Heartbeats change nothing here.
      const text = this.#backend.describe(node);
      if (before.get(node.metadata.name) === text) return;
      before.set(node.metadata.name, text);
      look();
    };
    const disposeNodes = this.#nodes.addHandler({
      onAdd: changed,
      onUpdate: (_, now) => changed(now),
      onDelete: ({ metadata }) => {
        before.delete(metadata.name);
        look();
      },
    });
    const disposeLinks = this.#options.links.onChange(() => {
      // One node alone has no routes to keep.
      if (this.#hasPeers || this.#alwaysLooks) look();
    });
    this.#dispose = () => {
      disposeNodes();
      disposeLinks();
    };
    await this.#nodes.synced();
    await this.#look();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#dispose();
    this.#timer?.cancel();
    await this.#working;
    await this.#backend.stop();
  }

  #due(delayMs: number): void {
    if (this.#stopped) return;
    this.#timer?.cancel();
    this.#timer = this.#options.clock.after(delayMs, () => void this.#look());
  }

  /** One at a time; what comes meanwhile is looked at afterwards. */
  async #look(): Promise<void> {
    if (this.#stopped) return;
    if (this.#working) {
      this.#again = true;
      return this.#working;
    }
    this.#working = this.#reconcile().finally(() => {
      this.#working = undefined;
      if (this.#again) {
        this.#again = false;
        this.#due(quietMs);
      }
    });
    return this.#working;
  }

  async #reconcile(): Promise<void> {
    const { masquerade, logger } = this.#options;
    try {
      const applied = await this.#backend.apply(this.#nodes.lister.list());
      this.#hasPeers = applied.ranges.length > 0;
      this.#options.onTunnelMtu?.(applied.mtu);
      await masquerade.setPeers(applied.ranges);
      this.#failures = 0;
      const unreachable = Object.fromEntries(applied.unreachable);
      const text = JSON.stringify(unreachable);
      if (text !== this.#reported && applied.unreachable.size > 0)
        logger.warn({ unreachable }, "no route leads to the pods of nodes");
      this.#reported = text;
    } catch (error) {
      const delayMs = backoffMs(retries, this.#failures++);
      logger.error(
        { err: error, retryInMs: delayMs },
        "the routes to other nodes could not be written",
      );
      this.#due(delayMs);
    }
  }
}

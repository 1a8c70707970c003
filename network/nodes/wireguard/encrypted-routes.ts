// Routes to the pods of other nodes through WireGuard alone: keeps device, peers and routes in step with the Nodes, publishes
// this node's public key, and reports what other Nodes announce and are not given. The refusing routes come first and go last:
// packets for pods of another node never leave by another link.
import type { Logger } from "pino";
import type { Clock } from "../../../api/clock.ts";
import type { Node } from "../../../api/types/core-v1.ts";
import type { Client } from "../../../client/client.ts";
import { EventRecorder } from "../../../client/event-recorder.ts";
import { nodes } from "../../../client/resources.ts";
import type { RunProgram } from "../../links/ip-command.ts";
import { nodeLinks } from "../node-links.ts";
import { peerOf } from "../peers.ts";
import { RouteTable } from "../route-table.ts";
import type { AppliedRoutes, RoutesBackend } from "../routes-backend.ts";
import {
  announcementOf,
  planEncrypted,
  publicKeyAnnotation,
  type EncryptedPlan,
} from "./encrypted-plan.ts";
import { wireguardKeys, type WireguardKeys } from "./key-pair.ts";
import { WireguardDevice } from "./wireguard-device.ts";

export interface WireguardSettings {
  /** Of the private key; made when it is missing. */
  readonly keyFile: string;
  /** UDP port that all nodes of the cluster have. */
  readonly port: number;
  /** 0: none. */
  readonly keepaliveSeconds: number;
  /** Of the cluster's pods and of Services, as far as they are known. */
  readonly clusterRanges: readonly string[];
  readonly serviceRanges: readonly string[];
}

interface EncryptedRoutesOptions extends WireguardSettings {
  readonly run: RunProgram;
  readonly client: Client;
  readonly nodeName: string;
  readonly podRanges: readonly string[];
  readonly device: string;
  /** By which our routes are known. */
  readonly protocol: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class EncryptedRoutes implements RoutesBackend {
  readonly #options: EncryptedRoutesOptions;
  readonly #device: WireguardDevice;
  readonly #table: RouteTable;
  readonly #events: EventRecorder;
  #keys: WireguardKeys | undefined;
  /** Node to what was reported of it. */
  #reported = new Map<string, string>();

  constructor(options: EncryptedRoutesOptions) {
    this.#options = options;
    const { run, protocol, client, clock, logger, nodeName } = options;
    this.#device = new WireguardDevice(options);
    this.#table = new RouteTable(run, protocol);
    this.#events = new EventRecorder({
      client,
      clock,
      logger,
      component: "orbit-node-routes",
      host: nodeName,
    });
  }

  describe(node: Node): string {
    return JSON.stringify(announcementOf(node));
  }

  async apply(all: readonly Node[]): Promise<AppliedRoutes> {
    const { run, nodeName, podRanges, device, keyFile } = this.#options;
    const keys = (this.#keys ??= wireguardKeys(keyFile));
    const own = all.find(({ metadata }) => metadata.name === nodeName);
    const plan = planEncrypted({
      ...this.#options,
      own: {
        name: nodeName,
        ranges: podRanges,
        addresses: own ? peerOf(own).addresses : {},
        publicKey: keys.publicKey,
      },
      others: all
        .filter(({ metadata }) => metadata.name !== nodeName)
        .map(announcementOf),
      links: await nodeLinks(run),
      device,
    });
    this.#report(plan, all);
    const toDevice = plan.routes.filter((each) => each.device !== undefined);
    const refusing = plan.routes.filter((each) => each.device === undefined);
    await this.#table.apply([
      ...refusing,
      ...(await this.#table.present(toDevice)),
    ]);
    await this.#device.apply({ ...this.#options, ...plan, keys });
    await this.#table.apply(plan.routes);
    await this.#publish(own, keys.publicKey);
    return plan;
  }

  /** Routes stay: without a device they refuse. */
  async stop(): Promise<void> {
    this.#events.stop();
    await this.#device.stop();
  }

  /** Others learn the key when the device is there. */
  async #publish(own: Node | undefined, publicKey: string): Promise<void> {
    if (!own || own.metadata.annotations?.[publicKeyAnnotation] === publicKey)
      return;
    const { client, nodeName } = this.#options;
    await client.resource(nodes).patch(nodeName, undefined, {
      type: "merge",
      body: { metadata: { annotations: { [publicKeyAnnotation]: publicKey } } },
    });
  }

  /** Each refusal once, until it is another. */
  #report({ refused }: EncryptedPlan, all: readonly Node[]): void {
    const { logger } = this.#options;
    for (const [name, reason] of refused) {
      if (this.#reported.get(name) === reason) continue;
      logger.warn({ node: name, reason }, "what a node announces is refused");
      this.#events.event(
        {
          apiVersion: "v1",
          kind: "Node",
          name,
          uid: all.find(({ metadata }) => metadata.name === name)?.metadata.uid,
        },
        "Warning",
        "NodeRoutesRefused",
        `Its pods get no encrypted route: ${reason}`,
      );
    }
    this.#reported = new Map(refused);
  }
}

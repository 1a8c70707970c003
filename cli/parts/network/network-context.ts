// What the parts of a node's network share.
import type { Logger } from "pino";
import type { Clock } from "../../../api/clock.ts";
import type { Family } from "../../../api/metrics/family.ts";
import type { Client } from "../../../client/client.ts";
import type { HostLinks } from "../../../network/links/host-links.ts";
import type { PodMtu } from "../../../network/pods/pod-mtu.ts";
import type { PodNetwork } from "../../../network/pods/pod-network.ts";
import type { PodGuard } from "./pod-guard.ts";
import type { Started } from "../../cluster/started.ts";

/** What every part of a node's network is given. */
export interface NodeNetworkContext {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Where is recorded what has to be taken back when the cluster is removed. */
  readonly dataDirectory: string;
  /** The same text on every node of the cluster. */
  readonly clusterIdentity: string;
  /** Stops them, the last first. */
  readonly started: Started;
  /** The client of a part, which is that user where the API server is in this process, else the node itself. */
  clientFor(user: string): Client;
}

/** The node's own ranges of pods, which name its tables, the rules of its pod network, and what holds pods that start. */
export interface NodeRanges {
  readonly podRanges: readonly string[];
  readonly pods: PodNetwork;
  /** The machine's links, followed for all parts. */
  readonly links: HostLinks;
  readonly mtu: PodMtu;
  readonly guard: PodGuard;
}

export type Metrics = () => readonly Family[];

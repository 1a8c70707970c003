// What the agent reports of its pods to the API server: owns the statuses (status-manager.ts) and, for static pods, the
// mirrors (mirror-pods.ts) that the statuses are written to, and joins the two by what is known of mirrors
// (known-mirrors.ts). Without an API server statuses are only kept. What one worker reports is pods/worker/pod-report.ts.
import type { Logger } from "pino";
import type { Clock } from "../../api/clock.ts";
import type { OwnerReference } from "../../api/types/meta-v1.ts";
import type { Client } from "../../client/client.ts";
import type { PodMetrics } from "../metrics/pod-metrics.ts";
import { KnownMirrors } from "./known-mirrors.ts";
import { MirrorPods } from "./mirror-pods.ts";
import { StatusManager, type StatusFollower } from "./status-manager.ts";

interface ApiReportingOptions {
  client: Client | undefined;
  /** Absent: there is an API server. */
  local?: StatusFollower | undefined;
  metrics?: Pick<PodMetrics, "statusWritten"> | undefined;
  /** The Node as owner of the mirrors; undefined while it is not registered. */
  nodeOwner: () => OwnerReference | undefined;
  clock: Clock;
  logger: Logger;
}

export class ApiReporting {
  readonly statuses: StatusManager;
  readonly mirrors: MirrorPods | undefined;

  constructor(options: ApiReportingOptions) {
    const { client, local, nodeOwner, clock, logger } = options;
    const known = new KnownMirrors();
    const statuses = new StatusManager({
      client,
      local,
      clock,
      logger,
      metrics: options.metrics,
      mirrorOf: (pod) => known.of(pod),
    });
    this.statuses = statuses;
    this.mirrors =
      client &&
      new MirrorPods({
        client,
        known,
        clock,
        logger,
        owner: nodeOwner,
        onMirror: (uid) => statuses.resend(uid),
        onServed: (uid, status) => statuses.served(uid, status),
      });
  }

  /** No further mirror is made or removed. */
  stopMirrors(): void {
    this.mirrors?.stop();
  }

  stop(): void {
    this.stopMirrors();
    this.statuses.stop();
  }
}

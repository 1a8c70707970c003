// The node's heartbeat: a Lease in kube-node-lease, renewed at a quarter of its duration. After a failure it is tried
// again soon; a Lease that was deleted is made again.
import { backoffMs } from "../../api/queueing/backoff.ts";
import type { Logger } from "pino";
import { formatMicroTime, type Clock, type Timer } from "../../api/clock.ts";
import { isAlreadyExists, isConflict, isNotFound } from "../../api/errors.ts";
import type { Lease } from "../../api/types/coordination-v1.ts";
import type { OwnerReference } from "../../api/types/meta-v1.ts";
import type { Client } from "../../client/client.ts";
import { leases } from "../../client/resources.ts";

interface NodeLeaseOptions {
  client: Client;
  nodeName: string;
  durationSeconds: number;
  clock: Clock;
  logger: Logger;
  owner: () => OwnerReference | undefined;
}

const namespace = "kube-node-lease";
const retries = { baseMs: 1000, maxMs: 8000 };

export class NodeLease {
  readonly #options: NodeLeaseOptions;
  #lease: Lease | undefined;
  #timer: Timer | undefined;
  #stopped = false;
  #failures = 0;

  constructor(options: NodeLeaseOptions) {
    this.#options = options;
  }

  start(): void {
    void this.#beat();
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }

  async #beat(): Promise<void> {
    const { clock, logger, durationSeconds } = this.#options;
    let delayMs = durationSeconds * 250;
    try {
      await this.#renew();
      this.#failures = 0;
    } catch (error) {
      this.#failures++;
      delayMs = Math.min(delayMs, backoffMs(retries, this.#failures - 1));
      if (this.#failures === 1)
        logger.warn({ err: error }, "can't renew the node's lease");
    }
    if (!this.#stopped)
      this.#timer = clock.after(delayMs, () => void this.#beat());
  }

  async #renew(): Promise<void> {
    const { client, nodeName, durationSeconds, clock, owner } = this.#options;
    const api = client.resource(leases);
    const ownerReference = owner();
    const renewTime = formatMicroTime(clock.now());
    const spec = {
      holderIdentity: nodeName,
      leaseDurationSeconds: durationSeconds,
      renewTime,
    };
    if (!this.#lease) {
      const metadata = {
        name: nodeName,
        namespace,
        ...(ownerReference ? { ownerReferences: [ownerReference] } : {}),
      };
      try {
        this.#lease = await api.create({
          apiVersion: "coordination.k8s.io/v1",
          kind: "Lease",
          metadata,
          spec,
        });
        return;
      } catch (error) {
        if (!isAlreadyExists(error)) throw error;
        this.#lease = await api.get(nodeName, namespace);
      }
    }
    const metadata = {
      ...this.#lease.metadata,
      ...(ownerReference ? { ownerReferences: [ownerReference] } : {}),
    };
    try {
      this.#lease = await api.update({ ...this.#lease, metadata, spec });
    } catch (error) {
      if (!isConflict(error) && !isNotFound(error)) throw error;
      this.#lease = isConflict(error)
        ? await api.get(nodeName, namespace)
        : undefined;
      throw error;
    }
  }
}

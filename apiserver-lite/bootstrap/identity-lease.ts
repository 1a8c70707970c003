// Which API servers a cluster has: each keeps a lease in kube-system, named by its host, and once an hour each removes
// those that have ended. A lease stays when its server stops, as at the reference: it may come back within the hour.
// Failures are reported and tried again; nothing that a request needs depends on the lease.
import { createHash, randomUUID } from "node:crypto";
import type { Logger } from "pino";
import { formatMicroTime, type Clock, type Timer } from "../../api/clock.ts";
import { isConflict, isNotFound } from "../../api/errors.ts";
import type { AnyObject, GroupVersionResource } from "../../api/object.ts";
import {
  apiServerIdentity,
  identityLabel,
  identityNamespace,
  isIdentityLease,
  isLeaseExpired,
} from "../../api/objects/server-identity.ts";
import type { Lease } from "../../api/types/coordination-v1.ts";
import type { Transport } from "../../client/transport.ts";
import { typed } from "../resources/typed.ts";

interface IdentityLeaseOptions {
  readonly transport: Pick<Transport, "request">;
  readonly hostname: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

const leaseSeconds = 3600;
/** The reference renews each 10 s. Each renewal is a write to the disk, and a lease of an hour needs few. */
const renewMs = 60_000;
const collectMs = 3_600_000;
/** Of the period, so that servers that were started together do not write together. */
const jitter = 0.04;
const resource: GroupVersionResource = {
  group: "coordination.k8s.io",
  version: "v1",
  resource: "leases",
};
const where = { resource, namespace: identityNamespace };

/** "apiserver-" and 26 characters: the host's name, hashed with the component's. */
export function apiServerId(hostname: string): string {
  const hash = createHash("sha256");
  for (const text of [hostname, apiServerIdentity]) {
    const bytes = Buffer.from(text);
    const length = Buffer.alloc(2);
    length.writeUInt16BE(bytes.length);
    hash.update(length).update(bytes);
  }
  return `apiserver-${base32(hash.digest().subarray(0, 16))}`;
}

function base32(bytes: Uint8Array): string {
  let bits = "";
  for (const byte of bytes) bits += byte.toString(2).padStart(8, "0");
  return (bits.match(/.{1,5}/g) ?? [])
    .map(
      (five) =>
        "abcdefghijklmnopqrstuvwxyz234567"[parseInt(five.padEnd(5, "0"), 2)],
    )
    .join("");
}

export class IdentityLease {
  readonly id: string;
  readonly #holder: string;
  readonly #timers = new Set<Timer>();
  #last: AnyObject | undefined;
  #stopped = false;

  constructor(private readonly options: IdentityLeaseOptions) {
    this.id = apiServerId(options.hostname);
    this.#holder = `${this.id}_${randomUUID()}`;
  }

  /** Resolves when the lease was written and ended ones are removed, or that has failed for the first time. */
  async start(): Promise<void> {
    const repeat = async (
      work: () => Promise<void>,
      periodMs: number,
      failure: string,
    ): Promise<void> => {
      try {
        await work();
      } catch (error) {
        this.options.logger.warn({ err: error }, failure);
      }
      if (this.#stopped) return;
      const timer = this.options.clock.after(
        periodMs * (1 + Math.random() * jitter),
        () => {
          this.#timers.delete(timer);
          void repeat(work, periodMs, failure);
        },
      );
      this.#timers.add(timer);
    };
    await repeat(
      () => this.#renew(),
      renewMs,
      "can't renew this server's identity lease",
    );
    if (this.#stopped) return;
    await repeat(
      () => this.#collect(),
      collectMs,
      "can't remove ended identity leases",
    );
  }

  stop(): void {
    this.#stopped = true;
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
  }

  async #renew(): Promise<void> {
    const { transport } = this.options;
    const { id: name } = this;
    const present = this.#last ?? (await this.#read(name));
    // Whatever goes wrong, the next renewal looks first.
    this.#last = undefined;
    const body = this.#renewed(present);
    this.#last = (await transport.request(
      present
        ? { verb: "update", ...where, name, body }
        : { verb: "create", ...where, body },
    )) as AnyObject;
  }

  /** Only the first of a lease's servers is its holder, as at the reference. */
  #renewed(present: Readonly<AnyObject> | undefined): object {
    const renewTime = formatMicroTime(this.options.clock.now());
    const { metadata = { name: this.id, namespace: identityNamespace }, spec } =
      typed<Partial<Lease>>(present ?? {});
    return {
      metadata: {
        ...metadata,
        labels: {
          ...metadata.labels,
          [identityLabel]: apiServerIdentity,
          "kubernetes.io/hostname": this.options.hostname,
        },
      },
      spec: spec
        ? { ...spec, renewTime }
        : {
            holderIdentity: this.#holder,
            leaseDurationSeconds: leaseSeconds,
            renewTime,
          },
    };
  }

  async #read(name: string): Promise<AnyObject | undefined> {
    try {
      return (await this.options.transport.request({
        verb: "get",
        ...where,
        name,
      })) as AnyObject;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  async #collect(): Promise<void> {
    const { transport, clock } = this.options;
    const labelSelector = `${identityLabel}=${apiServerIdentity}`;
    const list = await transport.request({
      verb: "list",
      ...where,
      query: { labelSelector },
    });
    for (const lease of typed<{ items?: Lease[] }>(list).items ?? []) {
      if (!isIdentityLease(lease) || !isLeaseExpired(lease, clock.now()))
        continue;
      const { name = "", uid, resourceVersion } = lease.metadata;
      const preconditions = { uid, resourceVersion };
      await transport
        .request({ verb: "delete", ...where, name, body: { preconditions } })
        .catch((error: unknown) => {
          // Its server, or another one that collects, was faster.
          if (!isNotFound(error) && !isConflict(error)) throw error;
        });
    }
  }
}

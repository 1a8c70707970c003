// Brings pod statuses to the API server: one write in flight a pod, the newest wins, failures are retried with back-off.
// A status that did not change is not written. When a pod being deleted is torn down, its object is removed (grace 0).
// A static pod's status goes to its mirror pod. Without an API server the statuses are only kept. What others change of a
// status that is the agent's to say is set back a while later, as at the reference: the controllers mark the pods of a
// silent node as not ready, and only its agent takes that back.
import { Backoff } from "../../api/queueing/backoff.ts";
import type { Logger } from "pino";
import type { Clock, Timer } from "../../api/clock.ts";
import { isConflict, isNotFound } from "../../api/errors.ts";
import { isPodTerminal } from "../../api/objects/pod-state.ts";
import type {
  ContainerStatus,
  Pod,
  PodStatus,
} from "../../api/types/core-v1.ts";
import type { Client } from "../../client/client.ts";
import { pods } from "../../client/resources.ts";
import type { PodMetrics } from "../metrics/pod-metrics.ts";
import { isStaticPod } from "../pods/shape/labels.ts";
import { ownPart, servedDrift, statusPatch } from "./status-patch.ts";

interface Entry {
  pod: Pod;
  status: PodStatus | undefined;
  /** What the API server is known to have. */
  sent: PodStatus | undefined;
  finished: boolean;
  /** The API server was asked to, and did. */
  deleted: boolean;
  writing: boolean;
  again: boolean;
  readonly retries: Backoff;
  /** Monotonic ms since when the API server does not have the newest status; undefined: it has. */
  changedMs: number | undefined;
  timer: Timer | undefined;
  /** What the API server showed last, until it was compared with what it is to have. */
  served: PodStatus | undefined;
  look: Timer | undefined;
  /** What was set back last and not shown since: an API server that keeps it otherwise is not asked again and again. */
  setBack: string | undefined;
}

export interface StatusFollower {
  setStatus(pod: Pod, status: PodStatus): void;
  forgetPod(uid: string): void;
}

interface StatusManagerOptions {
  client: Client | undefined;
  clock: Clock;
  logger: Logger;
  /** The mirror of a static pod as the API server has it. */
  mirrorOf: (pod: Pod) => Pod | undefined;
  /** Gets each status as well, where there is no API server. */
  local?: StatusFollower | undefined;
  metrics?: Pick<PodMetrics, "statusWritten"> | undefined;
}

const retries = { baseMs: 200, maxMs: 10_000 };
/** As often as the reference compares what it has with what the API server shows. */
const setBackMs = 10_000;

export class StatusManager {
  readonly #options: StatusManagerOptions;
  readonly #entries = new Map<string, Entry>();
  #stopped = false;

  constructor(options: StatusManagerOptions) {
    this.#options = options;
  }

  get(pod: Pod): PodStatus | undefined {
    const own = this.#entries.get(pod.metadata.uid ?? "")?.status;
    if (!own)
      return isStaticPod(pod)
        ? earlierRun(this.#options.mirrorOf(pod)?.status)
        : (pod.status ?? undefined);
    // Conditions that other clients wrote since (readiness gates and the like) are theirs to change.
    const foreign =
      (isStaticPod(pod) ? undefined : pod.status?.conditions) ?? [];
    const known = new Set((own.conditions ?? []).map(({ type }) => type));
    const gates = new Set(
      (pod.spec.readinessGates ?? []).map(({ conditionType }) => conditionType),
    );
    const merged = (own.conditions ?? []).map((condition) =>
      gates.has(condition.type)
        ? (foreign.find(({ type }) => type === condition.type) ?? condition)
        : condition,
    );
    const added = foreign.filter(({ type }) => !known.has(type));
    return { ...own, conditions: [...merged, ...added] };
  }

  set(pod: Pod, status: PodStatus): void {
    const entry = this.#entry(pod);
    entry.pod = pod;
    const same =
      entry.status && JSON.stringify(entry.status) === JSON.stringify(status);
    if (same && isResizeCurrent(pod, status)) return;
    entry.status = status;
    entry.changedMs ??= this.#options.clock.monotonic();
    this.#options.local?.setStatus(pod, status);
    this.#kick(entry);
  }

  finish(pod: Pod): void {
    const entry = this.#entry(pod);
    entry.pod = pod;
    entry.finished = true;
    this.#kick(entry);
  }

  forget(uid: string): void {
    const entry = this.#entries.get(uid);
    entry?.timer?.cancel();
    entry?.look?.cancel();
    this.#entries.delete(uid);
    this.#options.local?.forgetPod(uid);
  }

  /** The mirror pod appeared or was made again: it gets the status. */
  resend(uid: string): void {
    const entry = this.#entries.get(uid);
    if (!entry) return;
    entry.sent = undefined;
    this.#kick(entry);
  }

  /** The API server shows this status of the pod, or of its mirror. */
  served(uid: string, served: PodStatus | undefined): void {
    const entry = this.#entries.get(uid);
    if (!entry || this.#stopped) return;
    entry.served = served ?? {};
    const { setBack, status } = entry;
    // It was shown otherwise meanwhile: the same change is one more.
    if (setBack && status && servedDrift(entry.served, status) !== setBack)
      entry.setBack = undefined;
    this.#compareLater(entry);
  }

  /** A while later what is under way has been written and shown, and pods that start or end at once are not held up. */
  #compareLater(entry: Entry): void {
    entry.look ??= this.#options.clock.after(setBackMs, () => {
      entry.look = undefined;
      if (entry.writing) this.#compareLater(entry);
      else this.#setBack(entry);
    });
  }

  #setBack(entry: Entry): void {
    const { served, sent, status } = entry;
    if (!served || !sent || !status) return;
    entry.served = undefined;
    // A pod that others declared to be over never runs again.
    if (!isStaticPod(entry.pod) && isPodTerminal({ status: served })) return;
    const drift = servedDrift(served, status);
    if (drift !== undefined && drift !== entry.setBack) {
      entry.sent = ownPart(served, status);
      this.#kick(entry);
    }
    entry.setBack = drift;
  }

  stop(): void {
    this.#stopped = true;
    for (const { timer, look } of this.#entries.values()) {
      timer?.cancel();
      look?.cancel();
    }
  }

  #entry(pod: Pod): Entry {
    const uid = pod.metadata.uid ?? "";
    let entry = this.#entries.get(uid);
    if (!entry) {
      entry = {
        pod,
        status: undefined,
        sent: undefined,
        finished: false,
        deleted: false,
        writing: false,
        again: false,
        retries: new Backoff(retries),
        changedMs: undefined,
        timer: undefined,
        served: undefined,
        look: undefined,
        setBack: undefined,
      };
      this.#entries.set(uid, entry);
    }
    return entry;
  }

  #kick(entry: Entry): void {
    if (!this.#options.client || this.#stopped) return;
    if (entry.writing) {
      entry.again = true;
      return;
    }
    entry.timer?.cancel();
    entry.writing = true;
    this.#write(entry, this.#options.client).then(
      () => {
        entry.retries.reset();
        this.#wrote(entry);
      },
      (error: unknown) => {
        entry.writing = false;
        if (this.#stopped || !this.#entries.has(entry.pod.metadata.uid ?? ""))
          return;
        const retryMs = entry.retries.nextMs();
        this.#options.logger.debug(
          { err: error, pod: entry.pod.metadata.name, retryMs },
          "can't write the pod's status",
        );
        entry.timer = this.#options.clock.after(retryMs, () =>
          this.#kick(entry),
        );
      },
    );
  }

  #wrote(entry: Entry): void {
    entry.writing = false;
    if (!entry.again) return;
    entry.again = false;
    this.#kick(entry);
  }

  #noteSent(entry: Entry): void {
    const { clock, metrics } = this.#options;
    if (entry.changedMs === undefined || entry.sent !== entry.status) return;
    metrics?.statusWritten((clock.monotonic() - entry.changedMs) / 1000);
    entry.changedMs = undefined;
  }

  async #write(entry: Entry, client: Client): Promise<void> {
    const { pod, status } = entry;
    const object = isStaticPod(pod) ? this.#options.mirrorOf(pod) : pod;
    if (!object) return;
    const { name, namespace = "default", uid } = object.metadata;
    const api = client.resource(pods);
    try {
      if (status && status !== entry.sent) {
        const patch = statusPatch(
          asServed(entry.sent ?? object.status ?? {}, object),
          status,
        );
        if (patch)
          await api.patch(
            name,
            namespace,
            { type: "strategic", body: { metadata: { uid }, status: patch } },
            { subresource: "status" },
          );
        entry.sent = status;
        this.#noteSent(entry);
      }
      if (
        entry.finished &&
        entry.status === entry.sent &&
        !entry.deleted &&
        !isStaticPod(pod) &&
        entry.pod.metadata.deletionTimestamp
      ) {
        await api.delete(name, namespace, {
          gracePeriodSeconds: 0,
          ...(uid ? { preconditions: { uid } } : {}),
        });
        entry.deleted = true;
      }
    } catch (error) {
      // Gone, or another pod of the same name: nothing to report to.
      if (!isNotFound(error) && !isConflict(error)) throw error;
      entry.sent = status;
    }
  }
}

/** What the API server says of a resize: it says that one is asked for, the agent what becomes of it. */
function isResizeCurrent(pod: Pod, status: PodStatus): boolean {
  return (
    isStaticPod(pod) || (pod.status?.resize ?? "") === (status.resize ?? "")
  );
}

/** `resize` is written by the API server too: of what was sent and what it shows, the one that differs is to be replaced. */
function asServed(sent: PodStatus, { status }: Pod): PodStatus {
  const resize = status?.resize ?? sent.resize;
  return resize === undefined ? sent : { ...sent, resize };
}

/**
 * What the mirror of a static pod says of a run that this agent has not seen. Whether that run is over is for the runtime's
 * containers to say, as at the reference: a pod that a halt of the machine has ended, or whose file was put back, runs again.
 */
export function earlierRun(
  status: PodStatus | undefined,
): PodStatus | undefined {
  if (!status || !isPodTerminal({ status })) return status;
  const { reason: _reason, message: _message, ...rest } = status;
  const again = { ...rest, phase: "Pending" };
  for (const kind of [
    "initContainerStatuses",
    "containerStatuses",
    "ephemeralContainerStatuses",
  ] as const)
    if (again[kind]) again[kind] = again[kind].map(runAgain);
  return again;
}

/** Neither how it ended nor how it ended before: a pod that is never restarted would be over as soon as it runs again. */
function runAgain(status: ContainerStatus): ContainerStatus {
  if (!status.state?.terminated) return status;
  const restartCount = status.restartCount + 1;
  return { ...status, restartCount, state: {}, lastState: {} };
}

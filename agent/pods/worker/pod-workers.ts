// All pod workers of the node: one a uid. Takes pods from the sources, wakes workers on runtime events and probe results,
// and ends what the runtime runs but no source has (only when the caller says that the sources are complete).
import type { Pod } from "../../../api/types/core-v1.ts";
import {
  containerRecord,
  isOwn,
  isStaticPod,
  podSource,
} from "../shape/labels.ts";
import type { PodContext } from "./pod-context.ts";
import { podFullName } from "../shape/pod-shape.ts";
import type { RuntimePod } from "../runtime/runtime-pods.ts";
import { PodWorker, type EndRequest } from "./pod-worker.ts";

export class PodWorkers {
  readonly #context: PodContext;
  readonly #workers = new Map<string, PodWorker>();
  readonly #onGone: (pod: Pod) => void;
  readonly #again = new Map<string, Pod>();
  #stopped = false;

  constructor(context: PodContext, onGone: (pod: Pod) => void) {
    this.#context = context;
    this.#onGone = onGone;
  }

  get(uid: string): PodWorker | undefined {
    return this.#workers.get(uid);
  }

  /** Workers of pods that the sources have, and of those that are still ending. */
  list(): PodWorker[] {
    return [...this.#workers.values()];
  }

  /** Adds the pod or hands its worker the newer version. */
  set(pod: Pod): void {
    if (this.#stopped) return;
    const uid = pod.metadata.uid ?? "";
    const worker = this.#workers.get(uid);
    if (!worker) {
      const added = this.#add(pod);
      if (pod.metadata.deletionTimestamp) added.end({});
      else added.wake();
      return;
    }
    if (worker.removed) {
      // The same pod is wanted again (a manifest put back) while it still ends.
      this.#again.set(uid, pod);
      return;
    }
    if (concernsWorker(worker.pod, pod)) worker.update(pod);
    else worker.replace(pod);
  }

  #add(pod: Pod): PodWorker {
    const uid = pod.metadata.uid ?? "";
    const worker = new PodWorker(
      this.#context,
      pod,
      () => !isStaticPod(pod) || !this.#sameNameEnds(worker),
      () => {
        this.#workers.delete(uid);
        this.#onGone(pod);
        const again = this.#again.get(uid);
        this.#again.delete(uid);
        if (again) this.set(again);
        for (const other of this.#workers.values())
          if (podFullName(other.pod) === podFullName(pod)) other.wake();
      },
    );
    this.#workers.set(uid, worker);
    return worker;
  }

  #sameNameEnds(worker: PodWorker): boolean {
    const fullName = podFullName(worker.pod);
    return [...this.#workers.values()].some(
      (other) =>
        other !== worker &&
        other.removed &&
        podFullName(other.pod) === fullName,
    );
  }

  /** The sources no longer have it; `last` is the version they had last, with the grace of its deletion. */
  remove(uid: string, last?: Pod): void {
    this.#again.delete(uid);
    const worker = this.#workers.get(uid);
    if (last) worker?.replace(last);
    worker?.remove();
  }

  end(uid: string, request: EndRequest): void {
    this.#workers.get(uid)?.end(request);
  }

  wake(uid: string): void {
    this.#workers.get(uid)?.wake();
  }

  wakeAll(): void {
    for (const worker of this.#workers.values()) worker.wake();
  }

  /**
   * Ends pods that run without being wanted. `sources`: the ones that are complete, by their config.source annotation;
   * a pod of another source is left alone.
   */
  endOrphans(isComplete: (source: string) => boolean): void {
    for (const uid of this.#context.runtimePods.uids()) {
      if (this.#workers.has(uid)) continue;
      const found = this.#context.runtimePods.get(uid);
      if (!found) continue;
      this.#reconstructed(uid)
        .then((pod) => {
          if (
            !pod ||
            this.#stopped ||
            this.#workers.has(uid) ||
            !isComplete(podSource(pod))
          )
            return;
          this.#context.logger.info(
            { pod: pod.metadata.name, namespace: pod.metadata.namespace, uid },
            "ending a pod that no source has",
          );
          this.#add(pod).remove();
        })
        .catch((error: unknown) =>
          this.#context.logger.warn(
            { err: error, uid },
            "can't look at a pod that no source has",
          ),
        );
    }
  }

  async #reconstructed(uid: string): Promise<Pod | undefined> {
    const known = this.#context.runtimePods.get(uid);
    if (!known) return undefined;
    const found = await this.#context.runtimePods.refresh(uid, known);
    const owner = this.#context.config.rootDirectory;
    const own = [...found.sandboxes, ...found.containers].some((made) =>
      isOwn(made, owner),
    );
    return own ? runtimePodAsPod(found) : undefined;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(
      [...this.#workers.values()].map((worker) => worker.stop()),
    );
  }
}

/** A Pod rebuilt from labels and annotations alone. */
export function runtimePodAsPod(found: RuntimePod): Pod | undefined {
  if (found.sandboxes.length + found.containers.length === 0) return undefined;
  const newest = new Map(
    found.containers
      .map((container) => [container.name, container])
      .reverse() as [string, (typeof found.containers)[number]][],
  );
  const records = [...newest.values()].map((container) => ({
    container,
    record: containerRecord(container.annotations),
  }));
  const of = (sidecar: boolean): typeof records =>
    records.filter(
      ({ record }) =>
        (record.kind === "sidecar") === sidecar && record.kind !== "init",
    );
  const grace = records
    .map(({ record }) => record.terminationGraceSeconds)
    .find((value) => value !== undefined);
  const annotations = found.sandboxes[0]?.annotations ?? {};
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: found.name,
      namespace: found.namespace,
      uid: found.uid,
      annotations,
    },
    spec: {
      containers: of(false).map(({ container }) => ({
        name: container.name,
        image: container.image,
      })),
      initContainers: of(true).map(({ container }) => ({
        name: container.name,
        image: container.image,
        restartPolicy: "Always",
      })),
      restartPolicy: records[0]?.record.restartPolicy ?? "Always",
      ...(grace === undefined ? {} : { terminationGracePeriodSeconds: grace }),
    },
  };
}

/** Not for a change of the status alone, which is mostly our own. */
function concernsWorker(before: Pod, after: Pod): boolean {
  const a = before.metadata;
  const b = after.metadata;
  if (
    a.deletionTimestamp !== b.deletionTimestamp ||
    a.deletionGracePeriodSeconds !== b.deletionGracePeriodSeconds
  )
    return true;
  const text = (value: unknown): string => JSON.stringify(value) ?? "";
  if (text(before.spec) !== text(after.spec)) return true;
  if (
    text(a.labels) !== text(b.labels) ||
    text(a.annotations) !== text(b.annotations)
  )
    return true;
  const gates = (pod: Pod): string =>
    text(
      (pod.spec.readinessGates ?? []).map(
        ({ conditionType }) =>
          pod.status?.conditions?.find(({ type }) => type === conditionType)
            ?.status,
      ),
    );
  return gates(before) !== gates(after);
}

// What the runtime runs, by pod uid: sandboxes and containers with their statuses. Filled by one list at start and then
// by events: an event makes its pod dirty and wakes its listener, the next refresh of a dirty pod asks the runtime for
// that pod alone. Invariants: an entry is replaced, never changed in place; both lists are newest first; a container
// that exited keeps the status first read, but for an out-of-memory kill that is announced later.
import type { Logger } from "pino";
import type { Clock, Timer } from "../../../api/clock.ts";
import {
  type ContainerStatus,
  type ContainerSummary,
  type Runtime,
  type RuntimeEvent,
  type SandboxStatus,
  type SandboxSummary,
} from "../../../cri/runtime.ts";
import type { PodMetrics } from "../../metrics/pod-metrics.ts";
import { newestContainerFirst, newestFirst } from "./newest-first.ts";
import { podUidLabel } from "../shape/labels.ts";
import { isPresent, orNotFound } from "./present.ts";
import { listsByPod, statesOf, type PodLists } from "./pod-lists.ts";
import { newEntry, type Entry, type RuntimePod } from "./runtime-entry.ts";

export type { RuntimePod };

interface RuntimePodsOptions {
  runtime: Runtime;
  clock: Clock;
  logger: Logger;
  /** The last message of a container that ended; asked once. */
  lastMessage: (status: ContainerStatus) => Promise<string>;
  /** A pod's containers changed. */
  onChange: (uid: string, event: RuntimeEvent | undefined) => void;
  /** The sandboxes may be others than before; not called before the first list, nor when it is stopped. */
  onSandboxes?: () => void;
  metrics?: Pick<PodMetrics, "relisted" | "runtimeSeen">;
}

const relistDebounceMs = 100;

export class RuntimePods {
  readonly #options: RuntimePodsOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #owners = new Map<string, string>();
  #unsubscribe: (() => void) | undefined;
  #relistTimer: Timer | undefined;
  #listed = false;
  #changePlanned = false;
  #oomKilled = new Set<string>();

  constructor(options: RuntimePodsOptions) {
    this.#options = options;
  }

  /** Rejects when the runtime does not answer; may be called again. */
  async start(): Promise<void> {
    this.#unsubscribe ??= this.#options.runtime.subscribe((event) =>
      this.#onEvent(event),
    );
    await this.relist();
  }

  stop(): void {
    this.#unsubscribe?.();
    this.#unsubscribe = undefined;
    this.#relistTimer?.cancel();
  }

  uids(): string[] {
    return [...this.#entries.keys()];
  }

  get(uid: string): RuntimePod | undefined {
    return this.#entries.get(uid)?.pod;
  }

  list(): RuntimePod[] {
    return [...this.#entries.values()].map(({ pod }) => pod);
  }

  /** A sandbox this agent just made: known without another list. */
  async addSandbox(uid: string, id: string): Promise<SandboxStatus> {
    this.#owners.set(id, uid);
    const status = await this.#options.runtime.podSandboxStatus(id);
    const entry = this.#entries.get(uid);
    if (entry)
      this.#replace(entry, {
        ...entry.pod,
        sandboxes: [
          status,
          ...entry.pod.sandboxes.filter((sandbox) => sandbox.id !== id),
        ],
      });
    return status;
  }

  /** A container this agent just started. */
  async addContainer(uid: string, id: string): Promise<void> {
    // It may have ended already.
    const status = await this.#withMessage(
      await this.#options.runtime.containerStatus(id),
    );
    const entry = this.#entries.get(uid);
    if (!entry) return;
    entry.pod = {
      ...entry.pod,
      containers: [
        status,
        ...entry.pod.containers.filter((container) => container.id !== id),
      ].sort(newestContainerFirst),
    };
    if (status.state !== "running") this.markDirty(uid, id);
  }

  /** The pod's id belongs to this uid from now on, so that its events find their way before the next refresh. */
  adopt(uid: string, id: string): void {
    this.#owners.set(id, uid);
  }

  /** @param containerId it alone changed; default: anything of the pod may have */
  markDirty(uid: string, containerId?: string): void {
    const entry = this.#entries.get(uid);
    if (!entry) return;
    entry.version++;
    const { containers } = entry.pod;
    if (containers.some(({ id }) => id === containerId))
      entry.changed.set(containerId!, entry.version);
    else entry.unlistedVersion = entry.version;
  }

  ownerOf(id: string): string | undefined {
    return this.#owners.get(id);
  }

  /** The pod's present state; asks the runtime only when something happened since the last time. */
  async refresh(
    uid: string,
    identity: { name: string; namespace: string },
  ): Promise<RuntimePod> {
    let entry = this.#entries.get(uid);
    if (!entry) {
      // After the first list nothing comes up that this agent did not make.
      entry = newEntry({ uid, ...identity }, this.#listed ? 1 : 0);
      this.#entries.set(uid, entry);
    }
    if (entry.readVersion === entry.version) return entry.pod;
    const version = entry.version;
    const { runtime } = this.#options;
    const { sandboxes, containers } = await this.#lists(uid, entry);
    const previous = entry.pod;
    const [sandboxStatuses, containerStatuses] = await Promise.all([
      Promise.all(
        sandboxes.map(async (summary): Promise<SandboxStatus | undefined> => {
          const known = previous.sandboxes.find(({ id }) => id === summary.id);
          if (!summary.ready) return { ...summary, ips: known?.ips ?? [] };
          return known?.ready
            ? known
            : await orNotFound(runtime.podSandboxStatus(summary.id));
        }),
      ),
      Promise.all(
        containers.map((summary) => this.#containerStatus(summary, previous)),
      ),
    ]);
    const pod: RuntimePod = {
      uid,
      ...identity,
      sandboxes: sandboxStatuses.filter(isPresent).sort(newestFirst),
      containers: containerStatuses
        .filter(isPresent)
        .sort(newestContainerFirst),
    };
    for (const { id } of pod.sandboxes) this.#owners.set(id, uid);
    for (const { id } of pod.containers) this.#owners.set(id, uid);
    this.#forgetGone(previous, pod);
    this.#replace(entry, pod);
    entry.readVersion = version;
    for (const [id, changedAt] of entry.changed)
      if (changedAt <= version) entry.changed.delete(id);
    return pod;
  }

  async #lists(
    uid: string,
    entry: Entry,
  ): Promise<Pick<PodLists, "sandboxes" | "containers">> {
    const { listed, version, pod } = entry;
    delete entry.listed;
    if (listed?.version === version) return listed;
    if (entry.unlistedVersion <= entry.readVersion)
      return {
        sandboxes: [...pod.sandboxes],
        containers: pod.containers.map((status) =>
          entry.changed.has(status.id)
            ? { ...status, state: "unknown" }
            : status,
        ),
      };
    const { runtime } = this.#options;
    const labels = { [podUidLabel]: uid };
    const [sandboxes, containers] = await Promise.all([
      runtime.listPodSandboxes(labels),
      runtime.listContainers({ labels }),
    ]);
    return { sandboxes, containers };
  }

  #replace(entry: Entry, pod: RuntimePod): void {
    const state = ({ sandboxes }: RuntimePod): string =>
      sandboxes.map(({ id, ready }) => `${id}:${ready}`).join();
    const same = state(entry.pod) === state(pod);
    entry.pod = pod;
    if (!same && this.#listed) this.#sandboxesChanged();
  }

  async #containerStatus(
    summary: ContainerSummary,
    previous: RuntimePod,
  ): Promise<ContainerStatus | undefined> {
    const known = previous.containers.find(({ id }) => id === summary.id);
    if (
      known &&
      known.state === summary.state &&
      (known.state === "exited" || known.state === "running")
    )
      return known;
    const status = await orNotFound(
      this.#options.runtime.containerStatus(summary.id),
    );
    return status && this.#withMessage(status);
  }

  async #withMessage(status: ContainerStatus): Promise<ContainerStatus> {
    if (status.state !== "exited") return status;
    const message = await this.#options.lastMessage(status);
    const killed = this.#oomKilled.has(status.id) && status.exitCode !== 0;
    return {
      ...status,
      // The runtime's own, of a container that could not be started, comes first.
      message: [status.message, message].filter(Boolean).join(": "),
      ...(killed ? { reason: "OOMKilled" } : {}),
    };
  }

  /** Drops what is known of a pod of which nothing is left. */
  forget(uid: string): void {
    const entry = this.#entries.get(uid);
    if (!entry) return;
    for (const { id } of [...entry.pod.sandboxes, ...entry.pod.containers])
      this.#dropId(id);
    this.#entries.delete(uid);
    if (entry.pod.sandboxes.length > 0) this.#sandboxesChanged();
  }

  /** Said once a turn of the event loop: who hears it looks at all sandboxes, and many pods may come or go together. */
  #sandboxesChanged(): void {
    if (this.#changePlanned) return;
    this.#changePlanned = true;
    setImmediate(() => {
      this.#changePlanned = false;
      if (this.#unsubscribe) this.#options.onSandboxes?.();
    });
  }

  /** Reads everything again; every pod whose state may have changed is reported. */
  async relist(): Promise<void> {
    const { runtime, clock, metrics } = this.#options;
    const startMs = clock.monotonic();
    const [sandboxes, containers] = await Promise.all([
      runtime.listPodSandboxes(),
      runtime.listContainers(),
    ]);
    metrics?.relisted(startMs, clock.monotonic());
    metrics?.runtimeSeen(clock.now());
    const first = !this.#listed;
    const found = listsByPod(sandboxes, containers);
    for (const [uid, { name, namespace, ...lists }] of found) {
      const ids = statesOf(lists);
      for (const { id } of [...lists.sandboxes, ...lists.containers])
        this.#owners.set(id, uid);
      if (!this.#entries.has(uid))
        this.#entries.set(uid, newEntry({ uid, name, namespace }, 0));
      const known = this.#entries.get(uid)!;
      const before = new Set(statesOf(known.pod));
      if (before.size !== ids.length || ids.some((id) => !before.has(id)))
        this.#changed(uid, undefined);
      // So that a start asks once for all pods, and not once more for each.
      if (first) known.listed = { version: known.version, ...lists };
    }
    for (const [uid, { pod }] of this.#entries)
      if (!found.has(uid) && pod.sandboxes.length + pod.containers.length > 0)
        this.#changed(uid, undefined);
    if (first) await this.#readSandboxes(sandboxes);
    this.#listed = true;
    if (first) this.#options.onSandboxes?.();
  }

  /** Of all pods before the first one is looked at: the network must know them together. */
  async #readSandboxes(all: readonly SandboxSummary[]): Promise<void> {
    const { runtime } = this.#options;
    await Promise.all(
      all.map(async ({ id, ready, labels }) => {
        const entry = this.#entries.get(labels[podUidLabel] ?? "");
        if (!ready || !entry) return;
        const status = await orNotFound(runtime.podSandboxStatus(id));
        if (status)
          entry.pod = {
            ...entry.pod,
            sandboxes: [
              status,
              ...entry.pod.sandboxes.filter((each) => each.id !== id),
            ].sort(newestFirst),
          };
      }),
    );
  }

  /** Exited containers that only the runtime's events know to be out of memory. */
  #onEvent(event: RuntimeEvent): void {
    this.#options.metrics?.runtimeSeen(this.#options.clock.now());
    // What this agent starts it adds itself.
    if (["image", "created", "started"].includes(event.type)) return;
    if (event.type === "lost") {
      this.#relistSoon();
      return;
    }
    const uid = this.#owners.get(event.id);
    if (event.type === "oom") {
      if (this.#oomKilled.size < 10_000) this.#oomKilled.add(event.id);
      // Docker announces it after the exit where the kernel ends all of the container at once (cgroups version 2).
      if (uid !== undefined) this.#changed(uid, event, event.id);
      return;
    }
    if (uid !== undefined) this.#changed(uid, event, event.id);
    else if (event.type === "exited") this.#relistSoon();
  }

  #relistSoon(): void {
    this.#relistTimer ??= this.#options.clock.after(relistDebounceMs, () => {
      this.#relistTimer = undefined;
      this.relist().catch((error: unknown) =>
        this.#options.logger.warn(
          { err: error },
          "can't list the runtime's pods",
        ),
      );
    });
  }

  #changed(uid: string, event: RuntimeEvent | undefined, id?: string): void {
    this.markDirty(uid, id);
    this.#options.onChange(uid, event);
  }

  #forgetGone(before: RuntimePod, after: RuntimePod): void {
    const present = new Set(
      [...after.sandboxes, ...after.containers].map(({ id }) => id),
    );
    for (const { id } of [...before.sandboxes, ...before.containers])
      if (!present.has(id)) this.#dropId(id);
  }

  #dropId(id: string): void {
    this.#owners.delete(id);
    this.#oomKilled.delete(id);
  }
}

/** The newest container of that name in the pod, of any sandbox. */
export function latestContainer(
  pod: RuntimePod,
  name: string,
): ContainerStatus | undefined {
  return pod.containers.find((container) => container.name === name);
}

export function readySandbox(pod: RuntimePod): SandboxStatus | undefined {
  return pod.sandboxes.find(({ ready }) => ready);
}

// Assigns pods to nodes. Informers keep ClusterState and the queue; a loop takes pod after pod, places it against the
// state (placement.ts), assumes the result and binds it in the background, so that the next pod need not wait for the
// API. Failures are reported as the reference does (event FailedScheduling, condition PodScheduled) and retried when an
// event makes another try worth while.
//
// Invariants: the loop is synchronous between two awaits, so a decision always sees all earlier ones; at most
// maxBindings bindings are under way; nothing runs when nothing waits.
import type { Logger } from "pino";
import { formatTime } from "../api/clock.ts";
import type { Clock } from "../api/clock.ts";
import { isNotFound } from "../api/errors.ts";
import { objectKey } from "../api/object.ts";
import type { Node, Pod, PodStatus } from "../api/types/core-v1.ts";
import type { Client } from "../client/client.ts";
import { findCondition, setCondition } from "../api/objects/conditions.ts";
import { EventRecorder } from "../client/event-recorder.ts";
import { sameJson } from "../api/objects/json-equality.ts";
import { isPodTerminal } from "../api/objects/pod-state.ts";
import {
  namespaces,
  nodes,
  podDisruptionBudgets,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  storageClasses,
} from "../client/resources.ts";
import { ClusterState } from "./cluster-state.ts";
import { findPreemption } from "./preemption.ts";
import type { Preemption } from "./preemption.ts";
import { Placer, unavailableMessage } from "./placement.ts";
import type { ClusterEvent, FilterPlugin } from "./plugin.ts";
import { createVolumeBindingFilter } from "./filters/volume-binding.ts";
import { PodViews } from "./pod-view.ts";
import { defaultFilters, defaultScores } from "./profile.ts";
import { SchedulingQueue } from "./scheduling-queue.ts";
import type { QueuedPod } from "./scheduling-queue.ts";

interface SchedulerOptions {
  client: Client;
  clock: Clock;
  logger: Logger;
  /** Pods with this spec.schedulerName are this scheduler's; default "default-scheduler". */
  schedulerName?: string;
  /** In place of the filter that looks at claims and volumes. */
  volumeBinding?: FilterPlugin;
  /** Told of each attempt. */
  onAttempt?: (
    result: "scheduled" | "unschedulable" | "error",
    durationMs: number,
  ) => void;
}

export interface Scheduler {
  /** Returns at once; scheduling begins when the informers have synced. */
  start(): Promise<void>;
  /** Waits for the bindings under way. */
  stop(): Promise<void>;
}

const maxBindings = 64;
/** The loop gives way to others after this long. */
const sliceMs = 8;

export function createScheduler(options: SchedulerOptions): Scheduler {
  return new PodScheduler(options);
}

class PodScheduler implements Scheduler {
  readonly #name: string;
  readonly #views = new PodViews();
  readonly #state: ClusterState;
  readonly #queue: SchedulingQueue;
  readonly #filters: readonly FilterPlugin[];
  readonly #placer: Placer;
  readonly #recorder: EventRecorder;
  readonly #logger: Logger;
  readonly #cleanups: (() => void)[] = [];
  readonly #bindings = new Set<Promise<void>>();
  #planned = false;
  #running = false;

  constructor(private readonly options: SchedulerOptions) {
    const { client, clock, logger, schedulerName, volumeBinding } = options;
    this.#name = schedulerName ?? "default-scheduler";
    this.#logger = logger.child({ scheduler: this.#name });
    this.#filters = defaultFilters(
      volumeBinding ?? createVolumeBindingFilter(client),
    );
    this.#placer = new Placer(this.#filters, defaultScores);
    this.#queue = new SchedulingQueue(clock, () => this.#plan());
    this.#recorder = new EventRecorder({
      client,
      clock,
      logger,
      component: this.#name,
    });
    const namespaceLister = client.informer(namespaces).lister;
    this.#state = new ClusterState(
      (name) => namespaceLister.get(name)?.metadata.labels,
      this.#views,
    );
  }

  async start(): Promise<void> {
    const { client } = this.options;
    const nodeInformer = client.informer(nodes);
    const podInformer = client.informer(pods);
    this.#cleanups.push(
      nodeInformer.addHandler({
        onAdd: (node) => {
          this.#state.setNode(node);
          this.#queue.notify("node-added");
        },
        onUpdate: (old, node) => {
          this.#state.setNode(node);
          for (const event of nodeEvents(old, node)) this.#queue.notify(event);
        },
        onDelete: (node) => this.#state.removeNode(node.metadata.name),
      }),
      podInformer.addHandler({
        onAdd: (pod) => this.#podAdded(pod),
        onUpdate: (old, pod) => this.#podUpdated(old, pod),
        onDelete: (pod) => this.#podGone(pod),
      }),
    );
    client.informer(podDisruptionBudgets);
    const volumesMoved = (): void => this.#queue.notify("volume");
    const onVolumes = { onAdd: volumesMoved, onUpdate: volumesMoved };
    this.#cleanups.push(
      client.informer(persistentVolumeClaims).addHandler(onVolumes),
      client.informer(persistentVolumes).addHandler(onVolumes),
      client.informer(storageClasses).addHandler(onVolumes),
    );
    await Promise.all([
      nodeInformer.synced(),
      podInformer.synced(),
      client.informer(namespaces).synced(),
      client.informer(persistentVolumeClaims).synced(),
      client.informer(persistentVolumes).synced(),
      client.informer(storageClasses).synced(),
    ]);
    this.#running = this.#cleanups.length > 0;
    this.#plan();
  }

  async stop(): Promise<void> {
    this.#running = false;
    for (const cleanup of this.#cleanups.splice(0)) cleanup();
    this.#queue.stop();
    await Promise.allSettled(this.#bindings);
    this.#recorder.stop();
  }

  #isMine(pod: Pod): boolean {
    return (pod.spec.schedulerName ?? "default-scheduler") === this.#name;
  }

  #podAdded(pod: Pod): void {
    if (isPodTerminal(pod)) return;
    if (pod.spec.nodeName) {
      this.#state.setPod(pod);
      this.#queue.remove(objectKey(pod));
      this.#queue.notify("pod-added");
    } else if (this.#isMine(pod) && !pod.metadata.deletionTimestamp)
      this.#queue.add(pod);
  }

  #podUpdated(old: Pod, pod: Pod): void {
    if (isPodTerminal(pod))
      return isPodTerminal(old) ? undefined : this.#podGone(pod);
    if (!pod.spec.nodeName) {
      if (!this.#isMine(pod)) return;
      const key = objectKey(pod);
      if (this.#state.isAssumed(key)) return;
      if (pod.metadata.deletionTimestamp) return this.#queue.remove(key);
      const mayFit =
        !sameJson(old.spec, pod.spec) ||
        !sameJson(old.metadata.labels, pod.metadata.labels);
      return this.#queue.update(pod, mayFit);
    }
    if (!old.spec.nodeName) return this.#podAdded(pod);
    this.#state.setPod(pod);
    if (!sameJson(old.metadata.labels, pod.metadata.labels))
      this.#queue.notify("pod-labels");
    // Asking for less makes room as an end does.
    if (!sameJson(old.spec, pod.spec)) this.#queue.notify("pod-removed");
  }

  #podGone(pod: Pod): void {
    const key = objectKey(pod);
    this.#queue.remove(key);
    this.#state.dropNomination(key);
    this.#state.removePod(key);
    if (pod.spec.nodeName) this.#queue.notify("pod-removed");
  }

  #plan(): void {
    if (this.#planned || !this.#running) return;
    this.#planned = true;
    setImmediate(() => {
      this.#planned = false;
      this.#schedule();
    });
  }

  #schedule(): void {
    const startMs = this.options.clock.monotonic();
    while (this.#running && this.#bindings.size < maxBindings) {
      const entry = this.#queue.pop();
      if (!entry) return;
      this.#try(entry);
      if (this.options.clock.monotonic() - startMs > sliceMs)
        return this.#plan();
    }
  }

  #try(entry: QueuedPod): void {
    const startMs = this.options.clock.monotonic();
    const report = (result: "scheduled" | "unschedulable" | "error"): void =>
      this.options.onAttempt?.(
        result,
        this.options.clock.monotonic() - startMs,
      );
    const view = this.#views.of(entry.pod);
    try {
      const placement = this.#placer.place(view, this.#state);
      if ("node" in placement) {
        this.#state.assume(entry.pod, placement.node.name);
        this.#track(this.#bind(entry, placement.node.name));
        return report("scheduled");
      }
      const { rejections } = placement;
      let message = unavailableMessage(this.#state.nodes().length, rejections);
      let preemption: Preemption | undefined;
      if (rejections.size > 0) {
        const budgets = this.options.client
          .informer(podDisruptionBudgets)
          .lister.list();
        const result = findPreemption(
          view,
          this.#state,
          this.#filters,
          rejections,
          budgets,
        );
        if ("preemption" in result) {
          ({ preemption } = result);
          this.#state.nominate(entry.pod, preemption.node.name);
        } else message += ` preemption: ${result.message}`;
      }
      this.#queue.failed(entry, this.#hintsOf(rejections));
      this.#track(
        this.#reportFailure(entry.pod, "Unschedulable", message, preemption),
      );
      report("unschedulable");
    } catch (error) {
      this.#logger.error({ err: error, pod: entry.key }, "scheduling failed");
      this.#queue.failed(entry, undefined);
      report("error");
    }
  }

  /** What may make the pod fit: the events that any filter which rejected it cares about. */
  #hintsOf(
    rejections: ReadonlyMap<unknown, { plugin: string }>,
  ): ReadonlySet<ClusterEvent> {
    const plugins = new Set(
      [...rejections.values()].map(({ plugin }) => plugin),
    );
    const hints = this.#filters
      .filter(({ name }) => plugins.has(name))
      .flatMap((filter) => filter.hints);
    return new Set<ClusterEvent>(["node-added", ...hints]);
  }

  #track(work: Promise<void>): void {
    const tracked = work
      .catch((error: unknown) => {
        this.#logger.warn({ err: error }, "could not write a decision");
      })
      .finally(() => {
        this.#bindings.delete(tracked);
        if (this.#queue.activeSize > 0) this.#plan();
      });
    this.#bindings.add(tracked);
  }

  async #bind(entry: QueuedPod, nodeName: string): Promise<void> {
    const { pod } = entry;
    const { name, namespace, uid } = pod.metadata;
    try {
      await this.options.client
        .resource(pods)
        .createSubresource(name, namespace, "binding", {
          apiVersion: "v1",
          kind: "Binding",
          metadata: { name, namespace, uid },
          target: { kind: "Node", name: nodeName },
        });
    } catch (error) {
      this.#state.forget(entry.key);
      this.#queue.notify("pod-removed");
      if (isNotFound(error)) return this.#queue.remove(entry.key);
      this.#logger.warn({ err: error, pod: entry.key }, "binding failed");
      this.#queue.failed(entry, undefined);
      await this.#reportFailure(
        pod,
        "SchedulerError",
        `running Bind: ${error instanceof Error ? error.message : String(error)}`,
      );
      return;
    }
    this.#queue.done(entry);
    this.#recorder.event(
      pod,
      "Normal",
      "Scheduled",
      `Successfully assigned ${namespace}/${name} to ${nodeName}`,
    );
  }

  async #reportFailure(
    pod: Pod,
    reason: string,
    message: string,
    preemption?: Preemption,
  ): Promise<void> {
    this.#recorder.event(pod, "Warning", "FailedScheduling", message);
    const status: PodStatus = {
      conditions: [
        ...setCondition(
          pod.status?.conditions?.filter(({ type }) => type === "PodScheduled"),
          { type: "PodScheduled", status: "False", reason, message },
          formatTime(this.options.clock.now()),
        ),
      ],
    };
    if (preemption) status.nominatedNodeName = preemption.node.name;
    const known = findCondition(pod.status?.conditions, "PodScheduled");
    const told =
      known?.status === "False" &&
      known.reason === reason &&
      known.message === message;
    if (!told || preemption) await this.#patchStatus(pod, status);
    if (preemption) await this.#preempt(pod, preemption);
  }

  async #preempt(pod: Pod, { node, victims }: Preemption): Promise<void> {
    await Promise.all(
      victims.map(async ({ pod: victim }) => {
        if (victim.metadata.deletionTimestamp) return;
        await this.#patchStatus(victim, {
          conditions: [
            {
              type: "DisruptionTarget",
              status: "True",
              reason: "PreemptionByScheduler",
              message: `${this.#name}: preempting to accommodate a higher priority pod`,
              lastTransitionTime: formatTime(this.options.clock.now()),
            },
          ],
        });
        const { name, namespace, uid } = victim.metadata;
        await this.options.client
          .resource(pods)
          .delete(name, namespace, uid ? { preconditions: { uid } } : {})
          .catch((error: unknown) => {
            if (!isNotFound(error)) throw error;
          });
        this.#recorder.event(
          victim,
          "Normal",
          "Preempted",
          `Preempted by pod ${pod.metadata.uid} on node ${node.name}`,
        );
      }),
    );
  }

  async #patchStatus(pod: Pod, status: PodStatus): Promise<void> {
    const { name, namespace, uid } = pod.metadata;
    try {
      await this.options.client
        .resource(pods)
        .patch(
          name,
          namespace,
          { type: "strategic", body: { metadata: { uid }, status } },
          { subresource: "status" },
        );
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
}

/** What changed on a node, as far as it may make a pod fit. */
function nodeEvents(old: Node, node: Node): ClusterEvent[] {
  const events: ClusterEvent[] = [];
  const unequal = (a: unknown, b: unknown): boolean => !sameJson(a, b);
  if (
    unequal(old.spec.taints, node.spec.taints) ||
    old.spec.unschedulable !== node.spec.unschedulable
  )
    events.push("node-taints");
  if (unequal(old.metadata.labels, node.metadata.labels))
    events.push("node-labels");
  if (unequal(old.status?.allocatable, node.status?.allocatable))
    events.push("node-allocatable");
  return events;
}

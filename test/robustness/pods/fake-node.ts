// A node's sandboxes and containers, as they go on whatever becomes of the agent, and the runtime through which one agent
// sees and changes them. The node keeps the books: what was started how often, how each run ended, and it notices at once
// what must never be: a container running twice, a second sandbox beside one that is ready, a run that was ended though
// its pod is wanted.
import type {
  ContainerConfig,
  ContainerStatus,
  LinuxResources,
  Runtime,
  RuntimeEvent,
  SandboxConfig,
  SandboxStatus,
} from "../../../cri/runtime.ts";
import { RuntimeError } from "../../../cri/runtime.ts";
import type { Fate } from "../mount.ts";
import { turns } from "../mount.ts";
import type { Random } from "../random.ts";

export interface Runs {
  started: number;
  succeeded: number;
  failed: number;
}

export class FakeNode {
  readonly sandboxes = new Map<string, SandboxStatus>();
  readonly containers = new Map<string, ContainerStatus>();
  /** Seconds that containers which ran were given to end, in their order. */
  readonly graces: number[] = [];
  /** By `<pod uid>/<container>`. */
  readonly runs = new Map<string, Runs>();
  /** Pods that must not be ended by the agent. */
  readonly wanted = new Set<string>();
  readonly listeners = new Set<(event: RuntimeEvent) => void>();
  #made = 0;

  constructor(
    private readonly now: () => number,
    private readonly breaks: (what: string) => void,
  ) {}

  runSandbox(config: SandboxConfig): string {
    const { uid } = config.metadata;
    for (const { metadata, ready, id } of this.sandboxes.values())
      if (metadata.uid === uid && ready)
        this.breaks(`pod ${uid} gets a sandbox beside ${id}, which is ready`);
    const id = `sandbox-${++this.#made}`;
    this.sandboxes.set(id, {
      id,
      metadata: config.metadata,
      ready: true,
      createdAtMs: this.now(),
      labels: config.labels,
      annotations: config.annotations,
      runtimeHandler: "",
      ips: [`10.0.0.${this.#made % 250}`],
    });
    return id;
  }

  stopSandbox(id: string): void {
    const sandbox = this.sandboxes.get(id);
    if (!sandbox?.ready) return;
    for (const container of this.containers.values())
      if (container.sandboxId === id && container.state === "running")
        this.stop(container.id);
    this.sandboxes.set(id, { ...sandbox, ready: false });
    this.#emit("exited", id);
  }

  removeSandbox(id: string): void {
    this.stopSandbox(id);
    for (const container of [...this.containers.values()])
      if (container.sandboxId === id) this.removeContainer(container.id);
    if (this.sandboxes.delete(id)) this.#emit("deleted", id);
  }

  createContainer(sandboxId: string, config: ContainerConfig): string {
    if (!this.sandboxes.get(sandboxId)?.ready)
      throw new RuntimeError("not-found", `sandbox ${sandboxId} is not ready`);
    const id = `${config.name}-${++this.#made}`;
    const { name, attempt, labels, annotations, image, imageRef } = config;
    this.containers.set(id, {
      ...{ id, sandboxId, name, attempt, labels, annotations, image, imageRef },
      state: "created",
      createdAtMs: this.now(),
      startedAtMs: 0,
      finishedAtMs: 0,
      exitCode: 0,
      reason: "",
      message: "",
      logPath: "",
      mounts: [],
      ...(config.resources ? { resources: config.resources } : {}),
    });
    return id;
  }

  startContainer(id: string): void {
    const container = this.#container(id);
    if (container.state !== "created")
      throw new RuntimeError("invalid", `${id} is ${container.state}`);
    const key = this.#key(container);
    for (const other of this.containers.values())
      if (other.state === "running" && this.#key(other) === key)
        this.breaks(`${key} runs twice: ${other.id} and ${id}`);
    this.runsOf(key).started++;
    this.containers.set(id, {
      ...container,
      state: "running",
      startedAtMs: this.now(),
    });
    this.#emit("started", id);
  }

  /** By the agent. One that was created and never started stays as it is, as in containerd. */
  stop(id: string, graceSeconds = 0): void {
    const container = this.containers.get(id);
    if (container?.state !== "running") return;
    this.graces.push(graceSeconds);
    if (this.wanted.has(this.#uid(container)))
      this.breaks(`${id} is ended though its pod is wanted`);
    this.exit(id, 137);
  }

  /** By itself. */
  exit(id: string, exitCode: number): void {
    const container = this.#container(id);
    const runs = this.runsOf(this.#key(container));
    if (exitCode === 0) runs.succeeded++;
    else runs.failed++;
    this.containers.set(id, {
      ...container,
      state: "exited",
      exitCode,
      finishedAtMs: this.now(),
      reason: exitCode === 0 ? "Completed" : "Error",
    });
    this.#emit("exited", id);
  }

  updateResources(id: string, resources: LinuxResources): void {
    const container = this.#container(id);
    if (container.state !== "running")
      throw new RuntimeError("invalid", `${id} is ${container.state}`);
    this.containers.set(id, {
      ...container,
      resources: { ...container.resources, ...resources },
    });
  }

  removeContainer(id: string): void {
    this.stop(id);
    if (this.containers.delete(id)) this.#emit("deleted", id);
  }

  running(): ContainerStatus[] {
    return [...this.containers.values()].filter(
      ({ state }) => state === "running",
    );
  }

  ofPod(uid: string): ContainerStatus[] {
    return [...this.containers.values()].filter(
      (container) => this.#uid(container) === uid,
    );
  }

  runsOf(key: string): Runs {
    let runs = this.runs.get(key);
    if (!runs) {
      runs = { started: 0, succeeded: 0, failed: 0 };
      this.runs.set(key, runs);
    }
    return runs;
  }

  #container(id: string): ContainerStatus {
    const container = this.containers.get(id);
    if (!container) throw new RuntimeError("not-found", `no container ${id}`);
    return container;
  }

  #uid({ sandboxId, labels }: ContainerStatus): string {
    return (
      this.sandboxes.get(sandboxId)?.metadata.uid ??
      labels["io.kubernetes.pod.uid"] ??
      ""
    );
  }

  #key(container: ContainerStatus): string {
    return `${this.#uid(container)}/${container.name}`;
  }

  #emit(type: RuntimeEvent["type"], id: string): void {
    for (const listener of [...this.listeners]) listener({ type, id });
  }
}

const never = new Promise<never>(() => undefined);

export interface ActionOptions {
  readonly random: Random;
  readonly fate: (call: string) => Fate;
  readonly ended: () => boolean;
  readonly end: () => void;
}

export type Action = <T>(name: string, effect: () => T) => Promise<T>;

/** What one agent does to its machine. When the agent has ended its actions have no effect and are never answered. */
export function actionsOf(options: ActionOptions): Action {
  const { random, ended, end } = options;
  return async <T>(name: string, effect: () => T): Promise<T> => {
    if (ended()) return never;
    await turns(random.integer(3));
    if (ended()) return never;
    const fate = options.fate(name);
    if (fate.kind === "fails") {
      // The runtime may have done it, and only the answer was lost.
      if (random.chance(0.5)) ignoring(effect);
      throw new RuntimeError("unavailable", `${name} was not answered`);
    }
    if (fate.kind === "ends") {
      if (fate.effect !== "none") ignoring(effect);
      end();
      return never;
    }
    const result = effect();
    await turns(random.integer(2));
    return ended() ? never : result;
  };
}

/** One agent's way to the node. */
export function fakeRuntime(
  node: FakeNode,
  call: Action,
  ended: () => boolean,
): Runtime {
  const bySelector =
    (labels: Record<string, string> = {}) =>
    (each: { labels: Record<string, string> }): boolean =>
      Object.entries(labels).every(
        ([name, value]) => each.labels[name] === value,
      );
  const found = <T>(entry: T | undefined, id: string): T => {
    if (!entry) throw new RuntimeError("not-found", `no ${id}`);
    return entry;
  };
  const runtime: Partial<Runtime> = {
    name: "containerd",
    runPodSandbox: (config) =>
      call("runPodSandbox", () => node.runSandbox(config)),
    stopPodSandbox: (id) => call("stopPodSandbox", () => node.stopSandbox(id)),
    removePodSandbox: (id) =>
      call("removePodSandbox", () => node.removeSandbox(id)),
    podSandboxStatus: (id) =>
      call("podSandboxStatus", () => found(node.sandboxes.get(id), id)),
    listPodSandboxes: (labels) =>
      call("listPodSandboxes", () =>
        [...node.sandboxes.values()].filter(bySelector(labels)),
      ),
    createContainer: (sandboxId, config) =>
      call("createContainer", () => node.createContainer(sandboxId, config)),
    startContainer: (id) =>
      call("startContainer", () => node.startContainer(id)),
    stopContainer: (id, graceSeconds) =>
      call("stopContainer", () => node.stop(id, graceSeconds)),
    removeContainer: (id) =>
      call("removeContainer", () => node.removeContainer(id)),
    containerStatus: (id) =>
      call("containerStatus", () => found(node.containers.get(id), id)),
    listContainers: (filter) =>
      call("listContainers", () =>
        [...node.containers.values()].filter(bySelector(filter?.labels)),
      ),
    updateContainerResources: (id, resources) =>
      call("updateContainerResources", () =>
        node.updateResources(id, resources),
      ),
    subscribe(listener) {
      const guarded = (event: RuntimeEvent): void => {
        if (!ended()) listener(event);
      };
      node.listeners.add(guarded);
      return () => node.listeners.delete(guarded);
    },
  };
  return runtime as Runtime;
}

function ignoring(effect: () => unknown): void {
  try {
    effect();
  } catch {
    // It would have failed; nobody is told.
  }
}

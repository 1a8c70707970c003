// The node agent: the life cycle of its parts (wiring.ts). Pods come from the sources, workers bring them to what they
// should be, statuses and the node go to the API server. Without a client it runs static pods alone. The runtime may be
// away at start and later: the agent waits for it, reports the node as not ready, and goes on by itself.
// stop() leaves the pods running; the next start finds and adopts them.
import type { Clock } from "../api/clock.ts";
import type { NodeAgentView } from "../api/contracts.ts";
import type { Node } from "../api/types/core-v1.ts";
import type { AgentOptions } from "./agent-options.ts";
import type { AgentParts } from "./agent-parts.ts";
import { agentView } from "./agent-view.ts";
import type { AgentConfig } from "./config/agent-config.ts";
import { checkResolvConf } from "./pods/start/resolv-conf.ts";
import { wireAgent } from "./wiring.ts";

export type { AgentOptions } from "./agent-options.ts";

export interface Agent extends NodeAgentView {
  readonly settings: AgentConfig;
  /** Resolves when the directory was read once; does not wait for the runtime or the API server. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Writes what changed of the node now, such as its addresses. */
  report(): void;
  /** The Node object; undefined while it is not registered. */
  node(): Node | undefined;
  /** Reports a manifest that can't be used, in the log and as an Event of the node. The message names the file. */
  manifestProblem(file: string, message: string): void;
}

/** start() does not wait longer than this for the runtime. */
const startPatienceMs = 1000;

export function createAgent(options: AgentOptions): Agent {
  const parts = wireAgent(options);
  const life = new AgentLife(parts);
  const view = agentView({
    ...parts,
    healthy: () => life.healthy(),
  });
  return {
    ...view,
    settings: parts.settings,
    start: () => life.start(),
    stop: () => life.stop(),
    report: () => parts.node.report(),
    node: () => parts.node.node,
    manifestProblem: parts.manifestProblem,
  };
}

class AgentLife {
  readonly #parts: AgentParts;
  #stopped = false;

  constructor(parts: AgentParts) {
    this.#parts = parts;
  }

  async start(): Promise<void> {
    const { cgroups, allocatable, volumes, objects, node, lease, sources } =
      this.#parts;
    const { adoption, pressure, housekeeping, rotation, clock } = this.#parts;
    const { plugins, devices, claims, shutdown } = this.#parts;
    await this.#parts.allocated?.start();
    await this.#parts.userNamespaces?.start();
    await cgroups.start();
    await allocatable.start();
    await volumes.start();
    await this.#parts.csi.start();
    await devices.start();
    await claims.start();
    await this.#parts.resources.start();
    await plugins.start();
    objects.start();
    // Who asks for it once the agent says that it is well finds its socket.
    this.#parts.podResources.start();
    await node.start();
    lease?.start();
    const runtimeRead = adoption.start();
    await sources.start();
    pressure.start();
    shutdown.start();
    housekeeping.start();
    rotation.start();
    this.#parts.systemOom.start();
    void checkResolvConf(this.#parts);
    this.#parts.archives?.start();
    await Promise.race([runtimeRead, afterMs(clock, startPatienceMs)]);
    adoption.startResync();
  }

  /** What makes work ends first, then the workers, then what they report through. */
  async stop(): Promise<void> {
    const { adoption, sources, reports, lease, probes, pressure } = this.#parts;
    const { housekeeping, rotation, node, workers, volumes } = this.#parts;
    const { runtimePods, recorder, plugins, devices, claims, shutdown } =
      this.#parts;
    this.#stopped = true;
    this.#parts.allocatable.stop();
    this.#parts.resources.stop();
    adoption.stop();
    reports.stopMirrors();
    lease?.stop();
    probes.stop();
    pressure.stop();
    shutdown.stop();
    housekeeping.stop();
    rotation.stop();
    this.#parts.systemOom.stop();
    await this.#parts.archives?.stop();
    await node.stop();
    await sources.stop();
    const workersStopped = workers.stop();
    // No worker waits for a driver that hangs. Device plug-ins come later: a pod whose devices fail is refused for good.
    claims.stop();
    await this.#parts.csi.stop();
    await workersStopped;
    this.#parts.objects.stop();
    await this.#parts.podResources.stop();
    await plugins.stop();
    await devices.stop();
    await volumes.stop();
    reports.stop();
    runtimePods.stop();
    recorder?.stop();
  }

  /** Rejects with the reason when the agent's loops do not run. */
  healthy(): Promise<void> {
    if (this.#stopped) return Promise.reject(new Error("the agent is stopped"));
    const runtime = this.#parts.node.runtimeState;
    return runtime.state === "down"
      ? Promise.reject(
          new Error(`container runtime is down: ${runtime.reason}`),
        )
      : Promise.resolve();
  }
}

function afterMs(clock: Clock, delayMs: number): Promise<void> {
  return new Promise((resolve) => clock.after(delayMs, resolve));
}

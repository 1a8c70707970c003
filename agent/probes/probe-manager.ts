// Runs the startup, liveness and readiness probes of all running containers. A probe belongs to one run of a container
// (its id): a restart begins again. Liveness and readiness wait for startup. Results change only when a threshold is
// reached; each change wakes the pod's worker. Containers without probes cost nothing, and no timer runs for them.
import type { Logger } from "pino";
import type { Clock, Timer } from "../../api/clock.ts";
import type {
  Container,
  Pod,
  PodStatus,
  Probe,
} from "../../api/types/core-v1.ts";
import type { Labels } from "../../api/metrics/family.ts";
import type { ContainerStatus, Runtime } from "../../cri/runtime.ts";
import type { PodEvents } from "../events/pod-events.ts";
import { podAddresses } from "../pods/shape/pod-addresses.ts";
import { podContainers } from "../pods/shape/pod-shape.ts";
import { readySandbox, type RuntimePod } from "../pods/runtime/runtime-pods.ts";
import { ProbeMetrics, type ProbeResult } from "./probe-metrics.ts";
import type { ProbeOutcome } from "./probe-outcome.ts";
import { runProbe } from "./run-probe.ts";

type ProbeType = "startup" | "liveness" | "readiness";

interface ProbeManagerOptions {
  runtime: Runtime;
  clock: Clock;
  logger: Logger;
  events: PodEvents;
  nodeIPs: () => readonly string[];
  previousStatus: (pod: Pod) => PodStatus | undefined;
  onChange: (uid: string) => void;
  /** From 0 to 1; replaced in tests. */
  random?: () => number;
}

interface Watched {
  uid: string;
  pod: Pod;
  container: Container;
  containerId: string;
  host: string;
  startedAtMs: number;
  /** An earlier agent has reported it. */
  adopted: boolean;
  probes: Map<ProbeType, Running>;
}

interface Running {
  type: ProbeType;
  probe: Probe;
  result: "success" | "failure" | undefined;
  streak: number;
  lastOk: boolean | undefined;
  timer: Timer | undefined;
  stopped: boolean;
}

export class ProbeManager {
  readonly #options: ProbeManagerOptions;
  readonly #watched = new Map<string, Watched>();
  readonly #beganMs: number;
  readonly metrics = new ProbeMetrics();

  constructor(options: ProbeManagerOptions) {
    this.#options = options;
    this.#beganMs = options.clock.monotonic();
  }

  liveness(containerId: string): "success" | "failure" | undefined {
    return this.#watched.get(containerId)?.probes.get("liveness")?.result;
  }

  startup(containerId: string): "success" | "failure" | undefined {
    return this.#watched.get(containerId)?.probes.get("startup")?.result;
  }

  started(container: Container, containerId: string): boolean {
    return !container.startupProbe || this.startup(containerId) === "success";
  }

  ready(container: Container, containerId: string): boolean {
    return (
      !container.readinessProbe ||
      this.#watched.get(containerId)?.probes.get("readiness")?.result ===
        "success"
    );
  }

  update(pod: Pod, runtimePod: RuntimePod): void {
    const uid = pod.metadata.uid ?? "";
    const running = new Set<string>();
    const sandboxId = readySandbox(runtimePod)?.id;
    for (const { container, kind } of podContainers(pod)) {
      if (kind === "init" || kind === "ephemeral") continue;
      if (
        !container.startupProbe &&
        !container.livenessProbe &&
        !container.readinessProbe
      )
        continue;
      const status = runtimePod.containers.find(
        ({ name }) => name === container.name,
      );
      if (status?.state !== "running" || status.sandboxId !== sandboxId)
        continue;
      running.add(status.id);
      const known = this.#watched.get(status.id);
      if (known) known.pod = pod;
      else this.#watch(pod, container, status, runtimePod);
    }
    for (const watched of [...this.#watched.values()])
      if (watched.uid === uid && !running.has(watched.containerId))
        this.#drop(watched);
  }

  stopLiveness(uid: string): void {
    for (const watched of this.#watched.values()) {
      if (watched.uid !== uid) continue;
      for (const type of ["startup", "liveness"] as const)
        stop(watched.probes.get(type));
    }
  }

  remove(uid: string): void {
    for (const watched of [...this.#watched.values()])
      if (watched.uid === uid) this.#drop(watched);
  }

  stop(): void {
    for (const watched of [...this.#watched.values()]) this.#drop(watched);
  }

  #watch(
    pod: Pod,
    container: Container,
    status: ContainerStatus,
    runtimePod: RuntimePod,
  ): void {
    const nodeIPs = this.#options.nodeIPs();
    const sandboxIPs = readySandbox(runtimePod)?.ips ?? [];
    const [host = nodeIPs[0] ?? "127.0.0.1"] = podAddresses(
      sandboxIPs,
      nodeIPs,
    );
    // A container that an earlier agent had seen ready stays so until a probe says otherwise.
    const before = this.#options.previousStatus(pod);
    const previous = [
      ...(before?.containerStatuses ?? []),
      ...(before?.initContainerStatuses ?? []),
    ].find(({ containerID }) => containerID?.endsWith(`//${status.id}`));
    const watched: Watched = {
      uid: pod.metadata.uid ?? "",
      pod,
      container,
      containerId: status.id,
      host,
      startedAtMs: status.startedAtMs,
      adopted: previous !== undefined,
      probes: new Map(),
    };
    this.#watched.set(status.id, watched);
    const add = (
      type: ProbeType,
      probe: Probe | undefined,
      result: Running["result"],
    ): void => {
      if (probe)
        watched.probes.set(type, {
          type,
          probe,
          result,
          streak: 0,
          lastOk: undefined,
          timer: undefined,
          stopped: false,
        });
    };
    add(
      "startup",
      container.startupProbe,
      previous?.started ? "success" : undefined,
    );
    add("liveness", container.livenessProbe, undefined);
    add(
      "readiness",
      container.readinessProbe,
      previous?.ready ? "success" : "failure",
    );
    const startup = watched.probes.get("startup");
    if (startup && startup.result !== "success")
      this.#schedule(watched, startup, this.#firstDelayMs(watched, startup));
    else this.#startOthers(watched);
  }

  #startOthers(watched: Watched): void {
    for (const type of ["liveness", "readiness"] as const) {
      const running = watched.probes.get(type);
      if (running && !running.stopped)
        this.#schedule(watched, running, this.#firstDelayMs(watched, running));
    }
  }

  /**
   * From the container's start, but never longer than that from now: the clock may have been set back since. An agent that
   * starts again finds all containers at once: their probes begin spread over their period, and stay so.
   */
  #firstDelayMs(watched: Watched, { probe }: Running): number {
    const { clock, random = Math.random } = this.#options;
    const delayMs = (probe.initialDelaySeconds ?? 0) * 1000;
    const leftMs = watched.startedAtMs + delayMs - clock.now();
    const initialMs = Math.min(delayMs, Math.max(0, leftMs));
    const periodMs = (probe.periodSeconds ?? 10) * 1000;
    const begins = clock.monotonic() - this.#beganMs < periodMs;
    return watched.adopted && begins
      ? Math.max(initialMs, Math.floor(random() * periodMs))
      : initialMs;
  }

  #schedule(watched: Watched, running: Running, delayMs: number): void {
    running.timer?.cancel();
    running.timer = this.#options.clock.after(delayMs, () => {
      this.#probe(watched, running).catch((error: unknown) =>
        this.#options.logger.error(
          { err: error, pod: watched.pod.metadata.name },
          "probe failed unexpectedly",
        ),
      );
    });
  }

  async #probe(watched: Watched, running: Running): Promise<void> {
    const { runtime, clock } = this.#options;
    const periodMs = (running.probe.periodSeconds ?? 10) * 1000;
    const startedMs = clock.monotonic();
    const outcome = await runProbe(
      runtime,
      running.probe,
      watched.container,
      watched.containerId,
      watched.host,
    );
    if (running.stopped || this.#watched.get(watched.containerId) !== watched)
      return;
    const tookMs = clock.monotonic() - startedMs;
    this.metrics.count(
      { ...watched, type: running.type, labels: metricLabels(watched) },
      results[outcome.verdict],
      outcome.verdict === "error" ? undefined : tookMs / 1000,
    );
    this.#judge(watched, running, outcome);
    const over =
      running.type === "startup"
        ? running.result !== undefined
        : running.type === "liveness" && running.result === "failure";
    if (!over && !running.stopped)
      this.#schedule(
        watched,
        running,
        Math.max(0, periodMs - (clock.monotonic() - startedMs)),
      );
  }

  #judge(watched: Watched, running: Running, outcome: ProbeOutcome): void {
    const { events } = this.#options;
    const title = running.type[0]!.toUpperCase() + running.type.slice(1);
    const name = watched.container.name;
    if (outcome.verdict === "error") {
      // No result: neither success nor failure.
      events.container(
        watched.pod,
        name,
        "Warning",
        "Unhealthy",
        `${title} probe errored: ${outcome.output}`,
      );
      return;
    }
    const ok = outcome.verdict === "success";
    if (!ok)
      events.container(
        watched.pod,
        name,
        "Warning",
        "Unhealthy",
        `${title} probe failed: ${outcome.output}`,
      );
    else if (outcome.warning)
      events.container(
        watched.pod,
        name,
        "Warning",
        "ProbeWarning",
        `${title} probe warning: ${outcome.output}`,
      );
    running.streak = running.lastOk === ok ? running.streak + 1 : 1;
    running.lastOk = ok;
    const threshold = ok
      ? (running.probe.successThreshold ?? 1)
      : (running.probe.failureThreshold ?? 3);
    if (running.streak < threshold) return;
    const result = ok ? "success" : "failure";
    if (running.result === result) return;
    running.result = result;
    if (running.type === "startup" && ok) this.#startOthers(watched);
    this.#options.onChange(watched.uid);
  }

  #drop(watched: Watched): void {
    for (const running of watched.probes.values()) stop(running);
    this.#watched.delete(watched.containerId);
    this.metrics.forget(watched.containerId);
  }
}

const results: Readonly<Record<ProbeOutcome["verdict"], ProbeResult>> = {
  success: "successful",
  failure: "failed",
  error: "unknown",
};

function metricLabels({ pod, container, uid }: Watched): Labels {
  const { name = "", namespace = "" } = pod.metadata;
  return { container: container.name, namespace, pod: name, pod_uid: uid };
}

function stop(running: Running | undefined): void {
  if (!running) return;
  running.stopped = true;
  running.timer?.cancel();
}

// The node agent: composition of its rooms and their life cycle. Pods come from the sources, workers bring them to what
// they should be, statuses and the node go to the API server. Without a client it runs static pods alone. The runtime may
// be away at start and later: the agent waits for it, reports the node as not ready, and goes on by itself.
// stop() leaves the pods running; the next start finds and adopts them.
import { isPodTerminal } from "../api/objects/pod-state.ts";
import { readFileSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import type { Duplex, Readable } from "node:stream";
import type { Logger } from "pino";
import { systemClock, type Clock, type Timer } from "../api/clock.ts";
import type {
  ExecOptions,
  ExecSession,
  LogOptions,
  NodeAgentView,
} from "../api/contracts.ts";
import type { AnyObject, KubeObject } from "../api/object.ts";
import type { Pod } from "../api/types/core-v1.ts";
import type { OwnerReference } from "../api/types/meta-v1.ts";
import type { Client } from "../client/client.ts";
import { EventRecorder } from "../client/event-recorder.ts";
import { pods as podsRef, runtimeClasses } from "../client/resources.ts";
import type { Runtime } from "../cri/runtime.ts";
import { ImageGarbage } from "../eviction/image-garbage.ts";
import { Housekeeping } from "./housekeeping.ts";
import { LogRotation } from "./logs/log-rotation.ts";
import { StatsSummary } from "./stats/summary.ts";
import { CgroupManager } from "./cgroups/cgroup-manager.ts";
import { CgroupV1 } from "./cgroups/v1.ts";
import { CgroupV2, isUnified } from "./cgroups/v2.ts";
import {
  kubeletConfiguration,
  resolveAgentConfig,
  type AgentConfig,
} from "./config/agent-config.ts";
import { within } from "../cri/deadline.ts";
import { logSink, recorderSink } from "./events/event-sinks.ts";
import { PodEvents } from "./events/pod-events.ts";
import { ReferencedObjects } from "./sources/referenced-objects.ts";
import { BackOff } from "./pods/start/back-off.ts";
import type { NodeResources } from "./pods/shape/field-paths.ts";
import { HostFiles } from "./pods/start/host-files.ts";
import { imageCredentials } from "./pods/start/image-credentials.ts";
import { ImageManager } from "./pods/start/image-manager.ts";
import { isMirrorPod } from "./pods/shape/labels.ts";
import { createHookRunner } from "./pods/end/lifecycle-hooks.ts";
import { hasSysResource } from "./resources/linux-resources.ts";
import type { PodContext } from "./pods/worker/pod-context.ts";
import { PodWorkers, runtimePodAsPod } from "./pods/worker/pod-workers.ts";
import { Turns } from "./pods/start/turns.ts";
import { RuntimePods } from "./pods/runtime/runtime-pods.ts";
import { NodeLease } from "./node/lease.ts";
import { NodeAdmission } from "./node/node-admission.ts";
import { PressureControl } from "./node/pressure.ts";
import { NodeReporter } from "./node/node-reporter.ts";
import { PodAccess } from "./pod-access.ts";
import { ProbeManager } from "./probes/probe-manager.ts";
import { ServiceAccountTokens } from "./volumes/service-account-tokens.ts";
import { VolumeManager } from "./volumes/volume-manager.ts";
import { FileSource } from "./sources/file-source.ts";
import type { PodSpecValidator } from "./sources/static-pod.ts";
import { UrlSource } from "./sources/url-source.ts";
import { MirrorPods } from "./reporting/mirror-pods.ts";
import { terminationMessage } from "./status/termination-message.ts";
import { StatusManager } from "./reporting/status-manager.ts";

export interface AgentOptions {
  /** Started by its owner, who also stops it; it need not answer yet. */
  runtime: Runtime;
  /** Absent: standalone, static pods only. */
  client?: Client;
  config: Partial<AgentConfig> & { nodeName: string };
  clock?: Clock;
  logger: Logger;
  /** Objects of other kinds found in the manifests directory, by file: the complete set after each change. */
  onOtherManifests?: (
    byFile: ReadonlyMap<string, readonly AnyObject[]>,
  ) => void;
  /** The API server's rules for a pod's spec; a static pod that breaks them is reported and not run. */
  validatePodSpec?: PodSpecValidator;
}

export interface Agent extends NodeAgentView {
  readonly settings: AgentConfig;
  /** Resolves when the sources were first read; does not wait for the runtime or the API server. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Tells of a manifest that can't be used, in the log and as an Event of the node. The message names the file. */
  manifestProblem(file: string, message: string): void;
}

export function createAgent(options: AgentOptions): Agent {
  return new NodeAgent(options);
}

const runtimeRetryMs = 1000;
/** For who asks which pods run while the runtime hangs. */
const listPatienceMs = 10_000;
/** start() does not wait longer than this for the runtime. */
const startPatienceMs = 1000;

class NodeAgent implements Agent {
  readonly settings: AgentConfig;
  readonly nodeName: string;
  readonly #options: AgentOptions;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #context: PodContext;
  readonly #runtimePods: RuntimePods;
  readonly #workers: PodWorkers;
  readonly #status: StatusManager;
  readonly #mirrors: MirrorPods | undefined;
  readonly #recorder: EventRecorder | undefined;
  readonly #objects: ReferencedObjects;
  readonly #cgroups: CgroupManager;
  readonly #probes: ProbeManager;
  readonly #volumes: VolumeManager;
  readonly #node: NodeReporter;
  readonly #lease: NodeLease | undefined;
  readonly #access: PodAccess;
  readonly #pressure: PressureControl;
  readonly #admission: NodeAdmission;
  readonly #housekeeping: Housekeeping;
  readonly #rotation: LogRotation;
  readonly #stats: StatsSummary;
  readonly #listeners = new Map<string, Set<() => void>>();
  #fileSource: FileSource | undefined;
  #urlSource: UrlSource | undefined;
  #resyncTimer: Timer | undefined;
  #runtimeTimer: Timer | undefined;
  #removeHandler: (() => void) | undefined;
  #filePods: readonly Pod[] = [];
  #urlPods: readonly Pod[] = [];
  #staticUids = new Set<string>();
  /** Pods wait until the runtime was read once, so that none is started twice. */
  #runtimeRead = false;
  readonly #waitingPods = new Map<string, Pod>();
  readonly #complete = new Set<string>();
  #stopped = false;

  constructor(options: AgentOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#logger = options.logger;
    this.settings = resolveAgentConfig(options.config);
    this.nodeName = this.settings.nodeName;
    const { runtime, client } = options;
    const clock = this.#clock;
    const logger = this.#logger;
    const config = this.settings;
    this.#recorder =
      client &&
      new EventRecorder({
        client,
        clock,
        logger,
        component: "kubelet",
        host: this.nodeName,
      });
    const events = new PodEvents(
      this.#recorder ? recorderSink(this.#recorder, logger) : logSink(logger),
      () => this.#nodeObject(),
    );
    this.#objects = new ReferencedObjects(client, clock);
    this.#cgroups = new CgroupManager(new CgroupV1(config.cgroupMount), config);
    this.#mirrors =
      client &&
      new MirrorPods({
        client,
        clock,
        logger,
        owner: () => this.#nodeOwner(),
        onMirror: (uid) => this.#status.resend(uid),
      });
    this.#status = new StatusManager({
      client,
      clock,
      logger,
      mirrorOf: (pod) => this.#mirrors?.mirrorOf(pod),
    });
    this.#runtimePods = new RuntimePods({
      runtime,
      clock,
      logger,
      lastWords: terminationMessage,
      onChange: (uid) => this.#runtimeChanged(uid),
    });
    const nodeResources = (): NodeResources => ({
      cpuMillis: cpus().length * 1000,
      memoryBytes: totalmem(),
      ephemeralStorageBytes: this.#node.capacity?.storageBytes ?? 0,
    });
    const tokens = new ServiceAccountTokens(client, clock);
    const volumes = (this.#volumes = new VolumeManager({
      config,
      client,
      clock,
      logger,
      source: {
        configMap: (namespace, name) =>
          this.#objects.configMap(namespace, name),
        secret: (namespace, name) => this.#objects.secret(namespace, name),
        nodeResources,
        serviceAccountToken: (pod, audience, expirationSeconds) =>
          tokens.get(pod, audience, expirationSeconds),
      },
      forgetTokens: (uid) => tokens.forget(uid),
    }));
    const probes = new ProbeManager({
      runtime,
      clock,
      logger,
      events,
      nodeIPs: () => this.#node.addresses,
      previousStatus: (pod) => this.#status.get(pod),
      onChange: (uid) => this.#workers.wake(uid),
    });
    this.#probes = probes;
    this.#node = new NodeReporter({
      client,
      runtime,
      config,
      clock,
      logger,
      events,
      problems: () => [],
      pressure: () => this.#pressure.pressure,
      onRegistered: () => this.#mirrors?.reconcile(),
      onRuntimeRecovered: () => this.#resyncNow(),
    });
    const images = new ImageGarbage({
      runtime,
      clock,
      logger,
      highThresholdPercent: config.imageGcHighThresholdPercent,
      lowThresholdPercent: config.imageGcLowThresholdPercent,
      minimumAgeMs: config.minimumImageTtlMs,
      onFailure: (reason, message) => events.node("Warning", reason, message),
    });
    const live = (): readonly Pod[] =>
      this.#workers
        .list()
        .filter(
          ({ state, pod }) =>
            (state === "syncing" || state === "terminating") &&
            !isPodTerminal({ status: this.#status.get(pod) }),
        )
        .map(({ pod }) => pod);
    this.#pressure = new PressureControl({
      config,
      runtime,
      images,
      pods: () =>
        live().filter(
          ({ metadata }) =>
            this.#workers.get(metadata.uid ?? "")?.state === "syncing",
        ),
      evict: (pod, message) => this.#evict(pod, message),
      clock,
      logger,
      onChange: () => this.#node.report(),
    });
    this.#admission = new NodeAdmission({
      nodeName: config.nodeName,
      node: () => this.#node.node,
      pods: live,
      pressure: () => this.#pressure.pressure,
      allowedUnsafeSysctls: config.allowedUnsafeSysctls,
    });
    const hostFiles = new HostFiles(config);
    this.#housekeeping = new Housekeeping({
      images,
      cgroups: this.#cgroups,
      hostFiles,
      volumes,
      isKnown: (uid) =>
        this.#workers.get(uid) !== undefined ||
        this.#waitingPods.has(uid) ||
        this.#runtimePods.uids().includes(uid),
      clock,
      logger,
    });
    this.#rotation = new LogRotation({
      runtime,
      containers: () =>
        this.#runtimePods
          .list()
          .flatMap(({ containers }) => containers)
          .filter(({ state, logPath }) => state === "running" && logPath),
      maxSizeBytes: config.containerLogMaxSizeBytes,
      maxFiles: config.containerLogMaxFiles,
      intervalMs: config.containerLogMonitorIntervalMs,
      clock,
      logger,
    });
    this.#stats = new StatsSummary({
      runtime,
      nodeName: config.nodeName,
      rootDirectory: config.rootDirectory,
      pods: () => this.pods(),
      startedAtMs: clock.now(),
      clock,
    });
    this.#lease =
      client && config.registerNode
        ? new NodeLease({
            client,
            nodeName: config.nodeName,
            durationSeconds: config.nodeLeaseDurationSeconds,
            clock,
            logger,
            owner: () => this.#nodeOwner(),
          })
        : undefined;
    this.#access = new PodAccess({
      runtime,
      pods: () => this.pods(),
      refresh: (pod) =>
        this.#runtimePods.refresh(pod.metadata.uid ?? "", {
          name: pod.metadata.name,
          namespace: pod.metadata.namespace ?? "default",
        }),
      onChange: (uid, listener) => this.#listen(uid, listener),
    });
    const limits = {
      config,
      machineMemoryBytes: totalmem(),
      lowestOomScoreAdj: lowestOomScoreAdj(),
    };
    this.#context = {
      admission: this.#admission,
      config,
      runtime,
      runtimePods: this.#runtimePods,
      images: new ImageManager({
        runtime,
        clock,
        events,
        serialized: config.serializeImagePulls,
        maxParallel: config.maxParallelImagePulls,
        credentials: (pod, image) =>
          imageCredentials(pod, image, (namespace, name) =>
            this.#objects.secret(namespace, name),
          ),
      }),
      volumes,
      probes,
      cgroups: this.#cgroups,
      hostFiles,
      hooks: createHookRunner(runtime, clock),
      environment: {
        configMap: (namespace, name) =>
          this.#objects.configMap(namespace, name),
        secret: (namespace, name) => this.#objects.secret(namespace, name),
        services: (namespace) => this.#objects.services(namespace),
        nodeResources,
      },
      status: this.#status,
      events,
      restartBackOff: new BackOff(),
      sandboxTurns: new Turns(Math.max(8, cpus().length * 2)),
      resourceLimits: () => limits,
      nodeIPs: () => this.#node.addresses,
      runtimeHandler: (pod) => this.#runtimeHandler(pod),
      clock,
      logger,
    };
    this.#workers = new PodWorkers(this.#context, () => undefined);
  }

  async start(): Promise<void> {
    const { config, clock, logger } = {
      config: this.settings,
      clock: this.#clock,
      logger: this.#logger,
    };
    const { client } = this.#options;
    if (await isUnified(config.cgroupMount))
      this.#cgroups.useDriver(new CgroupV2(config.cgroupMount));
    await this.#cgroups.start();
    await this.#volumes.start();
    this.#objects.start();
    await this.#node.start();
    this.#lease?.start();
    const runtimeReady = this.#startRuntime();
    if (client) this.#startApiSource(client);
    else this.#complete.add("api");
    if (config.manifestUrl) {
      this.#urlSource = new UrlSource({
        url: config.manifestUrl,
        headers: config.manifestUrlHeaders,
        nodeName: this.nodeName,
        checkFrequencyMs: config.httpCheckFrequencyMs,
        clock,
        logger,
        onPods: (pods) => {
          this.#urlPods = pods;
          this.#complete.add("http");
          this.#setStatic();
        },
        onProblem: (url, message) => this.manifestProblem(url, message),
        validateSpec: this.#options.validatePodSpec,
      });
      void this.#urlSource.start();
    } else this.#complete.add("http");
    if (config.manifestsDirectory) {
      this.#fileSource = new FileSource({
        path: config.manifestsDirectory,
        nodeName: this.nodeName,
        checkFrequencyMs: config.fileCheckFrequencyMs,
        clock,
        logger,
        onPods: (pods) => {
          this.#filePods = pods;
          this.#complete.add("file");
          this.#setStatic();
        },
        acceptsKind: (kind) =>
          this.#options.onOtherManifests !== undefined ||
          kind === "ConfigMap" ||
          kind === "Secret",
        onOthers: (byFile) => {
          this.#objects.setLocal([...byFile.values()].flat());
          this.#options.onOtherManifests?.(byFile);
        },
        onProblem: (file, message) => this.manifestProblem(file, message),
        validateSpec: this.#options.validatePodSpec,
      });
      await this.#fileSource.start();
    } else this.#complete.add("file");
    if (!config.manifestUrl && !config.manifestsDirectory) this.#setStatic();
    this.#pressure.start();
    this.#housekeeping.start();
    this.#rotation.start();
    await Promise.race([runtimeReady, afterMs(this.#clock, startPatienceMs)]);
    this.#resync();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#resyncTimer?.cancel();
    this.#runtimeTimer?.cancel();
    this.#removeHandler?.();
    this.#urlSource?.stop();
    this.#mirrors?.stop();
    this.#lease?.stop();
    this.#probes.stop();
    this.#pressure.stop();
    this.#housekeeping.stop();
    this.#rotation.stop();
    await this.#node.stop();
    await this.#fileSource?.stop();
    await this.#workers.stop();
    await this.#volumes.stop();
    this.#status.stop();
    this.#runtimePods.stop();
    this.#recorder?.stop();
  }

  /** Reads the runtime once, trying until it answers; only then do pods get workers. */
  async #startRuntime(): Promise<void> {
    if (this.#stopped) return;
    try {
      await this.#runtimePods.start();
    } catch (error) {
      this.#logger.warn(
        { err: error },
        "the container runtime does not answer",
      );
      this.#runtimeTimer = this.#clock.after(
        runtimeRetryMs,
        () => void this.#startRuntime(),
      );
      return;
    }
    this.#admission.adopt(this.#runtimePods.uids());
    this.#runtimeRead = true;
    for (const pod of this.#waitingPods.values()) this.#workers.set(pod);
    this.#waitingPods.clear();
    this.#endOrphans();
  }

  #startApiSource(client: Client): void {
    const informer = client.informer(podsRef, {
      fieldSelector: `spec.nodeName=${this.nodeName}`,
    });
    const seen = (pod: Pod): void => {
      if (isMirrorPod(pod)) this.#mirrors?.onMirror(pod);
      else this.#setPod(pod);
    };
    this.#removeHandler = informer.addHandler({
      onAdd: seen,
      onUpdate: (_before, pod) => seen(pod),
      onDelete: (pod) => {
        if (isMirrorPod(pod)) this.#mirrors?.onMirrorDeleted(pod);
        else this.#removePod(pod.metadata.uid ?? "", pod);
      },
    });
    informer.synced().then(
      () => {
        this.#complete.add("api");
        this.#mirrors?.ready();
        this.#endOrphans();
      },
      () => undefined,
    );
  }

  #setPod(pod: Pod): void {
    if (this.#runtimeRead) this.#workers.set(pod);
    else this.#waitingPods.set(pod.metadata.uid ?? "", pod);
  }

  #removePod(uid: string, last?: Pod): void {
    this.#waitingPods.delete(uid);
    this.#workers.remove(uid, last);
  }

  #setStatic(): void {
    const pods = [...this.#filePods, ...this.#urlPods];
    const uids = new Set(pods.map(({ metadata }) => metadata.uid ?? ""));
    for (const uid of this.#staticUids)
      if (!uids.has(uid)) this.#removePod(uid);
    for (const pod of pods)
      if (!this.#staticUids.has(pod.metadata.uid ?? "")) this.#setPod(pod);
    this.#staticUids = uids;
    this.#mirrors?.setStatic(
      pods,
      this.#complete.has("file") && this.#complete.has("http"),
    );
    this.#endOrphans();
  }

  /** Eviction leaves hardly any time: the node needs what the pod holds. */
  #evict(pod: Pod, message: string): void {
    this.#logger.warn(
      { pod: pod.metadata.name, namespace: pod.metadata.namespace, message },
      "evicting a pod",
    );
    this.#context.events.pod(pod, "Warning", "Evicted", message);
    this.#workers.end(pod.metadata.uid ?? "", {
      graceSeconds: 1,
      failure: { reason: "Evicted", message, disruption: true },
    });
  }

  #endOrphans(): void {
    if (!this.#runtimeRead || this.#stopped) return;
    this.#workers.endOrphans((source) => this.#complete.has(source));
  }

  manifestProblem(file: string, message: string): void {
    this.#logger.error({ file }, message);
    this.#context.events.node(
      "Warning",
      "InvalidManifest",
      message.slice(0, 1024),
    );
  }

  /** The slow safety net below all events. */
  #resync(): void {
    if (this.#stopped) return;
    this.#resyncTimer = this.#clock.after(this.settings.syncFrequencyMs, () => {
      this.#resync();
      this.#resyncNow();
    });
  }

  #resyncNow(): void {
    if (!this.#runtimeRead || this.#stopped) return;
    this.#runtimePods.relist().then(
      () => {
        this.#workers.wakeAll();
        this.#endOrphans();
        if (this.#sourcesComplete()) this.#housekeeping.sweep();
      },
      (error: unknown) =>
        this.#logger.warn({ err: error }, "can't list the runtime's pods"),
    );
  }

  #sourcesComplete(): boolean {
    return ["api", "file", "http"].every((source) =>
      this.#complete.has(source),
    );
  }

  async #runtimeHandler(pod: Pod): Promise<string> {
    const name = pod.spec.runtimeClassName;
    if (!name) return "";
    const { client } = this.#options;
    if (!client)
      throw new Error(
        `RuntimeClass "${name}" can't be looked up without an API server`,
      );
    return (await client.resource(runtimeClasses).get(name)).handler;
  }

  #runtimeChanged(uid: string): void {
    this.#workers.wake(uid);
    for (const listener of this.#listeners.get(uid) ?? []) listener();
  }

  #listen(uid: string, listener: () => void): () => void {
    const listeners = this.#listeners.get(uid) ?? new Set();
    listeners.add(listener);
    this.#listeners.set(uid, listeners);
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.#listeners.delete(uid);
    };
  }

  #nodeObject(): KubeObject {
    return {
      apiVersion: "v1",
      kind: "Node",
      metadata: { name: this.nodeName, uid: this.nodeName },
    };
  }

  /** undefined while the Node is not in the API. */
  #nodeOwner(): OwnerReference | undefined {
    const uid = this.#node.node?.metadata.uid;
    if (!uid) return undefined;
    return { apiVersion: "v1", kind: "Node", name: this.nodeName, uid };
  }

  pods(): readonly Pod[] {
    return this.#workers.list().map(({ pod }) => {
      const status = this.#status.get(pod);
      return status ? { ...pod, status } : pod;
    });
  }

  async runningPods(): Promise<readonly Pod[]> {
    await within(this.#clock, listPatienceMs, this.#runtimePods.relist());
    const found = await Promise.all(
      this.#runtimePods.uids().map(async (uid) => {
        const known = this.#runtimePods.get(uid)!;
        return runtimePodAsPod(await this.#runtimePods.refresh(uid, known));
      }),
    );
    return found.filter((pod): pod is Pod => pod !== undefined);
  }

  logs(
    namespace: string,
    name: string,
    options: LogOptions,
  ): Promise<Readable> {
    return this.#access.logs(namespace, name, options);
  }

  exec(
    namespace: string,
    name: string,
    options: ExecOptions,
  ): Promise<ExecSession> {
    return this.#access.exec(namespace, name, options);
  }

  attach(
    namespace: string,
    name: string,
    options: Omit<ExecOptions, "command">,
  ): Promise<ExecSession> {
    return this.#access.attach(namespace, name, options);
  }

  portForward(namespace: string, name: string, port: number): Promise<Duplex> {
    return this.#access.portForward(namespace, name, port);
  }

  statsSummary(onlyCpuAndMemory: boolean): Promise<object> {
    return this.#stats.summary(onlyCpuAndMemory);
  }

  config(): object {
    return kubeletConfiguration(this.settings);
  }

  healthy(): Promise<void> {
    if (this.#stopped) return Promise.reject(new Error("the agent is stopped"));
    const problems = this.#node.runtimeProblems.filter((text) =>
      text.startsWith("container runtime is down"),
    );
    return problems.length === 0
      ? Promise.resolve()
      : Promise.reject(new Error(problems.join(", ")));
  }
}

function afterMs(clock: Clock, delayMs: number): Promise<void> {
  return new Promise((resolve) => clock.after(delayMs, resolve));
}

/** Our own value, below which no child may go where CAP_SYS_RESOURCE is missing. */
function lowestOomScoreAdj(): number | undefined {
  try {
    if (hasSysResource(readFileSync("/proc/self/status", "utf8")))
      return undefined;
    return Number(readFileSync("/proc/self/oom_score_adj", "utf8"));
  } catch {
    return undefined;
  }
}

// Keeps the Node object: registers it, writes its status when something changed and every five minutes otherwise, and
// asks the runtime how it is: every ten seconds when all is well, every second while it is not. Works without the API
// server being there yet and goes on when it comes back.
import { backoffMs } from "../../api/queueing/backoff.ts";
import type { Logger } from "pino";
import type { Clock, Timer } from "../../api/clock.ts";
import { isAlreadyExists, isNotFound } from "../../api/errors.ts";
import type { Node, NodeCondition } from "../../api/types/core-v1.ts";
import type { Client } from "../../client/client.ts";
import { nodes } from "../../client/resources.ts";
import {
  RuntimeError,
  type ImageSummary,
  type Runtime,
} from "../../cri/runtime.ts";
import type { AgentConfig } from "../config/agent-config.ts";
import { within } from "../../cri/deadline.ts";
import type { PodEvents } from "../events/pod-events.ts";
import {
  machineArchitecture,
  machineCapacity,
  primaryAddresses,
  systemInfo,
  type MachineCapacity,
} from "./machine.ts";
import {
  nodeLabels,
  nodeObject,
  nodeStatus,
  type Pressure,
} from "./node-object.ts";

interface NodeReporterOptions {
  client: Client | undefined;
  runtime: Runtime;
  config: AgentConfig;
  clock: Clock;
  logger: Logger;
  events: PodEvents;
  /** Problems of the agent itself, e.g. that the runtime was never read. */
  problems: () => readonly string[];
  pressure: () => Pressure;
  /** The Node is in the API (again, with this uid). */
  onRegistered: (uid: string) => void;
  /** The runtime answers again. */
  onRuntimeRecovered: () => void;
}

const unwellRetryMs = 1000;
/** A runtime that hangs instead of refusing: how long one look may take, and how long silence is put up with. */
const statusTimeoutMs = 10_000;
const silencePatienceMs = 30_000;
const imagesEveryMs = 60_000;
const registrations = { baseMs: 200, maxMs: 7000 };

export class NodeReporter {
  readonly #options: NodeReporterOptions;
  #addresses: readonly string[];
  #node: Node | undefined;
  #conditions: readonly NodeCondition[] = [];
  #images: readonly ImageSummary[] = [];
  #imagesAtMs = -Infinity;
  #runtimeVersion: string | undefined;
  #podCidr: string | undefined;
  #sent = "";
  #sentAtMs = -Infinity;
  #timer: Timer | undefined;
  #registerTimer: Timer | undefined;
  #working: Promise<void> | undefined;
  #again = false;
  #stopped = false;
  #removeHandler: (() => void) | undefined;
  #runtimeProblems: readonly string[] = [
    "container runtime status check may not have completed yet",
  ];

  constructor(options: NodeReporterOptions) {
    this.#options = options;
    this.#addresses = options.config.nodeIPs;
  }

  /** Known from the first moment: given, or found from the interfaces. */
  get addresses(): readonly string[] {
    return this.#addresses;
  }

  get node(): Node | undefined {
    return this.#node;
  }

  /** Why the runtime can't run pods; empty when it can. */
  get runtimeProblems(): readonly string[] {
    return this.#runtimeProblems;
  }

  async start(): Promise<void> {
    const { client, config } = this.#options;
    if (config.nodeIPs.length === 0)
      this.#addresses = await primaryAddresses(this.#podRanges());
    if (client && config.registerNode) {
      this.#register(client, 0);
      const informer = client.informer(nodes, {
        fieldSelector: `metadata.name=${config.nodeName}`,
      });
      const seen = (node: Node): void => this.#seen(node);
      this.#removeHandler = informer.addHandler({
        onAdd: seen,
        onUpdate: (_before, node) => seen(node),
        onDelete: () => {
          this.#node = undefined;
          this.#sent = "";
          if (!this.#stopped) this.#register(client, 0);
        },
      });
    }
    this.report();
  }

  #podRanges(): string[] {
    return [
      ...this.#options.config.podRanges,
      ...(this.#podCidr === undefined ? [] : [this.#podCidr]),
    ];
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    this.#registerTimer?.cancel();
    this.#removeHandler?.();
    await this.#working;
  }

  /** Looks at everything now and writes what changed. */
  report(): void {
    if (this.#stopped) return;
    if (this.#working) {
      this.#again = true;
      return;
    }
    this.#timer?.cancel();
    this.#working = this.#report()
      .catch((error: unknown) => {
        this.#options.logger.warn(
          { err: error },
          "can't report the node's status",
        );
        this.#sent = "";
      })
      .finally(() => {
        this.#working = undefined;
        if (this.#stopped) return;
        if (this.#again) {
          this.#again = false;
          this.report();
          return;
        }
        const well =
          this.#runtimeProblems.length === 0 &&
          !this.#silent &&
          (this.#sent !== "" || !this.#options.client);
        const delayMs = well
          ? this.#options.config.nodeStatusUpdateFrequencyMs
          : unwellRetryMs;
        this.#timer = this.#options.clock.after(delayMs, () => this.report());
      });
  }

  #register(client: Client, failures: number): void {
    const { config, clock, logger } = this.#options;
    this.#ensureNode(client).catch((error: unknown) => {
      if (this.#stopped) return;
      const retryMs = backoffMs(registrations, failures);
      logger.warn(
        { err: error, node: config.nodeName, retryMs },
        "can't register the node",
      );
      this.#registerTimer?.cancel();
      this.#registerTimer = clock.after(retryMs, () =>
        this.#register(client, failures + 1),
      );
    });
  }

  async #ensureNode(client: Client): Promise<void> {
    const { config, logger } = this.#options;
    const api = client.resource(nodes);
    let node: Node;
    try {
      node = await api.create(nodeObject(config));
      logger.info({ node: config.nodeName }, "registered the node");
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      node = await api.get(config.nodeName);
      const wanted = nodeLabels(config, machineArchitecture());
      const labels = Object.fromEntries(
        Object.entries(wanted).filter(
          ([key, value]) => node.metadata.labels?.[key] !== value,
        ),
      );
      if (Object.keys(labels).length > 0)
        node = await api.patch(config.nodeName, undefined, {
          type: "merge",
          body: { metadata: { labels } },
        });
    }
    this.#seen(node);
  }

  #seen(node: Node): void {
    const { runtime, logger } = this.#options;
    const first = this.#node?.metadata.uid !== node.metadata.uid;
    this.#node = node;
    if (first) {
      this.#conditions = node.status?.conditions ?? [];
      this.#sent = "";
      this.#options.onRegistered(node.metadata.uid ?? "");
      this.report();
    }
    const podCidr = node.spec?.podCIDR;
    if (!podCidr || podCidr === this.#podCidr) return;
    this.#podCidr = podCidr;
    runtime.updatePodCidr(podCidr).then(
      () => this.report(),
      (error: unknown) => {
        logger.warn(
          { err: error, podCidr },
          "the runtime did not take the pod address range",
        );
        this.#podCidr = undefined;
      },
    );
  }

  async #report(): Promise<void> {
    const { config, clock, client } = this.#options;
    await this.#lookAtRuntime();
    if (config.nodeIPs.length === 0)
      this.#addresses = await primaryAddresses(this.#podRanges());
    if (!client || !this.#node || this.#stopped) return;
    const [capacity, info] = await Promise.all([
      machineCapacity(config.rootDirectory),
      systemInfo(this.#runtimeVersion ?? "", config.version),
    ]);
    this.#capacity = capacity;
    const status = nodeStatus({
      config,
      capacity,
      info,
      addresses: this.#addresses,
      images: this.#images,
      problems: [...this.#runtimeProblems, ...this.#options.problems()],
      pressure: this.#options.pressure(),
      nowMs: clock.now(),
      previous: this.#conditions,
    });
    const essence = JSON.stringify(status, (key, value: unknown) =>
      key === "lastHeartbeatTime" ? undefined : value,
    );
    const nowMs = clock.monotonic();
    if (
      essence === this.#sent &&
      nowMs - this.#sentAtMs < config.nodeStatusReportFrequencyMs
    )
      return;
    const wasReady = isReady(this.#conditions);
    const body = {
      status: {
        ...status,
        addresses: [...(status.addresses ?? []), { $patch: "replace" }],
      },
    };
    try {
      await client
        .resource(nodes)
        .patch(
          config.nodeName,
          undefined,
          { type: "strategic", body },
          { subresource: "status" },
        );
    } catch (error) {
      if (isNotFound(error)) {
        this.#node = undefined;
        this.#register(client, 0);
        return;
      }
      throw error;
    }
    this.#conditions = status.conditions ?? [];
    this.#sent = essence;
    this.#sentAtMs = nowMs;
    const ready = isReady(this.#conditions);
    if (ready !== wasReady) {
      this.#options.events.node(
        "Normal",
        ready ? "NodeReady" : "NodeNotReady",
        `Node ${config.nodeName} status is now: ${ready ? "NodeReady" : "NodeNotReady"}`,
      );
      this.#options.logger.info(
        { node: config.nodeName, ready },
        ready ? "the node is ready" : "the node is not ready",
      );
    }
  }

  #capacity: MachineCapacity | undefined;

  get capacity(): MachineCapacity | undefined {
    return this.#capacity;
  }

  /** When the runtime answered last; undefined before the first time. */
  #answeredAtMs: number | undefined;
  /** It did not answer in time, but for so short that it does not count yet. */
  #silent = false;

  async #lookAtRuntime(): Promise<void> {
    const { clock, logger, onRuntimeRecovered } = this.#options;
    let problems: string[];
    try {
      problems = await within(clock, statusTimeoutMs, this.#askRuntime());
      if (this.#isDown) onRuntimeRecovered();
      this.#answeredAtMs = clock.monotonic();
      this.#silent = false;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const silentMs = clock.monotonic() - (this.#answeredAtMs ?? -Infinity);
      if (isTimeout(error) && silentMs < silencePatienceMs) {
        logger.warn({ err: error, silentMs }, "the container runtime is slow");
        this.#silent = true;
        return;
      }
      this.#runtimeVersion = undefined;
      this.#silent = false;
      problems = [`container runtime is down: ${reason}`];
    }
    if (problems.join() !== this.#runtimeProblems.join() && problems.length > 0)
      logger.warn({ problems }, "the container runtime is not ready");
    this.#runtimeProblems = problems;
  }

  get #isDown(): boolean {
    return this.#runtimeProblems.some((problem) =>
      problem.startsWith("container runtime is down"),
    );
  }

  /** What keeps it from running pods, as it says itself; rejects when it can't be asked. */
  async #askRuntime(): Promise<string[]> {
    const { runtime, clock } = this.#options;
    const problems: string[] = [];
    const status = await runtime.status();
    if (!status.runtime.ready)
      problems.push(
        `container runtime not ready: ${text("RuntimeReady", status.runtime)}`,
      );
    if (!status.network.ready)
      problems.push(
        `container runtime network not ready: ${text("NetworkReady", status.network)}`,
      );
    if (this.#runtimeVersion === undefined) {
      const version = await runtime.version();
      this.#runtimeVersion = `${version.runtimeName}://${version.runtimeVersion.replace(/^v/, "")}`;
    }
    const nowMs = clock.monotonic();
    if (nowMs - this.#imagesAtMs > imagesEveryMs) {
      this.#images = await runtime.listImages();
      this.#imagesAtMs = nowMs;
    }
    return problems;
  }
}

function isTimeout(error: unknown): boolean {
  return error instanceof RuntimeError && error.code === "timeout";
}

function text(
  name: string,
  condition: { reason: string; message: string },
): string {
  return `${name}=false reason:${condition.reason} message:${condition.message}`;
}

function isReady(conditions: readonly NodeCondition[]): boolean {
  return conditions.some(
    ({ type, status }) => type === "Ready" && status === "True",
  );
}

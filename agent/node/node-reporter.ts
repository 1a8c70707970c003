// Keeps the Node object: registers it, writes its status when something changed, here or by another's hand (the controller
// of nodes calls a silent one Unknown), and every five minutes otherwise, and asks the runtime how it is: every ten seconds
// when all is well, every second while it is not. Works without the API server being there yet and goes on when it comes
// back.
import { backoffMs } from "../../api/queueing/backoff.ts";
import type { Logger } from "pino";
import { parseQuantity, quantityValue } from "../../api/quantity.ts";
import type { Clock, Timer } from "../../api/clock.ts";
import { isNotFound } from "../../api/errors.ts";
import type { Node, NodeCondition } from "../../api/types/core-v1.ts";
import type { Client } from "../../client/client.ts";
import { nodes } from "../../client/resources.ts";
import type { OwnerReference } from "../../api/types/meta-v1.ts";
import type { Runtime } from "../../cri/runtime.ts";
import type { AgentConfig } from "../config/agent-config.ts";
import type { NodeStartup } from "../metrics/node-startup.ts";
import type { PodEvents } from "../events/pod-events.ts";
import type { DeviceCapacity } from "../resources/devices/device-inventory.ts";
import {
  machineCapacity,
  primaryAddresses,
  systemInfo,
  type MachineCapacity,
} from "./machine.ts";
import { GivenAddresses } from "./given-addresses.ts";
import { hostInterfaces } from "./host-interfaces.ts";
import {
  conditionEvents,
  isReady,
  rebootEvent,
  schedulingEvent,
  type NodeEvent,
} from "./node-events.ts";
import { besideOthers, hasOtherResources } from "./others-resources.ts";
import { lostLabels } from "./node-labels.ts";
import {
  hasOtherConditions,
  nodeStatus,
  specPodRanges,
  type Pressure,
} from "./node-object.ts";
import { ensureNode } from "./node-registration.ts";
import type { NodeFeatures } from "../pods/start/node-features.ts";
import { RuntimeHealth, type RuntimeState } from "./runtime-health.ts";

interface NodeReporterOptions {
  client: Client | undefined;
  runtime: Runtime;
  config: AgentConfig;
  clock: Clock;
  logger: Logger;
  events: PodEvents;
  /** The Node's ranges of pod addresses are known, or others. */
  onPodRanges?: (ranges: readonly string[]) => void;
  startup: NodeStartup;
  /** Of the machine; default: as it has them. */
  interfaces?: typeof hostInterfaces;
}

const noDevices = (): DeviceCapacity => ({ capacity: {}, allocatable: {} });

const unwellRetryMs = 1000;
const registrations = { baseMs: 200, maxMs: 7000 };

export class NodeReporter {
  readonly #options: NodeReporterOptions;
  readonly #given: GivenAddresses;
  #addresses: readonly string[];
  #node: Node | undefined;
  #conditions: readonly NodeCondition[] = [];
  /** Of the Node; empty: it has none yet. */
  #podCidrs: readonly string[] = [];
  #sent = "";
  #sentAtMs = -Infinity;
  #timer: Timer | undefined;
  #registerTimer: Timer | undefined;
  #working: Promise<void> | undefined;
  #again = false;
  #stopped = false;
  #removeHandler: (() => void) | undefined;
  #capacity: MachineCapacity | undefined;
  #pressure: Pressure = { memory: false, disk: false, pid: false };
  #devices: () => DeviceCapacity = noDevices;
  #shuttingDown = false;
  readonly #runtime: RuntimeHealth;
  readonly #onRegistered: (() => void)[] = [];
  readonly #onRuntimeRecovered: (() => void)[] = [];

  constructor(options: NodeReporterOptions) {
    this.#options = options;
    this.#given = new GivenAddresses(options.config.nodeIPs, {
      interfaces: options.interfaces ?? hostInterfaces,
      logger: options.logger,
    });
    this.#addresses = this.#given.look();
    this.#runtime = new RuntimeHealth(options);
  }

  /** The Node is in the API (again, with another uid). */
  onRegistered(listener: () => void): void {
    this.#onRegistered.push(listener);
  }

  /** The runtime answers again. */
  onRuntimeRecovered(listener: () => void): void {
    this.#onRuntimeRecovered.push(listener);
  }

  /** Known from the first moment: given, as far as the machine has them, or found from the interfaces. */
  get addresses(): readonly string[] {
    return this.#addresses;
  }

  get node(): Node | undefined {
    return this.#node;
  }

  /** What pods may use together, as last reported. */
  get allocatableMemoryBytes(): number | undefined {
    const text = this.#node?.status?.allocatable?.["memory"];
    return text === undefined ? undefined : quantityValue(parseQuantity(text));
  }

  /** The Node as owner of objects; undefined while it is not in the API. */
  get owner(): OwnerReference | undefined {
    const uid = this.#node?.metadata.uid;
    if (!uid) return undefined;
    const { nodeName: name } = this.#options.config;
    return { apiVersion: "v1", kind: "Node", name, uid };
  }

  get runtimeState(): RuntimeState {
    return this.#runtime.state;
  }

  /** As the runtime reports them. */
  get runtimeFeatures(): NodeFeatures {
    return this.#runtime.features;
  }

  /** Known after the first report. */
  get capacity(): MachineCapacity | undefined {
    return this.#capacity;
  }

  get pressure(): Pressure {
    return this.#pressure;
  }

  /** The machine shuts down: the node is not ready. */
  get shuttingDown(): boolean {
    return this.#shuttingDown;
  }

  /** Reports it at once. */
  setShuttingDown(shuttingDown: boolean): void {
    this.#shuttingDown = shuttingDown;
    this.report();
  }

  /** What plug-ins have, asked for at each report. */
  setDevices(devices: () => DeviceCapacity): void {
    this.#devices = devices;
  }

  /** Reports it at once. */
  setPressure(pressure: Pressure): void {
    this.#pressure = pressure;
    this.report();
  }

  async start(): Promise<void> {
    const { client, config } = this.#options;
    this.#addresses = await this.#lookForAddresses();
    this.#options.events.node("Normal", "Starting", "Starting kubelet.");
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

  async #lookForAddresses(): Promise<readonly string[]> {
    const { nodeIPs, preferredFamily } = this.#options.config;
    return nodeIPs.length > 0
      ? this.#given.look()
      : await primaryAddresses(this.#podRanges(), preferredFamily);
  }

  #podRanges(): string[] {
    return [...this.#options.config.podRanges, ...this.#podCidrs];
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
          this.#runtime.well && (this.#sent !== "" || !this.#options.client);
        const delayMs = well
          ? this.#options.config.nodeStatusUpdateFrequencyMs
          : unwellRetryMs;
        this.#timer = this.#options.clock.after(delayMs, () => this.report());
      });
  }

  #register(client: Client, failures: number): void {
    const { config, clock, logger } = this.#options;
    ensureNode(client, this.#options)
      .then((node) => this.#seen(node))
      .catch((error: unknown) => {
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

  #seen(node: Node): void {
    const { runtime, logger, onPodRanges } = this.#options;
    const first = this.#node?.metadata.uid !== node.metadata.uid;
    const scheduling = schedulingEvent(this.#node, node);
    if (scheduling) this.#options.events.node(...scheduling);
    this.#node = node;
    if (first) {
      this.#conditions = node.status?.conditions ?? [];
      this.#sent = "";
      for (const listener of this.#onRegistered) listener();
      this.report();
    }
    const podCidrs = specPodRanges(node);
    if (podCidrs.length === 0 || podCidrs.join() === this.#podCidrs.join())
      return;
    this.#podCidrs = podCidrs;
    onPodRanges?.(podCidrs);
    runtime.updatePodCidrs(podCidrs).then(
      () => this.report(),
      (error: unknown) => {
        logger.warn(
          { err: error, podCidrs },
          "the runtime did not take the pod address ranges",
        );
        this.#podCidrs = [];
      },
    );
  }

  async #report(): Promise<void> {
    const { config, clock, client } = this.#options;
    if (await this.#runtime.look())
      for (const listener of this.#onRuntimeRecovered) listener();
    this.#addresses = await this.#lookForAddresses();
    if (!client || !this.#node || this.#stopped) return;
    const [capacity, info] = await Promise.all([
      machineCapacity(config.rootDirectory),
      systemInfo(this.#runtime.version ?? "", config.version),
    ]);
    this.#capacity = capacity;
    // As the Node says it: another may have written them since the last report.
    const before = this.#node.status?.conditions ?? this.#conditions;
    const status = nodeStatus({
      config,
      capacity,
      devices: this.#devices(),
      info,
      addresses: this.#addresses,
      current: this.#node.status?.addresses,
      images: this.#runtime.images,
      features: this.#runtime.features,
      problems: [
        ...this.#runtime.problems,
        ...(this.#shuttingDown ? ["node is shutting down"] : []),
      ],
      pressure: this.#pressure,
      nowMs: clock.now(),
      previous: before,
    });
    const essence = JSON.stringify(status, (key, value: unknown) =>
      key === "lastHeartbeatTime" ? undefined : value,
    );
    const nowMs = clock.monotonic();
    const labels = lostLabels(this.#node);
    const resources = besideOthers(this.#node.status, status);
    if (
      essence === this.#sent &&
      !labels &&
      !hasOtherResources(this.#node.status, resources) &&
      !hasOtherConditions(this.#node, status.conditions) &&
      nowMs - this.#sentAtMs < config.nodeStatusReportFrequencyMs
    )
      return;
    const rebooted = rebootEvent(this.#node, info.bootID);
    const body = {
      ...(labels ? { metadata: { labels } } : {}),
      status: {
        ...status,
        ...resources,
        ...(status.addresses
          ? { addresses: [...status.addresses, { $patch: "replace" }] }
          : {}),
      },
    };
    let reported: Node;
    try {
      reported = await client
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
    // Not over a later version that the watch has brought meanwhile.
    const { uid, resourceVersion } = this.#node?.metadata ?? {};
    if (
      reported.metadata.uid === uid &&
      Number(reported.metadata.resourceVersion) >= Number(resourceVersion)
    )
      this.#seen(reported);
    this.#recordChanges(before, rebooted);
  }

  #recordChanges(
    before: readonly NodeCondition[],
    rebooted: NodeEvent | undefined,
  ): void {
    const { config, events, logger, startup } = this.#options;
    const node = config.nodeName;
    const changes = conditionEvents(node, before, this.#conditions);
    for (const event of changes) events.node(...event);
    if (rebooted) events.node(...rebooted);
    const ready = isReady(this.#conditions);
    if (ready) startup.ready();
    if (ready !== isReady(before))
      logger.info(
        { node, ready },
        ready ? "the node is ready" : "the node is not ready",
      );
  }
}

// Controllers or a scheduler on the memory API, and a stand-in for nodes that runs and ends pods.
import pino from "pino";
import { systemClock } from "../../api/clock.ts";
import type { Clock } from "../../api/clock.ts";
import { metricsText } from "../../api/metrics/family.ts";
import type { Node, Pod } from "../../api/types/core-v1.ts";
import { createClient } from "../../client/create-client.ts";
import type { Client } from "../../client/client.ts";
import { pods } from "../../client/resources.ts";
import { PartMetrics } from "../../cli/parts/part-metrics.ts";
import { createControllerManager } from "../../controllers/manager.ts";
import type { ControllerOptions } from "../../controllers/options.ts";
import { accountTransport } from "./account-access.ts";
import { eventually } from "./eventually.ts";
import { MemoryApi } from "./memory-api.ts";

export interface ControlPlane {
  api: MemoryApi;
  client: Client;
  /** The text that a scrape of the controllers' port would have. */
  metrics(): string;
  stop(): Promise<void>;
}

export const silent = pino({ level: process.env["LOG_LEVEL"] ?? "silent" });

/** @param options.runPods pods become Running and Ready, on a node, and leave when deleted */
export async function startControlPlane(
  options: {
    clock?: Clock;
    controllers?: Partial<ControllerOptions>;
    runPods?: boolean;
  } = {},
): Promise<ControlPlane> {
  const { clock = systemClock } = options;
  const api = new MemoryApi(clock);
  const client = createClient(api, { clock, logger: silent });
  if (options.runPods) runPods(client, clock);
  // Each controller has the rights of its own role alone.
  const denied: string[] = [];
  const metrics = new PartMetrics();
  const manager = createControllerManager({
    client,
    clientOf: (account) =>
      createClient(accountTransport(api, account, denied), {
        clock,
        logger: silent,
      }),
    clock,
    logger: silent,
    metrics,
    options: { controllers: ["*"], ...options.controllers },
  });
  await manager.start();
  return {
    api,
    client,
    metrics: () => metricsText(metrics.families()),
    async stop() {
      await manager.stop();
      await client.close();
      if (denied.length > 0)
        throw new Error(`denied: ${[...new Set(denied)].join("; ")}`);
    },
  };
}

/** @param options.onlyScheduled where there is a scheduler: pods without a node stay Pending */
export function runPods(
  client: Client,
  clock: Clock,
  { onlyScheduled = false } = {},
): void {
  const runs = ({ spec }: Pod): boolean =>
    !onlyScheduled || spec.nodeName !== undefined;
  const ignore = (): void => {};
  const run = async (pod: Pod): Promise<void> => {
    const { name, namespace } = pod.metadata;
    const now = new Date(clock.now()).toISOString().slice(0, 19) + "Z";
    await client.resource(pods).patch(
      name,
      namespace,
      {
        type: "strategic",
        body: {
          status: {
            phase: "Running",
            podIP: "10.0.0.1",
            startTime: now,
            conditions: [
              { type: "Ready", status: "True", lastTransitionTime: now },
            ],
          },
        },
      },
      { subresource: "status" },
    );
  };
  const end = (pod: Pod): Promise<void> =>
    client.resource(pods).delete(pod.metadata.name, pod.metadata.namespace, {
      gracePeriodSeconds: 0,
    });
  client.informer(pods).addHandler({
    onAdd: (pod) => {
      if (runs(pod)) void run(pod).catch(ignore);
    },
    onUpdate: (old, pod) => {
      if (runs(pod) && !runs(old)) void run(pod).catch(ignore);
      if (pod.metadata.deletionTimestamp && !old.metadata.deletionTimestamp)
        setImmediate(() => void end(pod).catch(ignore));
    },
  });
}

export function testNode(name: string, extra: Partial<Node> = {}): Node {
  return {
    metadata: { name, labels: { "kubernetes.io/hostname": name } },
    spec: {},
    status: {
      allocatable: { cpu: "4", memory: "8Gi", pods: "110" },
      conditions: [{ type: "Ready", status: "True" }],
    },
    ...extra,
  };
}

export function testPod(name: string, extra: Partial<Pod["spec"]> = {}): Pod {
  return {
    metadata: { name, namespace: "default" },
    spec: { containers: [{ name: "c", image: "busybox" }], ...extra },
  };
}

/** Resolves once the expectations in `check` hold. */
export async function passes(
  check: () => void | Promise<void>,
  timeoutMs = 30_000,
): Promise<void> {
  await eventually(
    async () => {
      await check();
      return true;
    },
    { timeoutMs },
  );
}

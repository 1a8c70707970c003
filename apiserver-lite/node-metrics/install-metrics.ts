// Serves metrics.k8s.io from an API server: its kinds, and the role by which those who may view may read them.
import type { Logger } from "pino";
import type { Clock } from "../../api/clock.ts";
import { isAlreadyExists } from "../../api/errors.ts";
import type { Transport } from "../../client/transport.ts";
import type { ProxyHandler } from "../proxy/proxy-handler.ts";
import type { Registry } from "../registry/registry.ts";
import type { StateReader } from "../resources/state.ts";
import { metricsKinds } from "./metrics-kinds.ts";
import { NodeUsage } from "./node-usage.ts";

interface MetricsOptions {
  readonly state: Pick<Registry, "kinds"> & StateReader;
  readonly proxy: Pick<ProxyHandler, "readAgent">;
  readonly clock: Clock;
  readonly logger: Logger;
}

const summaryPath = "/stats/summary?only_cpu_and_memory=true";

export async function serveNodeMetrics(options: MetricsOptions): Promise<void> {
  const { state, proxy, clock, logger } = options;
  const usage = new NodeUsage({
    read: (nodeName) => proxy.readAgent(nodeName, summaryPath),
    clock,
  });
  for (const kind of metricsKinds({ state, usage, logger }))
    await state.kinds.register(kind);
}

/**
 * What the metrics server's role of that meaning allows: view, edit and admin take it in. It has a name of its own, so
 * that it is still there when a metrics server was installed and removed with its role.
 */
export async function createMetricsReader(
  transport: Pick<Transport, "request">,
): Promise<void> {
  const of = "rbac.authorization.k8s.io";
  await transport
    .request({
      verb: "create",
      resource: { group: of, version: "v1", resource: "clusterroles" },
      body: {
        metadata: {
          name: "orbit:aggregated-metrics-reader",
          labels: Object.fromEntries(
            ["admin", "edit", "view"].map((role) => [
              `${of}/aggregate-to-${role}`,
              "true",
            ]),
          ),
        },
        rules: [
          {
            apiGroups: ["metrics.k8s.io"],
            resources: ["pods", "nodes"],
            verbs: ["get", "list", "watch"],
          },
        ],
      },
    })
    .catch((error: unknown) => {
      if (!isAlreadyExists(error)) throw error;
    });
}

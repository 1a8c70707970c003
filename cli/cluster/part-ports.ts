// The own ports of controllers and scheduler inside a composed cluster. They use the cluster's certificates, and its own
// authenticators and authorizer in place of reviews.
import type { ClusterPki } from "../../apiserver-lite/index.ts";
import { controllerManagerOptions } from "../options/controller-manager.ts";
import { DependencyError } from "../options/table.ts";
import {
  startPartPort,
  type PartPort as OpenPort,
} from "../../http-kit/part-port.ts";
import { emulatedVersionOf } from "../parts/api/emulated-version.ts";
import { metricsFilter } from "../parts/metrics-options.ts";
import { programFamilies } from "../parts/program-families.ts";
import { servingTlsOf } from "../parts/serving/serving-tls.ts";
import type { ClusterContext, PartPort } from "./cluster-context.ts";

/** Options of `orbit server` that hold for all its ports, below a part's own. */
const sharedOptions = [
  "tls-min-version",
  "tls-cipher-suites",
  "disabled-metrics",
  "allow-metric-labels",
  "allow-metric-labels-manifest",
];

export class PartPorts {
  readonly #ports: OpenPort[] = [];

  async open(
    {
      values,
      pki,
      api,
      logger,
      started,
    }: Omit<ClusterContext, "openPort" | "clientFor">,
    port: PartPort,
  ): Promise<void> {
    const number = values.number(port.option);
    if (number === 0) return;
    const portValues = values
      .pick(controllerManagerOptions, sharedOptions)
      .under(port.values);
    const program = programFamilies(
      portValues,
      port.gates,
      emulatedVersionOf(values),
    );
    const filter = await metricsFilter(portValues);
    const health = await startPartPort({
      // On loopback unless the part's own option says otherwise.
      address: port.values.isSet("bind-address")
        ? port.values.text("bind-address")
        : "127.0.0.1",
      port: number,
      servingTls: servingTlsOf(portValues, (message) => logger.warn(message)),
      tls: { ...pki.serving, clientCa: pki.clusterCa.certificate },
      alwaysAllow: port.values.list("authorization-always-allow-paths"),
      tokens: api.security.tokens,
      authorizer: api.security.authorizer,
      healthy: () => Promise.resolve(),
      ...(port.moreMetrics ? { moreMetrics: port.moreMetrics } : {}),
      metrics: () => [...program(), ...port.metrics.families()],
      ...(filter ? { metricsFilter: filter } : {}),
      profiling: port.values.flag("profiling"),
      what: port.what,
      logger,
    }).catch((error: Error) => {
      throw new DependencyError(error.message);
    });
    this.#ports.push(health);
    started.add(() => health.stop());
  }

  /** Serves with renewed certificates from now on. */
  updatePki({ serving, clusterCa }: ClusterPki): void {
    for (const port of this.#ports)
      port.updateTls({ ...serving, clientCa: clusterCa.certificate });
  }
}

// The process's own figures (processor, memory, file descriptors, garbage collection, event loop) for /metrics, by
// prom-client, which loads with the first scrape. All ports of a process share one set: its observers cost the process
// something, and what they measure is the process, not a port. That is why it is the module's.
import { Family, type MetricType } from "../api/metrics/family.ts";
import type { Registry } from "prom-client";

/** Figures of now that are called totals; the families without the ending have them by their kinds. */
const isMisnamed = (name: string, type: string): boolean =>
  type === "gauge" && /^nodejs_active_\w+_total$/.test(name);

let loaded: Promise<Registry> | undefined;

async function load(): Promise<Registry> {
  const { Registry, collectDefaultMetrics } = await import("prom-client");
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return registry;
}

interface PromSample {
  readonly value: number;
  readonly labels: Readonly<Record<string, string | number>>;
  /** With the suffix; absent where the sample is named as its family. */
  readonly metricName?: string;
}

export async function processFamilies(): Promise<Family[]> {
  const registry = await (loaded ??= load());
  const found = await registry.getMetricsAsJSON();
  return found
    .filter(({ name, type }) => !isMisnamed(name, String(type)))
    .map(({ name, help, type, values }) => {
      const family = new Family(name, String(type) as MetricType, help);
      for (const { value, labels, metricName = name } of values as PromSample[])
        family.addSample({
          suffix: metricName.slice(name.length),
          labels: Object.fromEntries(
            Object.entries(labels).map(([key, each]) => [key, String(each)]),
          ),
          value,
        });
      return family;
    });
}

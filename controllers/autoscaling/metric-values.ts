// What the metrics APIs say, in thousandths of the metric's unit: metrics.k8s.io (built in), and custom.metrics.k8s.io
// and external.metrics.k8s.io where an extension serves them. An API that is not there or that has no figures rejects
// with the reference's texts.
import { qualifiedResource } from "../../api/object.ts";
import { isNotFound } from "../../api/errors.ts";
import { parseDurationMs } from "../../api/duration.ts";
import { quantityMilliValue } from "../../api/quantity.ts";
import type {
  CrossVersionObjectReference,
  MetricIdentifier,
} from "../../api/types/autoscaling-v2.ts";
import type { LabelSelector } from "../../api/types/meta-v1.ts";
import type { Client } from "../../client/client.ts";
import type { Discovery } from "../discovery/resource-discovery.ts";
import type { PodMetric, PodMetrics } from "./replica-count.ts";

interface ContainerUsage {
  readonly name: string;
  readonly usage?: Readonly<Record<string, string>>;
}

interface PodMetricsObject {
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly timestamp: string;
  readonly window: string;
  readonly containers?: readonly ContainerUsage[];
}

/** Of custom.metrics.k8s.io and external.metrics.k8s.io. */
interface MetricValue {
  readonly describedObject?: { readonly name: string };
  readonly timestamp?: string;
  readonly windowSeconds?: number;
  /** v1beta1 names it so. */
  readonly window?: number;
  readonly value: string;
}

const customGroup = "custom.metrics.k8s.io";
const externalGroup = "external.metrics.k8s.io";
const defaultWindowMs = 60_000;

export class MetricValues {
  constructor(
    private readonly client: Client,
    private readonly discovery: Discovery,
  ) {}

  /** @param selector as a query has it @param container "": all of a pod together */
  async resource(
    namespace: string,
    selector: string,
    resource: string,
    container: string,
  ): Promise<PodMetrics> {
    const items = await this.#items<PodMetricsObject>(
      "resource metrics API",
      () =>
        Promise.resolve(
          `/apis/metrics.k8s.io/v1beta1/namespaces/${encodeURIComponent(namespace)}/pods?${new URLSearchParams({ labelSelector: selector }).toString()}`,
        ),
    );
    const found = new Map<string, PodMetric>();
    for (const each of items) {
      const value = usageOf(each, resource, container);
      if (value !== undefined)
        found.set(each.metadata.name, {
          value,
          atMs: Date.parse(each.timestamp),
          windowMs: parseDurationMs(each.window),
        });
    }
    return found;
  }

  async ofPods(
    namespace: string,
    selector: string,
    metric: MetricIdentifier,
  ): Promise<PodMetrics> {
    const items = await this.#items<MetricValue>("custom metrics API", () =>
      this.#customPath(namespace, ["pods", "*"], metric, selector),
    );
    return new Map(
      items.map((each) => [
        each.describedObject?.name ?? "",
        {
          value: quantityMilliValue(each.value),
          atMs: Date.parse(each.timestamp ?? "") || 0,
          windowMs:
            (each.windowSeconds ?? each.window ?? defaultWindowMs / 1000) *
            1000,
        },
      ]),
    );
  }

  async ofObject(
    namespace: string,
    { apiVersion = "", kind, name }: CrossVersionObjectReference,
    metric: MetricIdentifier,
  ): Promise<number> {
    const items = await this.#items<MetricValue>(
      "custom metrics API",
      async () => {
        if (kind === "Namespace" && !apiVersion.includes("/"))
          return this.#customPath(namespace, ["metrics"], metric);
        const found = await this.discovery.resourceOf(apiVersion, kind);
        if (!found) throw new Error(noMatch(apiVersion, kind));
        const { group, resource } = found;
        return this.#customPath(
          namespace,
          [qualifiedResource({ group, resource }), name],
          metric,
        );
      },
    );
    if (items.length !== 1)
      throw new Error(
        `unable to fetch metrics from custom metrics API: the custom metrics API server returned ${items.length} results when we asked for exactly one`,
      );
    return quantityMilliValue(items[0]!.value);
  }

  /** The sum. */
  async external(
    namespace: string,
    { name, selector }: MetricIdentifier,
  ): Promise<number> {
    const items = await this.#items<MetricValue>(
      "external metrics API",
      async () => {
        const version = await this.#version(externalGroup, "external");
        const query = selector
          ? `?${new URLSearchParams({ labelSelector: selectorQuery(selector) }).toString()}`
          : "";
        return `/apis/${externalGroup}/${version}/namespaces/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}${query}`;
      },
    );
    return items.reduce((sum, { value }) => sum + quantityMilliValue(value), 0);
  }

  async #items<T>(api: string, path: () => Promise<string>): Promise<T[]> {
    let items: T[];
    try {
      const { body } = await this.client.raw("GET", await path());
      items = (body as { items?: T[] }).items ?? [];
    } catch (error) {
      throw new Error(
        `unable to fetch metrics from ${api}: ${(error as Error).message}`,
        { cause: error },
      );
    }
    if (items.length === 0) throw new Error(`no metrics returned from ${api}`);
    return items;
  }

  async #customPath(
    namespace: string,
    place: readonly string[],
    { name, selector }: MetricIdentifier,
    podSelector?: string,
  ): Promise<string> {
    const version = await this.#version(customGroup, "custom");
    const path = ["namespaces", namespace, ...place, name]
      .map((part) => (part === "*" ? part : encodeURIComponent(part)))
      .join("/");
    const query = new URLSearchParams({
      ...(podSelector === undefined ? {} : { labelSelector: podSelector }),
      ...(selector ? { metricLabelSelector: selectorQuery(selector) } : {}),
    }).toString();
    return `/apis/${customGroup}/${version}/${path}${query === "" ? "" : `?${query}`}`;
  }

  async #version(group: string, what: string): Promise<string> {
    const { body } = await this.client
      .raw("GET", `/apis/${group}`)
      .catch((error: unknown) => {
        if (isNotFound(error))
          throw new Error(`no ${what} metrics API (${group}) registered`);
        throw error;
      });
    const { preferredVersion } = body as {
      preferredVersion?: { version?: string };
    };
    return preferredVersion?.version ?? "v1beta1";
  }
}

export const noMatch = (apiVersion: string, kind: string): string =>
  `no matches for kind ${JSON.stringify(kind)} in group ${JSON.stringify(apiVersion.includes("/") ? apiVersion.split("/")[0] : "")}`;

/** Undefined: a container has no figure. Throws Error where the container is not there. */
function usageOf(
  { metadata, containers = [] }: PodMetricsObject,
  resource: string,
  container: string,
): number | undefined {
  const counted =
    container === ""
      ? containers
      : containers.filter(({ name }) => name === container);
  if (counted.length === 0 && container !== "")
    throw new Error(
      `failed to get container metrics: container ${container} not present in metrics for pod ${metadata.namespace ?? ""}/${metadata.name}`,
    );
  const usages = counted.map(({ usage }) => usage?.[resource]);
  if (usages.length === 0 || usages.includes(undefined)) return undefined;
  return usages.reduce<number>(
    (sum, usage) => sum + quantityMilliValue(usage!),
    0,
  );
}

/** As a query has it. */
function selectorQuery({
  matchLabels = {},
  matchExpressions = [],
}: LabelSelector): string {
  return [
    ...Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`),
    ...matchExpressions.map(({ key, operator, values = [] }) => {
      switch (operator) {
        case "Exists":
          return key;
        case "DoesNotExist":
          return `!${key}`;
        default:
          return `${key} ${operator === "In" ? "in" : "notin"} (${values.join(",")})`;
      }
    }),
  ].join(",");
}

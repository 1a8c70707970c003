// metrics.k8s.io without an add-on: NodeMetrics and PodMetrics, made when they are read from what the nodes' agents say,
// in the form of the metrics server. Nodes that can't be asked are left out of lists and reported in the log; a pod
// is shown when all of its running containers have figures. An add-on's APIService takes the group over.
import type { Logger } from "pino";
import { formatTime } from "../../api/clock.ts";
import { formatDuration } from "../../api/duration.ts";
import type { AnyObject } from "../../api/object.ts";
import type { Node, Pod } from "../../api/types/core-v1.ts";
import type { Printer } from "../printing/table.ts";
import type {
  KindDefinition,
  VersionDefinition,
} from "../registry/kinds/kind-definition.ts";
import type { StateReader } from "../resources/state.ts";
import type { ResourceStrategy } from "../resources/strategy.ts";
import { typed, untyped } from "../resources/typed.ts";
import type { NodeUsage } from "./node-usage.ts";
import { podKey, type Rate, type UsageRates } from "./usage-sample.ts";

const group = "metrics.k8s.io";
const version = "v1beta1";

interface MetricsKindsOptions {
  readonly state: StateReader;
  readonly usage: NodeUsage;
  readonly logger: Logger;
}

/** Nodes asked at the same time. */
const parallel = 20;

export function metricsKinds(options: MetricsKindsOptions): KindDefinition[] {
  const source = new MetricsSource(options);
  return [
    definition("nodes", "NodeMetrics", false, {
      computed: (_context, name) => source.nodes(name),
    }),
    definition("pods", "PodMetrics", true, {
      computed: (_context, name, namespace) => source.pods(name, namespace),
    }),
  ];
}

function definition(
  resource: string,
  kind: string,
  namespaced: boolean,
  strategy: ResourceStrategy,
): KindDefinition {
  const served: VersionDefinition = {
    info: {
      ...{ group, version, resource, kind, namespaced },
      custom: true,
      singular: "",
      shortNames: [],
      categories: [],
      verbs: ["get", "list"],
      subresources: [],
    },
    schema: undefined,
    protobuf: false,
    strategy,
    printer,
  };
  return {
    ...{ group, resource, kind, namespaced, strategy },
    types: { schemaOf: () => undefined },
    conversion: { mode: "immediate", convert: (object) => object },
    storage: undefined,
    versions: [served],
    setDefaults: () => undefined,
  };
}

class MetricsSource {
  #reported = new Set<string>();

  constructor(private readonly options: MetricsKindsOptions) {}

  async nodes(name: string | undefined): Promise<AnyObject[]> {
    const { state, usage } = this.options;
    const all = typed<readonly Node[]>(state.list("", "nodes"));
    usage.keepOnly(new Set(all.map(({ metadata }) => metadata.name)));
    const asked = all.filter(
      ({ metadata }) => name === undefined || metadata.name === name,
    );
    const rates = await this.#rates(asked.map(({ metadata }) => metadata.name));
    return asked.flatMap(({ metadata }) => {
      const rate = rates.get(metadata.name)?.node;
      return rate
        ? [
            untyped({
              kind: "NodeMetrics",
              apiVersion: `${group}/${version}`,
              metadata: objectMeta(metadata, rate.atMs),
              ...moment(rate),
              usage: amounts(rate),
            }),
          ]
        : [];
    });
  }

  async pods(
    name: string | undefined,
    namespace: string,
  ): Promise<AnyObject[]> {
    const { state } = this.options;
    const all =
      name === undefined
        ? typed<readonly Pod[]>(state.list("", "pods", namespace))
        : typed<readonly (Pod | undefined)[]>([
            state.read("", "pods", namespace, name),
          ]);
    const running = all.filter(
      (pod): pod is Pod =>
        pod?.status?.phase === "Running" && pod.spec.nodeName !== undefined,
    );
    const rates = await this.#rates([
      ...new Set(running.map(({ spec }) => spec.nodeName!)),
    ]);
    return running.flatMap((pod) => {
      const found = podMetrics(pod, rates.get(pod.spec.nodeName!));
      return found ? [found] : [];
    });
  }

  /** Of the nodes that answered. */
  async #rates(names: readonly string[]): Promise<Map<string, UsageRates>> {
    const rates = new Map<string, UsageRates>();
    const waiting = [...names];
    const next = async (): Promise<void> => {
      for (let name = waiting.pop(); name; name = waiting.pop())
        await this.#ask(name, rates);
    };
    await Promise.all(
      Array.from({ length: Math.min(parallel, names.length) }, next),
    );
    return rates;
  }

  async #ask(name: string, rates: Map<string, UsageRates>): Promise<void> {
    try {
      rates.set(name, await this.options.usage.rates(name));
      this.#reported.delete(name);
    } catch (err) {
      if (!this.#reported.has(name))
        this.options.logger.warn(
          { err, node: name },
          "can't read what a node uses",
        );
      this.#reported.add(name);
    }
  }
}

/** Undefined while a container that runs has no figures. */
function podMetrics(
  pod: Pod,
  rates: UsageRates | undefined,
): AnyObject | undefined {
  const { metadata, spec, status } = pod;
  // A static pod is known to its node by another uid than its mirror's.
  const uids = [
    metadata.uid,
    metadata.annotations?.["kubernetes.io/config.hash"],
  ];
  const found = uids
    .map((uid) => rates?.pods.get(podKey({ ...metadata, uid })))
    .find((each) => each !== undefined);
  if (!found || found.size === 0) return undefined;
  const isRunning = (name: string): boolean =>
    [
      ...(status?.containerStatuses ?? []),
      ...(status?.initContainerStatuses ?? []),
    ].some((container) => container.name === name && container.state?.running);
  const names = [...spec.containers, ...(spec.initContainers ?? [])]
    .map(({ name }) => name)
    .filter(isRunning);
  const missing = names.some((name) => !found.has(name));
  if (missing || names.length === 0) return undefined;
  const first = found.get(names[0]!)!;
  return untyped({
    kind: "PodMetrics",
    apiVersion: `${group}/${version}`,
    metadata: objectMeta(metadata, first.atMs),
    ...moment(first),
    containers: names.map((name) => ({
      name,
      usage: amounts(found.get(name)!),
    })),
  });
}

function objectMeta(
  { name, namespace, labels }: Pod["metadata"],
  atMs: number,
): object {
  return {
    name,
    ...(namespace ? { namespace } : {}),
    creationTimestamp: formatTime(atMs),
    ...(labels ? { labels } : {}),
  };
}

function moment({ atMs, windowMs }: Rate): object {
  return {
    timestamp: formatTime(atMs),
    window: formatDuration(Math.round(windowMs)),
  };
}

function amounts({ nanoCores, memoryBytes }: Rate): Record<string, string> {
  return {
    cpu: nanoCores === 0 ? "0" : `${nanoCores}n`,
    memory: `${Math.floor(memoryBytes / 1024)}Ki`,
  };
}

const column = (name: string, description: string) => ({
  name,
  type: "string",
  format: name === "Name" ? "name" : "",
  description,
  priority: 0,
});

const printer: Printer = {
  columns: [
    column("Name", "Identifies the object among its kind."),
    column("CPU", "Cores used, on average over the window."),
    column("Memory", "The working set."),
    column("Window", "The time over which the cores are averaged."),
  ],
  cells(object) {
    const metrics = typed<{
      usage?: Record<string, string>;
      containers?: readonly { usage: Record<string, string> }[];
      window: string;
    }>(object);
    const all = metrics.usage
      ? [metrics.usage]
      : (metrics.containers ?? []).map(({ usage }) => usage);
    const sum = (name: string): number =>
      all.reduce((total, usage) => total + Number.parseInt(usage[name]!), 0);
    return [
      object.metadata.name,
      `${sum("cpu")}n`,
      `${sum("memory")}Ki`,
      metrics.window,
    ];
  },
};

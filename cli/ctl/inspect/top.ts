// orbitctl top: CPU and memory of pods or nodes, from metrics.k8s.io, or from a node agent's statistics.
import type { KubeList } from "../../../api/object.ts";
import { parseQuantity } from "../../../api/quantity.ts";
import { option } from "../../options/build-table.ts";
import { selectorOptions } from "../get.ts";
import { UsageError } from "../../options/table.ts";
import type { CtlCommand, CtlContext } from "../command.ts";
import { isNodeAgent } from "../node-agent.ts";
import { columnsText } from "../output.ts";

interface Usage {
  readonly milliCores: number;
  readonly bytes: number;
}

interface Measured extends Usage {
  readonly namespace: string;
  readonly name: string;
  readonly containers: readonly ({ readonly name: string } & Usage)[];
}

/** The part of a stats.Summary that is used here; a sample without a rate yet has no CPU. */
interface Statistics {
  readonly cpu?: { readonly usageNanoCores?: number };
  readonly memory?: { readonly workingSetBytes?: number };
}

interface Summary {
  readonly node: Statistics & { readonly nodeName: string };
  readonly pods?: readonly (Statistics & {
    readonly podRef: { readonly name: string; readonly namespace: string };
    readonly containers?: readonly (Statistics & { readonly name: string })[];
  })[];
}

interface Metrics {
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly usage?: Readonly<Record<string, string>>;
  readonly containers?: readonly {
    readonly name: string;
    readonly usage: Readonly<Record<string, string>>;
  }[];
}

const ofStatistics = ({ cpu, memory }: Statistics): Usage => ({
  milliCores: (cpu?.usageNanoCores ?? 0) / 1e6,
  bytes: memory?.workingSetBytes ?? 0,
});

const ofQuantities = (usage: Readonly<Record<string, string>> = {}): Usage => ({
  milliCores: Number(parseQuantity(usage["cpu"] ?? "0").nano) / 1e6,
  bytes: Number(parseQuantity(usage["memory"] ?? "0").nano) / 1e9,
});

const sum = (all: readonly Usage[]): Usage => ({
  milliCores: all.reduce((total, { milliCores }) => total + milliCores, 0),
  bytes: all.reduce((total, { bytes }) => total + bytes, 0),
});

async function fromAgent(
  context: CtlContext,
  what: "pods" | "nodes",
): Promise<Measured[]> {
  const http = await context.http();
  const { node, pods = [] } = await http.json<Summary>({
    path: "/stats/summary?only_cpu_and_memory=true",
  });
  if (what === "nodes")
    return [
      {
        namespace: "",
        name: node.nodeName,
        containers: [],
        ...ofStatistics(node),
      },
    ];
  const namespace = context.values.optionalText("namespace");
  return pods
    .map(({ podRef, containers = [], ...pod }) => ({
      ...podRef,
      ...ofStatistics(pod),
      containers: containers.map((each) => ({
        name: each.name,
        ...ofStatistics(each),
      })),
    }))
    .filter((pod) => !namespace || pod.namespace === namespace);
}

async function fromServer(
  context: CtlContext,
  what: "pods" | "nodes",
): Promise<Measured[]> {
  const { values } = context;
  const namespaced = what === "pods" && !values.flag("all-namespaces");
  const query = new URLSearchParams();
  for (const [name, parameter] of [
    ["selector", "labelSelector"],
    ["field-selector", "fieldSelector"],
  ] as const)
    if (values.optionalText(name)) query.set(parameter, values.text(name));
  const { items } = await (
    await context.http()
  ).json<KubeList<Metrics>>({
    path: `/apis/metrics.k8s.io/v1beta1/${namespaced ? `namespaces/${await context.namespace()}/` : ""}${what}?${query.toString()}`,
  });
  return items.map(({ metadata, usage, containers = [] }) => {
    const parts = containers.map((each) => ({
      name: each.name,
      ...ofQuantities(each.usage),
    }));
    return {
      namespace: metadata.namespace ?? "",
      name: metadata.name,
      containers: parts,
      ...(usage ? ofQuantities(usage) : sum(parts)),
    };
  });
}

const shown = ({ milliCores, bytes }: Usage): string[] => [
  `${Math.ceil(milliCores)}m`,
  `${Math.floor(bytes / 1024 ** 2)}Mi`,
];

export const topCommand: CtlCommand = {
  usage: "top (pods | nodes) [NAME…]",
  about: "Show what pods or nodes use of CPU and memory.",
  options: [
    ...selectorOptions,
    option("containers", "bool", "false", "Each container of a pod."),
    option("no-headers", "bool", "false", "No header line."),
    option("sort-by", "string", "", "Most first; else by name.", {
      values: ["", "cpu", "memory"],
    }),
  ],
  run: async (context) => {
    const { values } = context;
    const [word = "", ...names] = context.args;
    const what = /^(po|pods?)$/.test(word)
      ? "pods"
      : /^(no|nodes?)$/.test(word)
        ? "nodes"
        : undefined;
    if (!what) throw new UsageError("expected 'top (pods | nodes)'");
    const agent = await isNodeAgent(context);
    if (agent && (values.isSet("selector") || values.isSet("field-selector")))
      throw new UsageError("a node agent selects no pods by labels or fields");
    const all = await (agent ? fromAgent : fromServer)(context, what);
    for (const name of names)
      if (!all.some((each) => each.name === name))
        throw new Error(`metrics not available yet for ${what} "${name}"`);
    const chosen = all
      .filter(({ name }) => names.length === 0 || names.includes(name))
      .sort((a, b) =>
        values.text("sort-by") === "cpu"
          ? b.milliCores - a.milliCores
          : values.text("sort-by") === "memory"
            ? b.bytes - a.bytes
            : `${a.namespace}/${a.name}` < `${b.namespace}/${b.name}`
              ? -1
              : 1,
      );
    if (chosen.length === 0) {
      context.warn("No resources found");
      return;
    }
    const space = what === "pods" && (agent || values.flag("all-namespaces"));
    const parts = what === "pods" && values.flag("containers");
    const rows = chosen.flatMap((each) =>
      (parts ? each.containers : [each]).map((one) => [
        ...(space ? [each.namespace] : []),
        each.name,
        ...(parts ? [one.name] : []),
        ...shown(one),
      ]),
    );
    const head = [
      ...(space ? ["NAMESPACE"] : []),
      ...(parts ? ["POD"] : ["NAME"]),
      ...(parts ? ["NAME"] : []),
      "CPU(cores)",
      "MEMORY(bytes)",
    ];
    context.print(
      columnsText(values.flag("no-headers") ? rows : [head, ...rows]),
    );
  },
};

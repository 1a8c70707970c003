// On which nodes a DaemonSet's pods run: should one be started there, and may one that runs go on.
import type {
  Node,
  PodSpec,
  PodTemplateSpec,
  Toleration,
} from "../../api/types/core-v1.ts";
import { matchesNodeAffinity } from "../../api/objects/node-affinity.ts";
import { copyJson } from "../../api/patch/json-value.ts";
import { untoleratedTaint } from "../../api/objects/taints.ts";

/** Daemons run on nodes where other pods may not be scheduled. */
const ownTolerations: readonly Toleration[] = [
  { key: "node.kubernetes.io/not-ready", effect: "NoExecute" },
  { key: "node.kubernetes.io/unreachable", effect: "NoExecute" },
  { key: "node.kubernetes.io/disk-pressure", effect: "NoSchedule" },
  { key: "node.kubernetes.io/memory-pressure", effect: "NoSchedule" },
  { key: "node.kubernetes.io/pid-pressure", effect: "NoSchedule" },
  { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" },
].map((toleration) => ({ ...toleration, operator: "Exists" }));

function daemonTolerations(spec: PodSpec): Toleration[] {
  const hostNetwork: Toleration[] = spec.hostNetwork
    ? [
        {
          key: "node.kubernetes.io/network-unavailable",
          operator: "Exists",
          effect: "NoSchedule",
        },
      ]
    : [];
  const own = [...ownTolerations, ...hostNetwork];
  const given = spec.tolerations ?? [];
  return [
    ...given,
    ...own.filter(
      (toleration) =>
        !given.some(
          (other) =>
            other.key === toleration.key &&
            other.effect === toleration.effect &&
            other.operator === toleration.operator,
        ),
    ),
  ];
}

export function daemonPlacement(
  template: PodTemplateSpec,
  node: Node,
): { shouldRun: boolean; mayContinue: boolean } {
  const spec = template.spec!;
  if (spec.nodeName && spec.nodeName !== node.metadata.name)
    return { shouldRun: false, mayContinue: false };
  if (!matchesNodeAffinity(spec, node))
    return { shouldRun: false, mayContinue: false };
  const tolerations = daemonTolerations(spec);
  const { taints } = node.spec;
  if (untoleratedTaint(taints, tolerations, ["NoExecute"]))
    return { shouldRun: false, mayContinue: false };
  const unwelcome = untoleratedTaint(taints, tolerations, ["NoSchedule"]);
  return { shouldRun: !unwelcome, mayContinue: true };
}

/** The template bound to one node: by required affinity on its name, so that the scheduler places it. */
export function templateForNode(
  template: PodTemplateSpec,
  nodeName: string,
): PodTemplateSpec {
  const copy = copyJson(template);
  const spec = copy.spec!;
  spec.tolerations = daemonTolerations(spec);
  const nodeAffinity = spec.affinity?.nodeAffinity;
  const field = { key: "metadata.name", operator: "In", values: [nodeName] };
  const terms =
    nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
      ?.nodeSelectorTerms;
  spec.affinity = {
    ...spec.affinity,
    nodeAffinity: {
      ...nodeAffinity,
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: terms
          ? terms.map((term) => ({ ...term, matchFields: [field] }))
          : [{ matchFields: [field] }],
      },
    },
  };
  return copy;
}

/** The node a daemon pod is on, or is meant for. */
export function intendedNode(spec: PodSpec): string {
  if (spec.nodeName) return spec.nodeName;
  const terms =
    spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
      ?.nodeSelectorTerms ?? [];
  for (const { matchFields = [] } of terms)
    for (const { key, operator, values } of matchFields)
      if (key === "metadata.name" && operator === "In" && values?.length === 1)
        return values[0]!;
  return "";
}

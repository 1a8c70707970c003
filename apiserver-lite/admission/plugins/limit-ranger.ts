// LimitRanger: a namespace's LimitRanges give containers default requests and limits, and bound containers, pods and
// claims.
import { podQuantities } from "../../../api/objects/pod-resources.ts";
import {
  compareQuantities,
  quantityMilliValue,
} from "../../../api/quantity.ts";
import type {
  Container,
  LimitRange,
  LimitRangeItem,
  PersistentVolumeClaim,
  Pod,
} from "../../../api/types/core-v1.ts";
import type { StrategyContext } from "../../resources/strategy.ts";
import { qosClass } from "../../../api/objects/pod-qos.ts";
import type { AdmissionAttributes, AdmissionPlugin } from "../plugin.ts";
import { refuse, resourcedPod } from "./requests.ts";
import { typed } from "../../resources/typed.ts";

type Quantities = Readonly<Record<string, string>>;

export const limitRanger: AdmissionPlugin = {
  name: "LimitRanger",
  writesWhole: true,

  admit(attributes, context) {
    const pod = resourcedPod(attributes);
    if (!pod) return;
    let changed = false;
    for (const range of rangesOf(attributes, context)) {
      const filled: string[] = [];
      for (const item of itemsOf(range, "Container")) {
        for (const container of pod.spec.containers)
          filled.push(...applyDefaults("container", container, item));
        for (const container of pod.spec.initContainers ?? [])
          filled.push(...applyDefaults("init container", container, item));
      }
      if (filled.length === 0) continue;
      changed = true;
      // The last one that sets something says so.
      pod.metadata.annotations = {
        ...pod.metadata.annotations,
        "kubernetes.io/limit-ranger": `LimitRanger plugin set: ${filled.join("; ")}`,
      };
    }
    // The requested resources decide the class.
    if (changed && pod.status) pod.status.qosClass = qosClass(pod);
  },

  validate(attributes, context) {
    if (attributes.oldObject?.metadata.deletionTimestamp) return;
    const pod = resourcedPod(attributes);
    const claim = pod ? undefined : writtenClaim(attributes);
    if (!pod && !claim) return;
    for (const range of rangesOf(attributes, context)) {
      const problems = pod
        ? podProblems(pod, range)
        : claimProblems(claim!, range);
      const texts = [...new Set(problems)];
      if (texts.length > 0)
        refuse(
          attributes,
          texts.length === 1 ? texts[0]! : `[${texts.join(", ")}]`,
        );
    }
  },
};

function podProblems(pod: Pod, range: LimitRange): string[] {
  return (range.spec?.limits ?? []).flatMap((item) => {
    if (item.type === "Pod")
      return problemsOf("Pod", item, {
        requests: podQuantities(pod.spec, "requests", { overhead: false }),
        limits: podQuantities(pod.spec, "limits", { overhead: false }),
      });
    if (item.type !== "Container") return [];
    return [...pod.spec.containers, ...(pod.spec.initContainers ?? [])].flatMap(
      ({ resources }) =>
        problemsOf("Container", item, {
          requests: quantities(resources?.requests),
          limits: quantities(resources?.limits),
        }),
    );
  });
}

/** A claim has requests alone. */
function claimProblems(
  { spec }: PersistentVolumeClaim,
  range: LimitRange,
): string[] {
  const type = "PersistentVolumeClaim";
  const requests = quantities(spec.resources?.requests);
  return itemsOf(range, type).flatMap((item) => [
    ...each(item.min, (name, bound) =>
      below({ type, name, bound, request: requests[name] }),
    ),
    ...each(item.max, (name, bound) => {
      const request = requests[name];
      const usage = `maximum ${name} usage per ${type} is ${bound}`;
      if (request === undefined) return `${usage}.  No request is specified`;
      return compareQuantities(request, bound) > 0
        ? `${usage}, but request is ${request}`
        : undefined;
    }),
  ]);
}

/** The claim of a create or an update. */
function writtenClaim({
  operation,
  resource,
  subresource,
  object,
}: AdmissionAttributes): PersistentVolumeClaim | undefined {
  const isClaim =
    resource.group === "" && resource.resource === "persistentvolumeclaims";
  return isClaim &&
    subresource === "" &&
    (operation === "CREATE" || operation === "UPDATE")
    ? typed<PersistentVolumeClaim>(object)
    : undefined;
}

function quantities(map: object | undefined): Quantities {
  return Object.fromEntries(
    Object.entries(map ?? {}).map(([key, value]) => [key, String(value)]),
  );
}

function rangesOf(
  { namespace }: AdmissionAttributes,
  context: StrategyContext,
): LimitRange[] {
  return typed<LimitRange[]>(context.list("", "limitranges", namespace));
}

const itemsOf = ({ spec }: LimitRange, type: string): LimitRangeItem[] =>
  (spec?.limits ?? []).filter((item) => item.type === type);

/** Returns what was filled in: "cpu, memory request for container c". */
function applyDefaults(
  kind: string,
  container: Container,
  item: LimitRangeItem,
): string[] {
  const told = (["requests", "limits"] as const).flatMap((part) => {
    const given = quantities(container.resources?.[part]);
    const defaults = part === "requests" ? item.defaultRequest : item.default;
    const names = Object.keys(quantities(defaults))
      .filter((name) => given[name] === undefined)
      .sort();
    return names.length > 0
      ? [
          `${names.join(", ")} ${part.slice(0, -1)} for ${kind} ${container.name}`,
        ]
      : [];
  });
  const limits = {
    ...quantities(item.default),
    ...quantities(container.resources?.limits),
  };
  const requests = {
    ...quantities(item.defaultRequest),
    ...quantities(container.resources?.requests),
  };
  container.resources = {
    ...container.resources,
    ...(Object.keys(limits).length > 0 ? { limits } : {}),
    ...(Object.keys(requests).length > 0 ? { requests } : {}),
  };
  return told;
}

/** What one resource is held against. */
interface Checked {
  readonly type: string;
  readonly name: string;
  readonly bound: string;
  readonly request: string | undefined;
  readonly limit?: string | undefined;
}

/** The first problem of each resource. */
function each(
  bounds: object | undefined,
  problemOf: (name: string, bound: string) => string | undefined,
): string[] {
  return Object.entries(quantities(bounds)).flatMap(
    ([name, bound]) => problemOf(name, bound) ?? [],
  );
}

function problemsOf(
  type: string,
  item: LimitRangeItem,
  { requests, limits }: { requests: Quantities; limits: Quantities },
): string[] {
  const by =
    (problemOf: (checked: Checked) => string | undefined) =>
    (name: string, bound: string): string | undefined =>
      problemOf({
        ...{ type, name, bound },
        request: requests[name],
        limit: limits[name],
      });
  return [
    ...each(item.min, by(below)),
    ...each(item.max, by(above)),
    ...each(item.maxLimitRequestRatio, by(beyondRatio)),
  ];
}

function below(checked: Checked): string | undefined {
  const { type, name, bound, request, limit } = checked;
  const usage = `minimum ${name} usage per ${type} is ${bound}`;
  if (request === undefined) return `${usage}.  No request is specified`;
  if (compareQuantities(request, bound) < 0)
    return `${usage}, but request is ${request}`;
  return limit !== undefined && compareQuantities(limit, bound) < 0
    ? `${usage}, but limit is ${limit}`
    : undefined;
}

function above(checked: Checked): string | undefined {
  const { type, name, bound, request, limit } = checked;
  const usage = `maximum ${name} usage per ${type} is ${bound}`;
  if (limit === undefined) return `${usage}.  No limit is specified`;
  if (compareQuantities(limit, bound) > 0)
    return `${usage}, but limit is ${limit}`;
  return request !== undefined && compareQuantities(request, bound) > 0
    ? `${usage}, but request is ${request}`
    : undefined;
}

function beyondRatio(checked: Checked): string | undefined {
  const { type, name, bound, request = "0", limit = "0" } = checked;
  const [has, least] = [quantityMilliValue(limit), quantityMilliValue(request)];
  const text = `${name} max limit to request ratio per ${type} is ${bound}, but`;
  if (least === 0) return `${text} no request is specified or request is 0`;
  if (has === 0) return `${text} no limit is specified or limit is 0`;
  return (has / least) * 1000 > quantityMilliValue(bound)
    ? `${text} provided ratio is ${(has / least).toFixed(6)}`
    : undefined;
}

// LimitRanger: a namespace's LimitRanges give containers default requests and limits, and bound containers, pods and
// claims.
import { podQuantities } from "../../../api/objects/pod-resources.ts";
import { errors } from "../../../api/errors.ts";
import {
  compareQuantities,
  parseQuantity,
  quantityMilliValue,
} from "../../../api/quantity.ts";
import type {
  Container,
  LimitRange,
  LimitRangeItem,
  PersistentVolumeClaim,
} from "../../../api/types/core-v1.ts";
import type { StrategyContext } from "../../resources/strategy.ts";
import { qosClass } from "../../../api/objects/pod-qos.ts";
import type { AdmissionAttributes, AdmissionPlugin } from "../plugin.ts";
import { createdObject, nameOf, resourcedPod } from "./requests.ts";
import { typed } from "../../resources/typed.ts";

type Quantities = Readonly<Record<string, string>>;

export const limitRanger: AdmissionPlugin = {
  name: "LimitRanger",
  writesWhole: true,

  admit(attributes, context) {
    const pod = resourcedPod(attributes);
    if (!pod) return;
    const told: string[] = [];
    for (const item of itemsOf(attributes, context, "Container")) {
      for (const container of pod.spec.containers)
        told.push(...applyDefaults("container", container, item));
      for (const container of pod.spec.initContainers ?? [])
        told.push(...applyDefaults("init container", container, item));
    }
    if (told.length === 0) return;
    pod.metadata.annotations = {
      ...pod.metadata.annotations,
      "kubernetes.io/limit-ranger": `LimitRanger plugin set: ${told.join("; ")}`,
    };
    // The requested resources decide the class.
    if (pod.status) pod.status.qosClass = qosClass(pod);
  },

  validate(attributes, context) {
    const problems: string[] = [];
    const pod = resourcedPod(attributes);
    if (pod) {
      for (const item of itemsOf(attributes, context, "Container")) {
        for (const { resources } of [
          ...(pod.spec.initContainers ?? []),
          ...pod.spec.containers,
        ]) {
          check(
            "Container",
            item,
            quantities(resources?.requests),
            quantities(resources?.limits),
            problems,
          );
        }
      }
      for (const item of itemsOf(attributes, context, "Pod")) {
        check(
          "Pod",
          item,
          podQuantities(pod.spec, "requests", { overhead: false }),
          podQuantities(pod.spec, "limits", { overhead: false }),
          problems,
        );
      }
    }
    const claim = typed<PersistentVolumeClaim>(
      createdObject(attributes, "", "persistentvolumeclaims"),
    );
    if (claim) {
      for (const item of itemsOf(
        attributes,
        context,
        "PersistentVolumeClaim",
      )) {
        const requests = quantities(claim.spec.resources?.requests);
        checkBound(
          "minimum",
          item.min,
          requests,
          "PersistentVolumeClaim",
          "request",
          problems,
        );
        checkBound(
          "maximum",
          item.max,
          requests,
          "PersistentVolumeClaim",
          "request",
          problems,
        );
      }
    }
    if (problems.length === 0) return;
    const text =
      problems.length === 1 ? problems[0]! : `[${problems.join(", ")}]`;
    throw errors.forbidden(attributes.resource, nameOf(attributes), text);
  },
};

function quantities(map: object | undefined): Quantities {
  return Object.fromEntries(
    Object.entries(map ?? {}).map(([key, value]) => [key, String(value)]),
  );
}

function itemsOf(
  { namespace }: AdmissionAttributes,
  context: StrategyContext,
  type: string,
): LimitRangeItem[] {
  const ranges = typed<LimitRange[]>(
    context.list("", "limitranges", namespace),
  );
  return ranges
    .flatMap(({ spec }) => spec?.limits ?? [])
    .filter((item) => item.type === type);
}

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

function compare(a: string, b: string): number {
  return compareQuantities(a, b);
}

function check(
  type: string,
  item: LimitRangeItem,
  requests: Quantities,
  limits: Quantities,
  problems: string[],
): void {
  for (const [name, bound] of Object.entries(quantities(item.min))) {
    const request = requests[name];
    if (request === undefined)
      problems.push(
        `minimum ${name} usage per ${type} is ${bound}.  No request is specified`,
      );
    else if (compare(request, bound) < 0)
      problems.push(
        `minimum ${name} usage per ${type} is ${bound}, but request is ${request}`,
      );
    const limit = limits[name];
    if (limit !== undefined && compare(limit, bound) < 0) {
      problems.push(
        `minimum ${name} usage per ${type} is ${bound}, but limit is ${limit}`,
      );
    }
  }
  for (const [name, bound] of Object.entries(quantities(item.max))) {
    const limit = limits[name];
    const request = requests[name];
    if (limit === undefined)
      problems.push(
        `maximum ${name} usage per ${type} is ${bound}.  No limit is specified`,
      );
    else if (compare(limit, bound) > 0)
      problems.push(
        `maximum ${name} usage per ${type} is ${bound}, but limit is ${limit}`,
      );
    else if (request !== undefined && compare(request, bound) > 0) {
      problems.push(
        `maximum ${name} usage per ${type} is ${bound}, but request is ${request}`,
      );
    }
  }
  for (const [name, ratio] of Object.entries(
    quantities(item.maxLimitRequestRatio),
  )) {
    const limit = limits[name];
    const request = requests[name];
    if (limit === undefined || request === undefined) {
      problems.push(
        `${name} max limit to request ratio per ${type} is ${ratio}, but no ${request === undefined ? "request" : "limit"} is specified or request is 0`,
      );
      continue;
    }
    const [has, least] = [
      quantityMilliValue(parseQuantity(limit)),
      quantityMilliValue(parseQuantity(request)),
    ];
    if (
      least > 0 &&
      (has / least) * 1000 > quantityMilliValue(parseQuantity(ratio))
    ) {
      problems.push(
        `${name} max limit to request ratio per ${type} is ${ratio}, but provided ratio is ${(has / least).toFixed(6)}`,
      );
    }
  }
}

function checkBound(
  which: "minimum" | "maximum",
  bounds: object | undefined,
  values: Quantities,
  type: string,
  what: string,
  problems: string[],
): void {
  for (const [name, bound] of Object.entries(quantities(bounds))) {
    const value = values[name];
    if (value === undefined)
      problems.push(
        `${which} ${name} usage per ${type} is ${bound}.  No ${what} is specified`,
      );
    else if (
      which === "minimum"
        ? compare(value, bound) < 0
        : compare(value, bound) > 0
    ) {
      problems.push(
        `${which} ${name} usage per ${type} is ${bound}, but ${what} is ${value}`,
      );
    }
  }
}

// Three small plugins that complete pods and nodes: DefaultTolerationSeconds, TaintNodesByCondition, RuntimeClass.
import { errors } from "../../../api/errors.ts";
import type { Node, Toleration } from "../../../api/types/core-v1.ts";
import type { RuntimeClass } from "../../../api/types/node-v1.ts";
import type { AdmissionPlugin } from "../plugin.ts";
import { createdObject, createdPod, nameOf, writtenPod } from "./requests.ts";
import { typed } from "../../resources/typed.ts";

const NOT_READY = "node.kubernetes.io/not-ready";
const UNREACHABLE = "node.kubernetes.io/unreachable";
/** How long pods stay on a node that is not ready or not reachable, unless they say otherwise. */
export interface TolerationSeconds {
  readonly notReady: number;
  readonly unreachable: number;
}

export const createDefaultTolerationSeconds = (
  seconds: TolerationSeconds,
): AdmissionPlugin => ({
  name: "DefaultTolerationSeconds",
  writesWhole: true,
  admit(attributes) {
    const pod = writtenPod(attributes);
    if (!pod) return;
    const tolerations = pod.spec.tolerations ?? [];
    const added = [NOT_READY, UNREACHABLE].filter(
      (key) => !tolerations.some((one) => toleratesNoExecute(one, key)),
    );
    if (added.length === 0) return;
    pod.spec.tolerations = [
      ...tolerations,
      ...added.map((key) => ({
        key,
        operator: "Exists",
        effect: "NoExecute",
        tolerationSeconds:
          key === NOT_READY ? seconds.notReady : seconds.unreachable,
      })),
    ];
  },
});

function toleratesNoExecute(
  { key, effect }: Toleration,
  wanted: string,
): boolean {
  return (key === wanted || !key) && (effect === "NoExecute" || !effect);
}

/** A new node gets no pods before its agent says it is ready. */
export const taintNodesByCondition: AdmissionPlugin = {
  name: "TaintNodesByCondition",
  writesWhole: true,
  admit(attributes) {
    const node = typed<Node>(createdObject(attributes, "", "nodes"));
    if (!node) return;
    node.spec ??= {};
    const taints = node.spec.taints ?? [];
    if (
      taints.some(
        ({ key, effect }) => key === NOT_READY && effect === "NoSchedule",
      )
    )
      return;
    node.spec.taints = [...taints, { key: NOT_READY, effect: "NoSchedule" }];
  },
};

/** A pod's runtime class brings its overhead and where it can run. */
export const runtimeClass: AdmissionPlugin = {
  name: "RuntimeClass",
  writesWhole: true,

  admit(attributes, context) {
    const pod = createdPod(attributes);
    const name = pod?.spec.runtimeClassName;
    if (!pod || !name) return;
    const refuse = (why: string): never => {
      throw errors.forbidden(attributes.resource, nameOf(attributes), why);
    };
    const found = typed<RuntimeClass>(
      context.read("node.k8s.io", "runtimeclasses", "", name),
    );
    if (!found) return refuse(`pod rejected: RuntimeClass "${name}" not found`);
    const { overhead, scheduling } = found;
    if (overhead?.podFixed) {
      const given = pod.spec.overhead;
      if (
        given &&
        JSON.stringify(sorted(given)) !==
          JSON.stringify(sorted(overhead.podFixed))
      ) {
        refuse(
          "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead",
        );
      }
      pod.spec.overhead = { ...overhead.podFixed };
    }
    if (!scheduling) return;
    for (const [key, value] of Object.entries(scheduling.nodeSelector ?? {})) {
      const own = pod.spec.nodeSelector?.[key];
      if (own !== undefined && own !== value) {
        refuse(
          `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${value}; pod.spec.nodeSelector[${key}] = ${own}`,
        );
      }
      pod.spec.nodeSelector = { ...pod.spec.nodeSelector, [key]: value };
    }
    if (scheduling.tolerations) {
      pod.spec.tolerations = [
        ...(pod.spec.tolerations ?? []),
        ...scheduling.tolerations.map((one) => ({ ...one })),
      ];
    }
  },

  validate(attributes, context) {
    const pod = createdPod(attributes);
    if (!pod?.spec.overhead || Object.keys(pod.spec.overhead).length === 0)
      return;
    const found = pod.spec.runtimeClassName
      ? context.read(
          "node.k8s.io",
          "runtimeclasses",
          "",
          pod.spec.runtimeClassName,
        )
      : undefined;
    if (found?.["overhead"]) return;
    throw errors.forbidden(
      attributes.resource,
      nameOf(attributes),
      "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead",
    );
  },
};

function sorted(quantities: object): [string, string][] {
  return Object.entries(quantities)
    .map(([key, value]): [string, string] => [key, String(value)])
    .sort();
}

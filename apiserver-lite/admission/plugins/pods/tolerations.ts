// PodTolerationRestriction (tolerations that pods of a namespace get and may have) and ExtendedResourceToleration (a pod
// that asks for a device tolerates the nodes that are kept for it).
import { ApiError, errors } from "../../../../api/errors.ts";
import { qosClass } from "../../../../api/objects/pod-qos.ts";
import type { Toleration } from "../../../../api/types/core-v1.ts";
import { isExtendedResource } from "../../../../api/objects/resource-names.ts";
import type { StrategyContext } from "../../../resources/strategy.ts";
import type { AdmissionAttributes, AdmissionPlugin } from "../../plugin.ts";
import { writtenPod } from "../requests.ts";
import { allAllowed, mergeTolerations } from "./toleration-sets.ts";

const defaultsKey = "scheduler.alpha.kubernetes.io/defaultTolerations";
const allowedKey = "scheduler.alpha.kubernetes.io/tolerationsWhitelist";

/** For namespaces without the annotations. */
export interface TolerationRestriction {
  readonly default?: readonly Toleration[];
  readonly whitelist?: readonly Toleration[];
}

export function createPodTolerationRestriction(
  cluster: TolerationRestriction = {},
): AdmissionPlugin {
  const validate = (
    attributes: AdmissionAttributes,
    context: StrategyContext,
  ): void => {
    const tolerations = writtenPod(attributes)?.spec.tolerations ?? [];
    if (tolerations.length === 0) return;
    const own = ofNamespace(attributes, context, allowedKey);
    if (allAllowed(tolerations, own ?? cluster.whitelist ?? [])) return;
    throw new ApiError({
      code: 500,
      message: `pod tolerations (possibly merged with namespace default tolerations) conflict with its ${own ? "namespace" : "cluster"} whitelist`,
    });
  };
  return {
    name: "PodTolerationRestriction",
    writesWhole: true,
    admit(attributes, context) {
      const pod = writtenPod(attributes);
      if (!pod) return;
      const added: Toleration[] =
        attributes.operation === "CREATE"
          ? [
              ...(ofNamespace(attributes, context, defaultsKey) ??
                cluster.default ??
                []),
            ]
          : [];
      if (qosClass(pod) !== "BestEffort")
        added.push({
          key: "node.kubernetes.io/memory-pressure",
          operator: "Exists",
          effect: "NoSchedule",
        });
      if (added.length > 0)
        pod.spec.tolerations = mergeTolerations(
          pod.spec.tolerations ?? [],
          added,
        );
      validate(attributes, context);
    },
    validate,
  };
}

/** undefined: the namespace says nothing. Throws what the reference answers to a text that is no list. */
function ofNamespace(
  { namespace }: AdmissionAttributes,
  context: StrategyContext,
  key: string,
): readonly Toleration[] | undefined {
  const found = context.read("", "namespaces", "", namespace);
  if (!found)
    throw errors.notFound({ group: "", resource: "namespaces" }, namespace);
  const text = found.metadata.annotations?.[key];
  if (text === undefined) return undefined;
  if (text === "") return [];
  let list: unknown;
  try {
    list = JSON.parse(text);
  } catch (error) {
    throw new ApiError({ code: 500, message: (error as Error).message });
  }
  if (list === null) return [];
  if (!Array.isArray(list) || !list.every(isToleration))
    throw new ApiError({
      code: 500,
      message: `the annotation ${key} is not a list of tolerations`,
    });
  return list.map(
    ({ key: name, operator, value, effect, tolerationSeconds }) => ({
      ...(name ? { key: name } : {}),
      ...(operator ? { operator } : {}),
      ...(value ? { value } : {}),
      ...(effect ? { effect } : {}),
      ...(tolerationSeconds === undefined ? {} : { tolerationSeconds }),
    }),
  );
}

function isToleration(value: unknown): value is Toleration {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return false;
  const fields = value as Record<string, unknown>;
  return (
    ["key", "operator", "value", "effect"].every((field) =>
      ["string", "undefined"].includes(typeof fields[field]),
    ) &&
    (fields["tolerationSeconds"] === undefined ||
      Number.isSafeInteger(fields["tolerationSeconds"]))
  );
}

export const extendedResourceToleration: AdmissionPlugin = {
  name: "ExtendedResourceToleration",
  writesWhole: true,
  admit(attributes) {
    const pod = writtenPod(attributes);
    if (!pod) return;
    const asked = new Set(
      [...pod.spec.containers, ...(pod.spec.initContainers ?? [])].flatMap(
        ({ resources }) =>
          Object.keys(resources?.requests ?? {}).filter(isExtendedResource),
      ),
    );
    for (const key of [...asked].sort()) {
      const known = pod.spec.tolerations ?? [];
      const has = known.some(
        (one) =>
          one.key === key &&
          one.operator === "Exists" &&
          one.effect === "NoSchedule" &&
          !one.value,
      );
      if (!has)
        pod.spec.tolerations = [
          ...known,
          { key, operator: "Exists", effect: "NoSchedule" },
        ];
    }
  },
};

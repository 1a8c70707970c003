// Priority: turns a pod's priorityClassName into its priority; keeps the default class unique.
import { errors } from "../../../api/errors.ts";
import type { AnyObject } from "../../../api/object.ts";
import type { Pod } from "../../../api/types/core-v1.ts";
import type { PriorityClass } from "../../../api/types/scheduling-v1.ts";
import type { StrategyContext } from "../../resources/strategy.ts";
import type { AdmissionAttributes, AdmissionPlugin } from "../plugin.ts";
import { createdPod, nameOf } from "./requests.ts";
import { typed } from "../../resources/typed.ts";

const GROUP = "scheduling.k8s.io";
const DEFAULT_POLICY = "PreemptLowerPriority";

/** The classes every cluster has. */
export const systemPriorityClasses: readonly AnyObject[] = [
  {
    apiVersion: `${GROUP}/v1`,
    kind: "PriorityClass",
    metadata: { name: "system-node-critical" },
    value: 2_000_001_000,
    globalDefault: false,
    description:
      "Used for system critical pods that must not be moved from their current node.",
    preemptionPolicy: DEFAULT_POLICY,
  },
  {
    apiVersion: `${GROUP}/v1`,
    kind: "PriorityClass",
    metadata: { name: "system-cluster-critical" },
    value: 2_000_000_000,
    globalDefault: false,
    description:
      "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.",
    preemptionPolicy: DEFAULT_POLICY,
  },
];

export const priority: AdmissionPlugin = {
  name: "Priority",
  writesWhole: true,

  admit(attributes, context) {
    keepPriority(attributes);
    const pod = createdPod(attributes);
    if (!pod) return;
    const { spec } = pod;
    const refuse = (why: string): never => {
      throw errors.forbidden(attributes.resource, nameOf(attributes), why);
    };
    const found = classFor(spec.priorityClassName, context);
    if (spec.priorityClassName && !found)
      refuse(`no PriorityClass with name ${spec.priorityClassName} was found`);
    const value = found?.value ?? 0;
    const policy = found?.preemptionPolicy ?? DEFAULT_POLICY;
    if (!spec.priorityClassName && found)
      spec.priorityClassName = found.metadata.name;
    if (
      spec.priority !== undefined &&
      spec.priority !== null &&
      spec.priority !== value
    ) {
      refuse(
        `the integer value of priority (${spec.priority}) must not be provided in pod spec; priority admission controller computed ${value} from the given PriorityClass name`,
      );
    }
    if (spec.preemptionPolicy && spec.preemptionPolicy !== policy) {
      refuse(
        `the string value of PreemptionPolicy (${spec.preemptionPolicy}) must not be provided in pod spec; priority admission controller computed ${policy} from the given PriorityClass name`,
      );
    }
    spec.priority = value;
    spec.preemptionPolicy = policy;
  },

  validate(attributes, context) {
    if (isDefaultClass(attributes)) refuseSecondDefault(attributes, context);
  },
};

/** The value given at creation stays when an update leaves it out, as a manifest that is put back does. */
function keepPriority({
  resource,
  subresource,
  operation,
  object,
  oldObject,
}: AdmissionAttributes): void {
  if (resource.group !== "" || resource.resource !== "pods") return;
  if (operation !== "UPDATE" || subresource !== "") return;
  const { spec } = typed<Pod>(object!);
  const old = typed<Pod>(oldObject!).spec;
  spec.priority ??= old.priority;
  spec.preemptionPolicy ??= old.preemptionPolicy;
}

/** The named class, or the default one when none is named. */
function classFor(
  name: string | undefined,
  context: StrategyContext,
): PriorityClass | undefined {
  if (name) {
    const known =
      context.read(GROUP, "priorityclasses", "", name) ??
      systemPriorityClasses.find(({ metadata }) => metadata.name === name);
    return typed<PriorityClass>(known);
  }
  const defaults = typed<PriorityClass[]>(
    context.list(GROUP, "priorityclasses"),
  ).filter(({ globalDefault }) => globalDefault);
  // Should there be two (racing writes), the lower one counts.
  return defaults.sort((a, b) => a.value - b.value)[0];
}

function isDefaultClass({
  resource,
  operation,
  object,
}: AdmissionAttributes): boolean {
  const written = operation === "CREATE" || operation === "UPDATE";
  return (
    resource.group === GROUP &&
    resource.resource === "priorityclasses" &&
    written &&
    object?.["globalDefault"] === true
  );
}

function refuseSecondDefault(
  attributes: AdmissionAttributes,
  context: StrategyContext,
): void {
  const own = nameOf(attributes);
  const other = context
    .list(GROUP, "priorityclasses")
    .find(
      (known) => known["globalDefault"] === true && known.metadata.name !== own,
    );
  if (!other) return;
  throw errors.forbidden(
    attributes.resource,
    own,
    `PriorityClass ${other.metadata.name} is already marked as default. Only one default can exist`,
  );
}

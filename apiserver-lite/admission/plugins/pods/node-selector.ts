// PodNodeSelector: the nodes that pods of a namespace run on, from the namespace's annotation or the plug-in's
// configuration (a selector by namespace, and clusterDefaultNodeSelector for namespaces without the annotation).
import { ApiError, errors } from "../../../../api/errors.ts";
import { fieldErrors } from "../../../../api/field-errors.ts";
import { labelKeyProblems, labelValueProblems } from "../../../../api/names.ts";
import type { Pod } from "../../../../api/types/core-v1.ts";
import type { StrategyContext } from "../../../resources/strategy.ts";
import type { AdmissionAttributes, AdmissionPlugin } from "../../plugin.ts";
import { createdPod } from "../requests.ts";

const annotation = "scheduler.alpha.kubernetes.io/node-selector";
const clusterDefault = "clusterDefaultNodeSelector";
type Labels = Readonly<Record<string, string>>;

/** @param selectors by namespace; the one of clusterDefaultNodeSelector is for namespaces that say nothing */
export function createPodNodeSelector(
  selectors: Readonly<Record<string, string>> = {},
): AdmissionPlugin {
  const selectorOf = (
    { namespace }: AdmissionAttributes,
    context: StrategyContext,
  ): Labels => {
    const found = context.read("", "namespaces", "", namespace);
    if (!found)
      throw errors.notFound({ group: "", resource: "namespaces" }, namespace);
    return parseSelector(
      found.metadata.annotations?.[annotation] ??
        selectors[clusterDefault] ??
        "",
    );
  };
  const check = (
    pod: Pod,
    wanted: Labels,
    attributes: AdmissionAttributes,
  ): void => {
    const own = pod.spec.nodeSelector ?? {};
    const refuse = (why: string): never => {
      throw errors.forbidden(attributes.resource, pod.metadata.name ?? "", why);
    };
    for (const [key, value] of Object.entries(wanted))
      if ((own[key] ?? value) !== value)
        refuse(
          "pod node label selector conflicts with its namespace node label selector",
        );
    const allowed = parseSelector(selectors[attributes.namespace] ?? "");
    if (Object.keys(allowed).length === 0) return;
    if (Object.entries(own).some(([key, value]) => allowed[key] !== value))
      refuse(
        "pod node label selector labels conflict with its namespace whitelist",
      );
  };
  return {
    name: "PodNodeSelector",
    writesWhole: true,
    admit(attributes, context) {
      const pod = createdPod(attributes);
      if (!pod) return;
      const wanted = selectorOf(attributes, context);
      const merged = { ...wanted, ...pod.spec.nodeSelector };
      const before = pod.spec.nodeSelector;
      if (Object.keys(merged).length > 0) pod.spec.nodeSelector = merged;
      else if (before) delete pod.spec.nodeSelector;
      check(pod, wanted, attributes);
    },
    validate(attributes, context) {
      const pod = createdPod(attributes);
      if (pod) check(pod, selectorOf(attributes, context), attributes);
    },
  };
}

/** `a=b,c=d`; a text that is no such list fails the request, as in the reference. */
function parseSelector(text: string): Labels {
  const labels: Record<string, string> = {};
  if (text === "") return labels;
  for (const part of text.split(",")) {
    const sides = part.split("=");
    if (sides.length !== 2)
      throw new ApiError({
        code: 500,
        message: `invalid selector: [${sides.join(" ")}]`,
      });
    const [key, value] = sides.map((side) => side.trim()) as [string, string];
    refuse("<nil>", key, labelKeyProblems(key));
    refuse(`[${key}]`, value, labelValueProblems(value));
    labels[key] = value;
  }
  return labels;
}

function refuse(field: string, value: string, problems: string[]): void {
  if (problems.length === 0) return;
  const { detail } = fieldErrors.invalid(field, value, problems.join("; "));
  throw new ApiError({ code: 500, message: `${field}: ${detail}` });
}

// Warnings about a workload: its name when it is made, its pod template when that is new or the object has a new generation.
import { dnsLabelProblems } from "../../../api/names.ts";
import type { KubeObject } from "../../../api/object.ts";
import type { PodTemplateSpec } from "../../../api/types/core-v1.ts";
import { podWarnings } from "./pod/pod-warnings.ts";

type Object = Readonly<KubeObject>;

/** Is it made, or written with another generation? */
export const isNewGeneration = (
  object: Object,
  old: Object | undefined,
): boolean => !old || old.metadata.generation !== object.metadata.generation;

/** @param field "spec.template" */
export const templateWarnings = (
  field: string,
  template: PodTemplateSpec | undefined,
): Iterable<string> =>
  template?.spec
    ? podWarnings(`${field}.`, template.spec, template.metadata)
    : [];

/** What to warn of in a new object whose name pods cannot have as their hostname. */
export function nameWarnings(
  { metadata }: Object,
  old: Object | undefined,
  usedIn = "Pod names and hostnames",
): string[] {
  const problems = old ? [] : dnsLabelProblems(metadata.name ?? "");
  return problems.length > 0
    ? [
        `metadata.name: this is used in ${usedIn}, which can result in surprising behavior; a DNS label is recommended: [${problems.join(" ")}]`,
      ]
    : [];
}

/** Of a workload whose pods are called by its name. */
export function* workloadWarnings(
  object: Object & { readonly spec?: { readonly template?: PodTemplateSpec } },
  old: Object | undefined,
): Iterable<string> {
  yield* nameWarnings(object, old);
  if (isNewGeneration(object, old))
    yield* templateWarnings("spec.template", object.spec?.template);
}

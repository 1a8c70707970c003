// What the validation of every workload with a selector and a pod template has in common, and their wide columns.
import type { FieldError } from "../../../api/errors.ts";
import { fieldErrors } from "../../../api/field-errors.ts";
import { ApiError } from "../../../api/errors.ts";
import { asGo } from "../../../api/go-syntax.ts";
import { selectorFromObject } from "../../../api/selectors.ts";
import type { PodTemplateSpec } from "../../../api/types/core-v1.ts";
import type { LabelSelector } from "../../../api/types/meta-v1.ts";
import { intOrPercent, labelSelector, percentOf } from "../field-checks.ts";
import { validatePodTemplate } from "../core/pod/pod-spec-validation.ts";

/** Selector present, not empty, valid, and matched by the template. `emptyText`: what to say of an empty one. */
export function validateSelectorAndTemplate(
  selector: LabelSelector | undefined,
  template: PodTemplateSpec | undefined,
  emptyText: string,
): FieldError[] {
  return [
    ...(selector
      ? validateSelector(selector, emptyText)
      : [fieldErrors.required("spec.selector")]),
    ...validateMatch(selector, template, "invalid label selector"),
    ...validatePodTemplate("spec.template", template ?? {}),
  ];
}

export function validateSelector(
  selector: LabelSelector | undefined,
  emptyText: string,
): FieldError[] {
  if (!selector) return [];
  const problems = labelSelector("spec.selector", selector);
  if (isEmpty(selector))
    problems.push(
      fieldErrors.invalid(
        "spec.selector",
        asGo("v1.LabelSelector", selector),
        emptyText,
      ),
    );
  return problems;
}

const isEmpty = (selector: LabelSelector): boolean =>
  Object.keys(selector.matchLabels ?? {}).length === 0 &&
  (selector.matchExpressions?.length ?? 0) === 0;

/** A missing selector matches nothing. `badText`: what to say of a selector that cannot be used; undefined: nothing. */
export function validateMatch(
  selector: LabelSelector | undefined,
  template: PodTemplateSpec | undefined,
  badText: string | undefined,
): FieldError[] {
  const given = template?.metadata?.labels;
  try {
    if (selectorFromObject(selector).matches(given)) return [];
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return badText === undefined
      ? []
      : [
          fieldErrors.invalid(
            "spec.selector",
            asGo("v1.LabelSelector", selector),
            badText,
          ),
        ];
  }
  return [
    fieldErrors.invalid(
      "spec.template.metadata.labels",
      asGo("map[string]string", given),
      "`selector` does not match template `labels`",
    ),
  ];
}

/** Workloads that keep pods running allow no other restart policy. */
export function alwaysRestarts(
  template: PodTemplateSpec | undefined,
  kind: string,
): FieldError[] {
  const spec = template?.spec;
  if (!spec) return [];
  const problems: FieldError[] = [];
  if (spec.restartPolicy !== "Always") {
    problems.push(
      fieldErrors.notSupported(
        "spec.template.spec.restartPolicy",
        spec.restartPolicy ?? "",
        ["Always"],
      ),
    );
  }
  if (spec.activeDeadlineSeconds !== undefined) {
    problems.push(
      fieldErrors.forbidden(
        "spec.template.spec.activeDeadlineSeconds",
        `activeDeadlineSeconds in ${kind} is not Supported`,
      ),
    );
  }
  return problems;
}

type Budget =
  { maxUnavailable?: number | string; maxSurge?: number | string } | undefined;

const isZero = (value: number | string | undefined): boolean =>
  value === 0 || percentOf(value) === 0;

/** `maxUnavailable` and `maxSurge` of a rolling update: not both zero. */
export function validateRollingUpdate(
  field: string,
  update: Budget,
): FieldError[] {
  if (!update) return [];
  const problems = [
    ...intOrPercent(`${field}.maxUnavailable`, update.maxUnavailable),
    ...intOrPercent(`${field}.maxSurge`, update.maxSurge),
  ];
  if (isZero(update.maxUnavailable) && isZero(update.maxSurge)) {
    problems.push(
      fieldErrors.invalid(
        `${field}.maxUnavailable`,
        asGo("intstr.IntOrString", update.maxUnavailable),
        "may not be 0 when `maxSurge` is 0",
      ),
    );
  }
  return [
    ...problems,
    ...notAboveAll(`${field}.maxUnavailable`, update.maxUnavailable),
  ];
}

export function notAboveAll(
  field: string,
  value: number | string | undefined,
): FieldError[] {
  return (percentOf(value) ?? 0) > 100
    ? [
        fieldErrors.invalid(
          field,
          asGo("intstr.IntOrString", value),
          "must not be greater than 100%",
        ),
      ]
    : [];
}

/** Names and images of a template's containers, for the wide columns. */
export function containerColumns(
  template: PodTemplateSpec | undefined,
): [string, string] {
  const containers = template?.spec?.containers ?? [];
  return [
    containers.map(({ name }) => name).join(","),
    containers.map(({ image }) => image ?? "").join(","),
  ];
}

/** "a=b,c in (d)", or "<none>". */
export function selectorColumn(selector: LabelSelector | undefined): string {
  if (!selector) return "<none>";
  try {
    return selectorFromObject(selector).toString() || "<none>";
  } catch {
    return "<error>";
  }
}

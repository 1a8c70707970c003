// Annotations that say something to the cluster, and so must make sense: mirror pods, the cost of deletion, AppArmor.
import type { FieldError } from "../../../../api/errors.ts";
import { fieldErrors } from "../../../../api/field-errors.ts";
import type {
  AppArmorProfile,
  PodSpec,
} from "../../../../api/types/core-v1.ts";
import { containersOf } from "./pod-security-validation.ts";

export const mirrorAnnotation = "kubernetes.io/config.mirror";
const deletionCostAnnotation = "controller.kubernetes.io/pod-deletion-cost";
export const appArmorPrefix = "container.apparmor.security.beta.kubernetes.io/";
const tolerationsAnnotation = "scheduler.alpha.kubernetes.io/tolerations";
const appArmorProfile = /^(|runtime\/default|unconfined|localhost\/.*)$/;

const isInt32 = (text: string): boolean =>
  /^(0|-?[1-9][0-9]*)$/.test(text) && Math.abs(Number(text)) <= 2 ** 31 - 1;

export function validatePodAnnotations(
  field: string,
  annotations: Readonly<Record<string, string>> | undefined,
  spec: PodSpec | undefined,
): FieldError[] {
  const problems: FieldError[] = [];
  const of = (name: string): string => `${field}[${name}]`;
  const mirror = annotations?.[mirrorAnnotation];
  if (mirror !== undefined && !spec?.nodeName)
    problems.push(
      fieldErrors.invalid(
        of(mirrorAnnotation),
        mirror,
        "must set spec.nodeName if mirror pod annotation is set",
      ),
    );
  const tolerations = annotations?.[tolerationsAnnotation];
  if (tolerations) {
    try {
      JSON.parse(tolerations);
    } catch {
      problems.push(
        fieldErrors.invalid(
          field,
          tolerationsAnnotation,
          `invalid character '${tolerations[0]}' looking for beginning of value`,
        ),
      );
    }
  }
  const profiles = Object.entries(annotations ?? {})
    .filter(([key]) => key.startsWith(appArmorPrefix))
    .sort();
  const names = new Set(
    spec && profiles.length > 0
      ? containersOf("", spec).map(([, { name }]) => name)
      : [],
  );
  for (const [key, value] of profiles) {
    const name = key.slice(appArmorPrefix.length);
    if (!names.has(name))
      problems.push(fieldErrors.invalid(of(key), name, "container not found"));
    if (!appArmorProfile.test(value))
      problems.push(
        fieldErrors.invalid(
          of(key),
          value,
          `invalid AppArmor profile name: ${JSON.stringify(value)}`,
        ),
      );
  }
  const cost = annotations?.[deletionCostAnnotation];
  if (cost !== undefined && !isInt32(cost))
    problems.push(
      fieldErrors.invalid(
        of(deletionCostAnnotation),
        cost,
        "must be a 32bit integer",
      ),
    );
  return problems;
}

/** The field that an annotation sets; undefined when it sets none. */
export function appArmorProfileOf(value: string): AppArmorProfile | undefined {
  if (value === "runtime/default") return { type: "RuntimeDefault" };
  if (value === "unconfined") return { type: "Unconfined" };
  return value.startsWith("localhost/")
    ? { type: "Localhost", localhostProfile: value.slice("localhost/".length) }
    : undefined;
}

/** The other way; undefined for what is not valid. */
export function appArmorAnnotation({
  type,
  localhostProfile = "",
}: AppArmorProfile): string | undefined {
  if (type === "RuntimeDefault") return "runtime/default";
  if (type === "Unconfined") return "unconfined";
  return type === "Localhost" && localhostProfile
    ? `localhost/${localhostProfile}`
    : undefined;
}

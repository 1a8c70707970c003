// What the status of a definition should say, of its names, its schema and its group: a function of the definition and of
// what its group's other definitions were given. Terminating is the deletion's (instance-deletion.ts).
import {
  findCondition,
  isConditionTrue,
  setCondition,
} from "../../api/objects/conditions.ts";
import { sameJson } from "../../api/objects/json-equality.ts";
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionCondition as Condition,
  CustomResourceDefinitionNames as Names,
  CustomResourceDefinitionStatus as Status,
} from "../../api/types/apiextensions-v1.ts";
import { acceptNames, sameNames } from "./accepted-names.ts";

export type NewCondition = Omit<Condition, "lastTransitionTime">;

const approvalAnnotation = "api-approved.kubernetes.io";
const approvalPolicy =
  "see https://github.com/kubernetes/enhancements/pull/1111";

/**
 * Undefined: it says so already.
 * @param others the names accepted of the group's other definitions
 * @param nonStructural why a schema of the definition is not structural; undefined: all are
 * @param time of conditions that change
 */
export function plannedStatus(
  definition: Readonly<CustomResourceDefinition>,
  others: Iterable<Names>,
  nonStructural: NewCondition | undefined,
  time: string,
): Status | undefined {
  const { spec, status = {}, metadata } = definition;
  let conditions: readonly Condition[] = status.conditions ?? [];
  const set = (condition: NewCondition): void => {
    conditions = setCondition(conditions, condition, time);
  };
  let acceptedNames = status.acceptedNames;
  if (!sameNames(spec.names, acceptedNames)) {
    const { names, conflict } = acceptNames(spec.names, acceptedNames, others);
    acceptedNames = names;
    set(
      conflict
        ? { type: "NamesAccepted", status: "False", ...conflict }
        : {
            type: "NamesAccepted",
            status: "True",
            reason: "NoConflicts",
            message: "no conflicts found",
          },
    );
    if (conflict && !isConditionTrue(conditions, "Established"))
      set({
        type: "Established",
        status: "False",
        reason: "NotAccepted",
        message: "not all names are accepted",
      });
  }
  if (
    isConditionTrue(conditions, "NamesAccepted") &&
    !isConditionTrue(conditions, "Established")
  )
    set({
      type: "Established",
      status: "True",
      reason: "InitialNamesAccepted",
      message: "the initial names have been accepted",
    });
  const approval = approvalOf(spec.group, metadata.annotations ?? {});
  if (approval) set(approval);
  if (nonStructural) set(nonStructural);
  else if (findCondition(conditions, "NonStructuralSchema"))
    conditions = conditions.filter(
      ({ type }) => type !== "NonStructuralSchema",
    );
  if (
    sameJson(conditions, status.conditions ?? []) &&
    sameNames(acceptedNames, status.acceptedNames)
  )
    return undefined;
  return {
    ...status,
    conditions: [...conditions],
    acceptedNames: acceptedNames!,
  };
}

/** Groups of the community need an approval; others have no such condition. */
function approvalOf(
  group: string,
  annotations: Readonly<Record<string, string>>,
): NewCondition | undefined {
  if (!/(^|\.)(k8s|kubernetes)\.io$/.test(group)) return undefined;
  const approval = annotations[approvalAnnotation] ?? "";
  const condition = (
    status: "True" | "False",
    reason: string,
    message: string,
  ): NewCondition => ({
    type: "KubernetesAPIApprovalPolicyConformant",
    ...{ status, reason, message },
  });
  if (approval === "")
    return condition(
      "False",
      "MissingAnnotation",
      `protected groups must have approval annotation "${approvalAnnotation}", ${approvalPolicy}`,
    );
  if (approval.startsWith("unapproved"))
    return condition(
      "False",
      "UnapprovedAnnotation",
      `not approved: ${JSON.stringify(approval)}`,
    );
  if (
    /^[a-zA-Z][a-zA-Z0-9+.-]*:\/\/[^/]/.test(approval) &&
    URL.canParse(approval)
  )
    return condition("True", "ApprovedAnnotation", `approved in ${approval}`);
  return condition(
    "False",
    "InvalidAnnotation",
    `protected groups must have approval annotation "${approvalAnnotation}" with either a URL or a reason starting with "unapproved", ${approvalPolicy}`,
  );
}

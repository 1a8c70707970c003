// RoleBindings and ClusterRoleBindings: who gets which role. The role of a binding never changes.
import type { FieldError } from "../../../api/errors.ts";
import { fieldErrors, invalidEach } from "../../../api/field-errors.ts";
import { asGo } from "../../../api/go-syntax.ts";
import {
  dnsSubdomainProblems,
  pathSegmentProblems,
} from "../../../api/names.ts";
import type { RoleBinding, Subject } from "../../../api/types/rbac-v1.ts";
import { formatAge } from "../../printing/age.ts";
import type { ResourceStrategy } from "../strategy.ts";
import { sameValue } from "../../../api/objects/json-equality.ts";
import { strategyOf } from "../typed.ts";

const group = "rbac.authorization.k8s.io";
function subjectProblems(
  field: string,
  subject: Subject,
  namespaced: boolean,
): FieldError[] {
  const problems: FieldError[] = [];
  if (!subject.name) problems.push(fieldErrors.required(`${field}.name`));
  switch (subject.kind) {
    case "ServiceAccount":
      if (subject.name)
        problems.push(
          ...invalidEach(
            `${field}.name`,
            subject.name,
            dnsSubdomainProblems(subject.name),
          ),
        );
      if (subject.apiGroup)
        problems.push(
          fieldErrors.notSupported(`${field}.apiGroup`, subject.apiGroup, [""]),
        );
      if (!namespaced && !subject.namespace)
        problems.push(fieldErrors.required(`${field}.namespace`));
      return problems;
    case "User":
    case "Group":
      if (subject.apiGroup !== group) {
        problems.push(
          fieldErrors.notSupported(
            `${field}.apiGroup`,
            subject.apiGroup ?? "",
            [group],
          ),
        );
      }
      return problems;
    default:
      return [
        ...problems,
        fieldErrors.notSupported(`${field}.kind`, subject.kind, [
          "ServiceAccount",
          "User",
          "Group",
        ]),
      ];
  }
}

function bindingStrategyFor(namespaced: boolean): ResourceStrategy {
  const kinds = namespaced ? ["Role", "ClusterRole"] : ["ClusterRole"];
  return strategyOf<RoleBinding>({
    countsGeneration: false,
    allowCreateOnUpdate: true,
    validateName: pathSegmentProblems,
    validate: validateBinding,
    validateUpdate(object, old) {
      const [now, was] = [object.roleRef, old.roleRef];
      const settled = sameValue(now, was)
        ? []
        : [
            fieldErrors.invalid(
              "roleRef",
              asGo("rbac.RoleRef", now),
              "cannot change roleRef",
            ),
          ];
      // The reference checks a changed binding twice.
      return [...validateBinding(object), ...settled];
    },
    printRow: (object, now) => {
      const { metadata, roleRef, subjects = [] } = object;
      const names = (kind: string): string =>
        subjects
          .filter((subject) => subject.kind === kind)
          .map(({ name, namespace }) =>
            kind === "ServiceAccount" ? `${namespace ?? ""}/${name}` : name,
          )
          .join(", ");
      return [
        metadata.name,
        `${roleRef.kind}/${roleRef.name}`,
        formatAge(metadata.creationTimestamp, now),
        names("User"),
        names("Group"),
        names("ServiceAccount"),
      ];
    },
  });

  function validateBinding(object: Readonly<RoleBinding>): FieldError[] {
    const { roleRef, subjects } = object;
    const problems: FieldError[] = [];
    if (roleRef?.apiGroup !== group) {
      problems.push(
        fieldErrors.notSupported("roleRef.apiGroup", roleRef?.apiGroup ?? "", [
          group,
        ]),
      );
    }
    if (!kinds.includes(roleRef?.kind ?? "")) {
      problems.push(
        fieldErrors.notSupported("roleRef.kind", roleRef?.kind ?? "", kinds),
      );
    }
    if (!roleRef?.name) problems.push(fieldErrors.required("roleRef.name"));
    else
      problems.push(
        ...invalidEach(
          "roleRef.name",
          roleRef.name,
          pathSegmentProblems(roleRef.name),
        ),
      );
    for (const [index, subject] of (subjects ?? []).entries()) {
      problems.push(
        ...subjectProblems(`subjects[${index}]`, subject, namespaced),
      );
    }
    return problems;
  }
}

export const roleBindingStrategy = bindingStrategyFor(true);
export const clusterRoleBindingStrategy = bindingStrategyFor(false);

// Roles and ClusterRoles: rules that say something. Whether the user may grant them is the authorizer's business.
import type { FieldError } from "../../../api/errors.ts";
import { fieldErrors } from "../../../api/field-errors.ts";
import { pathSegmentProblems } from "../../../api/names.ts";
import type { ClusterRole, PolicyRule } from "../../../api/types/rbac-v1.ts";
import type { ResourceStrategy } from "../strategy.ts";
import { labelSelector } from "../field-checks.ts";
import { strategyOf } from "../typed.ts";

function ruleProblems(
  field: string,
  rule: PolicyRule,
  namespaced: boolean,
): FieldError[] {
  const problems: FieldError[] = [];
  if (!rule.verbs?.length)
    problems.push(
      fieldErrors.required(
        `${field}.verbs`,
        "verbs must contain at least one value",
      ),
    );
  if (rule.nonResourceURLs?.length) {
    if (namespaced) {
      problems.push(
        fieldErrors.invalid(
          `${field}.nonResourceURLs`,
          rule.nonResourceURLs,
          "namespaced rules cannot apply to non-resource URLs",
        ),
      );
    }
    if (
      rule.apiGroups?.length ||
      rule.resources?.length ||
      rule.resourceNames?.length
    ) {
      problems.push(
        fieldErrors.invalid(
          `${field}.nonResourceURLs`,
          rule.nonResourceURLs,
          "rules cannot apply to both regular resources and non-resource URLs",
        ),
      );
    }
    return problems;
  }
  if (!rule.apiGroups?.length) {
    problems.push(
      fieldErrors.required(
        `${field}.apiGroups`,
        "resource rules must supply at least one api group",
      ),
    );
  }
  if (!rule.resources?.length) {
    problems.push(
      fieldErrors.required(
        `${field}.resources`,
        "resource rules must supply at least one resource",
      ),
    );
  }
  return problems;
}

function roleStrategyFor(namespaced: boolean): ResourceStrategy {
  return strategyOf<ClusterRole>({
    countsGeneration: false,
    allowCreateOnUpdate: true,
    validateName: pathSegmentProblems,
    // The reference checks a changed role twice.
    validateUpdate: (object) => validateRole(object),
    validate: (object) => validateRole(object),
  });

  function validateRole(object: Readonly<ClusterRole>): FieldError[] {
    const { rules, aggregationRule } = object;
    const problems = (rules ?? []).flatMap((rule, index) =>
      ruleProblems(`rules[${index}]`, rule, namespaced),
    );
    if (aggregationRule && !namespaced) {
      const selectors = aggregationRule.clusterRoleSelectors ?? [];
      if (selectors.length === 0) {
        problems.push(
          fieldErrors.required(
            "aggregationRule.clusterRoleSelectors",
            "at least one clusterRoleSelector required if aggregationRule is non-nil",
          ),
        );
      }
      for (const [index, selector] of selectors.entries()) {
        const field = `aggregationRule.clusterRoleSelectors[${index}]`;
        const wrong = labelSelector(field, selector);
        problems.push(
          ...wrong,
          ...(wrong.length > 0
            ? [fieldErrors.invalid(field, null, "invalid label selector.")]
            : []),
        );
      }
    }
    return problems;
  }
}

export const roleStrategy = roleStrategyFor(true);
export const clusterRoleStrategy = roleStrategyFor(false);

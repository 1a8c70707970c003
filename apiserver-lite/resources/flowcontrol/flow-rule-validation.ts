// Validation of a flow schema's rules: whose requests, and which.
import type { FieldError } from "../../../api/errors.ts";
import { fieldErrors, invalidEach } from "../../../api/field-errors.ts";
import { asGo } from "../../../api/go-syntax.ts";
import { dnsLabelProblems, dnsSubdomainProblems } from "../../../api/names.ts";
import type {
  PolicyRulesWithSubjects,
  Subject,
} from "../../../api/types/flowcontrol-v1.ts";

const verbs = [
  "create",
  "delete",
  "deletecollection",
  "get",
  "list",
  "patch",
  "proxy",
  "update",
  "watch",
];
/** Where a subject of that kind says who it is. */
const subjectParts = {
  Group: "group",
  ServiceAccount: "serviceAccount",
  User: "user",
} as const;

export function validateFlowRule(
  field: string,
  rule: PolicyRulesWithSubjects,
): FieldError[] {
  const { subjects = [], resourceRules = [], nonResourceRules = [] } = rule;
  return [
    ...(subjects.length === 0
      ? [
          fieldErrors.required(
            `${field}.subjects`,
            "subjects must contain at least one value",
          ),
        ]
      : []),
    ...subjects.flatMap((subject, index) =>
      subjectProblems(`${field}.subjects[${index}]`, subject),
    ),
    ...(resourceRules.length + nonResourceRules.length === 0
      ? [
          fieldErrors.required(
            field,
            "at least one of resourceRules and nonResourceRules has to be non-empty",
          ),
        ]
      : []),
    ...resourceRules.flatMap((one, index) => {
      const path = `${field}.resourceRules[${index}]`;
      const { namespaces = [], clusterScope } = one;
      return [
        ...verbProblems(`${path}.verbs`, one.verbs ?? []),
        ...listProblems(
          `${path}.apiGroups`,
          one.apiGroups ?? [],
          "resource rules must supply at least one api group",
          "api groups",
        ),
        ...listProblems(
          `${path}.resources`,
          one.resources ?? [],
          "resource rules must supply at least one resource",
          "resources",
        ),
        ...(namespaces.length === 0 && clusterScope
          ? []
          : namespaceProblems(`${path}.namespaces`, namespaces)),
      ];
    }),
    ...nonResourceRules.flatMap((one, index) => {
      const path = `${field}.nonResourceRules[${index}]`;
      return [
        ...verbProblems(`${path}.verbs`, one.verbs ?? []),
        ...listProblems(
          `${path}.nonResourceURLs`,
          one.nonResourceURLs ?? [],
          "nonResourceURLs must contain at least one value",
          "non-resource URLs",
        ),
        ...(one.nonResourceURLs ?? []).flatMap((url, at) =>
          one.nonResourceURLs?.includes("*")
            ? []
            : urlProblems(`${path}.nonResourceURLs[${at}]`, url),
        ),
      ];
    }),
  ];
}

/** Not empty, and nothing beside "*". */
function listProblems(
  field: string,
  values: readonly string[],
  emptyText: string,
  others: string,
): FieldError[] {
  if (values.length === 0) return [fieldErrors.required(field, emptyText)];
  return values.includes("*") && values.length > 1
    ? [
        fieldErrors.invalid(
          field,
          asGo("[]string", values),
          `if '*' is present, must not specify other ${others}`,
        ),
      ]
    : [];
}

/** A path, of which the end alone may be open. */
function urlProblems(field: string, url: string): FieldError[] {
  const problem =
    url === ""
      ? "must not be empty"
      : !url.startsWith("/")
        ? "must start with slash"
        : url.includes(" ")
          ? "must not contain white-space"
          : url.includes("//")
            ? "must not contain double slash"
            : url.slice(0, -1).includes("*") ||
                (url.endsWith("*") && !url.endsWith("/*"))
              ? "wildcard can only do suffix matching"
              : undefined;
  return problem === undefined
    ? []
    : [fieldErrors.invalid(field, url, problem)];
}

function verbProblems(field: string, given: readonly string[]): FieldError[] {
  const problems = listProblems(
    field,
    given,
    "verbs must contain at least one value",
    "verbs",
  );
  if (given.some((verb) => verb !== "*" && !verbs.includes(verb)))
    problems.push(
      fieldErrors.notSupported(field, asGo("[]string", given), verbs),
    );
  return problems;
}

function namespaceProblems(
  field: string,
  namespaces: readonly string[],
): FieldError[] {
  const problems = listProblems(
    field,
    namespaces,
    "resource rules that are not cluster scoped must supply at least one namespace",
    "namespaces",
  );
  if (problems.length > 0) return problems;
  return namespaces.flatMap((name, index) =>
    name === "*"
      ? []
      : invalidEach(
          `${field}[${index}]`,
          name,
          dnsLabelProblems(name).map(
            (problem) =>
              `each member of this list must be '*' or a DNS-1123 label; ${problem}`,
          ),
        ),
  );
}

function subjectProblems(field: string, subject: Subject): FieldError[] {
  const kinds = Object.keys(subjectParts);
  if (!kinds.includes(subject.kind))
    return [fieldErrors.notSupported(`${field}.kind`, subject.kind, kinds)];
  return Object.entries(subjectParts).flatMap(([kind, part]) => {
    const path = `${field}.${part}`;
    const who = subject[part];
    if (kind !== subject.kind)
      return who
        ? [
            fieldErrors.forbidden(
              path,
              `${part} is forbidden when subject kind is not '${kind}'`,
            ),
          ]
        : [];
    if (!who)
      return [
        fieldErrors.required(
          path,
          `${part} is required when subject kind is '${kind}'`,
        ),
      ];
    return whoProblems(path, part, who);
  });
}

function whoProblems(
  field: string,
  part: string,
  { name, namespace = "" }: { name: string; namespace?: string },
): FieldError[] {
  const unnamed = name ? [] : [fieldErrors.required(`${field}.name`)];
  if (part !== "serviceAccount") return unnamed;
  return [
    ...unnamed,
    ...(name && name !== "*"
      ? invalidEach(`${field}.name`, name, dnsSubdomainProblems(name))
      : []),
    ...(namespace
      ? invalidEach(
          `${field}.namespace`,
          namespace,
          dnsLabelProblems(namespace),
        )
      : [
          fieldErrors.required(
            `${field}.namespace`,
            "must specify namespace for service account",
          ),
        ]),
  ];
}

// The check of a policy's expressions against the types that its rules name: what it finds becomes warnings in the policy's
// status and never changes what the policy does.
import { compile } from "../cel/program.ts";
import { dynType, type CelType } from "../cel/checking/types.ts";
import type { DeclaredType } from "../cel/schemas/declared-type.ts";
import { parseApiVersion, type GroupVersionKind } from "../object.ts";
import type {
  ExpressionWarning,
  ValidatingAdmissionPolicySpec,
} from "../types/admissionregistration-v1.ts";
import { environmentOf, variableType } from "./expression.ts";

/** Kinds that a rule names beyond these are not looked at. */
const maxKindsOfRule = 10;

/** What is served, as the check asks for it. */
export interface KnownTypes {
  /** The kinds of a resource of a version. */
  kindsOf(group: string, version: string, resource: string): readonly string[];
  /** Undefined where the schema is not known. */
  typeOf(kind: GroupVersionKind): DeclaredType | undefined;
}

interface CheckedKind {
  readonly kind: GroupVersionKind;
  readonly type: DeclaredType;
}

export function checkTypes(
  spec: Readonly<ValidatingAdmissionPolicySpec>,
  known: KnownTypes,
): ExpressionWarning[] {
  const kinds = kindsToCheck(spec, known).flatMap((kind): CheckedKind[] => {
    const type = known.typeOf(kind);
    return type ? [{ kind, type }] : [];
  });
  const { paramKind } = spec;
  const params =
    paramKind?.apiVersion &&
    known.typeOf({
      ...parseApiVersion(paramKind.apiVersion),
      kind: paramKind.kind ?? "",
    });
  const problemsOf = (expression: string): string =>
    kinds
      .flatMap(({ kind, type }) => {
        const issues = issuesOf(spec, expression, type, params || undefined);
        return issues === undefined ? [] : [`${shown(kind)}: ${issues}\n`];
      })
      .join("\n");
  return (spec.validations ?? []).flatMap(
    ({ expression, messageExpression }, index) =>
      [
        ["expression", expression],
        ["messageExpression", messageExpression],
      ].flatMap(([field, text]): ExpressionWarning[] => {
        const warning = text ? problemsOf(text) : "";
        return warning === ""
          ? []
          : [{ fieldRef: `spec.validations[${index}].${field}`, warning }];
      }),
  );
}

const shown = ({ group, version, kind }: GroupVersionKind): string =>
  `${group}/${version}, Kind=${kind}`;

function issuesOf(
  { variables = [] }: Readonly<ValidatingAdmissionPolicySpec>,
  expression: string,
  object: DeclaredType,
  params: DeclaredType | undefined,
): string | undefined {
  const types = new Map<string, CelType>();
  const environment = (): ReturnType<typeof environmentOf> =>
    environmentOf({ object, params, authorizer: true, variables: types });
  for (const { name, expression: text } of variables) {
    const compiled = compile(text, environment());
    types.set(
      name,
      compiled.ok ? variableType(compiled.program.resultType) : dynType,
    );
  }
  const compiled = compile(expression, environment());
  return compiled.ok ? undefined : compiled.issues.toString();
}

/** By group, version and kind. A rule with a wildcard says nothing about types. */
function kindsToCheck(
  { matchConstraints }: Readonly<ValidatingAdmissionPolicySpec>,
  known: KnownTypes,
): GroupVersionKind[] {
  const found = new Map<string, GroupVersionKind>();
  const isWild = (text: string): boolean => text.includes("*");
  for (const rule of matchConstraints?.resourceRules ?? []) {
    const { apiGroups = [], apiVersions = [], resources = [] } = rule;
    if (apiGroups.some(isWild) || apiVersions.some(isWild)) continue;
    const plain = resources.filter((name) => !/[*/]/.test(name));
    let count = 0;
    for (const group of [...apiGroups].sort())
      for (const version of [...apiVersions].sort())
        for (const resource of [...plain].sort())
          for (const kind of known.kindsOf(group, version, resource)) {
            if (count === maxKindsOfRule) break;
            count++;
            const gvk = { group, version, kind };
            found.set(shown(gvk), gvk);
          }
  }
  return [...found.values()].sort(
    (a, b) =>
      compare(a.group, b.group) ||
      compare(a.version, b.version) ||
      compare(a.kind, b.kind),
  );
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

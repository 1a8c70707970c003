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

/** @param pause called between kinds, so that others have their turn */
export async function checkTypes(
  spec: Readonly<ValidatingAdmissionPolicySpec>,
  known: KnownTypes,
  pause: () => Promise<void>,
): Promise<ExpressionWarning[]> {
  const { paramKind, validations = [] } = spec;
  const params =
    paramKind?.apiVersion &&
    known.typeOf({
      ...parseApiVersion(paramKind.apiVersion),
      kind: paramKind.kind ?? "",
    });
  const places = validations.flatMap(
    ({ expression, messageExpression }, index): Place[] =>
      [
        ["expression", expression],
        ["messageExpression", messageExpression],
      ].flatMap(([field, text]) =>
        text ? [{ fieldRef: `spec.validations[${index}].${field}`, text }] : [],
      ),
  );
  const found = new Map<Place, string[]>();
  for (const kind of kindsToCheck(spec, known)) {
    await pause();
    const object = known.typeOf(kind);
    if (!object) continue;
    await pause();
    const environment = environmentFor(spec, object, params || undefined);
    for (const place of places) {
      const compiled = compile(place.text, environment);
      if (!compiled.ok)
        found.set(place, [
          ...(found.get(place) ?? []),
          `${shown(kind)}: ${compiled.issues.toString()}\n`,
        ]);
    }
  }
  return places.flatMap((place): ExpressionWarning[] => {
    const warning = found.get(place)?.join("\n");
    return warning ? [{ fieldRef: place.fieldRef, warning }] : [];
  });
}

interface Place {
  readonly fieldRef: string;
  readonly text: string;
}

const shown = ({ group, version, kind }: GroupVersionKind): string =>
  `${group}/${version}, Kind=${kind}`;

/** With the policy's variables, each of which sees those before it. */
function environmentFor(
  { variables = [] }: Readonly<ValidatingAdmissionPolicySpec>,
  object: DeclaredType,
  params: DeclaredType | undefined,
): ReturnType<typeof environmentOf> {
  const types = new Map<string, CelType>();
  const environment = (): ReturnType<typeof environmentOf> =>
    environmentOf({ object, params, authorizer: true, variables: types });
  for (const { name, expression } of variables) {
    const compiled = compile(expression, environment());
    types.set(
      name,
      compiled.ok ? variableType(compiled.program.resultType) : dynType,
    );
  }
  return environment();
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

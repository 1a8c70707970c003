// The match conditions of an authorization webhook: expressions over `request`, the spec of a SubjectAccessReview in v1.
// The webhook is asked when all hold. One that is false decides at once; a failing one only where none is false. The
// engine is loaded with the first configuration that has conditions.
import type { SubjectAccessReview } from "../../api/types/authorization-v1.ts";
import type * as DeclaredTypes from "../../api/cel/schemas/declared-type.ts";
import type { Program } from "../../api/cel/program.ts";

export interface ReviewCondition {
  readonly text: string;
  readonly program: Program;
}

export interface ReviewConditionCompiler {
  /** What is wrong with an expression, as the reference says it, instead of the compiled one. */
  compile(text: string): ReviewCondition | { readonly problem: string };
}

export async function loadReviewConditionCompiler(): Promise<ReviewConditionCompiler> {
  const [{ compile }, { Environment }, declared, { formatType }] =
    await Promise.all([
      import("../../api/cel/program.ts"),
      import("../../api/cel/environment.ts"),
      import("../../api/cel/schemas/declared-type.ts"),
      import("../../api/cel/checking/types.ts"),
    ]);
  const environment = new Environment({
    variables: { request: requestType(declared) },
    expressions: "stored",
  });
  return {
    compile(text) {
      const compiled = compile(text, environment);
      if (!compiled.ok)
        return { problem: `compilation failed: ${compiled.issues.toString()}` };
      const { program } = compiled;
      if (program.resultType.kind !== "bool")
        return {
          problem: `must evaluate to bool but got ${formatType(program.resultType)}`,
        };
      return { text, program };
    },
  };
}

type Declared = Pick<
  typeof DeclaredTypes,
  "listDeclared" | "mapDeclared" | "objectDeclared" | "stringDeclared"
>;

function requestType(declared: Declared): DeclaredTypes.DeclaredType {
  const { listDeclared, mapDeclared, objectDeclared, stringDeclared } =
    declared;
  const text = stringDeclared();
  const texts = listDeclared(text);
  const object = (
    name: string,
    fields: Readonly<Record<string, DeclaredTypes.DeclaredType>>,
  ): DeclaredTypes.DeclaredType =>
    objectDeclared(
      `kubernetes.${name}`,
      new Map(
        Object.entries(fields).map(([jsonName, reader]) => [
          jsonName,
          { jsonName, reader },
        ]),
      ),
    );
  const requirement = object("SelectorRequirement", {
    ...{ key: text, operator: text, values: texts },
  });
  const selector = (name: string): DeclaredTypes.DeclaredType =>
    object(name, {
      rawSelector: text,
      requirements: listDeclared(requirement),
    });
  return object("SubjectAccessReviewSpec", {
    resourceAttributes: object("ResourceAttributes", {
      ...{ namespace: text, verb: text, group: text, version: text },
      ...{ resource: text, subresource: text, name: text },
      fieldSelector: selector("FieldSelectorAttributes"),
      labelSelector: selector("LabelSelectorAttributes"),
    }),
    nonResourceAttributes: object("NonResourceAttributes", {
      ...{ path: text, verb: text },
    }),
    ...{ user: text, groups: texts, extra: mapDeclared(texts), uid: text },
  });
}

/** Fields of a question that are not set are there for expressions, as "". */
function requestOf(spec: SubjectAccessReview["spec"]): object {
  const { resourceAttributes: resource, nonResourceAttributes } = spec;
  return {
    ...{ user: spec.user ?? "", groups: spec.groups ?? [] },
    ...{ uid: spec.uid ?? "", extra: spec.extra ?? {} },
    ...(resource
      ? {
          resourceAttributes: {
            ...{ namespace: "", verb: "", group: "", version: "" },
            ...{ resource: "", subresource: "", name: "" },
            ...resource,
          },
        }
      : {}),
    ...(nonResourceAttributes
      ? {
          nonResourceAttributes: {
            path: "",
            verb: "",
            ...nonResourceAttributes,
          },
        }
      : {}),
  };
}

/**
 * Is the webhook to be asked? Rejects with the failures of conditions where none is false.
 * @param evaluated called once, before the answer
 */
export async function reviewConditionsHold(
  conditions: readonly ReviewCondition[],
  spec: SubjectAccessReview["spec"],
  evaluated: (result: { failed: boolean; excluded: boolean }) => void,
): Promise<boolean> {
  const variables = { request: requestOf(spec) };
  const problems: string[] = [];
  for (const { text, program } of conditions) {
    const outcome = await program.evaluateAsync(variables);
    if (outcome.kind !== "value")
      problems.push(
        `cel evaluation error: expression '${text}' resulted in error: ${outcome.message}`,
      );
    else if (outcome.value !== true) {
      evaluated({ failed: problems.length > 0, excluded: true });
      return false;
    }
  }
  evaluated({ failed: problems.length > 0, excluded: false });
  if (problems.length > 0) throw new Error(problems.join(", "));
  return true;
}

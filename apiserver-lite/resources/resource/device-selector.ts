// Selectors of devices: CEL expressions over one device. The engine is loaded with the first object that has one.
import type { formatType as formatTypeName } from "../../../api/cel/checking/types.ts";
import type { compile as compileExpression } from "../../../api/cel/program.ts";
import type { Environment } from "../../../api/cel/environment.ts";
import type { FieldError } from "../../../api/errors.ts";
import { fieldErrors } from "../../../api/field-errors.ts";
import type { DeviceSelector } from "../../../api/types/resource-v1beta1.ts";
import { ofEach } from "../field-checks.ts";
import { atMost } from "./device-checks.ts";

const maxSelectors = 32;
const maxExpressionBytes = 10 * 1024;
const maxCost = 1_000_000;

interface Engine {
  readonly compile: typeof compileExpression;
  readonly formatType: typeof formatTypeName;
  readonly environments: Readonly<Record<"new" | "stored", Environment>>;
}

let engine: Engine | undefined;

/** Before objects with selectors are validated. */
export async function loadSelectors(): Promise<void> {
  if (engine) return;
  const [{ compile }, { deviceEnvironment }, types] = await Promise.all([
    import("../../../api/cel/program.ts"),
    import("../../../api/cel/device-selectors.ts"),
    import("../../../api/cel/checking/types.ts"),
  ]);
  engine = {
    compile,
    formatType: types.formatType,
    environments: {
      new: deviceEnvironment("new"),
      stored: deviceEnvironment("stored"),
    },
  };
}

/** @param stored the expressions have been accepted before */
export function validateSelectors(
  field: string,
  selectors: readonly DeviceSelector[] | undefined,
  stored: boolean,
): FieldError[] {
  return [
    ...ofEach(selectors, ({ cel }, index) => {
      const path = `${field}[${index}].cel`;
      return cel
        ? expressionProblems(`${path}.expression`, cel.expression, stored)
        : [fieldErrors.required(path)];
    }),
    ...atMost(field, selectors, maxSelectors),
  ];
}

function expressionProblems(
  field: string,
  expression: string,
  stored: boolean,
): FieldError[] {
  if (Buffer.byteLength(expression) > maxExpressionBytes)
    return [fieldErrors.tooLong(field, maxExpressionBytes)];
  const { compile, environments, formatType } = engine!;
  const compiled = compile(expression, environments[stored ? "stored" : "new"]);
  const refuse = (detail: string): FieldError[] => [
    fieldErrors.invalid(field, expression, detail),
  ];
  if (!compiled.ok)
    return refuse(`compilation failed: ${compiled.issues.toString()}`);
  const { program } = compiled;
  const { kind } = program.resultType;
  if (kind !== "bool" && kind !== "dyn")
    return refuse(
      `must evaluate to bool or the unknown type, not ${formatType(program.resultType)}`,
    );
  return program.estimateCost().max > maxCost
    ? [fieldErrors.forbidden(field, "too complex, exceeds cost limit")]
    : [];
}

// Numbers as the reference's validation sees them: whole ones are integers of 64 bits, and limits are cut to such before
// they are compared with one; others are doubles, of which those very near to a whole number pass for integers.
import type { JSONSchemaProps } from "../../types/apiextensions-v1.ts";
import { isInt64 } from "../shown-value.ts";
import type { ValueProblem } from "./value-problems.ts";

const epsilon = 1e-9;

/** Does a double pass for an integer? */
export function isNearlyInteger(value: number): boolean {
  if (!(Math.abs(value) <= Number.MAX_SAFE_INTEGER)) return false;
  const whole = Math.trunc(value);
  if (whole === value) return true;
  if (whole === 0) return false;
  return Math.abs(value - whole) / Math.abs(value + whole) < epsilon;
}

type Found = Omit<ValueProblem, "path">;

/** All that is wrong with a number, in the reference's order. */
export function numberProblems(
  value: number,
  schema: JSONSchemaProps,
): Found[] {
  const problems: Found[] = [];
  const whole = isInt64(value);
  const limit = (given: number): number => (whole ? Math.trunc(given) : given);
  const { multipleOf, minimum, maximum } = schema;
  if (multipleOf !== undefined) {
    const factor = limit(multipleOf);
    if (factor <= 0)
      problems.push({ is: "factor", value: factor, wanted: factor });
    else if (!isMultiple(value, factor, whole))
      problems.push({ is: "multiple-of", value, wanted: factor });
  }
  if (minimum !== undefined) {
    const [low, exclusive] = [limit(minimum), schema.exclusiveMinimum ?? false];
    if (value < low || (exclusive && value === low))
      problems.push({
        is: exclusive ? "exclusive-minimum" : "minimum",
        value,
        wanted: low,
      });
  }
  if (maximum !== undefined) {
    const [high, exclusive] = [
      limit(maximum),
      schema.exclusiveMaximum ?? false,
    ];
    if (value > high || (exclusive && value === high))
      problems.push({
        is: exclusive ? "exclusive-maximum" : "maximum",
        value,
        wanted: high,
      });
  }
  return problems;
}

function isMultiple(value: number, factor: number, whole: boolean): boolean {
  if (whole) return value % factor === 0;
  return isNearlyInteger(factor < 1 ? (1 / factor) * value : value / factor);
}

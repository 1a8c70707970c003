// What is wrong with a field of an object, in the reference's form.
import type { AnyObject } from "../../api/object.ts";

export interface FieldProblem {
  readonly field: string;
  readonly detail: string;
}

/** The API server's rules for a namespaced object of the core group, with its defaults: all that is wrong with it. */
export type ObjectRules = (object: AnyObject) => readonly FieldProblem[];

export const unsupported = (
  field: string,
  value: string,
  supported: readonly string[],
): FieldProblem => ({
  field,
  detail: `Unsupported value: "${value}": supported values: ${supported.map((each) => `"${each}"`).join(", ")}`,
});

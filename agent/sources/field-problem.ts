// What is wrong with a field of an object, in the reference's form.
export interface FieldProblem {
  readonly field: string;
  readonly detail: string;
}

/** One for each text of what is wrong with a value. */
export const invalid = (
  field: string,
  value: unknown,
  problems: readonly string[],
): FieldProblem[] =>
  problems.map((problem) => ({
    field,
    detail: `Invalid value: ${JSON.stringify(value)}: ${problem}`,
  }));

export const unsupported = (
  field: string,
  value: string,
  supported: readonly string[],
): FieldProblem => ({
  field,
  detail: `Unsupported value: "${value}": supported values: ${supported.map((each) => `"${each}"`).join(", ")}`,
});

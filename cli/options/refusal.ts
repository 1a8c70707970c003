// What is refused because it restricts and does nothing yet: an option or a configuration file's field.
import { isDeepStrictEqual } from "node:util";
import type { OptionSpec, OptionValue } from "./table.ts";
import { parseOptionValue } from "./values/value.ts";

const isEmpty = (value: OptionValue): boolean =>
  value === "" ||
  (typeof value === "object" &&
    Object.values(value).every((each) => each === "" && Array.isArray(value)));

/** Whether the value of an unbuilt option that restricts is what the program does anyway. */
export function asksForNothing(spec: OptionSpec, value: OptionValue): boolean {
  const { unbuilt } = spec;
  if (unbuilt?.kind !== "restricts" || isEmpty(value)) return true;
  return (
    unbuilt.accepted !== undefined &&
    isDeepStrictEqual(parseOptionValue(spec, unbuilt.accepted), value)
  );
}

/** @param what the option with its dashes, or the field's path */
export const refusedText = (what: string): string =>
  `${what}: not implemented yet, and what restricts is never ignored`;

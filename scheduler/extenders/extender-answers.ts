// Reads what an extender answers. Its fields are found whatever the case of their letters, as the reference's decoder finds
// them: extenders are written against several versions of the types. What does not fit its type is an Error.
import { isJsonObject } from "../../api/patch/json-value.ts";

/** null and what is missing are undefined. */
export function fieldOf(value: unknown, name: string): unknown {
  if (!isJsonObject(value)) return undefined;
  const exact = value[name];
  if (exact !== undefined) return exact ?? undefined;
  const wanted = name.toLowerCase();
  for (const [key, each] of Object.entries(value))
    if (key.toLowerCase() === wanted) return each ?? undefined;
  return undefined;
}

const misfit = (name: string, must: string): Error =>
  new Error(`the extender's answer: ${name} must be ${must}`);

/** "" where it is not given. */
export function textOf(value: unknown, name: string): string {
  const found = fieldOf(value, name) ?? "";
  if (typeof found !== "string") throw misfit(name, "a string");
  return found;
}

/** 0 where it is not given. */
export function integerOf(value: unknown, name: string): number {
  const found = fieldOf(value, name) ?? 0;
  if (!Number.isSafeInteger(found)) throw misfit(name, "a whole number");
  return found as number;
}

/** undefined where it is not given. */
export function listOf(
  value: unknown,
  name: string,
): readonly unknown[] | undefined {
  const found = fieldOf(value, name);
  if (found === undefined) return undefined;
  if (!Array.isArray(found)) throw misfit(name, "a list");
  return found;
}

/** Empty where it is not given. */
export function mapOf(value: unknown, name: string): [string, unknown][] {
  const found = fieldOf(value, name);
  if (found === undefined) return [];
  if (!isJsonObject(found)) throw misfit(name, "a map");
  return Object.entries(found);
}

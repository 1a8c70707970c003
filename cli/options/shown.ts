// The values that a program's options have, as text in the form of the command line, for /flagz. Secrets are left out.
import type { OptionValues } from "./parse.ts";
import { allOptions, type OptionTable, type OptionValue } from "./table.ts";

/** Headers and passwords. */
const classified = new Set([
  "manifest-url-header",
  "storage-driver-password",
  "token",
  "password",
]);

export function shownOptions(
  values: OptionValues,
  table: OptionTable,
): Record<string, string> {
  const shown: Record<string, string> = {};
  for (const { name, type, fileOnly } of allOptions(table)) {
    if (fileOnly || !values.has(name)) continue;
    const value = values.value(name);
    const secret = classified.has(name) && values.isSet(name);
    shown[name] = secret
      ? "CLASSIFIED"
      : shownValue(value, type === "duration");
  }
  return shown;
}

function shownValue(value: OptionValue | undefined, duration: boolean): string {
  if (value === undefined) return "";
  if (Array.isArray(value)) return `[${value.join(",")}]`;
  if (typeof value === "object")
    return Object.entries(value)
      .map(([key, text]) => `${key}=${text}`)
      .join(",");
  return duration ? shownDuration(Number(value)) : String(value);
}

/** 1m30s, 100ms, 0s */
function shownDuration(ms: number): string {
  if (ms === 0) return "0s";
  if (Math.abs(ms) < 1000) return `${ms}ms`;
  const sign = ms < 0 ? "-" : "";
  const seconds = Math.abs(ms) / 1000;
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor(seconds / 60) % 60;
  const rest = Number((seconds % 60).toFixed(3));
  return `${sign}${hours > 0 ? `${hours}h` : ""}${hours + minutes > 0 ? `${minutes}m` : ""}${rest}s`;
}

// The values that a node agent's options have, in the form of a KubeletConfiguration, for /configz: clients decode it into
// the ecosystem's type, so every field has that type's form. What only the command line has is not part of it.
import { formatDuration } from "../../../api/duration.ts";
import type { OptionValues } from "../parse.ts";
import {
  allOptions,
  type OptionSpec,
  type OptionTable,
  type OptionValue,
} from "../table.ts";

/** Their form in the file is not that of the option, and undefined leaves them out: headers hold secrets. */
const ofTheirOwn: Readonly<Record<string, (value: OptionValue) => unknown>> = {
  staticPodURLHeader: () => undefined,
  "logging.vmodule": () => undefined,
  featureGates: (value) =>
    Object.fromEntries(
      Object.entries(value).map(([gate, on]) => [gate, on === "true"]),
    ),
  evictionHard: (value) => withoutSigns(value),
  evictionSoft: (value) => withoutSigns(value),
  registerWithTaints: (value) =>
    texts(value).map((text) => {
      const [, key, taintValue, effect] =
        /^([^=:]*)(?:=([^:]*))?:(.*)$/.exec(text) ?? [];
      return { key, ...(taintValue ? { value: taintValue } : {}), effect };
    }),
  reservedMemory: (value) =>
    texts(value).map((text) => {
      const [numaNode, limits = ""] = text.split(/:(.*)/s);
      return {
        numaNode: Number(numaNode),
        limits: Object.fromEntries(
          limits.split(",").map((each) => each.split("=")),
        ) as Record<string, string>,
      };
    }),
  shutdownGracePeriodByPodPriority: (value) =>
    texts(value).map((text) => {
      const [priority, seconds] = text.split("=").map(Number);
      return { priority, shutdownGracePeriodSeconds: seconds };
    }),
};

/** `memory.available<5%` is held as `<5%`. */
const withoutSigns = (value: OptionValue): Record<string, string> =>
  Object.fromEntries(
    Object.entries(value).map(([signal, amount]) => [
      signal,
      String(amount).replace(/^</, ""),
    ]),
  );

const texts = (value: OptionValue): readonly string[] =>
  Array.isArray(value) ? (value as readonly string[]) : [];

function fieldValue({ file = "", type }: OptionSpec, value: OptionValue) {
  const own = Object.hasOwn(ofTheirOwn, file) ? ofTheirOwn[file] : undefined;
  if (own) return own(value);
  return type === "duration" ? formatDuration(Number(value)) : value;
}

export function effectiveConfiguration(
  values: OptionValues,
  table: OptionTable,
): Record<string, unknown> {
  const root: Record<string, unknown> = {};
  for (const spec of allOptions(table)) {
    if (spec.file === undefined || !values.has(spec.name)) continue;
    const given = values.value(spec.name);
    const value = given === undefined ? undefined : fieldValue(spec, given);
    if (value === undefined) continue;
    const path = spec.file.split(".");
    const last = path.pop()!;
    let at = root;
    for (const part of path) at = (at[part] ??= {}) as Record<string, unknown>;
    at[last] = value;
  }
  return root;
}

// From the controllers' options to what the controllers take: the names are the flags' in camelCase.
import type { ControllerOptions } from "../../../controllers/options.ts";
import { parseYamlBody } from "../../../api/codec/yaml.ts";
import type { Pod } from "../../../api/types/core-v1.ts";
import { defaultControllerOptions } from "../../../controllers/options.ts";
import type { OptionValues } from "../../options/parse.ts";
import { UsageError } from "../../options/table.ts";
import { readOptionFile } from "../option-files.ts";

/** `concurrentGcSyncs` → `concurrent-gc-syncs`; durations lose their unit. */
function flagName(field: string): string {
  return field
    .replace(/Ms$/, "")
    .replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

export function controllerOptions(
  values: OptionValues,
): Partial<ControllerOptions> {
  const found: Record<string, unknown> = {};
  for (const field of Object.keys(defaultControllerOptions)) {
    const name = flagName(field);
    if (values.has(name) && values.isSet(name))
      found[field] = values.value(name);
  }
  const recyclerTemplates = {
    ...template(
      values,
      "hostPath",
      "pv-recycler-pod-template-filepath-hostpath",
    ),
    ...template(values, "nfs", "pv-recycler-pod-template-filepath-nfs"),
  };
  return { ...found, recyclerTemplates };
}

/** The pod of an option's file, under its type of volume. */
function template(
  values: OptionValues,
  type: "hostPath" | "nfs",
  option: string,
): ControllerOptions["recyclerTemplates"] {
  const file = values.has(option) ? values.optionalText(option) : undefined;
  if (!file) return {};
  const refuse = (problem: string): never => {
    throw new UsageError(`--${option}: ${file}: ${problem}`);
  };
  let parsed: unknown;
  try {
    parsed = parseYamlBody(Buffer.from(readOptionFile(option, file))).value;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    return refuse((error as Error).message);
  }
  const pod = parsed as Pod | undefined;
  if (pod?.kind !== "Pod") return refuse("it holds no Pod");
  // The volume to be recycled takes the place of the first one.
  if (!pod.spec?.volumes?.length)
    return refuse("does not contain any volume(s)");
  return { [type]: pod };
}

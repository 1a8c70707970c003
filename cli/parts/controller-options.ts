// From the controllers' options to what the controllers take: the names are the flags' in camelCase.
import type { ControllerOptions } from "../../controllers/options.ts";
import { defaultControllerOptions } from "../../controllers/options.ts";
import type { OptionValues } from "../options/parse.ts";

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
  return found as Partial<ControllerOptions>;
}

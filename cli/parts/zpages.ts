// What /flagz and /statusz of a component show, behind their gates.
import type { ZpageOptions } from "../../http-kit/zpages.ts";
import type { OptionValues } from "../options/parse.ts";
import { shownOptions } from "../options/shown.ts";
import type { OptionTable } from "../options/table.ts";

/** @param emulationVersion MAJOR.MINOR */
export function zpageOptions(
  component: string,
  values: OptionValues,
  table: OptionTable,
  isOn: (gate: "ComponentFlagz" | "ComponentStatusz") => boolean,
  emulationVersion = "1.32",
): ZpageOptions {
  return {
    component,
    ...(isOn("ComponentFlagz")
      ? { flags: () => shownOptions(values, table) }
      : {}),
    ...(isOn("ComponentStatusz")
      ? { status: { binaryVersion: "1.32", emulationVersion } }
      : {}),
  };
}

// Short forms for writing option tables. An option counts as without effect until its name is in the list of those that
// the composition really uses: so the table can't promise more than the program does.
import type {
  OptionGroup,
  OptionSpec,
  OptionTable,
  OptionType,
} from "./table.ts";

type Extra = Partial<Omit<OptionSpec, "name" | "type" | "default" | "doc">>;

/** `default` "" means unset. */
export function option(
  name: string,
  type: OptionType,
  defaultText: string,
  doc: string,
  extra: Extra = {},
): OptionSpec {
  return {
    name,
    type,
    ...(defaultText === "" ? {} : { default: defaultText }),
    doc,
    ...extra,
  };
}

export function group(title: string, ...options: OptionSpec[]): OptionGroup {
  return { title, options };
}

/** Marks every option that is not in `used` as accepted but without effect. Fails for a name that is not in the table. */
export function markUnused(
  table: OptionTable,
  used: readonly string[],
): OptionTable {
  const names = new Set(
    table.flatMap(({ options }) => options.map(({ name }) => name)),
  );
  const unknown = used.filter((name) => !names.has(name));
  if (unknown.length > 0)
    throw new Error(`options not in the table: ${unknown.join(", ")}`);
  const effective = new Set(used);
  return table.map(({ title, options }) => ({
    title,
    options: options.map((spec) =>
      effective.has(spec.name)
        ? spec
        : { ...spec, effect: "none yet" as const },
    ),
  }));
}

// Short forms for writing option tables. Every option is either in the list of those that the composition really uses or
// in a class of unbuilt.ts: so the table can't promise more than the program does, and none is forgotten.
import type {
  OptionGroup,
  OptionSpec,
  OptionTable,
  OptionType,
  Unbuilt,
} from "./table.ts";
import type { UnbuiltOptions } from "./unbuilt.ts";

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

/** Groups that other programs have too, with the paths of their options in this one's configuration file. */
export function inFile(
  groups: OptionTable,
  paths: Readonly<Record<string, string>>,
): OptionTable {
  return groups.map(({ title, options }) => ({
    title,
    options: options.map((spec) => {
      const file = paths[spec.name];
      return file ? { ...spec, file } : spec;
    }),
  }));
}

/**
 * Gives every option that is not in `used` its class from `unbuilt`. Fails for a name that is not in the table, and for an
 * option that is in none or more than one of the lists.
 */
export function classify(
  table: OptionTable,
  used: readonly string[],
  { restricts, harmless, moot }: UnbuiltOptions,
): OptionTable {
  const classes = new Map<string, Unbuilt | undefined>();
  const put = (name: string, unbuilt?: Unbuilt): void => {
    if (classes.has(name)) throw new Error(`option listed twice: ${name}`);
    classes.set(name, unbuilt);
  };
  for (const name of used) put(name);
  for (const [name, accepted] of Object.entries(restricts))
    put(name, {
      kind: "restricts",
      ...(accepted === "" ? {} : { accepted }),
    });
  for (const name of harmless) put(name, { kind: "harmless" });
  for (const [name, reason] of Object.entries(moot))
    put(name, { kind: "moot", reason });
  const names = new Set(
    table.flatMap(({ options }) => options.map(({ name }) => name)),
  );
  const unknown = [...classes.keys()].filter((name) => !names.has(name));
  if (unknown.length > 0)
    throw new Error(`options not in the table: ${unknown.join(", ")}`);
  const missing = [...names].filter((name) => !classes.has(name));
  if (missing.length > 0)
    throw new Error(`options without a class: ${missing.join(", ")}`);
  return table.map(({ title, options }) => ({
    title,
    options: options.map((spec) => {
      const unbuilt = classes.get(spec.name);
      return unbuilt ? { ...spec, unbuilt } : spec;
    }),
  }));
}

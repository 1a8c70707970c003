// Reads a command line by an option table: `--name value`, `--name=value`, `--bool`, `-x value`, `-xvalue`, `-it`; `--`
// ends the options. Both dialects of every name are understood. Commander routes the subcommands; the table reads the
// rest, because boolean options that take no separate value, dialects and two thousand option cells are data here.
import {
  allOptions,
  canonicalOptionName,
  UsageError,
  type OptionSpec,
  type OptionTable,
  type OptionValue,
  type Unbuilt,
} from "./table.ts";
import { asksForNothing, refusedText } from "./refusal.ts";
import { mergeOptionValue, parseOptionValue } from "./values/value.ts";

/** What was read. Values are those given, else the configuration file's, else the defaults. */
export class OptionValues {
  constructor(
    private readonly table: OptionTable,
    private readonly given: ReadonlyMap<string, OptionValue>,
    private readonly file: ReadonlyMap<string, OptionValue> = new Map(),
    /** What is no option: the operands, in order. */
    readonly operands: readonly string[] = [],
    /** What followed `--`, or undefined when there was none. */
    readonly afterDashes?: readonly string[],
  ) {}

  #spec(name: string): OptionSpec {
    const spec = allOptions(this.table).find((option) => option.name === name);
    if (!spec) throw new Error(`no option --${name} in this table`);
    return spec;
  }

  /** Whether the user set it, on the command line or in the file. */
  isSet(name: string): boolean {
    return this.given.has(name) || this.file.has(name);
  }

  has(name: string): boolean {
    return allOptions(this.table).some((option) => option.name === name);
  }

  value(name: string): OptionValue | undefined {
    const set = this.given.get(name) ?? this.file.get(name);
    if (set !== undefined) return set;
    const spec = this.#spec(name);
    return spec.default === undefined
      ? undefined
      : parseOptionValue(spec, spec.default);
  }

  text(name: string): string {
    return String(this.value(name) ?? "");
  }
  /** undefined when unset and without default. */
  optionalText(name: string): string | undefined {
    const value = this.value(name);
    return value === undefined || value === "" ? undefined : String(value);
  }
  number(name: string): number {
    return Number(this.value(name) ?? 0);
  }
  optionalNumber(name: string): number | undefined {
    const value = this.value(name);
    return value === undefined ? undefined : Number(value);
  }
  flag(name: string): boolean {
    return this.value(name) === true;
  }
  list(name: string): readonly string[] {
    return (this.value(name) as readonly string[] | undefined) ?? [];
  }
  map(name: string): Readonly<Record<string, string>> {
    return (
      (this.value(name) as Readonly<Record<string, string>> | undefined) ?? {}
    );
  }

  /** The same command line over the values of a configuration file: flags win. */
  withFile(file: ReadonlyMap<string, OptionValue>): OptionValues {
    return new OptionValues(
      this.table,
      this.given,
      file,
      this.operands,
      this.afterDashes,
    );
  }

  /** What was set here of another table's options, leaving out names that mean something else there. */
  forTable(
    table: OptionTable,
    except: ReadonlySet<string> = new Set(),
  ): OptionValues {
    const given = new Map<string, OptionValue>();
    for (const { name } of allOptions(table)) {
      if (!except.has(name) && this.has(name) && this.isSet(name))
        given.set(name, this.value(name)!);
    }
    return new OptionValues(table, given);
  }

  /** What was set here of single options that another table has too. */
  pick(table: OptionTable, names: readonly string[]): OptionValues {
    return new OptionValues(
      table,
      new Map(
        names.flatMap((name) =>
          this.isSet(name) ? [[name, this.value(name)!] as const] : [],
        ),
      ),
    );
  }

  /** These values under others, which win. */
  under(over: OptionValues | ReadonlyMap<string, OptionValue>): OptionValues {
    const wins = over instanceof OptionValues ? over.given : over;
    return new OptionValues(
      this.table,
      new Map([...this.given, ...wins]),
      this.file,
      this.operands,
      this.afterDashes,
    );
  }

  /** These values, but as if the options named had not been given. */
  without(names: readonly string[]): OptionValues {
    const kept = [...this.given].filter(([name]) => !names.includes(name));
    return new OptionValues(
      this.table,
      new Map(kept),
      this.file,
      this.operands,
      this.afterDashes,
    );
  }

  /** These values under others, which are read as on the command line. */
  underTexts(texts: ReadonlyMap<string, string>): OptionValues {
    return this.under(
      new Map(
        [...texts].map(([name, text]) => [
          name,
          parseOptionValue(this.#spec(name), text),
        ]),
      ),
    );
  }

  /** Harmless options that were set and do nothing so far. */
  withoutEffect(): readonly string[] {
    return [...this.#unbuilt("harmless"), ...this.#unbuilt("moot")].map(
      ({ name }) => name,
    );
  }

  /** @throws UsageError that names every option that was set, restricts, and does nothing so far */
  refuseUnbuilt(): void {
    const refused = this.#unbuilt("restricts").filter(
      (spec) => !asksForNothing(spec, this.value(spec.name)!),
    );
    if (refused.length > 0)
      throw new UsageError(
        refused
          .map((spec) =>
            refusedText(
              this.given.has(spec.name) || !spec.file
                ? `--${spec.name}`
                : spec.file,
            ),
          )
          .join("; "),
      );
  }

  #unbuilt(kind: Unbuilt["kind"]): readonly OptionSpec[] {
    return allOptions(this.table).filter(
      ({ name, unbuilt }) => unbuilt?.kind === kind && this.isSet(name),
    );
  }
}

interface ParseOptions {
  /** Operands are allowed (kubectl-style commands). Without, one is an error. */
  operands?: boolean;
}

export function parseOptions(
  table: OptionTable,
  argv: readonly string[],
  { operands = false }: ParseOptions = {},
): OptionValues {
  const byName = new Map<string, OptionSpec>();
  const byLetter = new Map<string, OptionSpec>();
  for (const option of allOptions(table)) {
    if (option.fileOnly) continue;
    for (const name of [option.name, ...(option.aliases ?? [])])
      byName.set(name, option);
    if (option.short) byLetter.set(option.short, option);
  }
  const given = new Map<string, OptionValue>();
  const found: string[] = [];
  let afterDashes: string[] | undefined;
  const set = (spec: OptionSpec, text: string): void => {
    given.set(
      spec.name,
      mergeOptionValue(
        spec,
        given.get(spec.name),
        parseOptionValue(spec, text),
      ),
    );
  };
  const bareValue = (spec: OptionSpec): string | undefined =>
    spec.bare ?? (spec.type === "bool" ? "true" : undefined);

  for (let index = 0; index < argv.length; index++) {
    const word = argv[index]!;
    if (word === "--") {
      afterDashes = argv.slice(index + 1);
      break;
    }
    const following = (spec: OptionSpec, shown: string): string => {
      const next = argv[++index];
      if (next === undefined)
        throw new UsageError(`flag needs an argument: ${shown}`);
      return next;
    };
    if (word.startsWith("--")) {
      const equals = word.indexOf("=");
      const name = word.slice(2, equals < 0 ? undefined : equals);
      const spec =
        byName.get(name) ??
        byName.get(name.replaceAll("_", "-")) ??
        byName.get(canonicalOptionName(name));
      if (!spec)
        throw new UsageError(
          `unknown flag: --${name}${suggestion(name, byName)}`,
        );
      set(
        spec,
        equals >= 0
          ? word.slice(equals + 1)
          : (bareValue(spec) ?? following(spec, `--${name}`)),
      );
    } else if (word.startsWith("-") && word.length > 1) {
      for (let at = 1; at < word.length; at++) {
        const spec = byLetter.get(word[at]!);
        if (!spec)
          throw new UsageError(
            `unknown shorthand flag: '${word[at]}' in ${word}`,
          );
        const rest = word.slice(at + 1);
        const bare = bareValue(spec);
        if (rest.startsWith("=")) set(spec, rest.slice(1));
        else if (bare !== undefined) {
          set(spec, bare);
          continue;
        } else set(spec, rest !== "" ? rest : following(spec, `-${word[at]}`));
        break;
      }
    } else if (operands) {
      found.push(word);
    } else {
      throw new UsageError(`unexpected argument: ${word}`);
    }
  }
  return new OptionValues(table, given, undefined, found, afterDashes);
}

/** The nearest known name, when one is near. */
function suggestion(
  name: string,
  known: ReadonlyMap<string, OptionSpec>,
): string {
  let best: string | undefined;
  let bestDistance = 3;
  for (const candidate of known.keys()) {
    if (Math.abs(candidate.length - name.length) >= bestDistance) continue;
    const distance = editDistance(name, candidate);
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best ? ` (did you mean --${best}?)` : "";
}

function editDistance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let i = 1; i <= left.length; i++) {
    const next = [i];
    for (let j = 1; j <= right.length; j++) {
      next[j] = Math.min(
        row[j]! + 1,
        next[j - 1]! + 1,
        row[j - 1]! + (left[i - 1] === right[j - 1] ? 0 : 1),
      );
    }
    row = next;
  }
  return row[right.length]!;
}

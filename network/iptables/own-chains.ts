// The chains of one program among all others': those whose names begin with its prefix, and the rules by which the kernel's
// own chains enter them (jumps). Others' chains and rules are read and never written.
import type { IptablesCommand } from "./iptables-command.ts";

export interface PlacedRule {
  readonly table: string;
  readonly chain: string;
  readonly rule: string;
}

export interface OwnChains {
  readonly prefix: string;
  readonly jumps: readonly PlacedRule[];
  /** Looked for from time to time. */
  readonly witnesses: readonly PlacedRule[];
}

interface Present {
  /** `table chain` */
  readonly chains: readonly string[];
  /** `-A PREROUTING … -j PREFIX…`, by table. */
  readonly entries: readonly { table: string; rule: string }[];
}

/** Reads what iptables-save wrote. */
function present(text: string, prefix: string): Present {
  let table = "";
  const chains: string[] = [];
  const entries: { table: string; rule: string }[] = [];
  for (const line of text.split("\n"))
    if (line.startsWith("*")) table = line.slice(1);
    else if (line.startsWith(`:${prefix}`))
      chains.push(`${table} ${line.slice(1).split(" ", 1)[0]}`);
    else if (
      line.startsWith("-A ") &&
      !line.startsWith(`-A ${prefix}`) &&
      line.includes(` -j ${prefix}`)
    )
      entries.push({ table, rule: line });
  return { chains, entries };
}

/** The chain that a rule enters. */
const targetOf = (rule: string): string => rule.split(" -j ")[1] ?? "";

const inTables = (
  lines: readonly { table: string; line: string }[],
): Map<string, string[]> => {
  const byTable = new Map<string, string[]>();
  for (const { table, line } of lines)
    byTable.set(table, [...(byTable.get(table) ?? []), line]);
  return byTable;
};

/**
 * Writes everything: the script of all chains, the jumps that are missing, and no chain of the prefix beside those in it.
 * @param script as iptables-restore takes it
 */
export async function writeWhole(
  { restore, save }: IptablesCommand,
  { prefix, jumps }: OwnChains,
  script: string,
): Promise<void> {
  const { chains, entries } = present(await save(), prefix);
  const wanted = present(script, prefix).chains;
  const missing = jumps.filter(
    ({ table, chain, rule }) =>
      !entries.some(
        (each) =>
          each.table === table &&
          each.rule.startsWith(`-A ${chain} `) &&
          targetOf(each.rule) === targetOf(rule),
      ),
  );
  const stale = chains.filter((chain) => !wanted.includes(chain));
  const extra = inTables([
    ...missing.map(({ table, chain, rule }) => ({
      table,
      line: `-I ${chain} 1 ${rule}`,
    })),
    ...stale.map((each) => {
      const [table = "", name = ""] = each.split(" ");
      return { table, line: `-X ${name}` };
    }),
  ]);
  const emptied = inTables(
    stale.map((each) => {
      const [table = "", name = ""] = each.split(" ");
      return { table, line: `:${name} - [0:0]` };
    }),
  );
  const blocks = script.split(/(?<=^COMMIT\n)/m).map((block) => {
    const table = /^\*(.*)\n/.exec(block)?.[1] ?? "";
    return block
      .replace(/^(\*.*\n)/, `$1${lines(emptied.get(table))}`)
      .replace(/COMMIT\n$/, `${lines(extra.get(table))}COMMIT\n`);
  });
  await restore(blocks.join(""));
}

const lines = (all: readonly string[] = []): string =>
  all.map((line) => `${line}\n`).join("");

/** Takes all chains of the prefix away. */
export async function removeOwnChains(
  { restore, save }: IptablesCommand,
  prefix: string,
): Promise<void> {
  const { chains, entries } = present(await save(), prefix);
  if (chains.length === 0 && entries.length === 0) return;
  const named = chains.map((each) => {
    const [table = "", name = ""] = each.split(" ");
    return { table, name };
  });
  const byTable = inTables([
    ...named.map(({ table, name }) => ({ table, line: `:${name} - [0:0]` })),
    ...entries.map(({ table, rule }) => ({
      table,
      line: rule.replace(/^-A/, "-D"),
    })),
    ...named.map(({ table, name }) => ({ table, line: `-X ${name}` })),
  ]);
  await restore(
    [...byTable]
      .map(([table, all]) => `*${table}\n${lines(all)}COMMIT\n`)
      .join(""),
  );
}

// The kernel's table of tracked connections: how full it is, who began how many of them, and forgetting those of an address. The
// table is one for all pods of a node and the node itself; when it is full new connections of all are dropped. What is in it
// is read by the program `conntrack`, and counted by awk beside it: a quarter of a million lines are nothing for this process.
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";

export interface TableFill {
  readonly count: number;
  readonly max: number;
}

const directory = "/proc/sys/net/netfilter";
const patienceMs = 60_000;
const maxBuffer = 4 << 20;

/** Undefined: nothing is tracked here. The kernel answers from memory. */
export function tableFill(): TableFill | undefined {
  try {
    const read = (name: string): number =>
      Number(readFileSync(`${directory}/nf_conntrack_${name}`, "utf8"));
    return { count: read("count"), max: read("max") };
  } catch {
    return undefined;
  }
}

type Family = 4 | 6;

const nameOf = (family: Family): string => (family === 4 ? "ipv4" : "ipv6");

/** The address that began a connection is the first that its line names. */
const countSources = `{
  at = index($0, " src=")
  if (!at) next
  source = substr($0, at + 5)
  count[substr(source, 1, index(source, " ") - 1)]++
}
END { for (source in count) if (count[source] >= least) print count[source], source }`;

/** By address, of those with at least so many. Rejects without the programs. */
export async function connectionsBySource(
  family: Family,
  least: number,
  wrapper: readonly string[] = [],
): Promise<Map<string, number>> {
  const output = await run([
    ...wrapper,
    ...["sh", "-c"],
    'command -v conntrack >/dev/null || { echo "there is no conntrack program" >&2; exit 1; }; conntrack -L -f "$1" 2>/dev/null | awk -v least="$2" "$3"',
    ...["sh", nameOf(family), String(least), countSources],
  ]);
  return new Map(
    output.split("\n").flatMap((line) => {
      const [count, address] = line.split(" ");
      return address ? [[address, Number(count)] as const] : [];
    }),
  );
}

export async function forgetConnections(
  family: Family,
  source: string,
  wrapper: readonly string[] = [],
): Promise<void> {
  await run([
    ...wrapper,
    ...["sh", "-c"],
    // It fails where there was none.
    'conntrack -D -f "$1" -s "$2" >/dev/null 2>&1; exit 0',
    ...["sh", nameOf(family), source],
  ]);
}

function run([program = "", ...words]: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(
      program,
      words,
      { timeout: patienceMs, maxBuffer },
      (error, output, text) =>
        error
          ? reject(new Error(text.trim() || error.message, { cause: error }))
          : resolve(output),
    );
  });
}

// Files in which the kernel reports what a cgroup uses; both versions of cgroups share these forms.
import { readFile } from "node:fs/promises";

/** The number in a file; undefined when it can't be read or says `max`. */
export async function readAmount(file: string): Promise<number | undefined> {
  const text = await readFile(file, "utf8").catch(() => "");
  return /^\d+$/.test(text.trim()) ? Number(text) : undefined;
}

/** The used memory without inactive pages of files, as cAdvisor computes the working set. */
export function workingSet(
  usedBytes: number | undefined,
  stat: string,
  inactiveFile: string,
): { workingSetBytes?: number } {
  if (usedBytes === undefined) return {};
  const prefix = `${inactiveFile} `;
  const line = stat.split("\n").find((each) => each.startsWith(prefix));
  const inactive = Number(line?.slice(prefix.length) ?? 0);
  return { workingSetBytes: Math.max(0, usedBytes - inactive) };
}

/** Numbers of a file of lines of a name and a number, by the names that this program has for them. */
export function namedAmounts<Name extends string>(
  text: string,
  names: Readonly<Record<Name, string>>,
): Partial<Record<Name, number>> {
  const found = new Map(
    text.split("\n").map((line) => {
      const [name = "", amount] = line.split(" ");
      return [name, Number(amount)] as const;
    }),
  );
  return Object.fromEntries(
    Object.entries<string>(names).flatMap(([name, inFile]) =>
      found.has(inFile) ? [[name, found.get(inFile)]] : [],
    ),
  ) as Partial<Record<Name, number>>;
}

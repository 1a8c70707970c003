// Which ids of the host pods with user namespaces of their own may have: those that the machine gives the user `kubelet`
// in /etc/subuid and /etc/subgid, as `getsubids` prints them; without that user or that program all ids but the first
// 65536, which are the host's own.
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";

/** Ids of a pod. */
export const rangeLength = 65_536;

const idCount = 2 ** 32;
const user = "kubelet";

/** Ids from `first` on; both are multiples of `rangeLength`. */
export interface IdRange {
  readonly first: number;
  readonly length: number;
}

interface Machine {
  readonly passwdFile: string;
  /** A name for PATH, or a path. */
  readonly program: string;
}

const thisMachine: Machine = {
  passwdFile: "/etc/passwd",
  program: "getsubids",
};

const run = promisify(execFile);
/** It may ask a directory service. */
const timeoutMs = 30_000;

/** @throws Error when the machine gives ids that are of no use to so many pods */
export async function subordinateIds(
  maxPods: number,
  machine: Machine = thisMachine,
): Promise<IdRange> {
  const range = await givenIds(machine);
  const { first, length } = range;
  if (first % rangeLength !== 0)
    throw new Error(
      `kubelet user assigned ID ${first} is not a multiple of ${rangeLength}`,
    );
  // With the host's own ids a namespace would protect nothing.
  if (first < rangeLength)
    throw new Error(
      `kubelet user assigned ID ${first} must be greater or equal to ${rangeLength}`,
    );
  if (length % rangeLength !== 0)
    throw new Error(
      `kubelet user assigned IDs length ${length} is not a multiple of ${rangeLength}`,
    );
  if (first + length > idCount)
    throw new Error(
      `kubelet user assigned IDs ${first} to ${first + length - 1} are more than there are`,
    );
  if (length / rangeLength < maxPods)
    throw new Error(
      `kubelet user assigned IDs are not enough to support ${maxPods} pods`,
    );
  return range;
}

async function givenIds({ passwdFile, program }: Machine): Promise<IdRange> {
  const byDefault = { first: rangeLength, length: idCount - rangeLength };
  const users = await readFile(passwdFile, "utf8");
  if (!users.split("\n").some((line) => line.startsWith(`${user}:`)))
    return byDefault;
  const uids = await listed(program, [user], "uids");
  if (uids === undefined) return byDefault;
  if (uids !== (await listed(program, ["-g", user], "gids")))
    throw new Error(`mismatched subuids and subgids for user "${user}"`);
  return parsed(uids);
}

/** undefined: there is no such program. */
async function listed(
  program: string,
  programArguments: readonly string[],
  what: string,
): Promise<string | undefined> {
  try {
    const { stdout } = await run(program, programArguments, {
      timeout: timeoutMs,
    });
    return stdout;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    throw new Error(
      `error retrieving additional ${what} for user "${user}": ${message.trim()}`,
      { cause: error },
    );
  }
}

/** Of `0: kubelet 65536 2147483648`. */
function parsed(output: string): IdRange {
  const lines = output.replace(/^\n+|\n+$/g, "").split("\n");
  if (lines.length !== 1)
    throw new Error(
      `error parsing line ${JSON.stringify(output)}: it must contain only one line`,
    );
  const fields = lines[0]!.split(/\s+/).filter((field) => field !== "");
  const [first, length] = fields.slice(2).map((field) => Number(field));
  if (fields.length !== 4)
    throw new Error(`invalid line ${JSON.stringify(output)}`);
  for (const [field, value] of [
    [fields[2], first!],
    [fields[3], length!],
  ] as const)
    if (!/^\d+$/.test(field!) || value >= idCount)
      throw new Error(
        `error parsing line ${JSON.stringify(output)}: ${JSON.stringify(field)} is no number of 32 bits`,
      );
  return { first: first!, length: length! };
}

// Writes a set of files into a volume so that readers see all of the old or all of the new: the files lie in a dated
// directory, `..data` is a link to it that is swapped by rename, and the visible names are links through `..data`.
//
//   token        → ..data/token
//   ..data       → ..2026_11_21_00_00_00.123456789
//   ..2026_…/token
//
// Nothing is written when the content is what is there already. What others made beside these names stays: runtimes make
// the places for mounts below the volume there, and to remove one is to unmount it in the containers that run.
import { randomInt } from "node:crypto";
import {
  chmod,
  chown,
  lstat,
  mkdir,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { dirname, join, posix } from "node:path";

export interface PayloadFile {
  data: Buffer;
  mode: number;
  /** Owner; root by default. */
  userId?: number;
}

/** By path relative to the volume. */
type Payload = ReadonlyMap<string, PayloadFile>;

const dataLink = "..data";
/** A directory of content as it is named here; the reference's have fewer digits. */
const datedName = /^\.\.\d{4}_\d\d_\d\d_\d\d_\d\d_\d\d\.\d+$/;

/** Throws for paths that would leave the volume or clash with the writer's own names. */
export function checkPayloadPath(path: string): void {
  if (
    path === "" ||
    path.startsWith("/") ||
    path.startsWith("..") ||
    path.split("/").includes("..")
  )
    throw new Error(`invalid path: must be relative, without '..': "${path}"`);
  if (path.length > 4096)
    throw new Error(
      "invalid path: must be less than or equal to 4096 characters",
    );
}

/** Returns whether content was written. `groupId`: owning group of files and directories (fsGroup). */
export async function writePayload(
  directory: string,
  files: Payload,
  groupId?: number,
): Promise<boolean> {
  for (const path of files.keys()) checkPayloadPath(path);
  const payload = new Map(
    [...files].map(([path, file]) => [onDisk(path), file]),
  );
  const current = await readlink(join(directory, dataLink)).catch(
    () => undefined,
  );
  const isCurrent =
    current !== undefined &&
    (await isSame(join(directory, current), payload, groupId));
  const dated = isCurrent
    ? current
    : await writeContent(directory, payload, groupId);
  // Also when the content stayed: its writer may have been killed before it came to the links.
  await showLinks(directory, payload);
  await removeOld(directory, dated, payload);
  return !isCurrent;
}

/** "./name", "a//b" and "c/" as they are found again. */
function onDisk(path: string): string {
  return posix.normalize(path).replace(/\/$/, "");
}

/** Resolves to the name of the new directory, to which `..data` leads then. */
async function writeContent(
  directory: string,
  payload: Payload,
  groupId: number | undefined,
): Promise<string> {
  const dated = `..${new Date().toISOString().slice(0, 19).replace(/[-T:]/g, "_")}.${randomInt(1e9).toString().padStart(9, "0")}`;
  const target = join(directory, dated);
  await mkdir(target, { mode: 0o755 });
  await own(target, groupId, true);
  for (const [path, { data, mode, userId }] of payload) {
    const file = join(target, path);
    const parent = dirname(path);
    if (parent !== ".") await makeParents(target, parent, groupId);
    await writeFile(file, data, { mode: 0o600 });
    if (groupId !== undefined || userId !== undefined)
      await chown(
        file,
        userId ?? process.getuid?.() ?? 0,
        groupId ?? process.getgid?.() ?? 0,
      ).catch(ignorePermission);
    await chmod(file, groupId === undefined ? mode : mode | 0o440);
  }
  await chmod(target, groupId === undefined ? 0o755 : 0o2755);

  const temporary = join(directory, `${dataLink}_tmp`);
  await rm(temporary, { force: true });
  await symlink(dated, temporary);
  await rename(temporary, join(directory, dataLink));
  return dated;
}

function visibleNames(payload: Payload): Set<string> {
  return new Set([...payload.keys()].map((path) => path.split("/")[0]!));
}

async function showLinks(directory: string, payload: Payload): Promise<void> {
  for (const name of visibleNames(payload)) {
    const link = join(directory, name);
    const found = await lstat(link).catch(() => undefined);
    if (!found) await symlink(join(dataLink, name), link);
  }
}

/** Links to what is no more in the payload, and earlier content, also of a writer that was killed. */
async function removeOld(
  directory: string,
  dated: string,
  payload: Payload,
): Promise<void> {
  const visible = visibleNames(payload);
  for (const name of await readdir(directory)) {
    if (name === dataLink || name === dated || visible.has(name)) continue;
    const path = join(directory, name);
    const target = await readlink(path).catch(() => undefined);
    if (target === join(dataLink, name) || datedName.test(name))
      await rm(path, { recursive: true, force: true });
  }
}

/** A payload was written there before. */
export async function isWritten(directory: string): Promise<boolean> {
  return await readlink(join(directory, dataLink)).then(
    () => true,
    () => false,
  );
}

async function makeParents(
  root: string,
  path: string,
  groupId: number | undefined,
): Promise<void> {
  let directory = root;
  for (const segment of path.split("/")) {
    directory = join(directory, segment);
    await mkdir(directory, { mode: 0o755 }).catch(
      (error: NodeJS.ErrnoException) => {
        if (error.code !== "EEXIST") throw error;
      },
    );
    await own(directory, groupId, true);
  }
}

async function own(
  path: string,
  groupId: number | undefined,
  directory: boolean,
): Promise<void> {
  if (groupId === undefined) return;
  const { uid, mode } = await stat(path);
  await chown(path, uid, groupId).catch(ignorePermission);
  await chmod(path, (mode & 0o7777) | (directory ? 0o2550 : 0o440));
}

async function isSame(
  directory: string,
  payload: Payload,
  groupId: number | undefined,
): Promise<boolean> {
  const present = await files(directory, "").catch(() => undefined);
  if (!present || present.length !== payload.size) return false;
  for (const path of present) {
    const wanted = payload.get(path);
    if (!wanted) return false;
    const file = join(directory, path);
    const [data, found] = await Promise.all([readFile(file), stat(file)]);
    const mode = groupId === undefined ? wanted.mode : wanted.mode | 0o440;
    if (!data.equals(wanted.data) || (found.mode & 0o777) !== (mode & 0o777))
      return false;
  }
  return true;
}

async function files(root: string, below: string): Promise<string[]> {
  const result: string[] = [];
  for (const entry of await readdir(join(root, below), {
    withFileTypes: true,
  })) {
    const path = below === "" ? entry.name : `${below}/${entry.name}`;
    if (entry.isDirectory()) result.push(...(await files(root, path)));
    else result.push(path);
  }
  return result;
}

function ignorePermission(error: NodeJS.ErrnoException): void {
  if (error.code !== "EPERM") throw error;
}

// Whether another program's network configuration takes the place of ours. A runtime uses the first file of its directory by
// name. One of a plug-in that calls others, as Multus does, may have ours make the pod's first link: it names our network or
// our file, and then ours stays in use, with all that belongs to it.
import * as fs from "node:fs/promises";
import { basename, join } from "node:path";
import {
  cniFileName,
  defaultNetworkName,
  isConfiguration,
} from "./configuration.ts";

/** Configurations are small; what is larger is none that names ours. */
const maxBytes = 1 << 20;

/** Whether the network or the file is a value anywhere below; a configuration's own name does not count. */
function names(value: unknown, network: string, top = true): boolean {
  if (typeof value === "string")
    return value === network || basename(value) === cniFileName;
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(
    ([key, inner]) => !(top && key === "name") && names(inner, network, false),
  );
}

/** Resolves to false while ours is the one that the runtime uses, by itself or through another one. */
export async function isReplaced(
  directory: string,
  network = defaultNetworkName,
): Promise<boolean> {
  const present = await fs.readdir(directory).catch((): string[] => []);
  const first = present.filter(isConfiguration).sort()[0];
  if (first === undefined || first === cniFileName) return false;
  const file = join(directory, first);
  try {
    const stat = await fs.stat(file);
    if (!stat.isFile() || stat.size > maxBytes) return true;
    return !names(JSON.parse(await fs.readFile(file, "utf8")), network);
  } catch {
    return true;
  }
}

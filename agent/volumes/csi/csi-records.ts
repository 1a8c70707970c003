// What was asked of drivers, kept on the disk before it is asked, so that it is ended whatever happens to the agent:
//
//   <root>/pods/<uid>/volumes/kubernetes.io~csi/<volume>/vol_data.json       a volume of a pod; mount/ is its target
//   <root>/plugins/kubernetes.io/csi/<driver>/<sha256 of the handle>/        vol_data.json; globalmount/ is staged
//   <root>/plugins/kubernetes.io/csi/volumeDevices/<volume>/data/            vol_data.json of a block volume
//   <root>/plugins/kubernetes.io/csi/volumeDevices/<volume>/pods/<uid>       a pod that has it, an empty file
//   <root>/plugins/kubernetes.io/csi/volumeDevices/staging|publish/…         where the driver puts its devices
//
// The places and file names are the reference's, which drivers are known to rely on.
import { createHash } from "node:crypto";
import {
  readdir,
  readFile,
  rename,
  rm,
  rmdir,
  writeFile,
} from "node:fs/promises";
import { dirname, join } from "node:path";
import { makeDirectory } from "../../../cri/directories.ts";
import type { AgentConfig } from "../../config/agent-config.ts";
import {
  pluginDirectory,
  podsDirectory,
  volumesDirectory,
} from "../volume-paths.ts";

type Directories = Pick<AgentConfig, "rootDirectory" | "memoryDirectory">;

export interface CsiRecord {
  readonly driverName: string;
  readonly volumeHandle: string;
  /** Of the volume, as the directory is called. */
  readonly specVolID: string;
  readonly volumeLifecycleMode: "Persistent" | "Ephemeral";
  /** The node lists it as in use while it is staged. */
  readonly attachable: boolean;
}

export interface Found {
  readonly record: CsiRecord;
  /** Of vol_data.json. */
  readonly directory: string;
}

const fileName = "vol_data.json";
const podVolumes = "kubernetes.io~csi";

export class CsiPaths {
  readonly #config: Directories;
  readonly #root: string;

  constructor(config: Directories) {
    this.#config = config;
    this.#root = join(pluginDirectory(config, "kubernetes.io"), "csi");
  }

  /** Of a volume of a pod: its record, and mount/ for the driver. */
  podVolume(uid: string, name: string): string {
    return join(volumesDirectory(this.#config, uid), podVolumes, name);
  }

  /** Of a staged file system. */
  staged(driver: string, handle: string): string {
    const digest = createHash("sha256").update(handle).digest("hex");
    return join(this.#root, driver, digest);
  }

  /** Of a block volume's record. */
  block(name: string): string {
    return join(this.#root, "volumeDevices", name, "data");
  }

  blockStaging(name: string): string {
    return join(this.#root, "volumeDevices", "staging", name);
  }

  blockPublish(name: string, uid: string): string {
    return join(this.#root, "volumeDevices", "publish", name, uid);
  }

  /** Of those that have a block volume, or may have it: an empty file for each. */
  blockUser(name: string, uid: string): string {
    return join(this.#root, "volumeDevices", name, "pods", uid);
  }

  async ofPod(uid: string): Promise<Found[]> {
    return await recordsBelow(
      join(volumesDirectory(this.#config, uid), podVolumes),
    );
  }

  /** Block volumes that were published for the pod, or may have been. */
  async blocksOfPod(uid: string): Promise<Found[]> {
    const found: Found[] = [];
    for (const block of await this.allBlocks())
      if ((await this.blockUsers(block.record.specVolID)).includes(uid))
        found.push(block);
    return found;
  }

  async allStaged(): Promise<Found[]> {
    const drivers = await entries(this.#root);
    const found: Found[] = [];
    for (const driver of drivers)
      if (driver !== "volumeDevices")
        found.push(...(await recordsBelow(join(this.#root, driver))));
    return found;
  }

  async allBlocks(): Promise<Found[]> {
    const found: Found[] = [];
    for (const name of await entries(join(this.#root, "volumeDevices"))) {
      const record = await readRecord(this.block(name));
      if (record) found.push({ record, directory: this.block(name) });
    }
    return found;
  }

  /** `driver^handle` of what any pod has as a file system. */
  async usedByPods(): Promise<Set<string>> {
    const used = new Set<string>();
    for (const uid of await entries(podsDirectory(this.#config)))
      for (const { record } of await this.ofPod(uid)) used.add(keyOf(record));
    return used;
  }

  /** Uids of pods that have the block volume; devices that earlier versions had published count by themselves. */
  async blockUsers(name: string): Promise<string[]> {
    const devices = join(this.#root, "volumeDevices");
    return [
      ...(await entries(join(devices, name, "pods"))),
      ...(await entries(join(devices, "publish", name))),
    ];
  }
}

export function keyOf({ driverName, volumeHandle }: CsiRecord): string {
  return `${driverName}^${volumeHandle}`;
}

/** Whole or not at all. */
export async function writeRecord(
  directory: string,
  record: CsiRecord,
): Promise<void> {
  await makeDirectory(directory, 0o750);
  const path = join(directory, fileName);
  await writeFile(`${path}.tmp`, JSON.stringify(record), { mode: 0o600 });
  await rename(`${path}.tmp`, path);
}

export async function hasRecord(directory: string): Promise<boolean> {
  return (await entries(directory)).includes(fileName);
}

async function readRecord(directory: string): Promise<CsiRecord | undefined> {
  const text = await readFile(join(directory, fileName), "utf8").catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT" || error.code === "ENOTDIR") return undefined;
      throw error;
    },
  );
  if (text === undefined) return undefined;
  const found = JSON.parse(text) as Partial<CsiRecord>;
  if (!found.driverName || !found.volumeHandle)
    throw new Error(`${join(directory, fileName)} names no volume`);
  return {
    driverName: found.driverName,
    volumeHandle: found.volumeHandle,
    specVolID: found.specVolID ?? "",
    volumeLifecycleMode: found.volumeLifecycleMode ?? "Persistent",
    attachable: found.attachable ?? false,
  };
}

/** The directory must be empty but for its record: what a driver left mounted is never removed. */
export async function removeRecord(
  directory: string,
  ...below: readonly string[]
): Promise<void> {
  for (const name of below) await rmdirIfThere(join(directory, name));
  await rm(join(directory, fileName), { force: true });
  await rmdirIfThere(directory);
  await rmdirIfThere(dirname(directory), true);
}

/** @param keepFull one that something else is in stays */
export async function rmdirIfThere(
  path: string,
  keepFull = false,
): Promise<void> {
  await rmdir(path).catch((error: NodeJS.ErrnoException) => {
    const harmless = ["ENOENT", ...(keepFull ? ["ENOTEMPTY", "EEXIST"] : [])];
    if (!harmless.includes(error.code ?? "")) throw error;
  });
}

async function recordsBelow(directory: string): Promise<Found[]> {
  const found: Found[] = [];
  for (const name of await entries(directory)) {
    const record = await readRecord(join(directory, name));
    if (record) found.push({ record, directory: join(directory, name) });
  }
  return found;
}

async function entries(directory: string): Promise<string[]> {
  return await readdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return [];
    throw error;
  });
}

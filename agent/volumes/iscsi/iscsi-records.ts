// What the node has attached, in <root>/plugins/kubernetes.io~iscsi/<key>/: record.json (without passwords), mount/ where
// the unit's file system is mounted, and users/<uid> for each pod. Outlives the agent.
import { readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { makeDirectory } from "../../../cri/directories.ts";
import { unitKey, type Target } from "./iscsi-target.ts";

export class IscsiRecords {
  readonly #root: string;

  constructor(root: string) {
    this.#root = root;
  }

  #entries(...parts: string[]): Promise<string[]> {
    return readdir(join(this.#root, ...parts)).catch(() => []);
  }

  /** Keys of all units. */
  units(): Promise<string[]> {
    return this.#entries();
  }

  /** Uids of the unit's pods. */
  users(key: string): Promise<string[]> {
    return this.#entries(key, "users");
  }

  mountPath(key: string): string {
    return join(this.#root, key, "mount");
  }

  /** Undefined when it was not written whole: then nothing was attached. */
  async target(key: string): Promise<Target | undefined> {
    try {
      const file = join(this.#root, key, "record.json");
      return JSON.parse(await readFile(file, "utf8")) as Target;
    } catch {
      return undefined;
    }
  }

  /** Before anything is attached, so that an agent that is killed in between finds it. */
  async add(target: Target, uid: string): Promise<void> {
    const unit = join(this.#root, unitKey(target));
    await makeDirectory(join(unit, "users"), 0o750);
    const file = join(unit, "record.json");
    const { discovery: _, session: __, ...kept } = target;
    await writeFile(`${file}.new`, JSON.stringify(kept), { mode: 0o600 });
    await rename(`${file}.new`, file);
    await writeFile(join(unit, "users", uid), "");
  }

  /** The pod uses no unit any more. */
  async forget(uid: string): Promise<void> {
    for (const key of await this.units())
      await rm(join(this.#root, key, "users", uid), { force: true });
  }

  async remove(key: string): Promise<void> {
    await rm(join(this.#root, key), { recursive: true, force: true });
  }

  /** No other unit of the target is attached. */
  async isLast(key: string, target: Target): Promise<boolean> {
    for (const other of await this.units())
      if (other !== key && (await this.target(other))?.iqn === target.iqn)
        return false;
    return true;
  }
}

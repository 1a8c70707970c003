// What each pod's containers were given of the node, where that may differ from what their specification asks for now: a
// resize counts only once the node has room for it. Kept in ROOT/pods/<uid>/allocated-resources.json, so that an agent that
// is started again goes on with what was given. Invariants: what `allocate` resolved for is on the disk; a file that can't be
// read counts as none, and then the specification is what was given.
import { readdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { makeDirectory } from "../../../cri/directories.ts";
import type { Logger } from "pino";
import { sameValue } from "../../../api/objects/json-equality.ts";
import type { Pod, ResourceRequirements } from "../../../api/types/core-v1.ts";

/** By container name. */
type Allocation = Readonly<Record<string, ResourceRequirements>>;

const fileName = "allocated-resources.json";

export class AllocatedResources {
  readonly #podsDirectory: string;
  readonly #logger: Logger;
  readonly #byUid = new Map<string, Allocation>();

  constructor(rootDirectory: string, logger: Logger) {
    this.#podsDirectory = join(rootDirectory, "pods");
    this.#logger = logger;
  }

  /** Reads what an earlier agent gave. */
  async start(): Promise<void> {
    const uids = await readdir(this.#podsDirectory).catch((): string[] => []);
    await Promise.all(
      uids.map(async (uid) => {
        const read = await this.#read(uid);
        if (read) this.#byUid.set(uid, read);
      }),
    );
  }

  async #read(uid: string): Promise<Allocation | undefined> {
    const file = join(this.#podsDirectory, uid, fileName);
    try {
      const found: unknown = JSON.parse(await readFile(file, "utf8"));
      if (isAllocation(found)) return found;
      this.#logger.warn({ file }, "allocated resources can't be understood");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT")
        this.#logger.warn(
          { err: error, file },
          "allocated resources can't be read",
        );
    }
    return undefined;
  }

  of(uid: string): Allocation | undefined {
    return this.#byUid.get(uid);
  }

  /** The pod with the resources it was given; the same object where they are what it asks for. */
  apply(pod: Pod): Pod {
    const given = this.#byUid.get(pod.metadata.uid ?? "");
    if (!given) return pod;
    let differs = false;
    const containers = pod.spec.containers.map((container) => {
      const resources = given[container.name];
      if (!resources || sameValue(resources, container.resources ?? {}))
        return container;
      differs = true;
      return { ...container, resources };
    });
    return differs ? { ...pod, spec: { ...pod.spec, containers } } : pod;
  }

  /** Gives the pod what it asks for. */
  async allocate(pod: Pod): Promise<void> {
    const uid = pod.metadata.uid ?? "";
    const allocation = Object.fromEntries(
      pod.spec.containers.map(({ name, resources }) => [name, resources ?? {}]),
    );
    const directory = join(this.#podsDirectory, uid);
    await makeDirectory(directory, 0o750);
    const file = join(directory, fileName);
    await writeFile(`${file}.new`, JSON.stringify(allocation), { mode: 0o600 });
    await rename(`${file}.new`, file);
    this.#byUid.set(uid, allocation);
  }

  /** The file goes with the pod's directory. */
  forget(uid: string): void {
    this.#byUid.delete(uid);
  }
}

function isAllocation(value: unknown): value is Allocation {
  const isObject = (each: unknown): each is object =>
    typeof each === "object" && each !== null && !Array.isArray(each);
  return (
    isObject(value) &&
    Object.values(value).every(
      (each) =>
        isObject(each) &&
        Object.values(each).every(
          (list) =>
            isObject(list) || (Array.isArray(list) && list.every(isObject)),
        ),
    )
  );
}

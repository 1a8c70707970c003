// The ids of the host that pods with user namespaces of their own have: each pod one range of 65536, no two alike. A pod
// keeps its range, in a file of its directory, until it is over or the directory is gone, also over restarts of the agent.
// Invariants: what was given out is on the disk. While a pod's file can't be read, nothing is given out, as the range in it
// might be given out twice; nor is a range in which the runtime still runs another pod, whatever the files say.
import { randomInt } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { SandboxStatus } from "../../../cri/runtime.ts";
import type { IdMapping, UserMappings } from "../../../cri/user-mappings.ts";
import { readRange, removeRange, writeRange } from "./range-record.ts";
import { rangeLength, type IdRange } from "./subordinate-ids.ts";

interface UserNamespacesOptions {
  readonly rootDirectory: string;
  /** Those of the machine for pods. */
  readonly ids: () => Promise<IdRange>;
  /** What the runtime runs. */
  readonly pods: () => readonly {
    readonly uid: string;
    readonly sandboxes: readonly Pick<SandboxStatus, "users">[];
  }[];
  /**
   * Below `count`: the range that is tried first. By chance, if not given: ids of a pod that is gone are seldom given out
   * again soon.
   */
  readonly firstTried?: (count: number) => number;
}

export class UserNamespaces {
  readonly #options: UserNamespacesOptions;
  /** The first ids, by the uids of the pods that have a directory; undefined: the pod has no range. */
  readonly #given = new Map<string, number | undefined>();
  #ids: IdRange | undefined;
  /** One after the other, as each looks at those of all. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: UserNamespacesOptions) {
    this.#options = options;
  }

  /** Rejects when the machine's ids for pods are of no use. */
  async start(): Promise<void> {
    try {
      this.#ids = await this.#options.ids();
    } catch (error) {
      throw new Error(
        `create user namespace manager: kubelet mappings: ${(error as Error).message}`,
        { cause: error },
      );
    }
  }

  /** The pod's range, from now on its own; its directory is there. Rejects when it can have none. */
  of(uid: string): Promise<UserMappings> {
    return this.#inTurn(async () => {
      await this.#look();
      const recorded = await this.#recorded(uid);
      const hostId = recorded ?? this.#free(uid);
      this.#given.set(uid, hostId);
      if (recorded === undefined) await writeRange(this.#path(uid), hostId);
      const mappings = [{ hostId, containerId: 0, length: rangeLength }];
      return { uids: mappings, gids: mappings };
    });
  }

  /** The pod is over: nothing runs with its ids any more. */
  release(uid: string): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#given.has(uid) && this.#given.get(uid) === undefined) return;
      await removeRange(this.#path(uid));
      this.#given.delete(uid);
    });
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => undefined);
    return done;
  }

  /** Which pods have a directory; what is new is read. */
  async #look(): Promise<void> {
    const present = await readdir(join(this.#options.rootDirectory, "pods"));
    const uids = new Set(present);
    for (const uid of this.#given.keys())
      if (!uids.has(uid)) this.#given.delete(uid);
    for (const uid of present)
      if (!this.#given.has(uid))
        this.#given.set(uid, await readRange(this.#path(uid)));
  }

  /** undefined: the pod is to be given one. */
  async #recorded(uid: string): Promise<number | undefined> {
    // Once more, as it may have been changed since.
    const recorded = await readRange(this.#path(uid));
    if (recorded === undefined) return undefined;
    const given = this.#given.get(uid);
    if (given !== undefined && given !== recorded)
      throw new Error(
        `user namespace: different user namespace range already used by pod "${uid}"`,
      );
    const { first, length } = this.#range();
    if (recorded < first || recorded >= first + length)
      throw new Error(`user namespace: id ${recorded} is out of range`);
    if (this.#taken(uid).has(recorded))
      throw new Error(
        `user namespace: range picked for pod "${uid}" already taken`,
      );
    return recorded;
  }

  #free(uid: string): number {
    const taken = this.#taken(uid);
    const known = this.#given.get(uid);
    // Its file got lost.
    if (known !== undefined && !taken.has(known)) return known;
    const { first, length } = this.#range();
    const count = length / rangeLength;
    const { firstTried = randomInt } = this.#options;
    const start = firstTried(count);
    for (let tried = 0; tried < count; tried++) {
      const hostId = first + ((start + tried) % count) * rangeLength;
      if (!taken.has(hostId)) return hostId;
    }
    throw new Error(
      "create user namespace: could not find an empty slot to allocate a user namespace",
    );
  }

  /** The first ids of ranges that are not for this pod. */
  #taken(uid: string): Set<number> {
    const taken = new Set<number>();
    for (const [other, hostId] of this.#given)
      if (other !== uid && hostId !== undefined) taken.add(hostId);
    for (const pod of this.#options.pods())
      if (pod.uid !== uid)
        for (const { users } of pod.sandboxes)
          for (const mapping of [
            ...(users?.uids ?? []),
            ...(users?.gids ?? []),
          ])
            for (const hostId of rangesOf(mapping)) taken.add(hostId);
    return taken;
  }

  #range(): IdRange {
    if (!this.#ids) throw new Error("the machine's ids were not read");
    return this.#ids;
  }

  #path(uid: string): string {
    return join(this.#options.rootDirectory, "pods", uid, "userns");
  }
}

/** Every range of which the mapping has an id; another agent's may be of any size. */
function rangesOf({ hostId, length }: IdMapping): number[] {
  const first = Math.floor(hostId / rangeLength);
  const count = Math.ceil((hostId + length) / rangeLength) - first;
  return Array.from(
    { length: Math.min(count, rangeLength) },
    (_, index) => (first + index) * rangeLength,
  );
}

/** Are they the same ids of the host? Undefined: the host's own. */
export function sameUsers(
  one: UserMappings | undefined,
  other: UserMappings | undefined,
): boolean {
  if (!one || !other) return one === other;
  const text = (mappings: readonly IdMapping[]): string =>
    mappings
      .map(
        ({ hostId, containerId, length }) =>
          `${containerId} ${hostId} ${length}`,
      )
      .join();
  return (
    text(one.uids) === text(other.uids) && text(one.gids) === text(other.gids)
  );
}

// What the API server told its clients about ConfigMaps, and what must follow (see server-round.ts). Each object has one
// writer, so its writes have an order; the resourceVersion of a write is in its answer.
import type { Answer, WatchLine } from "./api-client.ts";

interface Known {
  readonly revision: number;
  readonly value: string;
}

interface Write {
  readonly name: string;
  /** undefined: a delete. */
  readonly value: string | undefined;
}

interface Listed {
  readonly metadata: {
    readonly name: string;
    readonly resourceVersion: string;
  };
  readonly data: { readonly value: string };
}

export interface Watcher {
  /** The newest version it has seen. */
  at: number;
  /** Where what it must have seen without a gap begins. */
  from: number;
  seen: { revision: number; name: string; value: string | undefined }[];
}

export class ServerModel {
  readonly broken: string[] = [];
  readonly #known = new Map<string, Known>();
  readonly #open = new Map<string, Write>();
  /** Acknowledged writes by version, and writes whose fate a restart decided. */
  readonly #log: { revision: number; write: Write }[] = [];
  /** Writes that were never answered. */
  readonly #unanswered: Write[] = [];
  readonly #watchers: Watcher[] = [];
  #told = 0;
  #wanted = 0;

  breaks(what: string): void {
    if (this.broken.length < 20) this.broken.push(what);
  }

  known(name: string): Known | undefined {
    return this.#known.get(name);
  }

  begins(name: string, value: string | undefined): void {
    this.#open.set(name, { name, value });
  }

  answered(name: string, { status, body }: Answer): void {
    const write = this.#open.get(name)!;
    if (status >= 500 || status === 429) {
      // It says itself that it is ending; what it did is unknown.
      return;
    }
    this.#open.delete(name);
    if (status >= 300) {
      this.breaks(`${name} is answered ${status}: ${JSON.stringify(body)}`);
      return;
    }
    if (write.value === undefined) {
      this.#known.delete(name);
      return;
    }
    const revision = Number(body.metadata.resourceVersion);
    if (revision <= (this.#known.get(name)?.revision ?? 0))
      this.breaks(`${name} was written at ${revision}, not after the last`);
    this.#known.set(name, { revision, value: write.value });
    this.#log.push({ revision, write });
    this.#told = Math.max(this.#told, revision);
  }

  /** The list after a (re)start. */
  listed(revision: number, items: readonly Listed[]): void {
    if (revision < this.#told)
      this.breaks(`the version went back from ${this.#told} to ${revision}`);
    const found = new Map(
      items
        .filter(({ metadata }) => /^c\d+$/.test(metadata.name))
        .map((item) => [item.metadata.name, item]),
    );
    for (const name of new Set([
      ...this.#known.keys(),
      ...this.#open.keys(),
      ...found.keys(),
    ]))
      this.#compare(name, found.get(name));
    for (const write of this.#open.values()) this.#unanswered.push(write);
    this.#open.clear();
    this.#told = Math.max(this.#told, revision);
    this.#wanted = this.#told;
  }

  #compare(name: string, item: Listed | undefined): void {
    const known = this.#known.get(name);
    const open = this.#open.get(name);
    const revision = Number(item?.metadata.resourceVersion ?? 0);
    if (
      item
        ? known?.revision === revision && known.value === item.data.value
        : !known
    )
      return;
    // It can only be the write that was not answered.
    if (!item && open && open.value === undefined) {
      this.#known.delete(name);
      return;
    }
    if (
      item &&
      open?.value === item.data.value &&
      revision > (known?.revision ?? 0)
    ) {
      this.#known.set(name, { revision, value: item.data.value });
      return;
    }
    this.breaks(
      `${name} is ${item ? `at ${revision}` : "gone"}, after ${known ? `${known.revision} was acknowledged` : "its delete was"}`,
    );
  }

  /** The first so many watchers, made when there are none. */
  watchers(count: number): Watcher[] {
    while (this.#watchers.length < count)
      this.#watchers.push({ at: this.#told, from: this.#told, seen: [] });
    return this.#watchers;
  }

  saw(watcher: Watcher, { type, object }: WatchLine): void {
    if (type === "ERROR") {
      if (object.code !== 410)
        this.breaks(`a watch from ${watcher.at} failed with ${object.code}`);
      this.checkWatcher(watcher);
      watcher.from = this.#told;
      watcher.at = this.#told;
      watcher.seen = [];
      return;
    }
    const { name, resourceVersion } = object.metadata;
    const revision = Number(resourceVersion);
    if (revision <= watcher.at)
      this.breaks(`a watch saw ${revision} after ${watcher.at}`);
    watcher.at = revision;
    if (!/^c\d+$/.test(name)) return;
    const value = type === "DELETED" ? undefined : object.data?.value;
    watcher.seen.push({ revision, name, value });
    this.checkWatcher(watcher);
  }

  /** Up to where it is, it has seen each acknowledged write, and nothing that nobody wrote. */
  checkWatcher({ from, at, seen }: Watcher): void {
    const byRevision = new Map(seen.map((event) => [event.revision, event]));
    // The newest few may be answered after the event, or before it: only what lies behind is compared.
    for (const { revision, write } of this.#log) {
      if (revision <= from || revision > at) continue;
      const event = byRevision.get(revision);
      if (event?.name !== write.name || event.value !== write.value) {
        this.breaks(
          `a watch from ${from}, at ${at}, did not see ${write.name} at ${revision}`,
        );
        return;
      }
    }
  }

  /** No watcher has seen what nobody wrote. */
  checkSeen(): void {
    const acknowledged = new Set(
      this.#log.map(({ revision, write }) => `${revision} ${write.name}`),
    );
    const unanswered = new Set(
      this.#unanswered.map(({ name, value }) => `${name} ${value}`),
    );
    for (const { seen } of this.#watchers)
      for (const { revision, name, value } of seen)
        if (
          value !== undefined &&
          !acknowledged.has(`${revision} ${name}`) &&
          !unanswered.has(`${name} ${value}`)
        )
          this.breaks(`a watch saw ${name} at ${revision}: nobody wrote it`);
  }

  /** Each watcher has got what was known at the last list, or was told that it is gone. */
  watchersAreThrough(): boolean {
    return this.behind() === "";
  }

  behind(): string {
    const newest = Math.max(
      0,
      ...this.#log
        .filter(({ revision }) => revision <= this.#wanted)
        .map(({ revision }) => revision),
    );
    return this.#watchers
      .filter(({ at }) => at < newest)
      .map(({ at }) => `${at} of ${newest}`)
      .join();
  }
}

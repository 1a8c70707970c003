// The clients of one store process: they write, read and watch at random, and report to the model whatever they are told.
// Answers that arrive after the process has ended are nobody's.
import {
  StoreError,
  type Store,
  type StoreEvent,
} from "../../storage/store.ts";
import type { FakeClock } from "../support/fake-clock.ts";
import { expiringPrefix, type Attempt, type Model } from "./model.ts";
import { turns } from "./mount.ts";
import type { Random } from "./random.ts";

const keys = 24;

interface Watcher {
  readonly from: number;
  readonly seen: StoreEvent[];
  lost: boolean;
  throws: boolean;
  stop(): void;
}

export interface ClientsOptions {
  readonly store: Store;
  readonly model: Model;
  readonly random: Random;
  readonly clock: FakeClock;
  readonly ended: () => boolean;
  /** Revisions watchers of former processes had seen: resumed from there. */
  readonly resume: readonly number[];
}

export class StoreClients {
  readonly #options: ClientsOptions;
  readonly #watchers: Watcher[] = [];
  /** Calls that were not answered yet, with what they are. */
  readonly #open = new Set<string>();
  #calls = 0;
  /** Codes of rejected writes. */
  readonly rejections = new Map<string, number>();

  constructor(options: ClientsOptions) {
    this.#options = options;
    const { store, model, ended } = options;
    store.subscribe(
      store.revision,
      (events) => {
        if (!ended()) model.publishes(events);
      },
      (error) => {
        if (!ended()) model.breaks(`the first watcher was lost: ${error}`);
      },
    );
    for (const revision of options.resume) this.#watch(revision);
  }

  /** Where the watchers are: to go on from there after a restart. */
  get positions(): number[] {
    return this.#watchers
      .filter(({ lost, throws }) => !lost && !throws)
      .map(({ from, seen }) => seen.at(-1)?.revision ?? from);
  }

  /** One random step. */
  async step(): Promise<void> {
    const { random, store, clock } = this.#options;
    const what = random.next();
    if (what < 0.6) {
      const burst = random.chance(0.3) ? 1 + random.integer(20) : 1;
      for (let index = 0; index < burst; index++) this.#write();
    } else if (what < 0.7) this.#get();
    else if (what < 0.75) this.#list();
    else if (what < 0.8)
      this.#watch(
        random.chance(0.5)
          ? store.revision
          : Math.max(1, store.revision - random.integer(60)),
      );
    else if (what < 0.82 && this.#watchers.length > 0)
      this.#watchers
        .splice(random.integer(this.#watchers.length), 1)[0]!
        .stop();
    else if (what < 0.83) this.#watch(store.revision, true);
    else if (what < 0.86) clock.advance(random.integer(40_000));
    else await turns(random.integer(12));
    if (random.chance(0.4)) await turns(1 + random.integer(6));
  }

  /** Waits until every call is answered; says which never are. */
  async settle(): Promise<void> {
    const { ended, model } = this.#options;
    const untilMs = performance.now() + 20_000;
    for (let turn = 0; this.#open.size > 0 && !ended(); turn++) {
      await turns(1);
      if (turn % 1000 === 999 && performance.now() > untilMs) {
        const [first] = this.#open;
        model.breaks(`${this.#open.size} calls are never answered: ${first}`);
        return;
      }
    }
  }

  /** Every watcher has seen what it had to see. @param complete nothing is on its way any more */
  checkWatchers(complete: boolean): void {
    const { model } = this.#options;
    for (const { from, seen, lost, throws } of this.#watchers) {
      if (throws) continue;
      const wanted = model.published.filter(({ revision }) => revision > from);
      if (seen.length > wanted.length)
        model.breaks(`a watcher from ${from} saw more than happened`);
      else if (complete && !lost && seen.length < wanted.length)
        model.breaks(
          `a watcher from ${from} missed event ${wanted[seen.length]!.revision}`,
        );
      for (const [index, event] of seen.entries()) {
        const should = wanted[index];
        const value = event.value && Buffer.from(event.value).toString();
        if (
          event.revision === should?.revision &&
          event.key === should.key &&
          value === should.value
        )
          continue;
        model.breaks(
          `a watcher from ${from} saw ${event.revision} of ${event.key} instead of ${should?.revision} of ${should?.key}`,
        );
        break;
      }
    }
  }

  #write(): void {
    const { store, model, random, ended } = this.#options;
    const expires = random.chance(0.05);
    const key = `${expires ? expiringPrefix : "/k/"}${random.integer(keys)}`;
    const before = model.answeredOf(key);
    const expected = random.pick([
      undefined,
      undefined,
      before,
      before,
      0,
      Math.max(0, before - 1),
    ]);
    const removes = random.chance(0.2);
    let attempt: Attempt | undefined;
    const text = `${key}=${this.#calls}:${"v".repeat(random.integer(random.chance(0.1) ? 3000 : 200))}`;
    this.#track(
      `write ${key}`,
      store.write({
        key,
        expectedRevision: expected,
        encode: (revision) => {
          const value = removes ? undefined : text;
          if (!ended()) attempt = model.began(key, value, revision);
          return value === undefined ? undefined : Buffer.from(value);
        },
        ...(expires ? { ttlSeconds: 1 + random.integer(60) } : {}),
      }),
      (result) => {
        if (result.ok) model.answered(attempt!, result);
        else if (!expires)
          model.refused(attempt, key, expected, result.current, before);
        else if (attempt) model.refused(attempt, key, expected, undefined, 0);
      },
      (error) => {
        if (attempt) model.rejected(attempt);
        this.#rejected(error);
      },
    );
  }

  #get(): void {
    const { store, model, random } = this.#options;
    const key = `/k/${random.integer(keys)}`;
    const before = model.answeredOf(key);
    this.#track(
      `get ${key}`,
      store.get(key),
      (found) => model.read(key, found, before),
      (error) => this.#rejected(error),
    );
  }

  #list(): void {
    const { store, model } = this.#options;
    const before = model.answeredRevision;
    this.#track(
      "list",
      store.list("/"),
      ({ revision, values }) => model.listed(revision, values, before),
      (error) => this.#rejected(error),
    );
  }

  #watch(from: number, throws = false): void {
    const { store, model, ended } = this.#options;
    const watcher: Watcher = {
      from,
      seen: [],
      lost: false,
      throws,
      stop: () => undefined,
    };
    watcher.stop = store.subscribe(
      from,
      (events) => {
        if (ended()) return;
        if (throws) throw new Error("a listener that throws");
        watcher.seen.push(...events);
      },
      (error) => {
        if (ended()) return;
        watcher.lost = true;
        if (throws) return;
        if (!(error instanceof StoreError) || error.code !== "compacted")
          model.breaks(`a watcher from ${from} was lost: ${error}`);
      },
    );
    this.#watchers.push(watcher);
  }

  #track<T>(
    what: string,
    call: Promise<T>,
    answered: (result: T) => void,
    failed: (error: unknown) => void,
  ): void {
    const { ended } = this.#options;
    const name = `${what} (${this.#calls++})`;
    this.#open.add(name);
    call.then(
      (result) => {
        this.#open.delete(name);
        if (!ended()) answered(result);
      },
      (error: unknown) => {
        this.#open.delete(name);
        if (!ended()) failed(error);
      },
    );
  }

  #rejected(error: unknown): void {
    const { model } = this.#options;
    if (!(error instanceof StoreError))
      model.breaks(`a call failed with ${error}, which is no StoreError`);
    const code = error instanceof StoreError ? error.code : "none";
    this.rejections.set(code, (this.rejections.get(code) ?? 0) + 1);
  }
}

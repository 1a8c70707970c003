// What clients of a store were told, and what follows from it. Every write that reached the store is an attempt with the
// revision the store gave it (encode(revision) tells); it is answered, rejected, or open when the process ends.
//
// After a restart with the store at revision R: every answered attempt is in the state or overwritten by a later one; of
// the open ones exactly those up to R are; rejected ones are not, unless nothing was committed after them (the answer of a
// write that failed is "unknown" to its client). What a restart decided is never undone by a later one.
// While it runs: a list at revision L is exactly the state at L; a watcher sees every committed event above its start
// once, in order, and a write is answered only after that.
import type {
  StoreEvent,
  StoredValue,
  WriteResult,
} from "../../storage/store.ts";

export interface Attempt {
  readonly revision: number;
  readonly key: string;
  /** undefined: a delete. */
  readonly value: string | undefined;
  outcome: "open" | "answered" | "rejected" | "refused";
}

interface Kept {
  readonly revision: number;
  readonly value: string;
}

type State = Map<string, Kept>;

/** Keys that expire: they may go by themselves, so only what is there is compared. */
export const expiringPrefix = "/expiring/";

export class Model {
  readonly broken: string[] = [];
  /** Revision → event, of all committed writes that are known, in order. */
  readonly published: { revision: number; key: string; value?: string }[] = [];
  /** As the last restart found it. */
  #base: State = new Map();
  #attempts: Attempt[] = [];
  /** Newest revision anybody was told. */
  #told = 0;
  #answered = 0;

  get told(): number {
    return this.#told;
  }

  get attempts(): number {
    return this.#attempts.length;
  }

  breaks(what: string): void {
    if (this.broken.length < 20) this.broken.push(what);
  }

  began(key: string, value: string | undefined, revision: number): Attempt {
    const last = this.#attempts.at(-1);
    if (last && last.revision === revision && last.value === undefined) {
      // A delete of a key that is not there takes no revision.
      last.outcome = "refused";
      this.#attempts.pop();
    } else if (revision <= Math.max(this.#told, last?.revision ?? 0))
      this.breaks(
        `${key} was given revision ${revision} after ${Math.max(this.#told, last?.revision ?? 0)}`,
      );
    const attempt: Attempt = { revision, key, value, outcome: "open" };
    this.#attempts.push(attempt);
    return attempt;
  }

  answered(attempt: Attempt, result: WriteResult & { ok: true }): void {
    if (attempt.outcome !== "open")
      this.breaks(
        `${show(attempt)} was answered though it was ${attempt.outcome}`,
      );
    if (result.revision !== attempt.revision)
      this.breaks(`${show(attempt)} was answered ${result.revision}`);
    if (!this.#isPublished(attempt.revision))
      this.breaks(`${show(attempt)} was answered before its event`);
    attempt.outcome = "answered";
    this.#answered = Math.max(this.#answered, attempt.revision);
    this.#told = Math.max(this.#told, attempt.revision);
  }

  rejected(attempt: Attempt): void {
    if (this.#isPublished(attempt.revision))
      this.breaks(`${show(attempt)} was rejected after its event`);
    attempt.outcome = "rejected";
  }

  /** A conflict: what the store said is there. */
  refused(
    attempt: Attempt | undefined,
    key: string,
    expected: number | undefined,
    current: StoredValue | undefined,
    before: number,
  ): void {
    if (attempt) {
      if (attempt.value !== undefined || current !== undefined)
        this.breaks(`${show(attempt)} was encoded and refused`);
      attempt.outcome = "refused";
      this.#attempts = this.#attempts.filter((each) => each !== attempt);
      return;
    }
    this.read(key, current, before);
    if (expected === undefined || (current?.revision ?? 0) === expected)
      this.breaks(`${key}: refused at ${expected}, which is what is there`);
  }

  /** Events as the first, uninterrupted watcher of the process gets them. */
  publishes(events: readonly StoreEvent[]): void {
    for (const { revision, key, value, type } of events) {
      const text = value && Buffer.from(value).toString();
      const last = this.published.at(-1)?.revision ?? 0;
      if (revision <= last)
        this.breaks(`event ${revision} came after event ${last}`);
      const attempt = this.#attempts.find((each) => each.revision === revision);
      if (!attempt) {
        if (!key.startsWith(expiringPrefix) || type !== "delete")
          this.breaks(`event ${revision} of ${key} is nobody's write`);
        this.#attempts.push({
          ...{ revision, key, value: undefined, outcome: "answered" },
        });
        this.#attempts.sort((a, b) => a.revision - b.revision);
      } else if (
        attempt.key !== key ||
        attempt.value !== text ||
        attempt.outcome !== "open"
      )
        this.breaks(`event ${revision} of ${key} is not ${show(attempt)}`);
      this.published.push({
        revision,
        key,
        ...(text === undefined ? {} : { value: text }),
      });
      this.#told = Math.max(this.#told, revision);
    }
  }

  /** Newest answered revision of a key: a read that begins now must see it or a later one. */
  answeredOf(key: string): number {
    let newest = this.#base.get(key)?.revision ?? 0;
    for (const { key: other, revision, outcome } of this.#attempts)
      if (other === key && outcome === "answered") newest = revision;
    return newest;
  }

  /** @param before answeredOf(key) when the read began */
  read(key: string, found: StoredValue | undefined, before: number): void {
    if (key.startsWith(expiringPrefix)) return;
    if (!found) {
      const gone =
        before === 0 ||
        this.#attempts.some(
          (each) =>
            each.key === key &&
            each.value === undefined &&
            each.revision >= before &&
            each.outcome !== "rejected",
        );
      if (!gone) this.breaks(`${key} of revision ${before} is not found`);
      return;
    }
    const { revision } = found;
    const value = Buffer.from(found.value).toString();
    const attempt = this.#attempts.find((each) => each.revision === revision);
    const base = this.#base.get(key);
    const known =
      (attempt?.key === key &&
        attempt.value === value &&
        attempt.outcome !== "rejected") ||
      (base?.revision === revision && base.value === value);
    if (!known)
      this.breaks(
        `${key} is read with revision ${revision}, which nobody wrote`,
      );
    if (revision < before)
      this.breaks(`${key} is read at ${revision} after ${before}`);
    this.#told = Math.max(this.#told, revision);
  }

  get answeredRevision(): number {
    return this.#answered;
  }

  /** A list of everything. @param before answeredRevision when it began */
  listed(
    revision: number,
    values: readonly StoredValue[],
    before: number,
  ): void {
    if (revision < before)
      this.breaks(`a list at ${revision} began after ${before}`);
    const wanted = this.#stateAt(revision, Infinity);
    const problem = differs(wanted, values);
    if (problem) this.breaks(`a list at revision ${revision}: ${problem}`);
    for (let index = 1; index < values.length; index++)
      if (values[index - 1]!.key >= values[index]!.key)
        this.breaks(`a list is not in key order at ${values[index]!.key}`);
    this.#told = Math.max(this.#told, revision);
  }

  /** The store was opened anew, at this revision and with these values. */
  reopened(revision: number, values: readonly StoredValue[]): void {
    if (revision < this.#told)
      this.breaks(
        `the revision went back from ${this.#told} to ${revision} with a restart`,
      );
    const committed = Math.max(
      0,
      ...this.#attempts
        .filter(({ outcome }) => outcome === "answered")
        .map((attempt) => attempt.revision),
      ...this.published.slice(-1).map((event) => event.revision),
    );
    // Writes that failed, with nothing committed after them: those of the last frame may be on the disk.
    const doubtful = this.#attempts
      .filter(
        ({ outcome, revision: at }) =>
          outcome === "rejected" && at > committed && at <= revision,
      )
      .map((attempt) => attempt.revision);
    let problem: string | undefined;
    for (const from of [Infinity, ...doubtful.reverse()]) {
      problem = differs(this.#stateAt(revision, from), values);
      if (problem !== undefined) continue;
      this.#settle(revision, from, values);
      return;
    }
    this.breaks(
      `after a restart at revision ${revision} (told ${this.#told}): ${differs(this.#stateAt(revision, Infinity), values)}`,
    );
    this.#settle(revision, Infinity, values);
  }

  /** From here on: what the restart found is what happened. */
  #settle(
    revision: number,
    rejectedFrom: number,
    values: readonly StoredValue[],
  ): void {
    const last = this.published.at(-1)?.revision ?? 0;
    for (const attempt of this.#attempts) {
      const { revision: at, key, value } = attempt;
      if (at <= last || at > revision) continue;
      if (!happened(attempt, rejectedFrom)) continue;
      this.published.push({
        revision: at,
        key,
        ...(value === undefined ? {} : { value }),
      });
    }
    this.#base = new Map(
      values.map(({ key, value, revision: at }) => [
        key,
        { revision: at, value: Buffer.from(value).toString() },
      ]),
    );
    this.#attempts = [];
    this.#told = Math.max(this.#told, revision);
    this.#answered = revision;
  }

  #stateAt(revision: number, rejectedFrom: number): State {
    const state = new Map(this.#base);
    for (const attempt of this.#attempts) {
      if (attempt.revision > revision || !happened(attempt, rejectedFrom))
        continue;
      if (attempt.value === undefined) state.delete(attempt.key);
      else
        state.set(attempt.key, {
          revision: attempt.revision,
          value: attempt.value,
        });
    }
    return state;
  }

  #isPublished(revision: number): boolean {
    const { published } = this;
    for (let at = published.length - 1; at >= 0; at--) {
      if (published[at]!.revision === revision) return true;
      if (published[at]!.revision < revision) return false;
    }
    return false;
  }
}

function happened(attempt: Attempt, rejectedFrom: number): boolean {
  return attempt.outcome !== "rejected" || attempt.revision >= rejectedFrom;
}

function differs(
  wanted: State,
  values: readonly StoredValue[],
): string | undefined {
  const found = new Map(values.map((value) => [value.key, value]));
  for (const [key, { revision, value }] of wanted) {
    const there = found.get(key);
    if (!there) {
      if (key.startsWith(expiringPrefix)) continue;
      return `${key} of revision ${revision} is missing`;
    }
    if (there.revision !== revision)
      return `${key} has revision ${there.revision} instead of ${revision}`;
    if (Buffer.from(there.value).toString() !== value)
      return `${key} of revision ${revision} has another value`;
  }
  for (const { key, revision } of values)
    if (!wanted.has(key))
      return `${key} of revision ${revision} should not be there`;
  return undefined;
}

function show({ key, revision, value }: Attempt): string {
  return `${value === undefined ? "the delete" : "the write"} of ${key} at ${revision}`;
}

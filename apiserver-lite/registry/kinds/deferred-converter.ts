// Conversion that takes its time, of the entries of one kind: in batches, once for all callers that ask for the same at
// the same time, and kept for later callers, as long as there is room.
//
// Example, batches of two: a, b and c are asked for in one turn → calls [a, b] and [c]; a caller that asks for a
// meanwhile waits for the first call; a later caller gets that call's result.
// Invariants: the results kept of one version take at most `maxKeptBytes`; a failure is never kept; an entry of the
// wanted version is given back as it is, at once.
import { LRUCache } from "lru-cache";
import { encodeObject } from "../../../api/codec/object-text.ts";
import type { Clock } from "../../../api/clock.ts";
import { ApiError } from "../../../api/errors.ts";
import type { AnyObject } from "../../../api/object.ts";
import { CacheEntry } from "../../cache/cache-entry.ts";
import type { DeferredConversion } from "./kind-definition.ts";
import { headOf } from "./kind-form.ts";
import type { MaybePromise } from "./when-ready.ts";

/** Of converted entries and those they were made of, by version. */
const maxKeptBytes = 16 * 1024 * 1024;
/** Entries between two looks at the clock. */
const entriesPerLook = 256;

interface Asked {
  readonly entry: CacheEntry;
  resolve(converted: CacheEntry): void;
  reject(error: unknown): void;
}

/** What is converted into one version. */
interface Target {
  readonly apiVersion: string;
  /** How the JSON of what needs no conversion begins. */
  readonly head: Buffer;
  readonly kept: LRUCache<CacheEntry, CacheEntry>;
  readonly running: Map<CacheEntry, Promise<CacheEntry>>;
  /** Asked for in this turn. */
  asked: Asked[];
}

export class DeferredConverter {
  readonly #targets = new Map<string, Target>();

  constructor(
    private readonly kind: string,
    private readonly conversion: DeferredConversion,
    private readonly clock: Clock,
  ) {}

  /** The entry with the object in another version. Rejects with ApiError 500. */
  entry(entry: CacheEntry, apiVersion: string): MaybePromise<CacheEntry> {
    const target = this.#target(apiVersion);
    const { head } = target;
    if (
      entry.bytes >= head.length &&
      head.compare(entry.json, 0, head.length) === 0
    )
      return entry;
    return (
      target.kept.get(entry) ??
      target.running.get(entry) ??
      this.#ask(target, entry)
    );
  }

  /** All of them, a batch after the other. @param pause between batches; may wait */
  async entries(
    entries: readonly CacheEntry[],
    apiVersion: string,
    pause: () => Promise<void> | undefined,
  ): Promise<CacheEntry[]> {
    const { maxBatch } = this.conversion;
    const converted: CacheEntry[] = [];
    let batch: MaybePromise<CacheEntry>[] = [];
    let waiting = 0;
    for (const [index, entry] of entries.entries()) {
      const result = this.entry(entry, apiVersion);
      batch.push(result);
      if (result instanceof Promise) waiting++;
      if (waiting < maxBatch && index < entries.length - 1) {
        const look = index % entriesPerLook === entriesPerLook - 1;
        const paused = look ? pause() : undefined;
        if (paused) await paused;
        continue;
      }
      for (const one of await Promise.all(batch)) converted.push(one);
      batch = [];
      waiting = 0;
      await pause();
    }
    return converted;
  }

  /** An object that is not an entry: what a write sends. Rejects with ApiError 500. */
  async object(object: AnyObject, apiVersion: string): Promise<AnyObject> {
    if (object.apiVersion === apiVersion) return object;
    const [converted] = await this.#call([object], apiVersion);
    return converted!;
  }

  /** Several of them by one call. Rejects with ApiError 500. */
  async objects(
    objects: readonly Readonly<AnyObject>[],
    apiVersion: string,
  ): Promise<readonly AnyObject[]> {
    const asked = objects.filter((one) => one.apiVersion !== apiVersion);
    const converted =
      asked.length > 0 ? [...(await this.#call(asked, apiVersion, true))] : [];
    return objects.map((one) =>
      one.apiVersion === apiVersion ? (one as AnyObject) : converted.shift()!,
    );
  }

  #target(apiVersion: string): Target {
    let target = this.#targets.get(apiVersion);
    if (!target) {
      target = {
        apiVersion,
        head: headOf(this.kind, apiVersion),
        kept: new LRUCache({
          maxSize: maxKeptBytes,
          sizeCalculation: (converted, entry) =>
            converted.bytes + entry.bytes + 1,
        }),
        running: new Map(),
        asked: [],
      };
      this.#targets.set(apiVersion, target);
    }
    return target;
  }

  #ask(target: Target, entry: CacheEntry): Promise<CacheEntry> {
    const running = new Promise<CacheEntry>((resolve, reject) => {
      target.asked.push({ entry, resolve, reject });
    });
    target.running.set(entry, running);
    if (target.asked.length === 1) queueMicrotask(() => this.#begin(target));
    return running;
  }

  #begin(target: Target): void {
    const { asked } = target;
    target.asked = [];
    const { maxBatch } = this.conversion;
    for (let at = 0; at < asked.length; at += maxBatch)
      void this.#convert(target, asked.slice(at, at + maxBatch));
  }

  async #convert(target: Target, batch: readonly Asked[]): Promise<void> {
    try {
      const objects = await this.#call(
        batch.map(({ entry }) => entry.transient),
        target.apiVersion,
      );
      for (const [index, { entry, resolve }] of batch.entries()) {
        const converted = new CacheEntry(
          entry.key,
          entry.revision,
          encodeObject(objects[index]!),
          entry.labels,
          entry.fields,
        );
        target.kept.set(entry, converted);
        resolve(converted);
      }
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      for (const { entry } of batch) target.running.delete(entry);
    }
  }

  async #call(
    objects: readonly Readonly<AnyObject>[],
    apiVersion: string,
    each = false,
  ): Promise<readonly AnyObject[]> {
    const { conversion, clock } = this;
    const abort = new AbortController();
    let timer: { cancel(): void } | undefined;
    try {
      const late = new Promise<never>((_, reject) => {
        timer = clock.after(conversion.timeoutMs, () => {
          reject(new Error(`no answer within ${conversion.timeoutMs} ms`));
          abort.abort();
        });
      });
      const converted = await Promise.race([
        conversion.convert(objects, apiVersion, abort.signal, each),
        late,
      ]);
      if (converted.length !== objects.length)
        throw new Error(
          `${converted.length} objects came back for ${objects.length}`,
        );
      return converted.map((object, index) =>
        this.#checked(object, objects[index]!, apiVersion),
      );
    } catch (error) {
      if (error instanceof ApiError) throw error;
      throw new ApiError({
        code: 500,
        message: `conversion of ${this.kind} to ${apiVersion} failed: ${(error as Error).message}`,
      });
    } finally {
      timer?.cancel();
    }
  }

  /** The same object, in the version that was asked for; only labels and annotations of its metadata may differ. */
  #checked(
    converted: AnyObject,
    object: Readonly<AnyObject>,
    apiVersion: string,
  ): AnyObject {
    const refuse = (what: string, got: unknown, wanted: unknown): never => {
      throw new Error(
        `${what} is ${JSON.stringify(got)}, not ${JSON.stringify(wanted)}`,
      );
    };
    if (typeof converted !== "object" || converted === null)
      refuse("an object that came back", converted, "an object");
    if (converted.apiVersion !== apiVersion)
      refuse("apiVersion", converted.apiVersion, apiVersion);
    if (converted.kind !== this.kind) refuse("kind", converted.kind, this.kind);
    const given = (converted as Partial<AnyObject>).metadata;
    for (const field of ["name", "namespace", "uid"] as const)
      if (given?.[field] !== object.metadata[field])
        refuse(`metadata.${field}`, given?.[field], object.metadata[field]);
    const metadata = { ...object.metadata };
    for (const field of ["labels", "annotations"] as const) {
      const value = given?.[field];
      if (value) metadata[field] = value;
      else delete metadata[field];
    }
    return { ...converted, metadata };
  }
}

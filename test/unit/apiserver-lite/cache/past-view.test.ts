// Reads of past revisions against a model that copies the whole state at every revision.
import { CacheEntry } from "../../../../apiserver-lite/cache/cache-entry.ts";
import { HistoryBudget } from "../../../../apiserver-lite/cache/history.ts";
import { pastEntries } from "../../../../apiserver-lite/cache/past-view.ts";
import { ResourceCache } from "../../../../apiserver-lite/cache/resource-cache.ts";

const none = () => undefined;
const entryAt = (key: string, revision: number): CacheEntry =>
  new CacheEntry(key, revision, Buffer.from("{}\n"), {}, {});

/** The same numbers every time. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return state / 2147483648;
  };
}

function write(cache: ResourceCache, key: string, revision: number): void {
  const previous = cache.get(key);
  const entry = entryAt(key, revision);
  cache.apply({ type: "put", revision, key, entry, previous }, 0);
}

function remove(cache: ResourceCache, key: string, revision: number): void {
  const previous = cache.get(key);
  const entry = undefined;
  if (previous)
    cache.apply({ type: "delete", revision, key, entry, previous }, 0);
}

async function shownAt(
  cache: ResourceCache,
  revision: number,
  from = "",
  to = "",
  pause: () => Promise<void> | undefined = none,
): Promise<string[]> {
  const view = await cache.pastView(revision, pause);
  const entries = pastEntries(
    cache.slice(from, to),
    view?.before(from, to) ?? [],
    revision,
  );
  return [...entries].map((entry) => `${entry.key}@${entry.revision}`);
}

const newCache = (): ResourceCache =>
  new ResourceCache("/x", false, 0, new HistoryBudget(1e9, 1e9), []);

test.each([1, 2, 3])("random writes, seed %i", async (seed) => {
  const random = randomOf(seed);
  const cache = newCache();
  const states: string[][] = [[]];
  for (let revision = 1; revision <= 600; revision++) {
    const key = `k${String(Math.floor(random() * 900)).padStart(3, "0")}`;
    if (random() < 0.3) remove(cache, key, revision);
    else write(cache, key, revision);
    states.push(
      cache.slice("", "").map((entry) => `${entry.key}@${entry.revision}`),
    );
    // Views made earlier are carried on.
    if (revision % 7 === 0) {
      const past = Math.floor(random() * (revision + 1));
      expect(await shownAt(cache, past)).toEqual(states[past]);
      const from = "k300";
      const within = states[past]!.filter(
        (text) => text >= from && text < "k6",
      );
      expect(await shownAt(cache, past, from, "k6")).toEqual(within);
      expect(cache.count(from, "k6")).toBe(cache.slice(from, "k6").length);
    }
  }
});

test("writes while a view is being made belong to it", async () => {
  const cache = newCache();
  for (let revision = 1; revision <= 100; revision++)
    write(cache, `k${revision % 10}`, revision);
  const before = await shownAt(cache, 100);
  for (let revision = 101; revision <= 200; revision++)
    write(cache, `k${revision % 10}`, revision);
  let next = 201;
  const pause = () => {
    if (next > 260) return undefined;
    const revision = next++;
    if (revision % 2) write(cache, `n${revision}`, revision);
    else remove(cache, `k${revision % 10}`, revision);
    return Promise.resolve();
  };
  expect(await shownAt(cache, 100, "", "", pause)).toEqual(before);
  expect(await shownAt(cache, 100)).toEqual(before);
});

test("a revision that history loses meanwhile is refused", async () => {
  const cache = new ResourceCache(
    "/x",
    false,
    0,
    new HistoryBudget(1e9, 10),
    [],
  );
  for (let revision = 1; revision <= 50; revision++)
    write(cache, `k${revision}`, revision);
  const losing = cache.pastView(20, () => {
    cache.prune(1e6);
    write(cache, "late", 51);
    return Promise.resolve();
  });
  await expect(losing).rejects.toThrow(RangeError);
});

test("history lets go of a bounded number of events at a time", () => {
  const cache = new ResourceCache(
    "/x",
    false,
    0,
    new HistoryBudget(1e9, 10),
    [],
  );
  for (let revision = 1; revision <= 5000; revision++)
    write(cache, "k", revision);
  let rounds = 1;
  while (cache.prune(1e6)) rounds++;
  expect(rounds).toBeGreaterThanOrEqual(5);
  expect(cache.history.floor).toBe(5000);
  expect(cache.history.newest).toBe(5000);
});

import { readFile } from "node:fs/promises";
import {
  SlabMemory,
  slabBytes,
} from "../../../../apiserver-lite/cache/slab-memory.ts";
import { DerivedBytes } from "../../../../apiserver-lite/cache/derived-bytes.ts";

/** Touches when told. */
function touchedByHand() {
  const asked: { slabs: readonly Buffer[]; end: (error?: Error) => void }[] =
    [];
  const touch = (slabs: readonly Buffer[]): Promise<void> =>
    new Promise((resolve, reject) => {
      asked.push({
        slabs: [...slabs],
        end: (error) => (error ? reject(error) : resolve()),
      });
    });
  return { asked, touch };
}

/** Their identity: the runner would compare, and print, a million bytes. */
const hasAll = (slabs: readonly Buffer[], wanted: readonly Buffer[]): boolean =>
  wanted.every((slab) => slabs.includes(slab));
const hasAny = (slabs: readonly Buffer[], wanted: readonly Buffer[]): boolean =>
  wanted.some((slab) => slabs.includes(slab));

const settled = (): Promise<void> =>
  new Promise((resolve) => setImmediate(resolve));

test("one slab has none touched ahead, several have", async () => {
  const { asked, touch } = touchedByHand();
  const memory = new SlabMemory(touch);
  expect(memory.take().length).toBe(slabBytes);
  expect(asked).toHaveLength(0);
  memory.take();
  expect(asked).toHaveLength(1);
  const { slabs, end } = asked[0]!;
  end();
  await settled();
  const taken = slabs.map(() => memory.take());
  expect(hasAll(taken, slabs)).toBe(true);
  expect(asked).toHaveLength(2);
});

test("no slab is given while it is touched, and none twice", async () => {
  const { asked, touch } = touchedByHand();
  const memory = new SlabMemory(touch);
  const taken = Array.from({ length: 20 }, () => memory.take());
  expect(asked).toHaveLength(1);
  expect(hasAny(taken, asked[0]!.slabs)).toBe(false);
  asked[0]!.end();
  await settled();
  for (let count = 0; count < 20; count++) taken.push(memory.take());
  expect(new Set(taken).size).toBe(taken.length);
  expect(hasAny(taken, asked[1]!.slabs)).toBe(false);
});

test("slabs that could not be touched serve as well", async () => {
  const { asked, touch } = touchedByHand();
  const memory = new SlabMemory(touch);
  memory.take();
  memory.take();
  asked[0]!.end(new Error("no such device"));
  await settled();
  expect(hasAny(asked[0]!.slabs, [memory.take()])).toBe(true);
});

test("slabs that wait while nothing is taken go", async () => {
  const { asked, touch } = touchedByHand();
  const memory = new SlabMemory(touch);
  memory.take();
  memory.take();
  asked[0]!.end();
  await settled();
  memory.age();
  expect(hasAny(asked[0]!.slabs, [memory.take()])).toBe(true);
  memory.age();
  memory.age();
  expect(hasAny(asked[0]!.slabs, [memory.take()])).toBe(false);
});

test("kept bytes stay what they are while pages are touched by the real device", async () => {
  const store = new DerivedBytes(32 * slabBytes);
  const kept = [];
  for (let count = 0; count < 40; count++) {
    const bytes = Buffer.alloc(slabBytes / 2 - 1, count + 1);
    const derived = store.keep("id", bytes, undefined);
    kept.push({ bytes, derived });
    if (count % 3 === 0) await settled();
  }
  // What was still being touched is done when a later read is.
  for (let count = 0; count < 4; count++) await readFile("/dev/null");
  for (const { bytes, derived } of kept)
    expect(store.get(derived)?.equals(bytes)).toBe(true);
});

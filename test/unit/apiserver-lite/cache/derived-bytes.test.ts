import type { AnyObject } from "../../../../api/object.ts";
import { CacheEntry } from "../../../../apiserver-lite/cache/cache-entry.ts";
import {
  DerivedBytes,
  type Derived,
} from "../../../../apiserver-lite/cache/derived-bytes.ts";

const slab = 256 * 1024;
const text = (derived: Derived, store: DerivedBytes): string | undefined =>
  store.get(derived)?.toString();

test("gives back what was kept, as views of few slabs", () => {
  const store = new DerivedBytes();
  const kept = Array.from({ length: 1000 }, (_, index) =>
    store.keep("id", Buffer.from(`bytes of ${index}`), undefined),
  );
  for (const [index, derived] of kept.entries())
    expect(text(derived, store)).toBe(`bytes of ${index}`);
  expect(store.bytes).toBe(slab);
});

test("stays within its bytes, and keeps a part of what is read again and again", () => {
  const store = new DerivedBytes(8 * slab);
  const block = Buffer.alloc(slab / 4, 7);
  const kept: Derived[] = [];
  for (let index = 0; index < 80; index++) {
    kept.push(store.keep("id", block, undefined));
    expect(store.bytes).toBeLessThanOrEqual(8 * slab);
  }
  const left = kept.filter((derived) => store.get(derived));
  expect(left.length).toBeGreaterThan(0);
  expect(left.length).toBeLessThanOrEqual(32);
});

test("a view stays true when its slab is thrown away", () => {
  const store = new DerivedBytes(slab);
  const derived = store.keep("id", Buffer.from("mine"), undefined);
  const view = store.get(derived)!;
  for (let index = 0; index < 8; index++)
    store.keep("id", Buffer.alloc(slab / 2, index), undefined);
  expect(store.get(derived)).toBeUndefined();
  expect(view.toString()).toBe("mine");
});

test("bytes longer than a slab, and than all there may be", () => {
  const store = new DerivedBytes(2 * slab);
  const large = store.keep("id", Buffer.alloc(3 * slab, 1), undefined);
  expect(store.get(large)).toHaveLength(3 * slab);
  store.keep("id", Buffer.from("x"), undefined);
  expect(store.get(large)).toBeUndefined();
});

test("what nobody used between two ageings goes", () => {
  const store = new DerivedBytes();
  const used = store.keep("id", Buffer.alloc(slab - 1), undefined);
  const unused = store.keep("id", Buffer.alloc(slab - 1), undefined);
  store.age();
  store.get(used);
  store.age();
  expect(store.get(used)).toBeDefined();
  expect(store.get(unused)).toBeUndefined();
});

describe("encodings of an entry", () => {
  const object = { kind: "A", apiVersion: "v1", metadata: { name: "a" } };
  const entryOf = (document: object = object): CacheEntry =>
    new CacheEntry(
      "a",
      5,
      Buffer.from(`${JSON.stringify(document)}\n`),
      {},
      {},
      document as AnyObject,
    );

  test("are made once each, and again when they were thrown away", () => {
    const store = new DerivedBytes(slab);
    const entry = entryOf();
    const made: string[] = [];
    const ask = (id: string): string =>
      entry
        .encoding(store, id, () => {
          made.push(id);
          return Buffer.from(id);
        })
        .toString();
    expect(["x", "y", "x", "y"].map(ask)).toEqual(["x", "y", "x", "y"]);
    expect(made).toEqual(["x", "y"]);
    store.keep("other", Buffer.alloc(slab), undefined);
    expect(entry.encodedLength("x")).toBe(1);
    expect(ask("x")).toBe("x");
    expect(ask("x")).toBe("x");
    expect(made).toEqual(["x", "y", "x"]);
  });

  test("a transient object is not kept", () => {
    const entry = entryOf();
    entry.cool();
    expect(entry.transient).toEqual(object);
    expect(entry.transient).not.toBe(entry.transient);
  });

  test.each([
    ["plain", { name: "a", labels: { b: "c" } }],
    ["braces in text", { name: "}{", annotations: { x: '"}\\" \\\\' } }],
    ["empty", {}],
  ])("where the metadata end: %s", (_name, metadata) => {
    const document = { kind: "A", apiVersion: "v1", metadata, spec: { a: {} } };
    const entry = entryOf(document);
    const start = '{"kind":"A","apiVersion":"v1",'.length;
    const end = entry.metadataEnd(start);
    expect(entry.json.subarray(start, end).toString()).toBe(
      `"metadata":${JSON.stringify(metadata)}`,
    );
  });

  test("no metadata where they are looked for", () => {
    const entry = entryOf({ kind: "A", apiVersion: "v1", spec: {} });
    expect(entry.metadataEnd(1)).toBe(-1);
  });
});

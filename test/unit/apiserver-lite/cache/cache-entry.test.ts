import type { AnyObject } from "../../../../api/object.ts";
import { CacheEntry } from "../../../../apiserver-lite/cache/cache-entry.ts";

function entryWith(object: object): CacheEntry {
  return new CacheEntry(
    "ns/a",
    5,
    Buffer.from(`${JSON.stringify(object)}\n`),
    {},
    {},
    object as AnyObject,
  );
}

const document = () => ({
  kind: "ConfigMap",
  apiVersion: "v1",
  metadata: { name: "a", namespace: "ns", labels: { x: "y" } },
  data: JSON.parse('{"__proto__":"own","k":"v"}') as Record<string, string>,
});

describe("CacheEntry", () => {
  test("knows its names and its bytes without keeping them", () => {
    const entry = entryWith(document());
    expect([entry.namespace, entry.name]).toEqual(["ns", "a"]);
    const cluster = new CacheEntry("a", 5, entry.json, {}, {});
    expect([cluster.namespace, cluster.name]).toEqual(["", "a"]);
    expect(entry.json.toString()).toBe(`${JSON.stringify(document())}\n`);
    expect(entry.bytes).toBe(entry.json.length);
    expect(Buffer.from(entry.slice(1, 7)).toString()).toBe('"kind"');
    expect(entry.json.buffer).toBe(cluster.json.buffer);
  });

  test("says the same after it has cooled", () => {
    const entry = entryWith(document());
    const before = JSON.stringify(entry.raw);
    entry.cool();
    expect(JSON.stringify(entry.raw)).toBe(before);
    expect(JSON.stringify(entry.copy())).toBe(before);
  });

  test("shares the object with whoever still holds it", () => {
    const entry = entryWith(document());
    const held = entry.object;
    entry.cool();
    expect(entry.object).toBe(held);
    expect(Object.isFrozen(entry.object.metadata.labels)).toBe(true);
  });

  test("freezes what it parsed again", () => {
    const entry = entryWith(document());
    expect(Object.isFrozen(entry.object)).toBe(true);
    entry.shrink();
    expect(Object.isFrozen(entry.object.metadata)).toBe(true);
  });

  test("gives private, mutable copies of frozen objects", () => {
    const entry = entryWith(document());
    void entry.object;
    const copy = entry.copy() as AnyObject & { data: Record<string, string> };
    copy.metadata.labels!["x"] = "changed";
    copy.data["k"] = "changed";
    expect(entry.raw.metadata.labels).toEqual({ x: "y" });
    expect(Object.keys(copy.data)).toEqual(["__proto__", "k"]);
    expect(Object.getPrototypeOf(copy.data)).toBe(Object.prototype);
  });
});

// The tables of an HTTP/2 session's streams do what Node's map and set do, and make nothing in the old generation.
import * as v8 from "node:v8";
import * as vm from "node:vm";
import {
  StreamTable,
  UnnumberedStreams,
} from "../../../http-kit/connections/stream-table.ts";
import { randomNumbers } from "../../support/random-numbers.ts";

v8.setFlagsFromString("--expose-gc");
const collect = vm.runInNewContext("gc") as () => void;

describe("a table of streams", () => {
  test("is as a map, whatever is opened and closed", () => {
    for (let seed = 1; seed <= 5; seed++) {
      const random = randomNumbers(seed);
      const below = (limit: number): number => Math.floor(random() * limit);
      const map = new Map<number, string>();
      const table = new StreamTable<string>();
      let next = 1;
      for (let step = 0; step < 1000; step++) {
        const open = [...map.keys()];
        // The pushed ones of a server are even; some streams stay open for long.
        const id =
          random() < 0.5 ? (next += 1 + below(3)) : open[below(open.length)];
        if (id === undefined) continue;
        if (map.has(id)) expect(table.delete(id)).toBe(map.delete(id));
        else {
          map.set(id, `s${id}`);
          table.set(id, `s${id}`);
        }
        expect(table.delete(next + 100)).toBe(false);
        if (map.size > below(150)) {
          const [first] = map.keys();
          expect(table.delete(first!)).toBe(map.delete(first!));
        }
        expect(table.size).toBe(map.size);
      }
      const seen = new Map<number, string>();
      table.forEach((stream, each) => seen.set(each, stream));
      expect(seen.size).toBe(map.size);
      for (const [each, stream] of map) {
        expect(seen.get(each)).toBe(stream);
        expect(table.get(each)).toBe(stream);
        expect(table.has(each)).toBe(true);
      }
    }
  });
});

describe("streams without a number", () => {
  test("come and go", () => {
    const streams = new UnnumberedStreams<string>();
    expect(streams.add("a").add("b").add("c").size).toBe(3);
    expect([streams.delete("a"), streams.delete("a")]).toEqual([true, false]);
    const seen: string[] = [];
    streams.forEach((each) => {
      seen.push(each);
      streams.delete(each);
    });
    expect(seen.sort()).toEqual(["b", "c"]);
    expect(streams.size).toBe(0);
  });
});

/** Bytes of the old generation that each call takes. */
function oldBytesOf(call: (index: number) => void): number {
  const used = (): number =>
    v8
      .getHeapSpaceStatistics()
      .find(({ space_name: name }) => name === "old_space")!.space_used_size;
  for (let index = 1; index < 200; index++) call(index);
  collect();
  collect();
  const before = used();
  const calls = 5000;
  for (let index = 200; index < 200 + calls; index++) call(index);
  return (used() - before) / calls;
}

test("streams that come and go make nothing in the old generation", () => {
  const stream = {};
  // As Node's own would: the measure measures.
  const set = new Set<object>();
  const ofSet = oldBytesOf(() => set.add(stream) && set.delete(stream));
  const table = new StreamTable<object>();
  const unnumbered = new UnnumberedStreams<object>();
  const ofTables = oldBytesOf((index) => {
    unnumbered.add(stream);
    unnumbered.delete(stream);
    table.set(2 * index + 1, stream);
    if (index > 50) table.delete(2 * (index - 50) + 1);
  });
  expect(ofSet).toBeGreaterThan(50);
  expect(ofTables).toBeLessThan(10);
});

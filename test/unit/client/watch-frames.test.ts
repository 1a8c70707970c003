// Watches in pieces: every encoding's events are found however the network cuts them, and what is damaged or too long
// ends the watch.
import { encodeCbor, parseCbor } from "../../../api/codec/cbor.ts";
import {
  cborItems,
  lengthFrames,
  lines,
} from "../../../client/content/watch-frames.ts";
import { randomNumbers } from "../../support/random-numbers.ts";

async function* cut(
  bytes: Buffer,
  next: () => number,
): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length;) {
    const end = at + Math.floor(next() ** 3 * 40);
    yield bytes.subarray(at, end);
    at = Math.max(at, Math.min(end, bytes.length));
  }
}

async function* whole(...chunks: Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

const values: unknown[] = [
  { type: "ADDED", object: { kind: "A", list: [1, -5, 2.5, null, true, "é"] } },
  {},
  { long: "x".repeat(300), longer: "y".repeat(70_000) },
  { deep: [[[[{ a: [{}, []] }]]]], many: Array.from({ length: 30 }, () => 7) },
  { count: 4294967296, negative: -70000 },
];

const frame = (body: Buffer): Buffer => {
  const head = Buffer.alloc(4);
  head.writeUInt32BE(body.length);
  return Buffer.concat([head, body]);
};

test.each([1, 2, 3, 4, 5])("events cut at random, seed %d", async (seed) => {
  const next = randomNumbers(seed);
  const cbor = Buffer.concat(values.map(encodeCbor));
  const items = await all(cborItems(cut(cbor, next)));
  expect(items.map((item) => parseCbor(item).value)).toEqual(values);

  const bodies = values.map((value) => Buffer.from(JSON.stringify(value)));
  expect(
    await all(lengthFrames(cut(Buffer.concat(bodies.map(frame)), next))),
  ).toEqual(bodies);
  const text = Buffer.from(bodies.map((body) => `${String(body)}\n`).join(""));
  expect(await all(lines(cut(text, next)))).toEqual(bodies.map(String));
});

test("lengths that are not known before: strings, lists and maps to a break", async () => {
  const hex = (text: string): Buffer => Buffer.from(text, "hex");
  // (_ "ab", "c"), [_ 1, [2]], {_ "a": 1}, a tagged number, an empty frame's neighbours.
  const items = ["7f6261626163ff", "9f018102ff", "bf616101ff", "c101", "40"];
  for (const size of [1, 2, 100]) {
    const bytes = hex(items.join(""));
    const chunks: Buffer[] = [];
    for (let at = 0; at < bytes.length; at += size)
      chunks.push(bytes.subarray(at, at + size));
    const found = await all(cborItems(whole(...chunks)));
    expect(found.map((item) => item.toString("hex"))).toEqual(items);
  }
  expect(await all(lengthFrames(whole(frame(Buffer.alloc(0)))))).toEqual([
    Buffer.alloc(0),
  ]);
});

test("what the connection's end cuts off is no event", async () => {
  const bytes = encodeCbor({ a: "text" });
  expect(await all(cborItems(whole(bytes.subarray(0, -1))))).toEqual([]);
  expect(await all(lengthFrames(whole(Buffer.from([0, 0, 0, 2, 1]))))).toEqual(
    [],
  );
  expect(await all(lengthFrames(whole(Buffer.from([0, 0]))))).toEqual([]);
});

test.each([
  ["reserved information", "1c", "invalid additional information"],
  ["a break outside of everything", "ff", 'unexpected "break" code'],
  ["a break in a list of a known length", "8201ff", "unexpected"],
  ["a number without an end", "1f", "invalid additional information"],
  ["a tag without an end", "df", "invalid additional information"],
  ["lists in lists", "81".repeat(300), "exceeded max nested level"],
  ["maps without an end", "bf6161".repeat(300), "exceeded max nested level"],
])("CBOR: %s ends the watch", async (_name, hex, why) => {
  await expect(all(cborItems(whole(Buffer.from(hex, "hex"))))).rejects.toThrow(
    why,
  );
});

test("an event that is too long ends the watch before it is kept", async () => {
  // Announced, not sent: nothing waits for 4 GiB.
  await expect(
    all(lengthFrames(whole(Buffer.from([255, 255, 255, 255])))),
  ).rejects.toThrow("longer than 33554432 bytes");
  const long = encodeCbor({ a: "x".repeat(100) });
  await expect(all(cborItems(whole(long.subarray(0, 60)), 50))).rejects.toThrow(
    "an item of the watch is longer than 50 bytes",
  );
  // A string of 2^63 bytes is skipped as far as it comes.
  const endless = Buffer.concat([
    Buffer.from("5b7fffffffffffffff", "hex"),
    Buffer.alloc(100),
  ]);
  await expect(all(cborItems(whole(endless), 50))).rejects.toThrow("longer");
});

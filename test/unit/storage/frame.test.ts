// The bytes of the log by themselves: what is encoded is decoded, and what is damaged is no frame.
import { crc32 } from "node:zlib";
import {
  decodeFileHeader,
  decodeFrameHeader,
  decodePayload,
  encodeFileHeader,
  encodeFrame,
  encodeRevisionFrame,
  FILE_HEADER_BYTES,
  FRAME_HEADER_BYTES,
  isSound,
  newSeed,
  recordBytes,
  recordEnd,
} from "../../../storage/file/frame.ts";

const seed = 0xdecade01;
const value = Buffer.from("some bytes");
const records = [
  { key: "/a", revision: 7, expiresAtMs: 0, value },
  { key: "/gone", revision: 8, expiresAtMs: 0, value: undefined },
  { key: "/ä/𝄞", revision: 2 ** 53 - 1, expiresAtMs: 1.2e12 + 0.5, value },
  { key: "/empty", revision: 10, expiresAtMs: 0, value: Buffer.alloc(0) },
];

const payloadOf = (frame: Buffer): Buffer => frame.subarray(FRAME_HEADER_BYTES);
const read = (frame: Buffer): unknown[] => {
  const payload = payloadOf(frame);
  return [...decodePayload(payload)].map(
    ({ key, revision, expiresAtMs, valueAt, valueBytes }) => ({
      key,
      revision,
      expiresAtMs,
      value:
        valueAt === undefined
          ? undefined
          : Buffer.from(payload.subarray(valueAt, valueAt + valueBytes)),
    }),
  );
};

test("records come back, their expiry in whole milliseconds and never early", () => {
  const frame = encodeFrame(seed, records);
  expect(read(frame)).toEqual(
    records.map((record) => ({
      ...record,
      expiresAtMs: Math.ceil(record.expiresAtMs),
    })),
  );
  expect(frame.length).toBe(
    records.reduce(
      (sum, record) => sum + recordBytes(record.key, record.value?.length ?? 0),
      FRAME_HEADER_BYTES,
    ),
  );
});

test("a frame's header names its payload and its first revision", () => {
  const frame = encodeFrame(seed, records);
  const bytes = Buffer.concat([Buffer.alloc(9, 0xff), frame]);
  const header = decodeFrameHeader(seed, bytes, 9)!;
  expect(header).toMatchObject({
    payloadBytes: frame.length - FRAME_HEADER_BYTES,
    firstRevision: 7,
  });
  expect(isSound(seed, header, payloadOf(frame))).toBe(true);
  const other = decodeFrameHeader(seed, encodeFrame(seed, records, 5), 0);
  expect(other).toMatchObject({ firstRevision: 5 });
});

test("a frame that holds the store's revision has no key", () => {
  const frame = encodeRevisionFrame(seed, 99);
  expect(decodeFrameHeader(seed, frame, 0)).toMatchObject({
    firstRevision: 99,
  });
  expect(read(frame)).toEqual([
    { key: "", revision: 99, expiresAtMs: 0, value: undefined },
  ]);
});

test("each flipped bit of a frame is noticed", () => {
  const frame = encodeFrame(seed, records);
  for (let bit = 0; bit < frame.length * 8; bit++) {
    const damaged = Buffer.from(frame);
    damaged[bit >> 3]! ^= 1 << (bit & 7);
    const header = decodeFrameHeader(seed, damaged, 0);
    const sound = header && isSound(seed, header, payloadOf(damaged));
    expect([bit, sound ?? false]).toEqual([bit, false]);
  }
});

test("a frame cut short is none, and its payload not sound", () => {
  const frame = encodeFrame(seed, records);
  const header = decodeFrameHeader(seed, frame, 0)!;
  for (let bytes = 0; bytes < frame.length; bytes++) {
    const cut = frame.subarray(0, bytes);
    if (bytes < FRAME_HEADER_BYTES)
      expect(decodeFrameHeader(seed, cut, 0)).toBeUndefined();
    else expect(isSound(seed, header, payloadOf(cut))).toBe(false);
  }
});

test("a frame of another store is none here", () => {
  const frame = encodeFrame(seed, records);
  expect(decodeFrameHeader(seed + 1, frame, 0)).toBeUndefined();
  const header = decodeFrameHeader(seed, frame, 0)!;
  expect(isSound(seed + 1, header, payloadOf(frame))).toBe(false);
});

test("a file's header gives its seed", () => {
  const header = encodeFileHeader(seed);
  expect(header).toHaveLength(FILE_HEADER_BYTES);
  expect(decodeFileHeader(header)).toBe(seed);
  expect(decodeFileHeader(header.subarray(0, -1))).toBeUndefined();
  for (let bit = 0; bit < header.length * 8; bit++) {
    const damaged = Buffer.from(header);
    damaged[bit >> 3]! ^= 1 << (bit & 7);
    expect(decodeFileHeader(damaged)).toBeUndefined();
  }
});

test("a header of a later format is refused by its number", () => {
  const later = encodeFileHeader(seed);
  later.writeUInt32BE(3, 8);

  later.writeUInt32BE(crc32(later.subarray(0, 16)), 16);
  expect(() => decodeFileHeader(later)).toThrow(/format 3/);
});

test("seeds differ", () => {
  const seeds = new Set(Array.from({ length: 100 }, newSeed));
  expect(seeds.size).toBeGreaterThan(95);
});

test.each<[string, (payload: Buffer) => Buffer]>([
  ["of an unknown kind", (payload) => changed(payload, 0, 9)],
  ["of kind 0", (payload) => changed(payload, 0, 0)],
  ["whose key is longer than the rest", (payload) => changed(payload, 17, 255)],
  ["whose value is longer", (payload) => changed(payload, 21, 255)],
  ["that ends early", (payload) => payload.subarray(0, -1)],
  ["with a rest behind it", (payload) => Buffer.concat([payload, value])],
])("a record %s is refused as corrupt", (_, change) => {
  const payload = change(payloadOf(encodeFrame(seed, records)));
  expect(() => [...decodePayload(payload)]).toThrow(
    expect.objectContaining({ code: "corrupt" }) as Error,
  );
});

test("where a record ends is known without reading it", () => {
  const payload = payloadOf(encodeFrame(seed, records));
  const ends: number[] = [];
  for (let at = 0; at < payload.length; at = ends.at(-1)!)
    ends.push(recordEnd(payload, at)!);
  expect(ends).toHaveLength(records.length);
  expect(ends.at(-1)).toBe(payload.length);
  expect(recordEnd(payload, payload.length)).toBeUndefined();
});

function changed(payload: Buffer, at: number, byte: number): Buffer {
  const copy = Buffer.from(payload);
  copy[at] = byte;
  return copy;
}

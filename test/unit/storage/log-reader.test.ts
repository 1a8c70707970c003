import { format2 } from "../../../storage/file/frame-format.ts";
import {
  encodeFileHeader,
  encodeFrame,
  encodeRevisionFrame,
} from "../../../storage/file/frame.ts";
import { loadLog } from "../../../storage/file/log-loader.ts";
import { readLog, scanLog } from "../../../storage/file/log-reader.ts";
import type { StoredVersion } from "../../../storage/local/live-version.ts";
import { fileOf } from "./bytes-file.ts";

const seed = 77;

/** How a log begins: with an empty state. */
const beginning = Buffer.concat([
  encodeFileHeader(seed),
  encodeRevisionFrame(seed, 1),
  encodeRevisionFrame(seed, 1),
]);

const record = (key: string, revision: number, value: string | Buffer) => ({
  key,
  revision,
  expiresAtMs: 0,
  value: Buffer.from(value),
});

it("reads a log of more than 2 GiB", async () => {
  const big = encodeFrame(seed, [
    record("/big", 2, Buffer.alloc(24 << 20, "x")),
  ]);
  const file = fileOf([
    { bytes: beginning, times: 1 },
    { bytes: big, times: 90 },
    {
      bytes: encodeFrame(seed, [record("/last", 3, "behind 2 GiB")]),
      times: 1,
    },
  ]);
  expect(await file.size()).toBeGreaterThan(2 ** 31);
  const state = new Map<string, StoredVersion>();
  const content = await loadLog(file, "log", state);
  expect(content).toMatchObject({ frames: 93, revision: 3, damages: [] });
  expect(state.get("/big")!.value).toHaveLength(24 << 20);
  expect(Buffer.from(state.get("/last")!.value).toString()).toBe(
    "behind 2 GiB",
  );
});

it.each([64, 100, 257, 4096])(
  "reads the same through windows of %d bytes",
  async (windowBytes) => {
    const frames = Array.from({ length: 40 }, (_, i) =>
      encodeFrame(seed, [
        record(`/k${i % 7}`, i + 2, "v".repeat((i * 37) % 300)),
        record(`/l${i % 5}`, i + 2, `${i}`),
      ]),
    );
    const bytes = Buffer.concat([beginning, ...frames]);
    const state = new Map<string, StoredVersion>();
    const content = await loadLog(fileOf([{ bytes, times: 1 }]), "log", state, {
      windowBytes,
    });
    expect(content).toMatchObject({
      frames: 42,
      revision: 41,
      soundBytes: bytes.length,
    });
    expect(state.size).toBe(12);
    for (let k = 0; k < 5; k++)
      expect(Buffer.from(state.get(`/l${k}`)!.value).toString()).toBe(
        `${35 + k}`,
      );

    // Damage in one frame is found, and the sound one behind it, across any window's edge.
    const at = bytes.length - frames[39]!.length - 3;
    bytes[at]! ^= 1;
    const damagedFrom = bytes.length - frames[39]!.length - frames[38]!.length;
    const scan = await scanLog(fileOf([{ bytes, times: 1 }]), () => undefined, {
      windowBytes,
    });
    expect(scan.damages).toEqual([
      {
        fromByte: damagedFrom,
        toByte: bytes.length - frames[39]!.length,
        afterRevision: 39,
        beforeRevision: 41,
      },
    ]);
    expect(scan.frames).toBe(41);
  },
);

it("reads what is sound behind several damages", async () => {
  const frames = Array.from({ length: 9 }, (_, i) =>
    encodeFrame(seed, [record(`/k${i}`, i + 2, "value")]),
  );
  const bytes = Buffer.concat([encodeFileHeader(seed), ...frames]);
  const frameBytes = frames[0]!.length;
  for (const frame of [2, 3, 6]) bytes[20 + frame * frameBytes + 4]! ^= 0x40;
  const seen: string[] = [];
  const file = fileOf([{ bytes, times: 1 }]);
  const { damages } = await scanLog(file, ({ key }) => void seen.push(key));
  expect(seen).toEqual(["/k0", "/k1", "/k4", "/k5", "/k7", "/k8"]);
  expect(
    damages.map(({ afterRevision, beforeRevision }) => [
      afterRevision,
      beforeRevision,
    ]),
  ).toEqual([
    [3, 6],
    [7, 9],
  ]);
  await expect(readLog(file, "log", () => undefined)).rejects.toThrow(
    "in danger: revisions 4 to 5",
  );
});

it("has its frames sealed with the store's own seed", () => {
  const frame = encodeFrame(seed, [record("/a", 2, "x")]);
  expect(format2(seed).decodeHeader(frame, 0)).toBeDefined();
  expect(format2(seed + 1).decodeHeader(frame, 0)).toBeUndefined();
});

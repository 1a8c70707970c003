import {
  chunkBytes,
  ChunkPool,
} from "../../../../apiserver-lite/serving/chunk-pool.ts";

test("buffers are used again once they are given back", () => {
  const pool = new ChunkPool();
  const first = pool.take();
  expect(first).toHaveLength(chunkBytes);
  const second = pool.take();
  expect(second.buffer).not.toBe(first.buffer);
  pool.give(first.subarray(0, 10));
  expect(pool.take().buffer).toBe(first.buffer);
});

test.each([1, 15, 16, 255, 4096, chunkBytes])(
  "%i bytes are framed in place, and those of others as copies",
  (length) => {
    const pool = new ChunkPool();
    const part = pool.take().subarray(0, length).fill("x");
    const expected = `${length.toString(16)}\r\n${"x".repeat(length)}\r\n`;
    const framed = pool.framed(part);
    expect(framed.toString()).toBe(expected);
    expect(framed.buffer).toBe(part.buffer);
    const foreign = Buffer.alloc(length, "x");
    expect(pool.framed(foreign).toString()).toBe(expected);
    expect(pool.framed(foreign).buffer).not.toBe(foreign.buffer);
  },
);

test("what is longer than a chunk is framed in place too, and does not come back", () => {
  const pool = new ChunkPool();
  const long = pool.take(5 * chunkBytes).fill("y");
  expect(pool.framed(long).buffer).toBe(long.buffer);
  pool.give(long);
  expect(pool.take()).toHaveLength(chunkBytes);
});

test("few buffers wait, and none of others", () => {
  const pool = new ChunkPool();
  const all = Array.from({ length: 200 }, () => pool.take());
  for (const one of all) pool.give(one);
  pool.give(Buffer.alloc(chunkBytes));
  const known = new Set(all.map(({ buffer }) => buffer));
  let again = 0;
  for (let n = 0; n < 200; n++) if (known.has(pool.take().buffer)) again++;
  expect(again).toBe(64);
});

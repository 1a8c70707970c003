import { TextBlocks } from "../../../../apiserver-lite/registry/text-blocks.ts";

test("texts of every length come back as they were, small ones out of shared blocks", () => {
  const blocks = new TextBlocks();
  const made: [string, Buffer][] = [];
  for (let length = 0; length < 5000; length += 37)
    for (const unit of ["a", "ä", "→", "😀"]) {
      const text = unit.repeat(length / unit.length);
      made.push([text, blocks.bytesOf(text)]);
    }
  for (const [text, bytes] of made)
    expect(bytes.toString("utf8") === text).toBe(true);
  const small = made.filter(([, { length }]) => length <= 4096);
  const memories = new Set(small.map(([, { buffer }]) => buffer));
  const total = small.reduce((sum, [, { length }]) => sum + length, 0);
  expect(memories.size).toBeLessThan((total / (16 * 1024)) * 1.4);
  for (const [, bytes] of made)
    if (bytes.length > 4096) expect(memories.has(bytes.buffer)).toBe(false);
});

test("half of a pair is what Buffer.from makes of it", () => {
  const blocks = new TextBlocks();
  const text = "a\ud800b";
  expect(blocks.bytesOf(text)).toEqual(Buffer.from(text));
});

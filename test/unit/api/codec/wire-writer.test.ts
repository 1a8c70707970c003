// The writer against protobufjs', on random messages and on the edges of lengths and numbers.
import { Writer } from "protobufjs/minimal.js";
import { WireWriter } from "../../../../api/codec/wire-writer.ts";

type Both = Pick<
  WireWriter,
  | "uint32"
  | "int32"
  | "int64"
  | "bool"
  | "double"
  | "bytes"
  | "string"
  | "fork"
  | "ldelim"
>;

function both(write: (writer: Both) => unknown): [string, string] {
  const ours = WireWriter.create();
  const theirs = Writer.create();
  write(ours);
  write(theirs as unknown as Both);
  return [
    ours.finish().toString("hex"),
    Buffer.from(theirs.finish()).toString("hex"),
  ];
}

const lengths = [
  0, 1, 39, 40, 41, 126, 127, 128, 129, 2047, 2048, 5000, 16383, 16384, 70_000,
];

test.each(lengths)("text of %i characters, ASCII and not", (length) => {
  for (const character of ["a", "ä", "€", "😀"]) {
    const text = character.repeat(length);
    const [ours, theirs] = both((writer) =>
      writer.fork().string(text).uint32(1).ldelim().string("behind"),
    );
    expect(ours).toBe(theirs);
  }
  const late = `${"a".repeat(length)}ä`;
  const [ours, theirs] = both((writer) => writer.string(late));
  expect(ours).toBe(theirs);
});

test.each([
  0,
  1,
  -1,
  127,
  128,
  300,
  2 ** 31 - 1,
  2 ** 31,
  -(2 ** 31),
  2 ** 32 - 1,
  2 ** 32,
  2 ** 35 + 1,
  2 ** 52,
  Number.MAX_SAFE_INTEGER,
  Number.MIN_SAFE_INTEGER,
  -300,
  1.5e15,
])("the number %d", (value) => {
  const [ours, theirs] = both((writer) => {
    writer
      .int64(value)
      .uint32(value >>> 0)
      .int32(value | 0);
    writer
      .double(value)
      .double(value / 3)
      .bool(value > 0);
  });
  expect(ours).toBe(theirs);
});

test.each([1, 2, 3, 4])("random messages in each other, seed %i", (seed) => {
  let state = seed;
  const random = (below: number): number => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return state % below;
  };
  const steps: ((writer: Both) => unknown)[] = [];
  let depth = 0;
  for (let step = 0; step < 3000; step++) {
    const choice = random(7);
    const size = random(200);
    if (choice === 0 && depth < 30) {
      depth++;
      steps.push((writer) => writer.fork());
    } else if (choice === 1 && depth > 0) {
      depth--;
      steps.push((writer) => writer.ldelim());
    } else if (choice === 2)
      steps.push((writer) => writer.string("x".repeat(size)));
    else if (choice === 3)
      steps.push((writer) => writer.string("é".repeat(size)));
    else if (choice === 4)
      steps.push((writer) => writer.bytes(Buffer.alloc(size, size)));
    else steps.push((writer) => writer.uint32(size * 1000));
  }
  for (; depth > 0; depth--) steps.push((writer) => writer.ldelim());
  const [ours, theirs] = both((writer) => {
    for (const step of steps) step(writer);
  });
  expect(ours).toBe(theirs);
});

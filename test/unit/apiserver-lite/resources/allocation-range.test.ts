import { AllocationRange } from "../../../../apiserver-lite/resources/core/service/allocation-range.ts";
import {
  decodeStored,
  type StoredEncoding,
} from "../../../../api/codec/stored-form.ts";
import { createMemoryStore } from "../../../../storage/memory/memory-store.ts";
import type { Store } from "../../../../storage/store.ts";

const key = "/registry/ranges/servicenodeports";
let store: Store;
beforeEach(async () => {
  store = createMemoryStore();
  await store.start();
});
afterEach(() => store.stop());

const open = (encoding: StoredEncoding = "protobuf", range = "30000-32767") =>
  new AllocationRange({ store, key, range, encoding });
const stored = async () => (await store.get(key))!;
const data = async () =>
  Buffer.from(
    (decodeStored((await stored()).value) as { data?: string }).data ?? "",
    "base64",
  ).toString("hex");

test("an empty range has the reference's bytes", async () => {
  expect(await open().repair(() => new Set())).toEqual([]);
  expect(Buffer.from((await stored()).value).toString("hex")).toBe(
    "6b3873000a150a027631120f52616e6765416c6c6f636174696f6e" +
      "12210a100a0012001a0022002a003200380042" +
      "00120b33303030302d33323736371a001a002200",
  );
});

test("as JSON", async () => {
  const range = open("json");
  await range.change([0, 9], []);
  expect(Buffer.from((await stored()).value).toString()).toBe(
    '{"kind":"RangeAllocation","apiVersion":"v1","metadata":{"creationTimestamp":null},"range":"30000-32767","data":"AgE="}\n',
  );
});

test.each<[number[], string]>([
  [[0], "01"],
  [[7], "80"],
  [[8], "0100"],
  [[0, 9], "0201"],
  [[2767], `80${"00".repeat(345)}`],
])("bits of %j", async (numbers, hex) => {
  const range = open();
  expect(await range.change(numbers, [])).toBe(true);
  expect(await data()).toBe(hex);
  for (const number of numbers) expect(range.has(number)).toBe(true);
  expect(range.has(100)).toBe(false);
  await range.change([], numbers);
  expect(await data()).toBe("");
});

test("two processes never take the same", async () => {
  const [one, two] = [open(), open()];
  expect(await one.change([5], [])).toBe(true);
  expect(await two.change([6, 5], [])).toBe(false);
  expect(two.has(6)).toBe(false);
  expect(two.has(5)).toBe(true);
  const results = await Promise.all(
    Array.from({ length: 40 }, (_, index) =>
      (index % 2 ? one : two).change([10 + (index >> 1)], []),
    ),
  );
  expect(results.filter(Boolean)).toHaveLength(20);
  await one.refresh();
  for (let number = 10; number < 30; number++)
    expect(one.has(number)).toBe(true);
});

test("a repair adds what is missing and frees what nobody has after three rounds", async () => {
  const range = open();
  await range.change([1, 2], []);
  const used = (): Set<number> => new Set([2, 3]);
  for (let round = 0; round < 3; round++) {
    expect(await open().repair(used)).toEqual([]);
    expect(await range.repair(used)).toEqual([]);
    expect([1, 2, 3].map((number) => range.has(number))).toEqual([
      true,
      true,
      true,
    ]);
  }
  expect(await range.repair(used)).toEqual([1]);
  expect(range.has(1)).toBe(false);
  const { revision } = await stored();
  await range.repair(used);
  expect((await stored()).revision).toBe(revision);
});

test("a value of another range is replaced by a repair and refused before", async () => {
  await open("protobuf", "30000-30010").change([4], []);
  const range = open();
  await expect(range.change([1], [])).rejects.toThrow(
    "does not match the current range",
  );
  expect(await range.repair(() => new Set([7]))).toEqual([]);
  expect(await data()).toBe("80");
});

test("a value that is none is told", async () => {
  await store.write({
    key,
    expectedRevision: 0,
    encode: () => Buffer.from("k8s\0\xff\xff\xff"),
  });
  await expect(open().refresh()).rejects.toThrow();
});

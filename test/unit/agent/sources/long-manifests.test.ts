// Long manifests are taken apart on a thread of their own: what comes of them is what is read here, mistakes with their places
// among it; no turn of the event loop waits for a text, and an object has bounds.
import * as path from "node:path";
import type { AnyObject } from "../../../../api/object.ts";
import {
  BadManifest,
  takeManifests,
} from "../../../../agent/sources/manifest-reader.ts";
import { bundleProgram } from "../../../support/bundle-program.ts";
import {
  makeTempDirectory,
  removeTempDirectory,
} from "../../../support/temp-directory.ts";

let directory: string;
let workerFile: string;

beforeAll(async () => {
  directory = makeTempDirectory("orbit-manifests-");
  workerFile = path.join(directory, "manifest-worker.cjs");
  await bundleProgram(
    path.join(__dirname, "../../../../agent/sources/manifest-worker.ts"),
    workerFile,
  );
});

afterAll(() => removeTempDirectory(directory));

/** Texts of this length are not parsed here. */
const padding = `# ${"x".repeat(70_000)}\n`;
const map = (name: string, data = "{a: b}"): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\ndata: ${data}\n`;
const indented = (text: string): string =>
  `- ${text.trimEnd().replaceAll("\n", "\n  ")}\n`;
const list = `apiVersion: v1\nkind: List\nitems:\n`;

async function outcome(text: string, worker?: string): Promise<unknown> {
  try {
    return await takeManifests(text, "m.yaml", (object) => object, worker);
  } catch (error) {
    return error instanceof BadManifest
      ? error.texts
      : (error as Error).message;
  }
}

test.each([
  ["documents", `${map("a")}---\n${map("b")}---\n---\n${map("c")}`],
  ["a List", list + indented(map("a")) + indented(map("b"))],
  ["keys every object has", map("a", "{__proto__: a, constructor: b}")],
  ["numbers and text", map("a", "{a: '1', b: \"\\u00e4 \\ud800\"}")],
  ["a mistake", `${map("a")}---\n${map("b", "{a: [1]}")}`],
  ["mistakes in a List", list + indented(map("a", "x")).repeat(3)],
  ["no object", `${map("a")}---\n- a\n`],
  ["a key twice", map("a", "{a: b, a: c}")],
  ["no kind", "apiVersion: v1\n"],
  ["no YAML", "a: *b\n"],
])("%s: as it is read here", async (_name, text) => {
  const here = await outcome(padding + text);
  expect(await outcome(padding + text, workerFile)).toEqual(here);
});

test("a long text does not hold this thread", async () => {
  const text = Array.from({ length: 3000 }, (_, n) => map(`m${n}`)).join(
    "---\n",
  );
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  const taken = (await outcome(text, workerFile)) as AnyObject[];
  clearInterval(timer);
  expect(taken).toHaveLength(3000);
  expect(taken.at(-1)!.metadata.name).toBe("m2999");
  expect(turns).toBeGreaterThan(3);
});

test("an object has bounds in bytes and in values, a file of many has not", async () => {
  const keys = Array.from({ length: 100_001 }, (_, n) => `k${n}: v`).join(
    "\n  ",
  );
  expect(
    await outcome(`${map("a")}---\n${map("b", `\n  ${keys}`)}`, workerFile),
  ).toBe(
    "m.yaml:6: the object has more than the 100000 values that one may have",
  );
  const large = map("c", `{a: ${"x".repeat(3 << 20)}}`);
  expect(await outcome(large, workerFile)).toBe(
    `m.yaml:1: the object has ${(3 << 20) + 78} bytes, more than the 3145728 that one may have`,
  );
  const half = map("d", `{a: ${"x".repeat(1 << 20)}}`);
  const many = `${half}---\n`.repeat(5);
  expect(await outcome(many, workerFile)).toHaveLength(5);
});

test("a thread that ends says that the file can't be read", async () => {
  expect(await outcome(padding, path.join(directory, "none.cjs"))).toMatch(
    /^m.yaml:1: .*none.cjs/,
  );
});

// Large YAML bodies are parsed on a thread: what comes back is what parsing here gives, errors among it, and a thread that
// ends is followed by another one.
import * as fs from "node:fs";
import * as path from "node:path";
import {
  documentsOfJson,
  parsedAsJson,
} from "../../../../api/codec/yaml-json.ts";
import { decodingYaml, parsingYamlBody } from "../../../../api/codec/yaml.ts";
import { finish } from "../../../../api/queueing/steps.ts";
import { YamlThread } from "../../../../apiserver-lite/serving/yaml/yaml-thread.ts";
import {
  makeTempDirectory,
  removeTempDirectory,
} from "../../../support/temp-directory.ts";
import { bundleProgram } from "../../../support/bundle-program.ts";

const root = path.join(__dirname, "../../../..");
let directory: string;
let workerFile: string;

beforeAll(async () => {
  directory = makeTempDirectory("orbit-yaml-");
  workerFile = path.join(directory, "yaml-worker.cjs");
  await bundleProgram(
    path.join(root, "apiserver-lite/serving/yaml/yaml-worker.ts"),
    workerFile,
  );
});

afterAll(() => removeTempDirectory(directory));

const texts: Readonly<Record<string, string>> = {
  "an object": "a: 1\nb: [x, 2.5, true, null]\nc: {d: '014', e: 014}\n",
  "keys every object has": "__proto__: {a: 1}\nconstructor: b\n",
  "an alias and a merge": "a: &x {b: 1}\nc: *x\nd: {<<: *x, e: 2}\n",
  "a key twice": "a: 1\nb: 2\na: 3\n",
  "several documents": "a: 1\n---\nb: 2\n",
  "numbers of many digits": "a: 12345678901234567890\nb: 1e300\nc: -0\n",
  "half a pair": 'a: "\\ud800"\n',
  "no text": "",
  "no object": "- a\n",
  "a tab": "a:\n\tb: 1\n",
  "an unknown anchor": "a: *b\n",
  "an endless number": "a: .inf\n",
  "aliases of aliases": `a: &a [x,x,x,x,x,x,x,x,x,x]\n${[..."bcdefgh"]
    .map(
      (name, at) =>
        `${name}: &${name} [${Array(10).fill(`*${"abcdefgh"[at]}`).join()}]`,
    )
    .join("\n")}\n`,
};

/** The result or the refusal. */
function outcome(make: () => unknown): unknown {
  try {
    return { value: make() };
  } catch (error) {
    return { refused: (error as Error).message };
  }
}

test.each(Object.entries(texts))("%s comes back as it is", (_name, text) => {
  const bytes = Buffer.from(text);
  const read = () => documentsOfJson(parsedAsJson(bytes));
  for (const run of runs) {
    const here = outcome(() => run(bytes));
    expect(outcome(() => run(bytes, read))).toEqual(here);
  }
});

type Read = Parameters<typeof decodingYaml>[3];

const runs = [
  (bytes: Buffer, read?: Read): unknown =>
    finish(decodingYaml(bytes, undefined, {}, read)),
  (bytes: Buffer, read?: Read): unknown => finish(parsingYamlBody(bytes, read)),
];

test("a long body does not hold this thread", async () => {
  const thread = YamlThread.of(workerFile)!;
  const lines = Array.from({ length: 60_000 }, (_, at) => `key-${at}: value`);
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  const [parsed, refused] = await Promise.all([
    thread.parse(Buffer.from(lines.join("\n"))),
    thread.parse(Buffer.from("a: *b")),
  ]);
  clearInterval(timer);
  expect(turns).toBeGreaterThan(3);
  const [{ value } = { value: {} }] = finish(documentsOfJson(parsed));
  expect(Object.keys(value as object)).toHaveLength(60_000);
  expect(refused).toMatchObject({ reason: "unknown anchor 'b' referenced" });
  await thread.stop();
});

test("a thread that ends refuses its body only", async () => {
  const fragile = path.join(directory, "fragile.cjs");
  fs.writeFileSync(
    fragile,
    `const { parentPort } = require("node:worker_threads");
     parentPort.on("message", (bytes) => {
       if (Buffer.from(bytes).includes("end")) process.exit(1);
       parentPort.postMessage({ json: Buffer.from("{}"), line: 1, duplicates: [] });
     });`,
  );
  const thread = YamlThread.of(fragile)!;
  const ended = thread.parse(Buffer.from("end: 1"));
  const next = thread.parse(Buffer.from("a: 1"));
  await expect(ended).rejects.toMatchObject({ code: 500 });
  await expect(next).resolves.toMatchObject({ line: 1 });
  await thread.stop();
});

test("without a built worker there is no thread", () => {
  expect(YamlThread.of(path.join(directory, "none.js"))).toBeUndefined();
});

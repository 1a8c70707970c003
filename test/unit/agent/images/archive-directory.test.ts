// Image archives in a directory: imported once, again when they change, not while they are on their way, and waited for when the
// runtime is away. The runtime is a script; the files are real.
import * as fs from "node:fs";
import * as path from "node:path";
import pino from "pino";
import { ArchiveDirectory } from "../../../../agent/images/archive-directory.ts";
import { RuntimeError } from "../../../../cri/runtime.ts";
import { eventually } from "../../../support/eventually.ts";
import { FakeClock } from "../../../support/fake-clock.ts";
import { useTempDirectories } from "../../../support/temp-directory.ts";

const directories = useTempDirectories();
const open: ArchiveDirectory[] = [];
let clock: FakeClock;
let imports: string[];
let problems: string[];
let present: Set<string>;
let failure: RuntimeError | undefined;

beforeEach(() => {
  clock = new FakeClock(Date.now());
  imports = [];
  problems = [];
  present = new Set();
  failure = undefined;
});
afterEach(async () => {
  for (const directory of open.splice(0)) {
    const stopped = directory.stop();
    clock.advance(10_000);
    await stopped;
  }
});

function start(directory: string): ArchiveDirectory {
  const made = new ArchiveDirectory({
    directory,
    runtime: {
      importImage(file) {
        imports.push(path.basename(file));
        if (failure) return Promise.reject(failure);
        present.add(`name-of-${path.basename(file)}`);
        return Promise.resolve([`name-of-${path.basename(file)}`]);
      },
      listImages: () =>
        Promise.resolve(
          [...present].map((name) => ({
            id: name,
            repoTags: [name],
            repoDigests: [],
            sizeBytes: 1,
            pinned: true,
          })),
        ),
    },
    clock,
    logger: pino({ level: "silent" }),
    onImported: () => undefined,
    onProblem: (file, message) =>
      problems.push(`${path.basename(file)}: ${message}`),
  });
  made.start();
  open.push(made);
  return made;
}

/** With a time long past. */
function put(directory: string, name: string, text = name): void {
  fs.mkdirSync(directory, { recursive: true });
  const file = path.join(directory, name);
  fs.writeFileSync(file, text);
  fs.utimesSync(file, 1000, 1000 + text.length);
}

/** Time goes on until it is so. */
async function after(check: () => boolean): Promise<void> {
  await eventually(
    () => {
      clock.advance(1000);
      return check();
    },
    { what: "the directory" },
  );
}

test("archives are imported by their names, others are not looked at", async () => {
  const directory = path.join(directories(), "images");
  for (const name of ["a.tar", "b.tar.gz", "c.tar.zst", "d.tgz", "e.tzst"])
    put(directory, name);
  for (const name of [".f.tar", "g.tar.partial", "h.txt", "i.zip"])
    put(directory, name);
  fs.mkdirSync(path.join(directory, "j.tar"));
  start(directory);
  await after(() => imports.length >= 5);
  expect(imports).toEqual([
    "a.tar",
    "b.tar.gz",
    "c.tar.zst",
    "d.tgz",
    "e.tzst",
  ]);
});

test("a file that comes or changes later is imported, once", async () => {
  const directory = path.join(directories(), "images");
  start(directory);
  await eventually(() => fs.existsSync(directory), { what: "the directory" });
  put(directory, "late.tar");
  await after(() => imports.length === 1);
  put(directory, "late.tar", "changed");
  await after(() => imports.length === 2);
  clock.advance(100_000);
  expect(imports).toEqual(["late.tar", "late.tar"]);
});

test("what is on its way is waited for", async () => {
  const directory = path.join(directories(), "images");
  put(directory, "a.tar");
  const file = path.join(directory, "growing.tar");
  fs.writeFileSync(file, "x");
  const seconds = clock.now() / 1000 + 60;
  fs.utimesSync(file, seconds, seconds);
  clock.advance(60_500);
  start(directory);
  await eventually(() => imports.length === 1, { what: "the other one" });
  expect(imports).toEqual(["a.tar"]);
  await after(() => imports.length === 2);
  expect(imports[1]).toBe("growing.tar");
});

test("a start imports nothing that the runtime still has", async () => {
  const directory = path.join(directories(), "images");
  put(directory, "a.tar");
  put(directory, "b.tar");
  const first = start(directory);
  await after(
    () =>
      imports.length === 2 &&
      fs.existsSync(path.join(directory, ".imported.json")),
  );
  open.length = 0;
  const stopped = first.stop();
  clock.advance(10_000);
  await stopped;
  present.delete("name-of-b.tar");
  imports = [];
  start(directory);
  await after(() => imports.length > 0);
  clock.advance(60_000);
  expect(imports).toEqual(["b.tar"]);
  fs.writeFileSync(path.join(directory, ".imported.json"), '{"a.tar": null');
});

test("a damaged record is none", async () => {
  const directory = path.join(directories(), "images");
  put(directory, "a.tar");
  fs.writeFileSync(
    path.join(directory, ".imported.json"),
    '{"a.tar": {"stamp": "1 2 3", "names": 7}}',
  );
  start(directory);
  await after(() => imports.length === 1);
});

test("a bad archive is reported once; a runtime that is away is waited for", async () => {
  const directory = path.join(directories(), "images");
  put(directory, "bad.tar");
  failure = new RuntimeError("invalid", "not a tar");
  start(directory);
  await after(() => problems.length === 1);
  expect(problems).toEqual(["bad.tar: not a tar"]);
  failure = new RuntimeError("unavailable", "away");
  put(directory, "good.tar");
  await after(() => imports.filter((name) => name === "good.tar").length > 2);
  failure = undefined;
  await after(() => present.has("name-of-good.tar"));
  expect(imports.filter((name) => name === "bad.tar")).toHaveLength(1);
});

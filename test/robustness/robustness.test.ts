// The short run of the robustness runner, and tests of the runner itself: it has to notice what it is there for.
// Many rounds: node tools/robustness.mjs --rounds 1000.
import * as fs from "node:fs";
import * as path from "node:path";
import { storeCrashPoints } from "./crash-points.ts";
import { DiskDirectory, DiskFile } from "./disk.ts";
import { Model } from "./model.ts";
import { FakeNode } from "./pods/fake-node.ts";
import { podCrashPoints } from "./pods/pod-round.ts";
import { Random } from "./random.ts";
import { Runner } from "./runner.ts";
import { storeRound } from "./store-round.ts";

const root = path.join(__dirname, "../..");

test("40 rounds, with the real server and with several starters among them", async () => {
  const runner = new Runner(root);
  try {
    for (let seed = 1; seed <= 40; seed++) await runner.round(seed);
  } finally {
    runner.close();
  }
  expect(runner.run.broken).toEqual([]);
  expect(Object.fromEntries(runner.run.kinds)).toEqual({
    store: 29,
    pods: 9,
    starters: 1,
    server: 1,
  });
});

test("a seed makes the same round again", async () => {
  const [first, second] = [await storeRound(3), await storeRound(3)];
  expect([...second.faults]).toEqual([...first.faults]);
  expect(first.faults.size).toBeGreaterThan(0);
});

test("the crash points are those of the sources", () => {
  const named = (directory: string): string[] =>
    fs
      .readdirSync(path.join(root, directory), { recursive: true })
      .map((name) => path.join(root, directory, String(name)))
      .filter((file) => file.endsWith(".ts"))
      .flatMap((file) => [
        ...fs.readFileSync(file, "utf8").matchAll(/crashPoint\("([^"]+)"\)/g),
      ])
      .map((match) => match[1]!);
  const opened = named("storage").filter(
    (name) => !/^store\.(snapshot|restore)\./.test(name),
  );
  expect([...storeCrashPoints].sort()).toEqual(opened.sort());
  expect([...podCrashPoints].sort()).toEqual(named("agent").sort());
});

describe("the runner notices", () => {
  test("a disk that does not sync", async () => {
    const broken: string[] = [];
    for (let seed = 0; seed < 12; seed++)
      broken.push(...(await storeRound(seed, true)).broken);
    expect(broken.join("\n")).toMatch(/the revision went back/);
    expect(broken.join("\n")).toMatch(/is missing/);
  });

  const value = (text: string): Uint8Array => Buffer.from(text);
  const acknowledged = (): Model => {
    const model = new Model();
    for (const [key, revision] of [
      ["/k/a", 2],
      ["/k/b", 3],
    ] as const) {
      const attempt = model.began(key, `v${revision}`, revision);
      model.publishes([
        {
          ...{ type: "put", key, revision, attachment: undefined },
          value: value(`v${revision}`),
        },
      ]);
      model.answered(attempt, { ok: true, revision });
    }
    model.began("/k/c", "open", 4);
    return model;
  };
  const a = { key: "/k/a", revision: 2, value: value("v2") };
  const b = { key: "/k/b", revision: 3, value: value("v3") };
  const c = { key: "/k/c", revision: 4, value: value("open") };

  test.each([
    ["nothing", 3, [a, b], []],
    ["nothing: what was not answered is there", 4, [a, b, c], []],
    ["a lost write", 3, [a], [/\/k\/b of revision 3 is missing/]],
    ["a revision that went back", 2, [a], [/went back from 3 to 2/]],
    ["another value", 3, [a, { ...b, value: value("x") }], [/another value/]],
    ["a torn commit", 4, [a, b], [/\/k\/c of revision 4 is missing/]],
    [
      "a write from nowhere",
      4,
      [a, b, c, { ...a, key: "/k/d" }],
      [/\/k\/d of revision 2 should not be there/],
    ],
  ])("%s", (_, revision, values, broken) => {
    const model = acknowledged();
    model.reopened(revision, values);
    expect(model.broken).toEqual(
      broken.map((pattern) => expect.stringMatching(pattern)),
    );
  });

  test("events out of order, and an answer before its event", () => {
    const model = new Model();
    const attempt = model.began("/k/a", "x", 2);
    model.answered(attempt, { ok: true, revision: 2 });
    model.publishes([
      {
        ...{ type: "put", key: "/k/a", revision: 3, attachment: undefined },
        value: value("x"),
      },
    ]);
    expect(model.broken).toEqual([
      "the write of /k/a at 2 was answered before its event",
      "event 3 of /k/a is nobody's write",
    ]);
  });

  test("a container that runs twice, or is ended though it is wanted", () => {
    const broken: string[] = [];
    const node = new FakeNode(
      () => 0,
      (what) => broken.push(what),
    );
    const metadata = { name: "p", namespace: "ns", uid: "u", attempt: 0 };
    const sandbox = node.runSandbox({ metadata, labels: {} } as never);
    const [first, second] = ["a", "a"].map((name) =>
      node.createContainer(sandbox, { name, labels: {} } as never),
    ) as [string, string];
    node.wanted.add("u");
    node.startContainer(first);
    node.startContainer(second);
    node.stop(first);
    expect(broken).toEqual([
      `u/a runs twice: ${first} and ${second}`,
      `${first} is ended though its pod is wanted`,
    ]);
  });
});

describe("the disk", () => {
  test("keeps what was synced, and whole sectors of the rest", () => {
    const seen = new Set<string>();
    for (let seed = 0; seed < 200; seed++) {
      const file = new DiskFile();
      file.write(0, Buffer.alloc(512, "a"));
      file.sync();
      file.write(512, Buffer.alloc(1024, "b"));
      file.losePower(new Random(seed));
      expect(file.durable.subarray(0, 512)).toEqual(Buffer.alloc(512, "a"));
      seen.add(
        [512, 1024]
          .map((at) => file.durable.toString("latin1", at, at + 1))
          .join(),
      );
    }
    // Neither, the first, the second alone (with a hole before it), both.
    expect([...seen].sort()).toEqual(["\0,b", ",", "b,", "b,b"]);
  });

  test("forgets names that were not synced, in their order", () => {
    const kept = new Set<string>();
    for (let seed = 0; seed < 50; seed++) {
      const directory = new DiskDirectory();
      directory.change([["a", new DiskFile()]]);
      directory.sync();
      directory.change([["b", new DiskFile()]]);
      directory.change([
        ["b", undefined],
        ["a", new DiskFile()],
      ]);
      directory.losePower(new Random(seed));
      kept.add([...directory.seen.keys()].join());
    }
    expect([...kept].sort()).toEqual(["a", "a,b"]);
  });
});

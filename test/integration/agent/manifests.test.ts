import * as fs from "node:fs/promises";
import { renameSync, rmSync, writeFileSync } from "node:fs";
import * as path from "node:path";
import pino from "pino";
import { objectProblems } from "../../../apiserver-lite/object-rules.ts";
import { systemClock } from "../../../api/clock.ts";
import type { Pod } from "../../../api/types/core-v1.ts";
import { FileSource } from "../../../agent/sources/file-source.ts";
import { checkedLocalObject } from "../../../agent/sources/local/object-rules.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { eventually } from "../../support/eventually.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const directories = useTempDirectories();
let source: FileSource;
let directory: string;
let pods: readonly Pod[];
let others: string[];
let problems: string[];

beforeEach(async () => {
  directory = directories();
  problems = [];
  source = new FileSource({
    podLevelResources: false,
    rules: objectProblems,
    path: directory,
    nodeName: "n1",
    checkFrequencyMs: 1000,
    clock: systemClock,
    logger: pino({ level: "silent" }),
    takeOther: (object) => checkedLocalObject(object, objectProblems),
    onPods: (found) => (pods = found),
    onOthers: (byFile) =>
      (others = [...byFile.values()]
        .flat()
        .map(({ object }) => object.kind ?? "")),
    onProblem: (_file, message) =>
      problems.push(message.replaceAll(directory, "DIR")),
  });
  await source.start();
});
afterEach(() => source.stop());

/** Another source in place of it. Only events count for it: its next look by itself is a minute away. */
async function watchAgain(
  change: Partial<ConstructorParameters<typeof FileSource>[0]> = {},
): Promise<void> {
  await source.stop();
  source = new FileSource({
    podLevelResources: false,
    rules: objectProblems,
    path: directory,
    nodeName: "n1",
    checkFrequencyMs: 60_000,
    clock: systemClock,
    logger: pino({ level: "silent" }),
    takeOther: (object) => object,
    onPods: (found) => (pods = found),
    onProblem: () => undefined,
    ...change,
  });
  await source.start();
}

const names = (): string[] => pods.map(({ metadata }) => metadata.name).sort();
const pod = (name: string, extra = ""): string => `apiVersion: v1
kind: Pod
metadata:
  name: ${name}
spec:
  containers:
  - name: a
    image: busybox
${extra}`;
const write = (file: string, text: string): Promise<void> =>
  fs.writeFile(path.join(directory, file), text);

test("files come, change and go", async () => {
  await write(
    "a.yaml",
    `${pod("a")}---\n${pod("b")}---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n`,
  );
  await eventually(() => {
    if (names().join() === "a-n1,b-n1") return true;
    throw new Error(JSON.stringify([names(), problems]));
  });
  expect(others).toEqual(["ConfigMap"]);
  const uid = pods[0]!.metadata.uid;
  await write("a.yaml", pod("a", "    env: [{name: X, value: z}]\n"));
  await eventually(
    () => names().join() === "a-n1" && pods[0]!.metadata.uid !== uid,
  );
  await write(
    "c.json",
    JSON.stringify({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "c" },
      spec: { containers: [{ name: "x", image: "y" }] },
    }),
  );
  await eventually(() => names().join() === "a-n1,c-n1");
  await fs.rm(path.join(directory, "a.yaml"));
  await eventually(() => names().join() === "c-n1");
  expect(problems).toEqual([]);
});

test.each([
  ["a syntax error", "kind: Pod\n  bad: [", /^DIR\/bad\.yaml:2: /],
  [
    "an unknown field",
    pod("x", "    imag: y\n"),
    /^DIR\/bad\.yaml:9: .*unknown field "spec.containers\[0\].imag"/,
  ],
  [
    "a wrong type",
    pod("x").replace(
      "containers:\n",
      "terminationGracePeriodSeconds: soon\n  containers:\n",
    ),
    /^DIR\/bad\.yaml:6: .*terminationGracePeriodSeconds/,
  ],
  [
    "no name",
    pod("x").replace("name: x", "labels: {}"),
    /^DIR\/bad\.yaml:\d+: metadata.name: Required value/,
  ],
  [
    "no image",
    pod("x").replace("    image: busybox\n", ""),
    /^DIR\/bad\.yaml:\d+: spec.containers\[0\].image: Required value/,
  ],
  [
    "a bad name",
    pod("X_Y"),
    /^DIR\/bad\.yaml:4: metadata.name: Invalid value: "X_Y"/,
  ],
  [
    "a kind of no use",
    "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: x}\n",
    /^DIR\/bad\.yaml:2: kind: Unsupported value: "Deployment"/,
  ],
  ["no object", "- a\n- b\n", /^DIR\/bad\.yaml:1: /],
  [
    "a name already used",
    pod("good"),
    /^DIR\/bad\.yaml: metadata.name: Duplicate value: "good-n1": already used by DIR\/agood\.yaml/,
  ],
])(
  "%s is reported and keeps nothing else from running",
  async (_what, text, wanted) => {
    await write("agood.yaml", pod("good"));
    await eventually(() => names().join() === "good-n1");
    await write("bad.yaml", text);
    await eventually(() => problems.length > 0, { what: "the report" });
    expect(problems[0]).toMatch(wanted);
    await write("other.yaml", pod("other"));
    await eventually(() => names().join() === "good-n1,other-n1");
    await write("bad.yaml", pod("mended"));
    await eventually(() => names().join() === "good-n1,mended-n1,other-n1");
    expect(problems).toHaveLength(1);
  },
);

test("each bad object of a file is reported with its line", async () => {
  await write(
    "bad.yaml",
    `${pod("good")}---\n${pod("X_Y")}---\napiVersion: v1\nkind: Service\nmetadata: {name: s}\nspec:\n  ports:\n  - port: 70000\n    targetPort: 80\n---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: x}\n`,
  );
  await eventually(() => problems.length > 2, { what: "the reports" });
  expect(problems).toEqual([
    expect.stringMatching(/^DIR\/bad\.yaml:13: metadata.name: .*"X_Y"/),
    "DIR/bad.yaml:24: spec.ports[0].port: Invalid value: 70000: must be between 1 and 65535, inclusive",
    expect.stringMatching(/^DIR\/bad\.yaml:28: kind: .*"Deployment"/),
  ]);
  expect(pods).toEqual([]);
});

test("of very many mistakes the first are reported, and the same text is not read for them again", async () => {
  const other = directories();
  const clock = new FakeClock();
  const reported: string[] = [];
  let read = 0;
  let found: readonly Pod[] = [];
  const maps = (count: number): string =>
    Array.from(
      { length: count },
      (_, n) =>
        `---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: m${n}}\nno: 1\n`,
    ).join("");
  await fs.writeFile(
    path.join(other, "bad.yaml"),
    `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: good}\n${maps(100)}`,
  );
  const busy = new FileSource({
    rules: objectProblems,
    ...{ podLevelResources: false, path: other, nodeName: "n1" },
    ...{ checkFrequencyMs: 1000, clock, logger: pino({ level: "silent" }) },
    takeOther: (object) => {
      read++;
      return checkedLocalObject(object, objectProblems);
    },
    onPods: (pods) => (found = pods),
    onProblem: (_file, message) => reported.push(message),
  });
  await busy.start();
  try {
    // Once more when the watcher is ready, at most.
    for (let round = 0; round < 5; round++) {
      clock.advance(1000);
      await fs.writeFile(path.join(other, "a.yaml"), pod(`a${round}`));
      clock.advance(1000);
      await eventually(() => {
        clock.advance(1000);
        return found[0]?.metadata.name === `a${round}-n1`;
      });
    }
  } finally {
    await busy.stop();
  }
  expect(read).toBe(1);
  expect(reported).toHaveLength(21);
  expect(reported.at(-1)).toContain("and 80 more of its objects");
});

test("a bad version of a file leaves the last good one in force", async () => {
  await write("a.yaml", pod("a"));
  await eventually(() => names().join() === "a-n1");
  const uid = pods[0]!.metadata.uid;
  await write("a.yaml", "kind: Pod\n\t!");
  await eventually(() => problems.length > 0);
  expect(pods.map(({ metadata }) => metadata.uid)).toEqual([uid]);
  await fs.rm(path.join(directory, "a.yaml"));
  await eventually(() => pods.length === 0);
});

test("huge files, link loops and editors' files", async () => {
  await fs.truncate(path.join(directory, "x"), 0).catch(() => undefined);
  const huge = await fs.open(path.join(directory, "huge.yaml"), "w");
  await huge.truncate(50 * 1024 * 1024);
  await huge.close();
  await fs.symlink("loop.yaml", path.join(directory, "loop.yaml"));
  await eventually(() => {
    if (problems.length >= 2) return true;
    throw new Error(problems.join());
  });
  expect(problems.sort().join("\n")).toMatch(
    /huge\.yaml: is 52428800 bytes[\s\S]*loop\.yaml: too many levels/,
  );
  for (const name of [
    ".hidden.yaml",
    "a.yaml~",
    "#a.yaml#",
    ".a.yaml.swp",
    "4913",
  ])
    await write(name, pod("temporary"));
  await write("half.yaml", pod("half").slice(0, 40));
  await write("half.yaml", pod("half"));
  await eventually(() => names().join() === "half-n1");
  expect(problems).toHaveLength(2);
});

test("pods that the API server's rules refuse are reported with file, line and field, and not run", async () => {
  await source.start();
  const refused: Record<string, [extra: string, problem: string]> = {
    policy: ["  restartPolicy: Sometimes\n", "9: spec.restartPolicy"],
    port: [
      "    ports: [{ containerPort: 70000 }]\n",
      "9: spec.containers[0].ports[0].containerPort",
    ],
    limit: [
      "    resources: { requests: { cpu: 2 }, limits: { cpu: 1 } }\n",
      "9: spec.containers[0].resources.requests",
    ],
    probe: [
      "    livenessProbe: { exec: { command: [a] }, tcpSocket: { port: 1 } }\n",
      "9: spec.containers[0].livenessProbe.tcpSocket",
    ],
    mount: [
      "    volumeMounts: [{ name: none, mountPath: /a }]\n",
      "9: spec.containers[0].volumeMounts[0].name",
    ],
  };
  await write("good.yaml", pod("good"));
  for (const [name, [extra]] of Object.entries(refused))
    await write(`${name}.yaml`, pod(name, extra));
  await eventually(
    () => problems.length === Object.keys(refused).length && names().length > 0,
    { what: "the reports" },
  );
  for (const [name, [, problem]] of Object.entries(refused))
    expect(problems).toContainEqual(
      expect.stringContaining(`DIR/${name}.yaml:${problem}: `),
    );
  expect(names()).toEqual(["good-n1"]);
  await write("port.yaml", pod("port"));
  await eventually(() => names().join() === "good-n1,port-n1", {
    what: "the repaired pod",
  });
});

test("what is written a moment after the truncation is not missed", async () => {
  await watchAgain();
  await write("a.yaml", pod("a"));
  await eventually(() => names().join() === "a-n1");
  for (const delayMs of [0, 5, 10, 20, 30, 40]) {
    await write("a.yaml", "");
    await new Promise((resolve) => setTimeout(resolve, delayMs));
    await write("a.yaml", pod(`after-${delayMs}`));
    await eventually(() => names().join() === `after-${delayMs}-n1`, {
      what: `what was written after ${delayMs} ms`,
    });
  }
});

test("a file removed and made again at once is gone in between; one that another takes the place of is not", async () => {
  const sets: string[] = [];
  await watchAgain({
    onPods: (found) => {
      pods = found;
      sets.push(names().join());
    },
  });
  await write("a.yaml", pod("a"));
  await write("b.yaml", pod("b"));
  await eventually(() => names().join() === "a-n1,b-n1");
  sets.length = 0;
  const [a, b, temporary] = ["a.yaml", "b.yaml", ".a.new"].map((name) =>
    path.join(directory, name),
  ) as [string, string, string];
  writeFileSync(temporary, pod("a"));
  renameSync(temporary, a);
  rmSync(b);
  writeFileSync(b, pod("b"));
  await eventually(() => sets.includes("a-n1"), {
    what: "the removal of b alone",
  });
  await eventually(() => sets.at(-1) === "a-n1,b-n1");
  rmSync(a);
  writeFileSync(a, pod("a"));
  await eventually(() => sets.includes("b-n1"), {
    what: "the removal of a alone",
  });
  await eventually(() => sets.at(-1) === "a-n1,b-n1");
  expect(sets.filter((each) => each !== "a-n1,b-n1")).toEqual(["a-n1", "b-n1"]);
});

test("a file that can't be watched is one line of the log that names it, and the others are watched", async () => {
  const lines: { msg: string; file?: string; err?: unknown }[] = [];
  await source.stop();
  const itself = path.join(directory, "loop.yaml");
  await fs.symlink(itself, itself);
  await watchAgain({
    logger: pino(
      { level: "warn" },
      { write: (line: string) => void lines.push(JSON.parse(line) as never) },
    ),
    onProblem: (_file, message) => problems.push(message),
  });
  expect(problems).toEqual([`${itself}: too many levels of symbolic links`]);
  await eventually(() => lines.length > 0);
  await write("a.yaml", pod("a"));
  await eventually(() => names().join() === "a-n1");
  expect(lines).toEqual([
    expect.objectContaining({
      msg: "can't watch a manifest; it is read at intervals",
      file: itself,
      reason: expect.stringContaining("ELOOP") as string,
    }),
  ]);
  expect(lines[0]).not.toHaveProperty("err");
});

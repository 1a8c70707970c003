// Which crun is used: one that has made a container here, and has done so since it or the machine's boot last changed.
import * as fs from "node:fs";
import * as path from "node:path";
import pino from "pino";
import { workingCrun } from "../../../cri/private-containerd/oci-runtime.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const temporary = useTempDirectories("orbit-crun-");

/** A program in place of crun; it writes its commands down, and what it does for each is shell script. */
function program(
  actions: Record<string, string>,
  spec = '{ "ociVersion": "1.0.2-dev" }',
): {
  directory: string;
  file: string;
  calls: () => string[];
  warnings: string[];
  /** The program in front of it. */
  launcher: string;
  working: (change?: object) => Promise<string | undefined>;
} {
  const directory = temporary();
  const bin = temporary();
  const file = path.join(bin, "crun");
  const cases = Object.entries(actions)
    .map(([command, script]) => `*" ${command} "*) ${script} ;;`)
    .join("\n");
  fs.writeFileSync(
    file,
    `#!/bin/sh\necho "$5" >>${bin}/calls\nlog=$4\ncase " $* " in\n${cases}\nesac\n`,
    { mode: 0o755 },
  );
  fs.writeFileSync(path.join(bin, "containerd"), "", { mode: 0o755 });
  fs.writeFileSync(path.join(bin, "ctr"), `#!/bin/sh\necho '${spec}'\n`, {
    mode: 0o755,
  });
  const warnings: string[] = [];
  const logger = pino(
    { base: null },
    { write: (line: string) => void warnings.push(line) },
  );
  return {
    directory,
    file,
    launcher: path.join(directory, "bin", "crun-read-only"),
    warnings,
    calls: () => {
      const calls = path.join(bin, "calls");
      if (!fs.existsSync(calls)) return [];
      return fs.readFileSync(calls, "utf8").trim().split("\n");
    },
    working: (change = {}) =>
      workingCrun({
        directory,
        logger,
        path: bin,
        mixedControllers: false,
        ...change,
      }),
  };
}

const running = { state: `echo '{"status":"running"}'` };

test("one that works is tried once", async () => {
  const { working, launcher, calls, directory, warnings } = program(running);
  expect(await working()).toBe(launcher);
  expect(calls()).toEqual(["create", "start", "state", "delete"]);
  expect(await working()).toBe(launcher);
  expect(calls()).toHaveLength(4);
  expect(fs.readdirSync(directory)).toEqual(["bin", "crun-worked"]);
  expect(warnings).toEqual([]);
});

test("another program of its name is tried again", async () => {
  const { working, file, launcher, calls } = program(running);
  await working();
  fs.appendFileSync(file, "# changed\n");
  expect(await working()).toBe(launcher);
  expect(calls()).toHaveLength(8);
});

/** As crun before 1.14.3. */
const old = {
  ...running,
  create:
    'grep -q \'"ociVersion":"1.0\' "$7/config.json" || { echo "unknown version specified" >"$log"; exit 1; }',
};

test.each(['{ "ociVersion": "1.1.0" }', "no JSON", "{}"])(
  "one that makes no container of the version that containerd writes is not used: %s",
  async (spec) => {
    const { working, warnings } = program(old, spec);
    expect(await working()).toBeUndefined();
    expect(warnings[0]).toContain("unknown version specified");
  },
);

test("it is tried again with another containerd", async () => {
  const { working, file, launcher } = program(old);
  expect(await working()).toBe(launcher);
  const bin = path.dirname(file);
  fs.writeFileSync(path.join(bin, "containerd"), "a later one");
  fs.writeFileSync(
    path.join(bin, "ctr"),
    `#!/bin/sh\necho '{ "ociVersion": "1.2.1" }'\n`,
  );
  expect(await working()).toBeUndefined();
});

test("one of an earlier boot is tried again", async () => {
  const { working, calls, directory } = program(running);
  await working();
  const record = path.join(directory, "crun-worked");
  fs.writeFileSync(record, fs.readFileSync(record, "utf8").slice(0, -1));
  await working();
  expect(calls()).toHaveLength(8);
});

test.each([
  [
    "refuses cgroups",
    { create: 'echo "no cgroups" >"$log"; exit 1' },
    "no cgroups",
    ["create"],
  ],
  [
    "does not start",
    { start: "exit 3" },
    "it ended with exit code 3",
    ["create", "start", "delete"],
  ],
  [
    "has a container that ends",
    { state: `echo '{"status":"stopped"}'` },
    "its container is stopped",
    ["create", "start", "state", "delete"],
  ],
  [
    "answers nonsense",
    { state: "echo no" },
    "JSON",
    ["create", "start", "state", "delete"],
  ],
  [
    "does not remove",
    { ...running, delete: "exit 1" },
    "it ended with exit code 1",
    ["create", "start", "state", "delete"],
  ],
])(
  "one that %s is not used, and nothing of it stays",
  async (_, actions, text, done) => {
    const { working, calls, directory, warnings } = program(
      actions as Record<string, string>,
    );
    expect(await working()).toBeUndefined();
    expect(calls()).toEqual(done);
    expect(fs.readdirSync(directory)).toEqual(["bin"]);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain(text);
    expect(warnings[0]).toContain("runc makes the containers");
    expect(warnings[0]).not.toContain("stack");
    // It may work the next time.
    await working();
    expect(calls()).toHaveLength(done.length * 2);
  },
);

test("the cgroups of a container that could not be made go", async () => {
  const memory = "/sys/fs/cgroup/memory";
  const root = fs.existsSync(memory) ? memory : "/sys/fs/cgroup";
  const { working, directory } = program({
    create: `mkdir "${root}/$8" && echo "$8" >"$7/../made"; exit 1`,
  });
  expect(await working()).toBeUndefined();
  const made = fs.readFileSync(path.join(directory, "made"), "utf8").trim();
  expect(made).toMatch(/^orbit-trial-/);
  expect(fs.existsSync(path.join(root, made))).toBe(false);
});

test("one that waits for a service to be ready has nothing to wait for", async () => {
  const { working, launcher } = program({
    ...running,
    start: '[ -z "$NOTIFY_SOCKET" ]',
  });
  process.env["NOTIFY_SOCKET"] = "/run/systemd/notify";
  try {
    expect(await working()).toBe(launcher);
  } finally {
    delete process.env["NOTIFY_SOCKET"];
  }
});

test("one that hangs is ended", async () => {
  const { working, warnings } = program({ create: "exec sleep 1000" });
  expect(await working({ timeoutMs: 100 })).toBeUndefined();
  expect(warnings[0]).toContain("it ended with SIGKILL");
});

test("with cgroups of both versions another program is in front of it", async () => {
  const { working, launcher, calls, directory } = program(running);
  const mixed = path.join(directory, "bin", "crun-cgroups-v1");
  expect(await working({ mixedControllers: true })).toBe(mixed);
  expect(calls()).toEqual(["create", "start", "state", "delete"]);
  expect(await working({ mixedControllers: true })).toBe(mixed);
  expect(calls()).toHaveLength(4);
  // Where the hierarchy lost its controllers it is tried again.
  expect(await working()).toBe(launcher);
  expect(calls()).toHaveLength(8);
});

test("it is tried again behind another program in front of it", async () => {
  const { working, launcher, calls } = program(running);
  await working();
  fs.writeFileSync(launcher, "an older one");
  expect(await working()).toBe(launcher);
  expect(calls()).toHaveLength(8);
});

test("where no program can be in front of it, it is used as it is", async () => {
  const { working, file, directory } = program(running);
  fs.writeFileSync(path.join(directory, "bin"), "");
  expect(await working()).toBe(file);
});

test("with cgroups made by systemd none is looked for", async () => {
  const { working, calls } = program(running);
  expect(await working({ systemdCgroup: true })).toBeUndefined();
  expect(calls()).toEqual([]);
});

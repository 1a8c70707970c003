// `ip netns add` by another program, at any time, keeps no pod from being removed. On a machine with mounts of its own whose
// /run is not shared, where what `ip` mounts would hide the namespaces of pods.
import * as fs from "node:fs";
import * as path from "node:path";
import { eventually } from "../support/eventually.ts";
import { NodeMachines, type NodeMachine } from "../support/node-machines.ts";

let lan: NodeMachines;
let machine: NodeMachine;

const manifest = (name: string): string =>
  path.join(machine.directory, "manifests", `${name}.yaml`);

function write(name: string): void {
  fs.writeFileSync(
    manifest(name),
    JSON.stringify({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name },
      spec: {
        terminationGracePeriodSeconds: 0,
        containers: [
          {
            name: "c",
            image: "docker.io/library/busybox:latest",
            imagePullPolicy: "IfNotPresent",
            command: ["sleep", "infinity"],
          },
        ],
      },
    }),
  );
}

/** As `ip` shows them, and the directory: of pods alone. */
const namespaces = (): string[] =>
  machine
    .run("ls", "/run/netns")
    .split("\n")
    .filter((name) => name.startsWith("cni-"));

/** Mounts in /run/netns; more than one of a name: all but one are hidden. */
const mounted = (): string[] =>
  machine
    .run("cat", "/proc/self/mountinfo")
    .split("\n")
    .map((line) => line.split(" ")[4] ?? "")
    .filter((point) => point.startsWith("/run/netns/"))
    .sort();

const withLog = (error: Error): never => {
  throw new Error(`${error.message}\n${machine.log().slice(-3000)}`);
};

async function run(...names: string[]): Promise<void> {
  const before = namespaces().length;
  names.forEach(write);
  // Its file is there a moment before its mount.
  await eventually(
    () => {
      const [all, mounts] = [namespaces(), mounted()];
      return (
        all.length === before + names.length &&
        all.every((name) => mounts.includes(`/run/netns/${name}`))
      );
    },
    { timeoutMs: 60_000, what: `namespaces of ${names.join()}` },
  ).catch(withLog);
}

async function remove(...names: string[]): Promise<void> {
  const before = namespaces().length;
  for (const name of names) fs.rmSync(manifest(name));
  await eventually(() => namespaces().length === before - names.length, {
    timeoutMs: 60_000,
    what: `the end of ${names.join()}`,
  }).catch(withLog);
}

const start = (): Promise<void> =>
  machine.start(
    "agent",
    `--root-dir=${machine.dataDirectory}`,
    `--pod-manifest-path=${path.join(machine.directory, "manifests")}`,
    "--fail-swap-on=false",
    "--v=2",
  );

/** The state of a machine on which pods were started by something that takes no care: their mounts are in /run itself. */
function forgetProtection(): void {
  machine.run("umount", "-l", "/run/netns");
}

beforeAll(async () => {
  lan = new NodeMachines();
  machine = lan.add("netns", 93, 1);
  await machine.takeOwnMounts();
  fs.mkdirSync(path.join(machine.directory, "manifests"));
  await start();
  await machine.loadBusybox();
});
afterAll(() => lan?.clean());

test("a namespace that is added while pods run hides none of theirs", async () => {
  await run("early");
  machine.run("ip", "netns", "add", "other");
  expect(new Set(mounted()).size).toBe(mounted().length);
  await remove("early");
  expect(machine.run("ip", "netns", "exec", "other", "echo", "there")).toBe(
    "there\n",
  );
  machine.run("ip", "netns", "del", "other");
  expect(mounted()).toEqual([]);
});

test("hidden ones are found when a pod can't be removed, and at the start", async () => {
  forgetProtection();
  await run("one", "two", "three");
  machine.run("ip", "netns", "add", "other");
  // What the test is about: each is mounted twice.
  expect(mounted()).toHaveLength(7);
  await remove("one");
  expect(mounted()).toHaveLength(3);
  await eventually(() => machine.log().includes("another program's mount hid"));
  await machine.stop();
  // Beside the namespace of another, which is kept.
  machine.run("mount", "--make-rprivate", "/run/netns");
  machine.run("mount", "--rbind", "/run/netns", "/run/netns");
  machine.run("mount", "--make-rshared", "/run/netns");
  expect(mounted()).toHaveLength(6);
  await start();
  expect(mounted()).toHaveLength(3);
  await remove("two", "three");
  expect(mounted()).toEqual(["/run/netns/other"]);
  expect(machine.run("ip", "netns", "exec", "other", "echo", "there")).toBe(
    "there\n",
  );
  expect(machine.run("ls", "-A", "/run")).not.toContain(".netns");
  machine.run("ip", "netns", "del", "other");
});

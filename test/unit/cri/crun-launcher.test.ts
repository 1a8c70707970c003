// The program in front of crun: what it runs for which command and how, and that the machine keeps its hierarchy.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import * as path from "node:path";
import {
  hasMixedControllers,
  hidingMounts,
  installCrunLauncher,
} from "../../../cri/private-containerd/crun-launcher.ts";
import { launcherProgram } from "../../../cri/private-containerd/launcher-code.ts";
import { hostArchitecture } from "../../../cri/machine-code/architecture.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const temporary = useTempDirectories("o'rbit-crun-launcher-");

const hierarchyFile = "cgroup.controllers\n";

interface Installed {
  at: (name: string) => string;
  /** Runs the launcher with the arguments where the hierarchy is a mount, shared as systemd has it, and lists it then. */
  run: (...args: string[]) => string;
}

/** A hierarchy with a file; in the place of crun an ELF file that takes a command's name as its first argument. */
function installed(hides: boolean, crun = "/bin/busybox"): Installed {
  const directory = temporary();
  const at = (name: string): string => path.join(directory, name);
  fs.mkdirSync(at("unified"));
  fs.writeFileSync(at("unified/cgroup.controllers"), "hugetlb\n");
  const mounts = hides ? hidingMounts(at("unified")) : [];
  const program = launcherProgram(hostArchitecture(), {
    program: crun,
    mounts,
  });
  // The program in crun's place goes by the name that it was started with.
  fs.writeFileSync(at("busybox"), program, { mode: 0o755 });
  return {
    at,
    run(...args) {
      const inside = `mount --bind "$0" "$0" && mount --make-shared "$0" && "$@" && ls "$0"`;
      const { stdout, stderr, status } = spawnSync(
        "unshare",
        ["-m", "sh", "-c", inside, at("unified"), at("busybox"), ...args],
        { encoding: "utf8", env: { PATH: process.env["PATH"], A: "1" } },
      );
      if (status !== 0) throw new Error(stderr);
      return stdout;
    },
  };
}

/** Prints its last arguments, what the hierarchy shows, and the file that it runs from. */
const shows = (at: Installed["at"], command: string): string[] => [
  "sh",
  "-c",
  `printf '%s|' "$0" "$@" "$A"; ls '${at("unified").replaceAll("'", String.raw`'\''`)}'; readlink /proc/$$/exe`,
  ...["a b", command, "start", "id'"],
];

/** The file is a mount's root, and the mount has no place in a directory. */
const ownMount = "/\n";

test("a container is made without the hierarchy, which the machine keeps", () => {
  const { run, at } = installed(true);
  expect(run(...shows(at, "create"))).toBe(
    `a b|create|start|id'|1|${ownMount}${hierarchyFile}`,
  );
});

test("a directory that is made in place of the hierarchy goes with the namespace", () => {
  const { run, at } = installed(true);
  const make = 'mkdir "$0"/a && ls "$0"';
  expect(run("sh", "-c", make, at("unified"), "create")).toBe(
    `a\n${hierarchyFile}`,
  );
});

test.each(["start", "state", "kill", "delete", "exec", "creates", "creat"])(
  "%s sees the hierarchy",
  (command) => {
    const { run, at } = installed(true);
    expect(run(...shows(at, command))).toBe(
      `a b|${command}|start|id'|1|${hierarchyFile}${ownMount}${hierarchyFile}`,
    );
  },
);

test("without anything to hide a container is made in the machine's namespace", () => {
  const { run, at } = installed(false);
  expect(run(...shows(at, "create"))).toBe(
    `a b|create|start|id'|1|${hierarchyFile}${ownMount}${hierarchyFile}`,
  );
});

test("a container that holds the program can't write it", () => {
  const own = path.join(temporary(), "busybox");
  fs.copyFileSync("/bin/busybox", own);
  const { run } = installed(false, own);
  // The kernel refuses to write any program that runs: another one takes its place first.
  const write = "echo x >>/proc/self/fd/9 && echo written || echo refused";
  expect(
    run("sh", "-c", `exec 9</proc/$$/exe; exec /bin/dash -c '${write}'`),
  ).toBe(`refused\n${hierarchyFile}`);
  expect(fs.readFileSync(own)).toEqual(fs.readFileSync("/bin/busybox"));
});

test("a script in crun's place is run as it is", () => {
  const directory = temporary();
  const script = path.join(directory, "script");
  fs.writeFileSync(script, `#!/bin/sh\nprintf '%s|' "$@"\n`, { mode: 0o755 });
  expect(installed(true, script).run("create", "x")).toBe(
    `create|x|${hierarchyFile}`,
  );
});

test("the check of the installation, and no argument at all, run as they should", () => {
  const { run } = installed(true, "/bin/true");
  expect(run("check")).toBe(hierarchyFile);
  expect(run()).toBe(hierarchyFile);
});

test("a hierarchy that can't be hidden leaves the answer to crun", () => {
  const { at } = installed(true);
  // It is no mount here.
  const { status, stdout } = spawnSync(
    at("busybox"),
    ["ls", "-d", at("unified"), "create"],
    { encoding: "utf8" },
  );
  expect([status, stdout]).toEqual([1, `${at("unified")}\n`]);
});

test("a crun that is gone is said by the exit code", () => {
  const { at } = installed(true, "/nonexistent");
  expect(spawnSync(at("busybox"), ["state", "id"]).status).toBe(127);
});

test("what an older version left is removed, and its name is kept", async () => {
  const directory = temporary();
  const left = path.join(directory, "no-cgroups/pod/id");
  fs.mkdirSync(left, { recursive: true });
  const mixed = { directory, crun: "/bin/true", mixedControllers: true };
  const plain = { ...mixed, mixedControllers: false };
  const launcher = path.join(directory, "crun-cgroups-v1");
  expect(await installCrunLauncher(mixed)).toBe(launcher);
  expect(await installCrunLauncher(plain)).toBe(
    path.join(directory, "crun-read-only"),
  );
  expect(fs.existsSync(path.join(directory, "no-cgroups"))).toBe(false);
  fs.writeFileSync(path.join(directory, "file"), "");
  const below = path.join(directory, "file/bin");
  expect(await installCrunLauncher({ ...mixed, directory: below })).toBe(
    undefined,
  );
});

/** The bytes were run once on each architecture; a change has to be run again before this is brought up to date. */
test.each([
  ["amd64", "1ea67238a20597fd8b14ae103c3e4ec3d432b7c549820ae1992a561997cedf6b"],
  ["arm64", "737b24e496d5ee5e40cca02b17ca88ae063ad7b4ffe14dacf02db0d90da217ca"],
] as const)("the program for %s has not changed", (architecture, digest) => {
  const program = launcherProgram(architecture, {
    program: "/usr/bin/crun",
    mounts: hidingMounts(),
  });
  expect(createHash("sha256").update(program).digest("hex")).toBe(digest);
});

test("only controllers of the second version count", async () => {
  const directory = temporary();
  expect(await hasMixedControllers(path.join(directory, "none"))).toBe(false);
  fs.writeFileSync(path.join(directory, "cgroup.controllers"), "");
  expect(await hasMixedControllers(directory)).toBe(false);
  fs.writeFileSync(path.join(directory, "cgroup.controllers"), "hugetlb\n");
  expect(await hasMixedControllers(directory)).toBe(true);
});

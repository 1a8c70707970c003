// The script in front of crun: what it runs for which command, and that the machine keeps its hierarchy.
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import {
  crunScript,
  hasMixedControllers,
} from "../../../cri/private-containerd/crun-script.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const temporary = useTempDirectories("o'rbit-crun-script-");

/** A hierarchy with a file, and a crun that prints its arguments and what it sees of the hierarchy. */
function installed(): { run: (...args: string[]) => string; crun: string } {
  const directory = temporary();
  const at = (name: string): string => path.join(directory, name);
  fs.mkdirSync(at("empty"));
  fs.mkdirSync(at("unified"));
  fs.writeFileSync(at("unified/cgroup.controllers"), "hugetlb\n");
  fs.writeFileSync(
    at("crun"),
    `#!/bin/sh\nprintf '%s|' "$@"\nls "$(dirname "$0")/unified"\n`,
    { mode: 0o755 },
  );
  const text = crunScript(
    {
      crun: at("crun"),
      unshare: "/usr/bin/unshare",
      mount: "/usr/bin/mount",
      empty: at("empty"),
    },
    at("unified"),
  );
  fs.writeFileSync(at("script"), text, { mode: 0o755 });
  return {
    crun: at("crun"),
    run(...args) {
      // The hierarchy is a mount, shared as systemd has it.
      const inside = `mount --bind "$0" "$0" && mount --make-shared "$0" && "$@" && ls "$0"`;
      const { stdout, stderr, status } = spawnSync(
        "unshare",
        ["-m", "sh", "-c", inside, at("unified"), at("script"), ...args],
        { encoding: "utf8" },
      );
      expect([status, stderr]).toEqual([0, ""]);
      return stdout;
    },
  };
}

const machine = "cgroup.controllers\n";

test("a container is made without the hierarchy, which the machine keeps", () => {
  const { run } = installed();
  const args = ["--root", "/a b", "create", "--bundle", "start", "id'"];
  expect(run(...args)).toBe(`--root|/a b|create|--bundle|start|id'|${machine}`);
});

test.each(["start", "state", "kill", "delete", "exec", "update"])(
  "%s runs crun as it is",
  (command) => {
    const { run } = installed();
    expect(run("--root", "/r", command, "create")).toBe(
      `--root|/r|${command}|create|${machine}${machine}`,
    );
  },
);

test("without a command crun answers", () => {
  expect(installed().run("--version")).toBe(`--version|${machine}${machine}`);
});

test("the check of the installation runs nothing", () => {
  expect(installed().run("check")).toBe(machine);
});

test("a hierarchy that can't be hidden makes no container", () => {
  const { crun } = installed();
  const script = path.join(path.dirname(crun), "script");
  const { status, stdout } = spawnSync(script, ["create", "id"], {
    encoding: "utf8",
  });
  // It is no mount here.
  expect(status).not.toBe(0);
  expect(stdout).toBe("");
});

test("only controllers of the second version count", async () => {
  const directory = temporary();
  expect(await hasMixedControllers(path.join(directory, "none"))).toBe(false);
  fs.writeFileSync(path.join(directory, "cgroup.controllers"), "");
  expect(await hasMixedControllers(directory)).toBe(false);
  fs.writeFileSync(path.join(directory, "cgroup.controllers"), "hugetlb\n");
  expect(await hasMixedControllers(directory)).toBe(true);
});

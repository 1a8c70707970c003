// What installing and removing would do, step by step, and the unit file: held against fixtures, so that a change to
// either is seen. UPDATE_FIXTURES=1 writes them anew.
import { execFileSync, spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { useTempDirectories } from "../../support/temp-directory.ts";

const directory = useTempDirectories();
const root = path.join(__dirname, "../../..");

function run(script: string, args: string[], env: NodeJS.ProcessEnv = {}) {
  const result = spawnSync(
    "sh",
    [path.join(root, "systemd", script), ...args],
    {
      env: { PATH: process.env["PATH"], ...env },
      encoding: "utf8",
    },
  );
  return {
    status: result.status,
    stderr: result.stderr,
    stdout: result.stdout.replaceAll(root, "SOURCE"),
  };
}

function expectFixture(name: string, text: string): void {
  const file = path.join(__dirname, "fixtures", name);
  if (process.env["UPDATE_FIXTURES"]) fs.writeFileSync(file, text);
  expect(text).toBe(fs.readFileSync(file, "utf8"));
}

test("the plan of an installation", () => {
  const { status, stdout } = run("install.sh", ["--dry-run"], {
    DESTDIR: "/nowhere",
  });
  expect(status).toBe(0);
  // dist/ is there only after a build.
  expectFixture(
    "install.txt",
    stdout.replace(
      "+ cp -R SOURCE/dist /nowhere/usr/local/lib/orbit.new/\n",
      "",
    ),
  );
});

test("the plan of a removal below another root", () => {
  const { status, stdout } = run("uninstall.sh", ["--dry-run"], {
    DESTDIR: "/nowhere",
  });
  expect(status).toBe(0);
  expectFixture("uninstall.txt", stdout);
});

test("the plan of a removal on this machine touches nothing but the cluster of the data directory", () => {
  const { status, stdout } = run("uninstall.sh", ["--dry-run", "--keep-data"], {
    ORBIT_DATA_DIR: "/nowhere/data",
    ORBIT_CGROUP_ROOT: "/orbit-nowhere",
  });
  expect(status).toBe(0);
  expect(stdout).not.toMatch(/^\+ (kill|umount|nft)/m);
  expect(stdout).toContain("Kept: /nowhere/data, /etc/orbit");
  expect(stdout).not.toContain("+ rm -rf /var/lib");
});

test.each([
  ["install.sh", ["--what"]],
  ["uninstall.sh", ["--what"]],
])("%s refuses an option it does not know", (script, args) => {
  const { status, stderr } = run(script, args);
  expect(status).toBe(1);
  expect(stderr).toContain("unknown option --what");
});

test("uninstall.sh refuses a cgroup root that is everybody's", () => {
  const { status, stderr } = run("uninstall.sh", ["--dry-run"], {
    ORBIT_CGROUP_ROOT: "/",
  });
  expect(status).toBe(1);
  expect(stderr).toContain("ORBIT_CGROUP_ROOT");
});

test("an installation below another root and its removal leave that root as it was", () => {
  const destination = directory();
  const env = { DESTDIR: destination };
  if (!fs.existsSync(path.join(root, "dist/orbit.js")))
    execFileSync(process.execPath, [path.join(root, "tools/build.mjs")]);
  expect(run("install.sh", [], env)).toMatchObject({ status: 0, stderr: "" });
  expect(
    fs.readFileSync(
      path.join(destination, "etc/systemd/system/orbit.service"),
      "utf8",
    ),
  ).toBe(fs.readFileSync(path.join(root, "systemd/orbit.service"), "utf8"));
  expect(fs.readlinkSync(path.join(destination, "usr/local/bin/orbit"))).toBe(
    "/usr/local/lib/orbit/bin/orbit",
  );
  const installed = path.join(destination, "usr/local/lib/orbit/bin/orbit");
  expect(
    execFileSync(installed, ["--version"], { encoding: "utf8" }),
  ).toContain("orbit");
  // Twice is an upgrade.
  expect(run("install.sh", [], env)).toMatchObject({ status: 0 });
  expect(run("uninstall.sh", [], env)).toMatchObject({ status: 0, stderr: "" });
  const left = fs
    .readdirSync(destination, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory());
  expect(left).toEqual([]);
}, 60_000);

describe("the unit", () => {
  const unit = fs.readFileSync(
    path.join(root, "systemd/orbit.service"),
    "utf8",
  );
  test.each([
    "Type=notify",
    "NotifyAccess=main",
    "KillMode=process",
    "Delegate=yes",
    "Restart=always",
    "WatchdogSec=60s",
    "TasksMax=infinity",
    "WantedBy=multi-user.target",
    "ExecStart=/usr/local/bin/orbit server $ORBIT_OPTIONS",
  ])("%s", (line) => expect(unit.split("\n")).toContain(line));
});

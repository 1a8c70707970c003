// What installing and removing would do, step by step, and the unit file: held against fixtures, so that a change to
// either is seen. UPDATE_FIXTURES=1 writes them anew.
import { execFileSync, spawn, spawnSync } from "node:child_process";
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

/**
 * Runs a script where /etc and /var/lib hold what another cluster of the default directories made, in namespaces of its own
 * for mounts and the network: what other suites do to this machine meanwhile is not seen.
 */
function runBesideCluster(script: string, args: string[], env: object) {
  const place = directory();
  const preparation = `
    set -e
    for name in etc var/lib; do
      mkdir -p "${place}/$name/upper" "${place}/$name/work"
      mount -t overlay overlay -o "lowerdir=/$name,upperdir=${place}/$name/upper,workdir=${place}/$name/work" "/$name"
    done
    mount -t tmpfs tmpfs /run
    mkdir -p /etc/cni/net.d /etc/orbit/manifests /var/lib/cni/networks/orbit \
      /var/lib/orbit/agent/pods/0a0b0c /var/lib/orbitlet/pods/0d0e0f
    echo '{"plugins":[{"ipam":{"ranges":[[{"subnet": "10.42.0.0/24"}]]}}]}' >/etc/cni/net.d/99-orbit.conflist
    touch /var/lib/cni/networks/orbit/10.42.0.7
    # Should a real cluster of this machine have listed it.
    rm -f /var/lib/orbit/machine-files /var/lib/orbitlet/machine-files
    exec sh "$@"`;
  const result = spawnSync(
    "unshare",
    [
      ...[
        "--mount",
        "--net",
        "--propagation",
        "private",
        "sh",
        "-c",
        preparation,
        "sh",
      ],
      ...[path.join(root, "systemd", script), ...args],
    ],
    {
      env: { PATH: process.env["PATH"], ...env },
      encoding: "utf8",
    },
  );
  return { status: result.status, plan: result.stdout, stderr: result.stderr };
}

test.each(["containerd", "docker"])(
  "the plan of a removal touches nothing but the cluster of the data directory, on %s",
  (runtime) => {
    const data = directory();
    const network = path.join(data, runtime, "cni/net.d");
    fs.mkdirSync(network, { recursive: true });
    fs.writeFileSync(
      path.join(network, "99-orbit.conflist"),
      '{"subnet": "10.211.3.0/24"},\n{"subnet": "fd42:7::/64"}',
    );
    fs.writeFileSync(
      path.join(data, "machine-files"),
      "/etc/cni/net.d/x.conf\n",
    );
    const { status, plan, stderr } = runBesideCluster(
      "uninstall.sh",
      ["--dry-run", "--keep-data"],
      { ORBIT_DATA_DIR: data, ORBIT_CGROUP_ROOT: "/orbit-nowhere" },
    );
    expect(stderr).toBe("");
    expect(status).toBe(0);
    expect(plan).not.toMatch(/^\+ (kill|umount)/m);
    expect(plan.match(/^\+ nft .*/gm)).toEqual([
      "+ nft delete table ip orbit-pods-10-211-3-0-24",
      "+ nft delete table ip orbit-ports-10-211-3-0-24",
      "+ nft delete table ip orbit-share-10-211-3-0-24",
      "+ nft delete table arp orbit-pods-10-211-3-0-24",
      "+ nft delete table ip orbit-proxy-10-211-3-0-24",
      "+ nft delete table ip6 orbit-proxy-10-211-3-0-24",
      "+ nft delete table inet orbit-policy-10-211-3-0-24",
      "+ nft delete table inet orbit-lb-10-211-3-0-24",
      // As the program names them: what is no digit becomes one dash.
      "+ nft delete table ip6 orbit-pods-fd42-7-64",
      "+ nft delete table ip6 orbit-ports-fd42-7-64",
      "+ nft delete table ip6 orbit-share-fd42-7-64",
      "+ nft delete table ip orbit-proxy-fd42-7-64",
      "+ nft delete table ip6 orbit-proxy-fd42-7-64",
      "+ nft delete table inet orbit-policy-fd42-7-64",
      "+ nft delete table inet orbit-lb-fd42-7-64",
    ]);
    expect(plan).toContain(`Kept: ${data}, /etc/orbit`);
    expect(plan).not.toMatch(
      /^\+ .*(99-orbit|10\.42|\/var\/lib\/orbit|0a0b0c|0d0e0f)/m,
    );
  },
);

test("the removal of the main cluster takes what the cluster listed, and no other configuration of that name", () => {
  const { status, plan } = runBesideCluster("uninstall.sh", ["--dry-run"], {
    ORBIT_CGROUP_ROOT: "/orbit-nowhere",
  });
  expect(status).toBe(0);
  // Nothing is listed in DATA/machine-files: the file is another's.
  expect(plan).not.toContain("/etc/cni/net.d");
  expect(plan).toMatch(/^\+ rm -rf \/var\/lib\/orbit /m);
});

test("a process that only mentions the data directory is not ended, nor is the caller", () => {
  const data = directory();
  fs.mkdirSync(path.join(data, "containerd"));
  const config = path.join(data, "containerd/config.toml");
  const bystander = spawn(
    "sh",
    ["-c", "sleep 60; :", "containerd", "--config", config],
    { detached: true, stdio: "ignore" },
  );
  // A program of that name by what it executes.
  const program = path.join(directory(), "containerd");
  fs.copyFileSync("/bin/sleep", program);
  fs.chmodSync(program, 0o755);
  const own = spawn(program, ["60"], {
    argv0: `containerd --config ${config}`,
    stdio: "ignore",
  });
  try {
    const { status, stdout } = spawnSync(
      "sh",
      [
        "-c",
        `sh ${root}/systemd/uninstall.sh --dry-run --keep-data; : containerd --config ${config}`,
      ],
      {
        env: {
          PATH: process.env["PATH"],
          ORBIT_DATA_DIR: data,
          ORBIT_CGROUP_ROOT: "/orbit-nowhere",
        },
        encoding: "utf8",
      },
    );
    expect(status).toBe(0);
    expect([...new Set(stdout.match(/^\+ kill .*/gm))]).toEqual([
      `+ kill -TERM ${own.pid}`,
      `+ kill -KILL ${own.pid}`,
    ]);
  } finally {
    own.kill("SIGKILL");
    process.kill(-bystander.pid!, "SIGKILL");
  }
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
});

describe("the unit", () => {
  const unit = fs.readFileSync(
    path.join(root, "systemd/orbit.service"),
    "utf8",
  );
  test.each([
    "Type=notify",
    "NotifyAccess=main",
    "KillMode=process",
    "RestartPreventExitStatus=1",
    "LimitCORE=0:infinity",
    "WorkingDirectory=-/var/lib/orbit",
    "Restart=always",
    "WatchdogSec=60s",
    "TasksMax=infinity",
    "WantedBy=multi-user.target",
    "ExecStart=/usr/local/bin/orbit server $ORBIT_OPTIONS",
  ])("%s", (line) => expect(unit.split("\n")).toContain(line));
});

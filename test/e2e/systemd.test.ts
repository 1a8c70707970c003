// The service under a live systemd: installed, restarted, killed, halted and booted again, upgraded and removed, first
// with a private containerd, then with the machine's own. Each test goes on from where the one before ended.
import * as fs from "node:fs";
import * as path from "node:path";
import type { Pod } from "../../api/types/core-v1.ts";
import { busyboxImageTar } from "../support/busybox-image.ts";
import { eventually, patience } from "../support/eventually.ts";
import {
  createSystemdMachine,
  type SystemdMachine,
} from "../support/systemd-machine/systemd-machine.ts";

/** A pod that was waited for would take systemd's minute and a half. */
const mostHaltMs = 60_000 * patience;
let machine: SystemdMachine;
/** What the machine looked like before anything was installed. */
let before: string;
const times: string[] = [];

beforeAll(async () => {
  machine = await createSystemdMachine();
  fs.copyFileSync(
    await busyboxImageTar(),
    path.join(machine.var, "busybox.tar"),
  );
  await timed("boot", () => machine.boot());
  before = await leftOnMachine();
});
afterAll(async () => {
  await machine?.clean();
  process.stdout.write(`${times.join("\n")}\n`);
});

async function timed<T>(what: string, work: () => Promise<T>): Promise<number> {
  const startMs = performance.now();
  await work();
  const tookMs = performance.now() - startMs;
  times.push(`      ${what}: ${(tookMs / 1000).toFixed(1)} s`);
  return tookMs;
}

const sh = (script: string): Promise<string> => machine.sh(script);

/** Everything a removal has to take away, sorted. */
function leftOnMachine(): Promise<string> {
  return sh(`
    find /etc /usr/local /var/lib/cni /var/log/pods /var/log/containers /run/netns -not -path '*/machine-id' 2>/dev/null
    ls -d /run/orbit* /var/lib/orbit* 2>/dev/null
    find /sys/fs/cgroup -name 'orbit*' 2>/dev/null
    ip -brief link | cut -d ' ' -f 1; ip route
    nft list ruleset; grep -c orbit /proc/mounts; systemctl list-unit-files 'orbit*' --no-legend
    ps -eo comm= | grep -E '^(node|containerd|runc|pause|sleep)'; true`).then(
    (text) => text.split("\n").sort().join("\n"),
  );
}

function property(name: string, unit = "orbit"): Promise<string> {
  return sh(`systemctl show --property=${name} --value ${unit}`);
}

const install = "sh /opt/orbit/systemd/install.sh";

function manifest(name: string, spec: object): string {
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name },
    spec: {
      ...spec,
      volumes: [{ name: "out", hostPath: { path: "/var/out" } }],
    },
  });
}

const container = (command: string[], more: object = {}): object => ({
  name: "main",
  image: "busybox",
  imagePullPolicy: "IfNotPresent",
  command,
  volumeMounts: [{ name: "out", mountPath: "/out" }],
  ...more,
});

/** Writes a word with the time in seconds to the log that all pods share. */
const note = (word: string): string =>
  `echo $(cut -d " " -f 1 /proc/uptime) ${word} >>/out/log`;

/** Waits for TERM, writes it down and goes. */
const obedient = (name: string): string[] => [
  ...["/bin/sh", "-c"],
  `trap '${note(`${name}-term`)}; exit 0' TERM; while :; do sleep 0.1; done`,
];

/** One that ignores TERM, one with a preStop hook, one that the system needs. */
async function startPods(): Promise<void> {
  await sh("orbit image load /var/busybox.tar; mkdir -p /var/out");
  const pods = {
    stubborn: manifest("stubborn", {
      containers: [container(["sleep", "100001"])],
    }),
    tidy: manifest("tidy", {
      terminationGracePeriodSeconds: 4,
      containers: [
        container(obedient("tidy"), {
          lifecycle: {
            preStop: {
              exec: { command: ["/bin/sh", "-c", note("tidy-preStop")] },
            },
          },
        }),
      ],
    }),
  };
  for (const [name, text] of Object.entries(pods))
    await sh(`cat >/etc/orbit/manifests/${name}.json <<'EOF'\n${text}\nEOF`);
  const critical = manifest("critical", {
    priorityClassName: "system-node-critical",
    terminationGracePeriodSeconds: 2,
    containers: [container(obedient("critical"))],
  });
  await eventually(
    async () =>
      (
        await machine.run(
          `orbitctl -n kube-system apply -f - <<'EOF'\n${critical}\nEOF`,
        )
      ).code === 0,
    { what: "the critical pod to be accepted", intervalMs: 300 },
  );
}

/** Running and ready pods with their restart counts, by name. */
async function runningPods(): Promise<Record<string, number>> {
  const { stdout } = await machine.run("orbitctl get pods -A -o json");
  const { items } = JSON.parse(stdout) as { items: Pod[] };
  return Object.fromEntries(
    items
      .filter(({ status }) => status?.containerStatuses?.[0]?.ready)
      .map(({ metadata, status }) => [
        metadata.name,
        status!.containerStatuses![0]!.restartCount,
      ]),
  );
}

async function podsRun(restarts: number): Promise<void> {
  const wanted = {
    critical: restarts,
    "stubborn-guest": restarts,
    "tidy-guest": restarts,
  };
  let seen: unknown;
  await eventually(
    async () => {
      seen = await runningPods();
      return JSON.stringify(sorted(seen as object)) === JSON.stringify(wanted);
    },
    { timeoutMs: 80_000, intervalMs: 200, what: "the pods to run" },
  ).catch(() => expect(seen).toEqual(wanted));
}

function sorted(object: object): object {
  return Object.fromEntries(Object.entries(object).sort());
}

/** The first processes of the pods' containers: the same ones as long as nothing was started again. */
function podProcesses(): Promise<string> {
  return sh(
    `ps --ppid "$(pgrep -d , -f containerd-shim)" -o pid=,args= | grep -E ' (sleep 100001|/bin/sh -c trap)' | cut -c 1-30`,
  );
}

/** A process of the service that is active, another than `not`. */
async function newMainProcess(not: string): Promise<void> {
  await eventually(
    async () => {
      const [pid, state] = (
        await sh("systemctl show --property=MainPID,ActiveState --value orbit")
      ).split("\n");
      return state === "active" && pid !== not && pid;
    },
    { timeoutMs: 80_000, intervalMs: 100, what: "the service to be active" },
  );
}

/** What the pods wrote while they ended, without the times. */
function endings(): { atMs: number; word: string }[] {
  return fs
    .readFileSync(path.join(machine.var, "out/log"), "utf8")
    .trim()
    .split("\n")
    .map((line) => {
      const [at, word] = line.split(" ");
      return { atMs: Number(at) * 1000, word: word! };
    });
}

async function haltInOrder(): Promise<void> {
  fs.rmSync(path.join(machine.var, "out/log"), { force: true });
  const haltMs = await timed("halt with pods", () => machine.halt());
  expect(haltMs).toBeLessThan(mostHaltMs);
  const [first, second, third, ...more] = endings();
  expect([first?.word, second?.word, third?.word, ...more]).toEqual([
    "tidy-preStop",
    "tidy-term",
    "critical-term",
  ]);
  // The stubborn pod used up the time of the ordinary ones; the critical one ended after it.
  expect(third!.atMs - second!.atMs).toBeGreaterThan(1000);
}

async function uninstall(): Promise<string> {
  // The caller's command line mentions what the removal looks for.
  const output = await sh(
    "sh /usr/local/lib/orbit/systemd/uninstall.sh; : containerd --config /var/lib/orbit/containerd/config.toml",
  );
  expect(await leftOnMachine()).toBe(before);
  expect(await sh("systemctl list-units --failed --no-legend 'orbit*'")).toBe(
    "",
  );
  return output;
}

test("install.sh starts the service, which says how it is", async () => {
  await timed("install.sh", () => sh(install));
  expect(await property("SubState")).toBe("running");
  expect(await property("StatusText")).toBe("ready; 0 of 0 pods run");
  expect(await sh("cat /var/lib/orbit/runtime-endpoint")).toBe(
    "unix:///var/lib/orbit/containerd/run/containerd.sock",
  );
  await timed("pods", async () => {
    await startPods();
    await podsRun(0);
  });
});

test("the memory with the keys is never written to a core", async () => {
  const pid = await property("MainPID");
  const limits = await sh(`cat /proc/${pid}/limits`);
  expect(limits).toMatch(/Max core file size +0 +/);
  expect(await sh(`readlink /proc/${pid}/cwd`)).toBe("/var/lib/orbit");
});

test.each<[string, string]>([
  ["a restart", "systemctl restart orbit"],
  ["kill -9 of the daemon", "kill -9 $MAIN"],
  ["the end of all processes of the service", "systemctl kill -s KILL orbit"],
  ["systemd's own restart", "systemctl daemon-reexec; kill -9 $MAIN"],
  ["a daemon that hangs: the watchdog", "kill -STOP $MAIN"],
])("pods run through %s", async (_what, action) => {
  await sh(`mkdir -p /run/systemd/system/orbit.service.d
      printf '[Service]\\nWatchdogSec=5s\\nRestartSec=200ms\\n' >/run/systemd/system/orbit.service.d/fast.conf
      systemctl daemon-reload`);
  const pods = await podProcesses();
  const containerd = await sh("pgrep -o -x containerd");
  let pid = await property("MainPID");
  if (action.includes("STOP")) {
    // The time counts from the start of the process.
    await sh("systemctl restart orbit");
    pid = await property("MainPID");
  }
  await sh(action.replace("$MAIN", pid));
  await newMainProcess(pid);
  expect(await podProcesses()).toBe(pods);
  expect(await sh("pgrep -o -x containerd")).toBe(containerd);
  // Those that the ended one had started to follow the kernel's reports.
  expect(await sh("pgrep -P 1 -fa '^(ip|nft) .*monitor' || true")).toBe("");
  expect(
    await sh("find / /var -xdev -maxdepth 3 -name 'core*' -size +1M"),
  ).toBe("");
});

test("a wrong option is not tried again; the journal names it", async () => {
  await sh("echo 'ORBIT_OPTIONS=--nonsense' >/etc/orbit/orbit.env");
  const { code } = await machine.run("systemctl restart orbit");
  expect(code).not.toBe(0);
  expect(await property("ActiveState")).toBe("failed");
  expect(await property("ExecMainStatus")).toBe("1");
  expect(await property("NRestarts")).toBe("0");
  expect(await sh("journalctl --unit orbit --lines 5 --output cat")).toContain(
    "unknown flag: --nonsense",
  );
  await sh("rm /etc/orbit/orbit.env");
});

test("a missing dependency is tried again, ever more slowly, until it is there", async () => {
  await sh(
    `systemctl reset-failed orbit
    systemd-run --quiet --unit=holder node -e 'require("net").createServer().listen(6443, "0.0.0.0")'
    until grep -q ':192B 00000000:0000 0A ' /proc/net/tcp; do sleep 0.1; done`,
  );
  expect((await machine.run("systemctl start orbit")).code).not.toBe(0);
  await eventually(
    async () =>
      /^trying again in \d+ s: .*6443/.test(await property("StatusText")),
    { timeoutMs: 60_000, intervalMs: 100, what: "the reason in the status" },
  );
  await sh("systemctl stop holder");
  await newMainProcess("0");
  await podsRun(0);
});

test("a containerd that is installed later is left alone", async () => {
  const pods = await podProcesses();
  await sh("systemctl enable --now containerd; systemctl restart orbit");
  await podsRun(0);
  expect(await podProcesses()).toBe(pods);
  expect(await sh("ctr -n k8s.io containers list -q")).toBe("");
});

test("an upgrade that fails goes back to the version before, and shows why", async () => {
  const pods = await podProcesses();
  const version = await sh("orbit --version");
  await sh(`cp -R /opt/orbit /var/broken
    sed -i '1a process.stderr.write("starting\\\\n".repeat(30) + "this build is broken\\\\n"); process.exit(70);' /var/broken/dist/orbit.js`);
  const { code, stdout, stderr } = await machine.run(
    "sh /var/broken/systemd/install.sh",
  );
  await sh("rm -rf /var/broken");
  expect(code).toBe(1);
  expect(stdout).toContain("this build is broken");
  expect(stderr).toContain("the version before runs again");
  expect(await property("SubState")).toBe("running");
  expect(await sh("orbit --version")).toBe(version);
  expect(await sh("ls -d /usr/local/lib/orbit*")).toBe("/usr/local/lib/orbit");
  expect(await podProcesses()).toBe(pods);
  // And one that does not fail.
  await sh(install);
  await podsRun(0);
  expect(await podProcesses()).toBe(pods);
});

test("when the machine halts pods end in order, and come back after the boot", async () => {
  await haltInOrder();
  await timed("boot until the pods run", async () => {
    await machine.boot();
    await podsRun(1);
  });
  expect((await podProcesses()).split("\n")).toHaveLength(3);
});

test("uninstall.sh leaves the machine as it was", async () => {
  // What it is to leave: the machine's own containerd, which the test has started.
  await sh("systemctl disable --now containerd");
  await timed("uninstall.sh", () => uninstall());
});

describe("with the machine's containerd", () => {
  test("the first start uses it, and a boot where it is late too", async () => {
    await sh("systemctl enable --now containerd");
    await sh(install);
    expect(await sh("cat /var/lib/orbit/runtime-endpoint")).toBe(
      "unix:///run/containerd/containerd.sock",
    );
    await startPods();
    await podsRun(0);
    await sh(`mkdir -p /etc/systemd/system/containerd.service.d
      printf '[Service]\\nExecStartPre=/bin/sleep 2\\n' >/etc/systemd/system/containerd.service.d/late.conf`);
    await haltInOrder();
    await timed("boot with a late containerd until the pods run", async () => {
      await machine.boot();
      await podsRun(1);
    });
    expect((await podProcesses()).split("\n")).toHaveLength(3);
    expect(await sh("ls /var/lib/orbit")).not.toContain("containerd");
  });

  test("uninstall.sh ends its pods there, and names the images that stay", async () => {
    await sh("rm -r /etc/systemd/system/containerd.service.d");
    const output = await sh(
      "sh /usr/local/lib/orbit/systemd/uninstall.sh; systemctl disable --now containerd",
    );
    expect(output).toMatch(/Images stay .*busybox/);
    expect(await leftOnMachine()).toBe(before);
  });
});

// What the node agent wants of its machine: --fail-swap-on, --fail-cgroupv1, --oom-score-adj,
// --max-open-files, --lock-file. The programs run in mount
// namespaces of their own, in which the machine is another.
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs";
import * as path from "node:path";
import { masqueradeTable } from "../../../network/pods/masquerade.ts";
import { neighborTable } from "../../../network/pods/neighbor-limit.ts";
import { eventually } from "../../support/eventually.ts";
import { freePodRange, freePorts } from "../../support/free-port.ts";
import {
  startPrivateRuntime,
  type PrivateRuntime,
} from "../../support/private-runtime.ts";
import { runCommand } from "../../support/kubectl.ts";
import { announce } from "../../support/run/run-state.ts";
import { orbitProgram } from "../../support/start-orbit.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const directories = useTempDirectories();
const podRange = freePodRange();
const tables = [`ip ${masqueradeTable(podRange)}`, neighborTable(podRange)];
let runtime: PrivateRuntime;
let child: ChildProcess | undefined;
/** What the last program has written so far. */
let lastText = "";
const contention = "--exit-on-lock-contention";

beforeAll(async () => {
  for (const table of tables) announce("nft", table);
  runtime = await startPrivateRuntime({ image: false });
});
afterAll(async () => {
  for (const table of tables)
    await runCommand("nft", ["delete", "table", ...table.split(" ")]);
  await runtime.dispose();
});
afterEach(async () => {
  if (child?.exitCode === null) {
    const ended = new Promise((resolve) => child!.once("exit", resolve));
    child.kill("SIGTERM");
    await ended;
  }
});

/** Runs it after `prepare` until it is ready or has ended; the text is all it wrote. */
async function run(
  prepare: string,
  program: "agent" | "server",
  ...argv: string[]
): Promise<{ code: number | null; text: string; pid: number }> {
  const directory = directories();
  const [port, secure, healthz] = await freePorts(3);
  const places =
    program === "agent"
      ? [
          `--root-dir=${directory}`,
          "--read-only-port=0",
          `--pod-cidr=${podRange}`,
        ]
      : [
          `--data-dir=${directory}/data`,
          `--manifests=${directory}/manifests`,
          "--write-kubeconfig=",
          "--store=memory",
          "--controllers-port=0",
          // The rules of the default range may be those of a cluster that runs on this machine.
          "--disable=proxy,dns,network-policy,ingress",
          `--cluster-cidr=${podRange}`,
          `--secure-port=${secure}`,
        ];
  const started = (child = spawn(
    "unshare",
    [
      "--mount",
      "sh",
      "-c",
      `${prepare} exec "$@"`,
      "sh",
      process.execPath,
      orbitProgram,
      program,
      ...places,
      `--port=${port}`,
      `--healthz-port=${healthz}`,
      `--container-runtime-endpoint=${runtime.daemon.endpoint}`,
      `--cgroup-root=${runtime.cgroupParent}`,
      ...argv,
    ],
    { stdio: ["ignore", "pipe", "pipe"] },
  ));
  let text = (lastText = "");
  for (const stream of [started.stdout!, started.stderr!])
    stream.on("data", (chunk: Buffer) => (lastText = text += chunk.toString()));
  // What it wrote last may come after its end.
  let hasClosed = false;
  started.once("close", () => (hasClosed = true));
  await eventually(() => /ready in [\d.]+s/.test(text) || hasClosed, {
    timeoutMs: 60_000,
    what: `orbit ${program}`,
  });
  return { code: started.exitCode, text, pid: started.pid! };
}

const withSwap = (): string => {
  const file = path.join(directories(), "swaps");
  fs.writeFileSync(
    file,
    "Filename\tType\tSize\tUsed\tPriority\n/dev/some-swap partition 1000 0 -2\n",
  );
  return `mount --bind ${file} /proc/swaps &&`;
};
const refusal =
  /running with swap on .*--fail-swap-on to false: \/dev\/some-swap/;

test("orbit agent refuses a machine with swap, unless it may have it", async () => {
  const refused = await run(withSwap(), "agent");
  expect(refused.text).toMatch(refusal);
  expect(refused.code).toBe(1);
  const accepted = await run(withSwap(), "agent", "--fail-swap-on=false");
  expect(accepted.code).toBeNull();
});

test("orbit server starts on it, unless it is asked not to", async () => {
  const accepted = await run(withSwap(), "server");
  expect(accepted.code).toBeNull();
  child!.kill("SIGTERM");
  const refused = await run(withSwap(), "server", "--fail-swap-on");
  expect(refused.text).toMatch(refusal);
  expect(refused.code).toBe(1);
});

test("--fail-cgroupv1, as flag and as field: no cgroup v2, no start", async () => {
  const oldCgroups = "mount -t tmpfs none /sys/fs/cgroup &&";
  const config = path.join(directories(), "k.yaml");
  fs.writeFileSync(
    config,
    "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nfailCgroupV1: true\n",
  );
  for (const option of ["--fail-cgroupv1", `--config=${config}`]) {
    const { code, text } = await run(oldCgroups, "agent", option);
    expect(text).toMatch(/--fail-cgroupv1: cgroup v1 is not supported/);
    expect(code).toBe(1);
  }
});

test("--lock-file: an agent waits for the lock, and ends when another waits for it", async () => {
  const lock = path.join(directories(), "agent.lock");
  const hold = (): ChildProcess =>
    spawn("flock", [lock, "sh", "-c", "echo; exec cat"], {
      stdio: ["pipe", "pipe", "inherit"],
    });
  const first = hold();
  await once(first.stdout!, "data");
  const waiting = run("", "agent", `--lock-file=${lock}`, contention);
  await eventually(() => /waiting for the lock/.test(lastText), {
    what: "the agent to wait",
  });
  expect(lastText).not.toMatch(/ready in/);
  first.stdin!.destroy();
  const { code } = await waiting;
  expect(code).toBeNull();
  const ended = once(child!, "exit");
  const next = hold();
  const taken = once(next.stdout!, "data");
  expect(await ended).toEqual([0, null]);
  expect(lastText).toMatch(/another waits for the lock/);
  await taken;
  next.stdin!.destroy();
});

test.each([
  [[contention], 1, /no lock file specified/],
  [["--lock-file=/nowhere/at/all"], 2, /unable to acquire file lock/],
])("%j is refused", async (argv, expected, problem) => {
  const { code, text } = await run("", "agent", ...argv);
  expect(text).toMatch(problem);
  expect(code).toBe(expected);
});

test("settings and state files that refuse the start are reported without a stack", async () => {
  const root = directories();
  const refuses = async (...argv: string[]): Promise<string> => {
    const { code, text } = await run(
      "",
      "agent",
      `--root-dir=${root}`,
      ...argv,
    );
    expect(code).toBe(1);
    const [report = ""] = /^error: .*$/m.exec(text) ?? [];
    expect(text.trimEnd().endsWith(report)).toBe(true);
    return report;
  };
  expect(await refuses("--cpu-manager-policy=static")).toBe(
    "error: the static policy requires systemreserved.cpu + kubereserved.cpu to be greater than zero",
  );
  for (const [name, manager] of [
    ["cpu_manager_state", "CPU"],
    ["memory_manager_state", "memory"],
  ] as const) {
    const file = path.join(root, name);
    fs.writeFileSync(file, '{"policyName":"other","checksum":1}');
    expect(await refuses()).toBe(
      `error: could not restore state from checkpoint: checkpoint is corrupted, please drain this node and delete the ${manager} manager checkpoint file "${file}" before restarting the agent`,
    );
    fs.rmSync(file);
  }
});

test("--oom-score-adj: the agent's own, -999 by default", async () => {
  const score = (pid: number): string =>
    fs.readFileSync(`/proc/${pid}/oom_score_adj`, "utf8").trim();
  const plain = await run("", "agent");
  // Lowering it takes a capability (SYS_RESOURCE) that not every machine gives to root.
  if (mayLower()) expect(score(plain.pid)).toBe("-999");
  else expect(plain.text).toMatch(/oom_score_adj can't be set.*-999/s);
  child!.kill("SIGTERM");
  const raised = await run(
    "",
    "agent",
    "--oom-score-adj=300",
    "--max-open-files=4000",
  );
  expect(score(raised.pid)).toBe("300");
  await eventually(() =>
    /^Max open files +4000 +4000 /m.test(
      fs.readFileSync(`/proc/${raised.pid}/limits`, "utf8"),
    ),
  );
});

function mayLower(): boolean {
  const status = fs.readFileSync("/proc/self/status", "utf8");
  const effective = BigInt(`0x${/^CapEff:\s*(\w+)/m.exec(status)![1]}`);
  return (effective & (1n << 24n)) !== 0n;
}

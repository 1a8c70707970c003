// What ends the pods when the machine halts: within their grace through the runtime, and without it when it is gone or
// hangs. What was stopped comes back with the next start of the server.
import * as fs from "node:fs";
import * as path from "node:path";
import { busyboxImageTar } from "../support/busybox-image.ts";
import { eventually } from "../support/eventually.ts";
import { startOrbit, type RunningOrbit } from "../support/start-orbit.ts";
import { stopProcess } from "../support/stop-process.ts";

let orbit: RunningOrbit;
const node = fs.readFileSync("/etc/hostname", "utf8").trim().toLowerCase();
/** What the tidy pod writes once it has ended by itself. */
const tidied = (): string => path.join(orbit.directory, "out/log");
/** So that it is found among all processes. */
const seconds = 70_000 + Math.floor(Math.random() * 10_000);

beforeAll(async () => {
  const tar = await busyboxImageTar();
  orbit = await startOrbit();
  await orbit.orbit([
    "image",
    "load",
    `--data-dir=${orbit.directory}/data`,
    tar,
  ]);
  fs.writeFileSync(
    path.join(orbit.manifests, "pod.json"),
    pod("stubborn", ["sleep", String(seconds)]),
  );
  fs.writeFileSync(
    path.join(orbit.manifests, "tidy.json"),
    pod("tidy", [
      ...["/bin/sh", "-c"],
      "trap 'sleep 0.2; echo tidied >/out/log; exit 0' TERM; while :; do sleep 0.1; done",
    ]),
  );
  await runs(0);
});
afterAll(() => orbit?.clean());

function pod(name: string, command: readonly string[]): string {
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name },
    spec: {
      containers: [
        {
          name: "main",
          image: "busybox",
          imagePullPolicy: "IfNotPresent",
          command,
          volumeMounts: [{ name: "out", mountPath: "/out" }],
        },
      ],
      volumes: [
        {
          name: "out",
          hostPath: {
            path: path.dirname(tidied()),
            type: "DirectoryOrCreate",
          },
        },
      ],
    },
  });
}

function containers(): string[] {
  return fs
    .readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return (
          fs.readFileSync(`/proc/${pid}/cmdline`, "utf8") ===
          `sleep\0${seconds}\0`
        );
      } catch {
        return false;
      }
    });
}

async function runs(restarts: number): Promise<void> {
  await eventually(
    async () => {
      const { stdout } = await orbit.kubectl([
        ...["get", "pods", "-o"],
        "jsonpath={range .items[*]}{.status.containerStatuses[0].ready} {.status.containerStatuses[0].restartCount};{end}",
      ]);
      return stdout === `true ${restarts};`.repeat(2);
    },
    { timeoutMs: 60_000, intervalMs: 100, what: `restart ${restarts}` },
  );
  expect(containers()).toHaveLength(1);
}

/** An ordinary pod has the first less the second to end by itself. */
function stopPods(
  periods: readonly [all: string, critical: string] = ["2s", "1s"],
): ReturnType<RunningOrbit["orbit"]> {
  return orbit.orbit([
    "stop-pods",
    `--data-dir=${orbit.directory}/data`,
    `--cgroup-root=/${path.basename(orbit.directory)}`,
    `--shutdown-grace-period=${periods[0]}`,
    `--shutdown-grace-period-critical-pods=${periods[1]}`,
  ]);
}

test("a pod that ignores TERM is ended after the grace, and comes back", async () => {
  await orbit.stop();
  expect(containers()).toHaveLength(1);
  // A runtime on a busy machine has time to tear down what was ended.
  const { code, stdout } = await stopPods(["31s", "30s"]);
  expect(stdout.trim().split("\n").sort()).toEqual(
    ["stubborn", "tidy"].map((name) => `stopped default/${name}-${node}`),
  );
  expect(fs.existsSync(tidied())).toBe(true);
  expect(code).toBe(0);
  expect(containers()).toEqual([]);
  orbit = await orbit.restart();
  await runs(1);
});

test.each(["hangs", "is gone"])("also when the runtime %s", async (what) => {
  const restarts = what === "hangs" ? 1 : 2;
  await runs(restarts);
  fs.rmSync(tidied(), { force: true });
  await orbit.stop();
  const pid = orbit.runtimePid();
  if (what === "hangs") await stopProcess(pid);
  else process.kill(pid, "SIGKILL");
  const { code, stderr } = await stopPods();
  expect(stderr).toContain("ending the pods' processes without their runtime");
  expect(code).toBe(2);
  await eventually(() => containers().length === 0, {
    what: "the pod to end",
  });
  // It was told, and given a moment, although the time was over when the runtime was given up.
  expect(fs.existsSync(tidied())).toBe(true);
  if (what === "hangs") process.kill(pid, "SIGCONT");
  orbit = await orbit.restart();
  await runs(restarts + 1);
});

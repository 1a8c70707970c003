// Pod rounds with the real parts: `orbit server` with containerd, killed at crash points of the pod worker. The next one
// takes the pods up: a container that ran goes on, and each runs exactly once.
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { busyboxImageTar } from "../support/busybox-image.ts";
import { eventually } from "../support/eventually.ts";
import { startOrbit, type RunningOrbit } from "../support/start-orbit.ts";
import { useTempDirectories } from "../support/temp-directory.ts";
import { churnPods } from "./pods/churn.ts";
import { Random } from "./random.ts";
import { Runner } from "./runner.ts";

const tempDirectory = useTempDirectories();
const runner = new Runner(path.join(__dirname, "../.."));
let orbit: RunningOrbit;
let planFile: string;
let output: string;

beforeAll(async () => {
  const tar = await busyboxImageTar();
  planFile = path.join(tempDirectory(), "plan");
  output = tempDirectory();
  orbit = await startOrbit({
    program: ["--require", runner.preload, runner.server()],
    env: { ORBIT_CRASH_POINT_FILE: planFile },
    readyTimeoutMs: 60_000,
  });
  const loaded = await orbit.orbit([
    ...["image", "load", `--data-dir=${orbit.directory}/data`, tar],
  ]);
  expect(loaded.code).toBe(0);
});

afterAll(async () => {
  await orbit?.clean();
  runner.close();
});

/** Its container writes a line when it begins. */
const manifest = (name: string, policy: string, command: string): string => `
apiVersion: v1
kind: Pod
metadata: {name: ${name}}
spec:
  restartPolicy: ${policy}
  terminationGracePeriodSeconds: 1
  volumes: [{name: out, hostPath: {path: ${output}}}]
  containers:
  - name: main
    image: busybox
    imagePullPolicy: IfNotPresent
    command: [sh, -c, "echo $(date +%s%N) >> /out/${name}; ${command}"]
    volumeMounts: [{name: out, mountPath: /out}]
`;

const runs = (name: string): string[] => {
  try {
    const text = fs.readFileSync(path.join(output, name), "utf8");
    return text.split("\n").slice(0, -1);
  } catch {
    return [];
  }
};

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

async function phase(name: string): Promise<string> {
  const node = os.hostname().toLowerCase();
  const { stdout } = await orbit.kubectl([
    ...["get", "pod", `${name}-${node}`, "-o", "jsonpath={.status.phase}"],
  ]);
  return stdout;
}

/** Plans the kill, does what leads to it, waits for it, and starts the server again. */
async function killedAt(point: string, lead: () => void): Promise<void> {
  fs.writeFileSync(planFile, `${point}:1`);
  lead();
  await eventually(() => !isAlive(orbit.pid), {
    timeoutMs: 60_000,
    what: `the kill at ${point}`,
  });
  fs.rmSync(planFile);
  orbit = await orbit.restart();
}

describe.each([
  "podworker.sandbox.made",
  "podworker.container.created",
  "podworker.container.started",
])("killed at %s", (point) => {
  const suffix = point.replaceAll(/[^a-z]/g, "");

  test.each([
    ["Always", "exec sleep 3600", "Running"],
    ["Never", "exit 0", "Succeeded"],
  ])(
    "a pod with the policy %s runs once",
    async (policy, command, end) => {
      const name = `${suffix}-${policy.toLowerCase()}`;
      const file = path.join(orbit.manifests, `${name}.yaml`);
      await killedAt(point, () =>
        fs.writeFileSync(file, manifest(name, policy, command)),
      );
      await eventually(async () => (await phase(name)) === end, {
        timeoutMs: 60_000,
        intervalMs: 100,
        what: `${name} to be ${end}`,
      }).catch((error: Error) => {
        throw new Error(`${error.message}\n${orbit.log().slice(-4000)}`);
      });
      // It is said to run a moment before it writes.
      await eventually(() => runs(name).length > 0);
      expect(runs(name)).toHaveLength(1);
    },
    180_000,
  );
});

test("a pod that is being ended when the server is killed goes, and only that one", async () => {
  const goes = path.join(orbit.manifests, "goes.yaml");
  fs.writeFileSync(goes, manifest("goes", "Always", "exec sleep 3600"));
  await eventually(
    async () => (await phase("goes")) === "Running" && runs("goes").length > 0,
    { timeoutMs: 60_000 },
  );
  await killedAt("podworker.end.ended", () => fs.rmSync(goes));
  await eventually(async () => (await phase("goes")) === "", {
    timeoutMs: 60_000,
    what: "the pod to go",
  });
  expect(runs("goes")).toHaveLength(1);
  expect(runs("podworkersandboxmade-always")).toHaveLength(1);
}, 180_000);

test("pods come and go while the server is killed: nothing runs twice, nothing is left", async () => {
  for (const name of fs.readdirSync(orbit.manifests))
    fs.rmSync(path.join(orbit.manifests, name));
  const result = await churnPods(orbit, { kills: 3, random: new Random(11) });
  orbit = result.orbit;
  expect(result.pods).toBeGreaterThan(4);
  expect(result.broken).toEqual([]);
}, 180_000);

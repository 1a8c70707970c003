// Pods come and go on a real `orbit server`, with containerd or Docker, while the server is killed again and again. Looked at
// past the server, on the runtime and the machine: never two ready sandboxes of one pod, never two running containers of one
// name in a pod, containers of pods that stay are never started again, and in the end nothing is left of any pod: sandboxes,
// containers, directories, mounts, cgroups, addresses.
import * as fs from "node:fs";
import * as path from "node:path";
import pino from "pino";
import { openRuntime } from "../../../cri/open-runtime.ts";
import type { Runtime } from "../../../cri/runtime.ts";
import { eventually } from "../../support/eventually.ts";
import type { RunningOrbit } from "../../support/start-orbit.ts";
import type { Random } from "../random.ts";

interface ChurnOptions {
  readonly kills: number;
  readonly random: Random;
  readonly onKill?: (count: number) => void;
}

export interface ChurnResult {
  /** The instance that runs in the end. */
  readonly orbit: RunningOrbit;
  readonly broken: readonly string[];
  readonly pods: number;
}

const mostPods = 6;
const uidLabel = "io.kubernetes.pod.uid";
const nameLabel = "io.kubernetes.pod.name";

export async function churnPods(
  started: RunningOrbit,
  { kills, random, onKill }: ChurnOptions,
): Promise<ChurnResult> {
  const { directory, manifests } = started;
  const runtime = await openRuntime({
    endpoint: fs
      .readFileSync(path.join(directory, "data/runtime-endpoint"), "utf8")
      .trim(),
    ensureSandboxImage: false,
    logger: pino({ level: "silent" }),
  });
  await runtime.start();
  const watch = watchRuntime(runtime);
  const wanted = new Map<string, string>();
  let orbit = started;
  let pods = 0;
  const change = (): void => {
    if (wanted.size > 0 && (wanted.size >= mostPods || random.chance(0.45))) {
      const name = random.pick([...wanted.keys()]);
      wanted.delete(name);
      fs.rmSync(path.join(manifests, `${name}.yaml`));
      return;
    }
    const name = `churn-${pods++}`;
    const text = manifest(name, random);
    wanted.set(name, text);
    fs.writeFileSync(path.join(manifests, `${name}.yaml`), text);
  };
  try {
    fs.writeFileSync(
      path.join(manifests, "stays.yaml"),
      manifest("stays", random),
    );
    await eventually(() => watch.starts("stays") > 0, {
      timeoutMs: 60_000,
      what: "the pod that stays",
    });
    for (let kill = 0; kill < kills; kill++) {
      const untilMs = performance.now() + 100 + random.integer(1500);
      while (performance.now() < untilMs) {
        change();
        await pause(random.integer(250));
      }
      await orbit.stop("SIGKILL");
      onKill?.(kill + 1);
      if (random.chance(0.5)) change();
      orbit = await orbit.restart();
    }
    if (watch.starts("stays") > 1)
      watch.broken.add("the pod that stays was started again");
    for (const name of ["stays", ...wanted.keys()])
      fs.rmSync(path.join(manifests, `${name}.yaml`));
    const left = await leftOvers(runtime, directory);
    for (const what of left) watch.broken.add(`left: ${what}`);
  } finally {
    await watch.stop();
    await runtime.stop();
  }
  return { orbit, broken: [...watch.broken], pods };
}

const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, ms));

/** Of several forms: on the pod network, with sidecars, with volumes in memory, ending by itself, deaf to TERM. */
function manifest(name: string, random: Random): string {
  const untilTerm = "trap 'exit 0' TERM; sleep 3600 & wait";
  const deaf = "trap '' TERM; while :; do sleep 1; done";
  const command =
    name === "stays"
      ? untilTerm
      : random.pick([untilTerm, untilTerm, deaf, "sleep 1", "exit 1"]);
  const sidecar = `
  initContainers:
  - name: beside
    image: busybox
    imagePullPolicy: IfNotPresent
    restartPolicy: Always
    command: [sh, -c, "${untilTerm}"]`;
  return `
apiVersion: v1
kind: Pod
metadata: {name: ${name}}
spec:
  terminationGracePeriodSeconds: 1
  restartPolicy: ${command === "sleep 1" || command === "exit 1" ? "Never" : "Always"}
  volumes: [{name: scratch, emptyDir: {medium: Memory}}]${random.chance(0.3) ? sidecar : ""}
  containers:
  - name: main
    image: busybox
    imagePullPolicy: IfNotPresent
    command: [sh, -c, "${command}"]
    volumeMounts: [{name: scratch, mountPath: /scratch}]
`;
}

interface Watch {
  readonly broken: Set<string>;
  /** How many containers of the pod were ever seen to run. */
  starts(pod: string): number;
  stop(): Promise<void>;
}

function watchRuntime(runtime: Runtime): Watch {
  const broken = new Set<string>();
  const started = new Map<string, Set<string>>();
  let watching = true;
  const twice = (names: readonly string[], what: string): void => {
    const seen = new Set<string>();
    for (const name of names) {
      if (seen.has(name)) broken.add(`two ${what} of ${name}`);
      seen.add(name);
    }
  };
  const look = async (): Promise<void> => {
    const sandboxes = await runtime.listPodSandboxes();
    const containers = await runtime.listContainers();
    twice(
      sandboxes
        .filter(({ ready }) => ready)
        .map(({ labels }) => labels[uidLabel] ?? ""),
      "ready sandboxes",
    );
    const running = containers.filter(({ state }) => state === "running");
    twice(
      running.map(({ labels, name }) => `${labels[uidLabel]}/${name}`),
      "running containers",
    );
    for (const { labels, id, name } of running) {
      // Static pods are named after their node as well.
      const pod = (labels[nameLabel] ?? "").split("-").slice(0, -1).join("-");
      if (name !== "main") continue;
      const ids = started.get(pod) ?? new Set();
      started.set(pod, ids.add(id));
    }
  };
  const loop = (async () => {
    while (watching) {
      // The runtime outlives the server; it may be slow.
      await look().catch(() => undefined);
      await pause(40);
    }
  })();
  return {
    broken,
    starts: (pod) =>
      [...started].find(([name]) => name.startsWith(pod))?.[1].size ?? 0,
    async stop() {
      watching = false;
      await loop;
    },
  };
}

/** What is still there after a while. */
async function leftOvers(
  runtime: Runtime,
  directory: string,
): Promise<string[]> {
  let found: string[] = [];
  const untilMs = performance.now() + 60_000;
  do {
    await pause(200);
    found = [
      ...(await runtime.listPodSandboxes()).map(({ id }) => `sandbox ${id}`),
      ...(await runtime.listContainers()).map(({ id }) => `container ${id}`),
      ...names(path.join(directory, "data/agent/pods"), /./, "directory"),
      ...names(path.join(directory, "data/agent/memory"), /./, "secrets"),
      ...["containerd", "docker"].flatMap((kind) =>
        names(
          path.join(directory, `data/${kind}/cni/leases/orbit`),
          /^[\d.]+$/,
          "address",
        ),
      ),
      ...names(path.join(directory, "data/docker/networks"), /./, "network"),
      ...cgroups(path.basename(directory)),
      ...mounts(directory),
    ];
  } while (found.length > 0 && performance.now() < untilMs);
  return found;
}

function names(directory: string, form: RegExp, what: string): string[] {
  if (!fs.existsSync(directory)) return [];
  return fs
    .readdirSync(directory)
    .filter((name) => form.test(name))
    .map((name) => `${what} ${name}`);
}

function cgroups(root: string): string[] {
  // Where there is one hierarchy it begins at the mount itself.
  return ["", ...fs.readdirSync("/sys/fs/cgroup")].flatMap((controller) =>
    ["", "burstable", "besteffort"].flatMap((level) =>
      names(
        path.join("/sys/fs/cgroup", controller, root, level),
        /^pod/,
        `cgroup of ${controller || "all controllers"}`,
      ),
    ),
  );
}

function mounts(directory: string): string[] {
  return fs
    .readFileSync("/proc/self/mountinfo", "utf8")
    .split("\n")
    .map((line) => line.split(" ")[4] ?? "")
    .filter(
      (place) =>
        place.startsWith(`${directory}/data/agent/pods/`) ||
        place.startsWith(`${directory}/data/agent/memory/`),
    )
    .map((place) => `mount ${place}`);
}

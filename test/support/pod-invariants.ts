// What must hold of pods whatever fails, seen past the agent on the runtime and the machine: never two ready sandboxes of a
// pod, never two running containers of one name in it, and nothing left of pods that are gone.
import * as fs from "node:fs";
import * as path from "node:path";
import { controllerRoot } from "./cgroups.ts";
import type { Runtime } from "../../cri/runtime.ts";

const uidLabel = "io.kubernetes.pod.uid";

export interface PodWatch {
  /** What was seen and must never be. */
  readonly broken: ReadonlySet<string>;
  stop(): Promise<void>;
}

/** Lists sandboxes and containers every 50 ms; a list that fails is left out. */
export function watchPods(runtime: Runtime): PodWatch {
  const broken = new Set<string>();
  const twice = (names: readonly string[]): void => {
    const seen = new Set<string>();
    for (const name of names) {
      if (seen.has(name)) broken.add(`two ${name}`);
      seen.add(name);
    }
  };
  let watching = true;
  const look = async (): Promise<void> => {
    const [sandboxes, containers] = await Promise.all([
      runtime.listPodSandboxes(),
      runtime.listContainers(),
    ]);
    twice(
      sandboxes
        .filter(({ ready }) => ready)
        .map(({ labels }) => `ready sandboxes of ${labels[uidLabel]}`),
    );
    twice(
      containers
        .filter(({ state }) => state === "running")
        .map(
          ({ labels, name }) =>
            `running containers ${name} of ${labels[uidLabel]}`,
        ),
    );
  };
  const loop = (async () => {
    while (watching) {
      await look().catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  })();
  return {
    broken,
    async stop() {
      watching = false;
      await loop;
    },
  };
}

/**
 * @param agentDirectory The agent's root directory.
 * @returns A line for each sandbox, container, directory, cgroup and mount of any pod.
 */
export async function leftOfPods(
  runtime: Runtime,
  agentDirectory: string,
  cgroupRoot: string,
): Promise<string[]> {
  return [
    ...(await runtime.listPodSandboxes()).map(({ id }) => `sandbox ${id}`),
    ...(await runtime.listContainers()).map(({ id }) => `container ${id}`),
    ...fs
      .readdirSync(path.join(agentDirectory, "pods"))
      .map((name) => `directory ${name}`),
    ...cgroupsOfPods(cgroupRoot),
    ...fs
      .readFileSync("/proc/self/mountinfo", "utf8")
      .split("\n")
      .filter((line) => line.includes(`${agentDirectory}/`))
      .filter((line) => /\/(?:pods|memory)\/[^ ]/.test(line)),
  ];
}

function cgroupsOfPods(cgroupRoot: string): string[] {
  const root = path.join(controllerRoot("memory"), cgroupRoot);
  const entries = fs.existsSync(root)
    ? fs.readdirSync(root, { recursive: true, encoding: "utf8" })
    : [];
  return entries
    .filter((name) => /(^|\/)pod[^/]+$/.test(name))
    .map((name) => `cgroup ${name}`);
}

// Containers that do not behave: deaf to TERM, forking without end, leaving zombies, ending at once, filling memory and
// writing logs as fast as they can.
import * as fs from "node:fs";
import type { Agent } from "../../../agent/agent.ts";
import type { Pod, PodStatus } from "../../../api/types/core-v1.ts";
import { controllerRoot } from "../../support/cgroups.ts";
import { eventually } from "../../support/eventually.ts";
import {
  busyboxPod,
  podOf,
  startNode,
  type NodeFixture,
} from "./node-fixture.ts";

let node: NodeFixture;
let agent: Agent;
beforeAll(async () => {
  node = await startNode();
  agent = node.agent({
    config: {
      nodeName: "test-node",
      podMaxPids: 40,
      containerLogMaxSizeBytes: 1 << 20,
      containerLogMaxFiles: 3,
      containerLogBudget: String(3 << 20),
    },
  });
  await agent.start();
});
afterAll(async () => {
  await node?.close();
});

const status = (name: string): PodStatus | undefined =>
  podOf(agent, `${name}-test-node`)?.status;
const isReady = (name: string): boolean =>
  status(name)?.containerStatuses?.[0]?.ready === true;

async function run(pod: Pod): Promise<void> {
  await node.writePod(`${pod.metadata.name}.json`, pod);
  await eventually(() => isReady(pod.metadata.name), {
    timeoutMs: 60_000,
    what: `${pod.metadata.name} to be ready`,
  });
}

/** Resolves to how long it took. */
async function end(name: string): Promise<number> {
  const startedMs = performance.now();
  fs.rmSync(`${node.manifests}/${name}.json`);
  await eventually(() => !podOf(agent, `${name}-test-node`), {
    timeoutMs: 30_000,
    what: `${name} to go`,
  });
  return performance.now() - startedMs;
}

const exec = async (name: string, script: string): Promise<string> => {
  const id = status(name)!.containerStatuses![0]!.containerID!;
  const { stdout } = await node.runtime.execSync(
    id.replace(/^.*\/\//, ""),
    ["sh", "-c", script],
    60_000,
  );
  return stdout.toString("utf8").trim();
};

test("deaf to TERM: killed when the grace is over, two seconds at least", async () => {
  await run(busyboxPod("deaf", "trap '' TERM; while :; do sleep 1; done"));
  const tookMs = await end("deaf");
  expect(tookMs).toBeGreaterThan(1900);
  expect((await node.runtime.listContainers()).length).toBe(0);
});

test("forking without end: held to the pod's processes, the others go on, and all of it goes", async () => {
  await run(busyboxPod("calm", "sleep 1000"));
  await run(
    busyboxPod(
      "forks",
      "trap 'kill -9 -1' TERM; f() { while :; do sleep 1000 & sleep 0.01; done; }; f",
    ),
  );
  const processes = (): number => {
    const root = `${controllerRoot("pids")}${node.cgroupRoot}`;
    return fs
      .readdirSync(root, { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith("pids.current"))
      .map((file) => Number(fs.readFileSync(`${root}/${file}`, "utf8")))
      .reduce((most, count) => Math.max(most, count), 0);
  };
  await eventually(() => processes() >= 39, { what: "the limit" });
  expect(isReady("calm")).toBe(true);
  expect(await exec("calm", "echo still here")).toBe("still here");
  await end("forks");
  await end("calm");
  await eventually(async () => {
    const left = await node.runtime.listPodSandboxes();
    return left.length === 0;
  });
});

test("zombies are taken by the sandbox where processes are shared", async () => {
  await run(
    busyboxPod(
      "zombies",
      "for i in 1 2 3 4 5; do (sh -c 'sleep 0.1' &) ; done; sleep 1000",
      { shareProcessNamespace: true },
    ),
  );
  await eventually(
    async () =>
      (await exec(
        "zombies",
        "cat /proc/[0-9]*/stat | grep -c ') Z ' || true",
      )) === "0",
    { what: "no zombies" },
  );
  expect(await exec("zombies", "cat /proc/1/comm")).not.toBe("sh");
  await end("zombies");
});

test("one that ended at once keeps what it said last", async () => {
  const pod = busyboxPod("short", "printf bye > /dev/termination-log; exit 3", {
    restartPolicy: "Never",
  });
  await node.writePod("short.json", pod);
  await eventually(() => status("short")?.phase === "Failed", {
    timeoutMs: 60_000,
  });
  expect(
    status("short")?.containerStatuses?.[0]?.state?.terminated,
  ).toMatchObject({ exitCode: 3, message: "bye", reason: "Error" });
  await end("short");
});

test("writing 20 MB/s of logs: rotated, and all logs within their budget", async () => {
  // Each writes 20 MB in a second or more.
  const script =
    "i=0; while [ $i -lt 20 ]; do head -c 1000000 /dev/zero | tr '\\0' x | fold -w 999; i=$((i+1)); sleep 0.05; done; echo done > /tmp/done; sleep 1000";
  for (const name of ["loud", "louder"]) await run(busyboxPod(name, script));
  const sizes = (): Map<string, number> =>
    new Map(
      fs
        .readdirSync(`${node.directory}/logs/pods`, {
          recursive: true,
          encoding: "utf8",
        })
        .filter((file) => /\.log(\.|$)/.test(file))
        .map((file) => [
          file,
          fs.statSync(`${node.directory}/logs/pods/${file}`, {
            throwIfNoEntry: false,
          })?.size ?? 0,
        ]),
    );
  // How soon a look follows is shown with a fake clock (log-budget.test.ts): here the writer may wait for a processor.
  let before = 0;
  await eventually(
    () => {
      const now = Math.max(0, ...sizes().values());
      const isShorter = now < before;
      before = now;
      return isShorter;
    },
    { intervalMs: 50, what: "the first rotation" },
  );
  await eventually(
    async () => {
      const written = await Promise.all(
        ["loud", "louder"].map((name) =>
          exec(name, "cat /tmp/done 2>/dev/null || true"),
        ),
      );
      return written.every((text) => text === "done");
    },
    { timeoutMs: 60_000, intervalMs: 200, what: "all to be written" },
  );
  await eventually(
    () => {
      const all = [...sizes().values()];
      const total = all.reduce((sum, size) => sum + size, 0);
      return total <= 3 << 20;
    },
    { timeoutMs: 30_000, what: "the budget" },
  );
  await end("loud");
  await end("louder");
});

test("filling its memory: killed, said so and started again, while the others go on", async () => {
  await run(busyboxPod("calm", "sleep 1000"));
  const pod = busyboxPod("greedy", "sleep 0.2; tail /dev/zero");
  pod.spec.containers[0]!.resources = { limits: { memory: "16Mi" } };
  await node.writePod("greedy.json", pod);
  await eventually(
    () => {
      const [container] = status("greedy")?.containerStatuses ?? [];
      return (
        (container?.restartCount ?? 0) > 0 &&
        container?.lastState?.terminated?.reason === "OOMKilled"
      );
    },
    { timeoutMs: 30_000, what: "the kill" },
  );
  expect(await exec("calm", "echo still here")).toBe("still here");
  await end("greedy");
  await end("calm");
});

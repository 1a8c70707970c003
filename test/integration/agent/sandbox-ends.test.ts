// A pod whose sandbox is killed again and again, on a real runtime: each replacement waits longer, dead sandboxes and their
// addresses go, and the pod runs when it is let live.
import * as fs from "node:fs";
import * as path from "node:path";
import { pino } from "pino";
import { objectProblems } from "../../../apiserver-lite/object-rules.ts";
import { createAgent, type Agent } from "../../../agent/agent.ts";
import type { SandboxStatus } from "../../../cri/runtime.ts";
import { eventually } from "../../support/eventually.ts";
import {
  startPrivateRuntime,
  type PrivateRuntime,
} from "../../support/private-runtime.ts";
import { sendSignal } from "../../support/processes.ts";
import { busyboxPod, podOf } from "./node-fixture.ts";

let part: PrivateRuntime;
let agent: Agent;

beforeAll(async () => {
  part = await startPrivateRuntime();
  const { directory, runtime, cgroupParent } = part;
  const manifests = path.join(directory, "manifests");
  fs.mkdirSync(manifests);
  agent = createAgent({
    runtime,
    rules: objectProblems,
    logger: pino({ level: "silent" }),
    config: {
      nodeName: "test-node",
      nodeIPs: ["127.0.0.1"],
      manifestsDirectory: manifests,
      rootDirectory: path.join(directory, "agent"),
      podLogsDirectory: path.join(directory, "logs/pods"),
      containerLogsDirectory: path.join(directory, "logs/containers"),
      cgroupRoot: cgroupParent,
    },
  });
  await agent.start();
  fs.writeFileSync(
    path.join(manifests, "web.json"),
    JSON.stringify(busyboxPod("web", "sleep 1000", { hostNetwork: false })),
  );
});
afterAll(async () => {
  await agent?.stop();
  await part?.dispose();
});

async function readySandboxBeside(
  killed: readonly string[],
): Promise<SandboxStatus & { pid: number }> {
  return await eventually(
    async () => {
      const found = (await part.runtime.listPodSandboxes()).find(
        ({ id, ready }) => ready && !killed.includes(id),
      );
      const status =
        found && (await part.runtime.podSandboxStatus(found.id, true));
      return status?.pid ? { ...status, pid: status.pid } : undefined;
    },
    { what: "another sandbox", timeoutMs: 30_000 },
  );
}

const leases = (): string[] =>
  fs
    .readdirSync(path.join(part.directory, "ipam"), { recursive: true })
    .map((name) => path.basename(String(name)))
    .filter((name) => /^\d+\.\d+\.\d+\.\d+$/.test(name));

test("a sandbox that is killed is replaced after growing pauses, and what is dead is removed", async () => {
  const killed: string[] = [];
  let killedAtMs = 0;
  for (const pauseMs of [0, 0, 1000, 2000]) {
    const sandbox = await readySandboxBeside(killed);
    expect(sandbox.createdAtMs - killedAtMs).toBeGreaterThanOrEqual(pauseMs);
    killed.push(sandbox.id);
    killedAtMs = Date.now();
    sendSignal(sandbox.pid, "SIGKILL");
  }
  const last = await readySandboxBeside(killed);
  expect(last.createdAtMs - killedAtMs).toBeGreaterThanOrEqual(4000);
  // Its container may have begun in several of the sandboxes that were killed: each counts as a crash, and delays it.
  const address = await eventually(
    async () => {
      const { ips } = await readySandboxBeside(killed);
      const status = podOf(agent, "web-test-node")?.status;
      const state = status?.containerStatuses?.[0]?.state;
      if (state?.running && status?.podIP === ips[0]) return ips[0];
      throw new Error(JSON.stringify({ ips, status }));
    },
    { what: "the pod to run", timeoutMs: 90_000 },
  );
  // A dead container keeps its sandbox, which has no address any more.
  await eventually(
    async () => (await part.runtime.listPodSandboxes()).length < 5,
    { what: "dead sandboxes to go" },
  );
  await eventually(() => leases().join() === address, {
    what: "addresses to be given back",
  });
});

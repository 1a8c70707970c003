// A containerd that stands still (SIGSTOP) accepts connections and never answers. The agent's clock runs twenty times as
// fast here.
import * as fs from "node:fs";
import * as path from "node:path";
import { systemClock, type Clock } from "../../../api/clock.ts";
import { eventually } from "../../support/eventually.ts";
import { stopProcess } from "../../support/stop-process.ts";
import {
  busyboxPod,
  podOf,
  startNode,
  type NodeFixture,
} from "./node-fixture.ts";

const speed = 20;
const fastClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now() * speed,
  after: (delayMs, callback) => systemClock.after(delayMs / speed, callback),
};
let node: NodeFixture;
beforeAll(async () => {
  node = await startNode();
});
afterAll(async () => {
  await node?.close();
});

test("it is noticed, nobody waits for it, and all goes on when it does", async () => {
  const agent = node.agent({ clock: fastClock });
  await agent.start();
  await node.writePod("p.json", busyboxPod("p", "sleep 1000"));
  const status = () => podOf(agent, "p-test-node")?.status;
  await eventually(() => status()?.containerStatuses?.[0]?.ready);
  await agent.healthy();
  const id = status()!.containerStatuses![0]!.containerID;
  const { pid } = JSON.parse(
    fs.readFileSync(
      path.join(node.directory, "containerd/containerd.json"),
      "utf8",
    ),
  ) as { pid: number };
  await stopProcess(pid);
  try {
    await expect(agent.statsSummary(false)).rejects.toThrow(
      /did not answer in 10 s/,
    );
    await expect(agent.runningPods()).rejects.toThrow(/did not answer/);
    await eventually(
      () =>
        agent.healthy().then(
          () => false,
          (error: Error) => /container runtime is down/.test(error.message),
        ),
      { timeoutMs: 15_000, what: "the problem" },
    );
  } finally {
    process.kill(pid, "SIGCONT");
  }
  await eventually(() => agent.healthy().then(() => true), {
    what: "recovery",
  });
  await agent.statsSummary(false);
  expect(status()!.containerStatuses![0]).toMatchObject({
    containerID: id,
    restartCount: 0,
  });
  await agent.stop();
}, 60_000);

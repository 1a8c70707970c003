// A runtime that is stopped (SIGSTOP) accepts connections and never answers. The agent's clock runs faster here.
import { systemClock, type Clock } from "../../../api/clock.ts";
import { eventually } from "../../support/eventually.ts";
import { runtimeKinds } from "../../support/private-runtime.ts";
import { stopProcess } from "../../support/stop-process.ts";
import {
  busyboxPod,
  podOf,
  startNode,
  type NodeFixture,
} from "./node-fixture.ts";

/** Docker takes longer to answer than a twentieth of the time. */
const speed = runtimeKinds[0] === "docker" ? 5 : 20;
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
  const pid = node.daemonPid;
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
      { what: "the problem" },
    );
  } finally {
    process.kill(pid, "SIGCONT");
  }
  await eventually(() => agent.healthy().then(() => true), {
    what: "recovery",
  });
  await eventually(() => agent.statsSummary(false), { what: "statistics" });
  expect(status()!.containerStatuses![0]).toMatchObject({
    containerID: id,
    restartCount: 0,
  });
  await agent.stop();
});

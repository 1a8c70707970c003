// kill -9 of the runtime's daemon, containerd or dockerd, under pods that run, that are being started and that are being
// deleted. What ran goes on in the containers it had; what ended meanwhile is reported and started again by its policy; no
// pod has two sandboxes or runs a container twice; of deleted pods nothing is left. TEST_PODS sets how many there are.
import * as fs from "node:fs";
import * as path from "node:path";
import type { Agent } from "../../../agent/agent.ts";
import type { ContainerStatus, Pod } from "../../../api/types/core-v1.ts";
import { eventually } from "../../support/eventually.ts";
import {
  leftOfPods,
  watchPods,
  type PodWatch,
} from "../../support/pod-invariants.ts";
import { runtimeKinds } from "../../support/private-runtime.ts";
import {
  busyboxPod,
  podOf,
  startNode,
  type NodeFixture,
} from "./node-fixture.ts";

const count = Number(process.env["TEST_PODS"] ?? 6);
const untilTerm = "trap 'exit 0' TERM; sleep 1000 & wait";
const timeoutMs = 60_000;

describe.each(runtimeKinds)("%s", (kind) => {
  let node: NodeFixture;
  let agent: Agent;
  let watch: PodWatch;

  beforeAll(async () => {
    node = await startNode(kind);
    fs.mkdirSync(path.join(node.directory, "out"));
    agent = node.agent();
    await agent.start();
    watch = watchPods(node.runtime);
  });
  afterAll(async () => {
    await watch?.stop();
    await node?.close();
  });

  const find = (name: string): Pod | undefined =>
    podOf(agent, `${name}-test-node`);
  const container = (name: string): ContainerStatus | undefined =>
    find(name)?.status?.containerStatuses?.[0];
  const isReady = (name: string): boolean => container(name)?.ready === true;
  const names = (prefix: string): string[] =>
    Array.from({ length: count }, (_, index) => `${prefix}-${index}`);
  const write = (name: string, pod = busyboxPod(name, untilTerm)) =>
    node.writePod(`${name}.json`, pod);
  const remove = (name: string): void =>
    fs.rmSync(path.join(node.manifests, `${name}.json`));
  const allReady = async (wanted: readonly string[]): Promise<void> => {
    await eventually(() => wanted.every(isReady), {
      timeoutMs,
      what: "the pods to be ready",
    });
  };
  const idsOf = (wanted: readonly string[]): (string | undefined)[] =>
    wanted.map((name) => container(name)?.containerID);
  const restartsOf = (wanted: readonly string[]): (number | undefined)[] =>
    wanted.map((name) => container(name)?.restartCount);
  const killed = () => node.runtimeAway({ killed: true });

  /** Its container ends with this code as soon as the file `name` is in the node's directory `out`, and removes the file. */
  const endsOnFile = (name: string, code: number): Pod => {
    const file = `/out/${name}`;
    const pod = busyboxPod(
      name,
      `while [ ! -e ${file} ]; do sleep 0.1; done; rm ${file}; exit ${code}`,
      {
        volumes: [
          { name: "out", hostPath: { path: path.join(node.directory, "out") } },
        ],
      },
    );
    pod.spec.containers[0]!.volumeMounts = [{ name: "out", mountPath: "/out" }];
    return pod;
  };

  test("under running pods: they go on, and what happened meanwhile is caught up on", async () => {
    const stay = names("stay");
    for (const name of stay) await write(name);
    await write("again", endsOnFile("again", 7));
    const over = endsOnFile("over", 3);
    over.spec.restartPolicy = "Never";
    await write("over", over);
    await write("goes");
    await allReady([...stay, "again", "over", "goes"]);
    const ids = idsOf(stay);
    const [before] = idsOf(["again"]);

    const away = await killed();
    for (const name of ["again", "over"]) {
      const file = path.join(node.directory, "out", name);
      fs.writeFileSync(file, "");
      await eventually(() => !fs.existsSync(file), {
        what: `${name} to end without its runtime`,
      });
    }
    remove("goes");
    await write("comes");
    await away.start();

    await allReady([...stay, "comes"]);
    await eventually(() => find("goes") === undefined, {
      timeoutMs,
      what: "the removed pod to go",
    });
    await eventually(() => find("over")?.status?.phase === "Failed", {
      timeoutMs,
      what: "the pod that ended to be over",
    });
    await eventually(
      () => isReady("again") && container("again")?.restartCount === 1,
      { timeoutMs, what: "the container that ended to run again" },
    );
    expect(container("over")).toMatchObject({
      restartCount: 0,
      state: { terminated: { exitCode: 3, reason: "Error" } },
    });
    expect(container("again")).toMatchObject({
      lastState: { terminated: { exitCode: 7, containerID: before } },
    });
    expect(idsOf(stay)).toEqual(ids);
    expect(restartsOf(stay)).toEqual(stay.map(() => 0));
    for (const name of ["again", "over", "comes"]) remove(name);
  }, 150_000);

  test("while pods are started: each runs once, and those that ran go on", async () => {
    const stay = names("stay");
    const ids = idsOf(stay);
    const come = names("come");
    for (const name of come) await write(name);
    await eventually(() => find(come[0]!) !== undefined, { what: "the pods" });
    const away = await killed();
    await away.start();
    await allReady([...stay, ...come]);
    expect(idsOf(stay)).toEqual(ids);
    expect(restartsOf(stay)).toEqual(stay.map(() => 0));
  }, 150_000);

  test("while pods are deleted: all go, and nothing is left", async () => {
    const before = agent.pods().length;
    for (const file of fs.readdirSync(node.manifests))
      fs.rmSync(path.join(node.manifests, file));
    await eventually(() => agent.pods().length < before, {
      timeoutMs,
      what: "the first to go",
    });
    const away = await killed();
    await away.start();
    await eventually(() => agent.pods().length === 0, {
      timeoutMs,
      what: "the pods to go",
    });
    await eventually(
      async () => {
        const left = await leftOfPods(
          node.runtime,
          path.join(node.directory, "agent"),
          node.cgroupRoot,
        );
        if (left.length > 0) throw new Error(left.join("\n"));
        return true;
      },
      { timeoutMs, what: "everything to be gone" },
    );
    expect([...watch.broken]).toEqual([]);
  }, 150_000);
});

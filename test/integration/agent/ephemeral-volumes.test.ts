// Generic ephemeral volumes on a node without an API server: made with the pod, kept over its containers and the agent's
// restart, new for the next pod of its name, and what can't be made is said.
import * as fs from "node:fs/promises";
import * as path from "node:path";
import type { Agent } from "../../../agent/agent.ts";
import type { Event, Pod } from "../../../api/types/core-v1.ts";
import { eventually } from "../../support/eventually.ts";
import {
  busyboxPod,
  podOf,
  startNode,
  type NodeFixture,
} from "./node-fixture.ts";

let node: NodeFixture;
let agent: Agent;

const startAgent = async (): Promise<Agent> => {
  const started = node.agent({ config: { nodeName: "test-node" } });
  await started.start();
  return started;
};
beforeAll(async () => {
  node = await startNode();
  agent = await startAgent();
});
afterAll(async () => {
  await node?.close();
});

function withVolume(name: string, script: string, storageClassName?: string) {
  const pod = busyboxPod(name, script, { restartPolicy: "Never" });
  pod.spec.volumes = [
    {
      name: "work",
      ephemeral: {
        volumeClaimTemplate: {
          metadata: { labels: { of: "test" } },
          spec: {
            accessModes: ["ReadWriteOnce"],
            resources: { requests: { storage: "1Mi" } },
            ...(storageClassName ? { storageClassName } : {}),
          },
        },
      },
    },
  ];
  pod.spec.containers[0]!.volumeMounts = [
    { name: "work", mountPath: "/volume" },
  ];
  return pod;
}

const phaseOf = (name: string): string | undefined =>
  podOf(agent, `${name}-test-node`)?.status?.phase;

async function ends(pod: Pod, phase: string): Promise<void> {
  const { name } = pod.metadata;
  await node.writePod(`${name}.yaml`, pod);
  await eventually(
    () => {
      if (phaseOf(name) === phase) return true;
      throw new Error(
        JSON.stringify(podOf(agent, `${name}-test-node`)?.status),
      );
    },
    { what: `${name} to be ${phase}` },
  );
}

const directories = (): Promise<string[]> =>
  fs.readdir(path.join(node.directory, "agent/local-path")).catch(() => []);

test("a pod has a volume of its own, and one that takes its place another one", async () => {
  const script = "test ! -e /volume/mark && touch /volume/mark";
  await ends(withVolume("own", script), "Succeeded");
  const [first] = await directories();
  expect(first).toMatch(/^pvc-/);
  // The next pod of the name finds nothing of the first.
  await ends(withVolume("own", `${script} && exit 3`), "Failed");
  const { status } = podOf(agent, "own-test-node")!;
  expect(status!.containerStatuses![0]!.state!.terminated!.exitCode).toBe(3);
  expect((await directories()).length).toBeGreaterThan(1);
});

test("the agent's restart keeps it", async () => {
  const pod = withVolume("kept", "touch /volume/mark; sleep 1000");
  await ends(pod, "Running");
  const before = await directories();
  await agent.stop();
  agent = await startAgent();
  await eventually(() => phaseOf("kept") === "Running");
  expect(await directories()).toEqual(before);
  await fs.rm(path.join(node.manifests, "kept.yaml"));
  await eventually(() => phaseOf("kept") === undefined);
});

test("a class that there is not is named, and the pod waits", async () => {
  const pod = withVolume("wrong", "true", "fast");
  await node.writePod("wrong.yaml", pod);
  const events = await eventually(() => {
    const events = (agent.directory?.objects("events") ?? []) as Event[];
    const found = events.filter(({ message }) =>
      message?.includes("volumeClaimTemplate"),
    );
    return found.length > 0 ? found : undefined;
  });
  expect(events[0]!.message).toContain(
    'volumeClaimTemplate.spec.storageClassName: Unsupported value: "fast"',
  );
  expect(phaseOf("wrong")).toBe("Pending");
});

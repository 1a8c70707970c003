// What only newer runtimes can: user namespaces of pods (containerd 2) and image volumes (2.1). The runtime at hand decides
// what is shown: a pod that runs with what it asked for, or its refusal by name.
import * as fs from "node:fs/promises";
import * as path from "node:path";
import type { Agent } from "../../../agent/agent.ts";
import type { Event, Pod } from "../../../api/types/core-v1.ts";
import { letMappedUsersThrough } from "../../../cli/parts/agent/mapped-users.ts";
import { busyboxImage } from "../../support/busybox-image.ts";
import { eventually } from "../../support/eventually.ts";
import { freePodRange } from "../../support/free-port.ts";
import {
  busyboxPod,
  podOf,
  startNode,
  type NodeFixture,
} from "./node-fixture.ts";

let node: NodeFixture;
let agent: Agent;
let isAble: boolean;
beforeAll(async () => {
  node = await startNode("containerd");
  await letMappedUsersThrough(path.dirname(node.directory), node.endpoint);
  await node.runtime.updatePodCidrs([freePodRange()]);
  const { handlers = [] } = await node.runtime.status();
  isAble = handlers.some(({ name, userNamespaces }) => !name && userNamespaces);
  agent = await startAgent();
});
afterAll(async () => {
  await node?.close();
});

async function startAgent(): Promise<Agent> {
  const started = node.agent({
    config: {
      nodeName: "test-node",
      featureGates: { UserNamespacesSupport: true, ImageVolume: true },
    },
  });
  await started.start();
  return started;
}

/** Writes a pod that shows its ids and those of the files it sees. */
async function writePod(name: string): Promise<void> {
  const pod = busyboxPod(
    name,
    "cat /proc/self/uid_map; stat -c %u /info/name /scratch /memory /etc/hosts; cat /info/name; echo; touch /scratch/made; sleep 3600",
    {
      hostNetwork: false,
      hostUsers: false,
      volumes: [
        {
          name: "info",
          downwardAPI: {
            items: [{ path: "name", fieldRef: { fieldPath: "metadata.name" } }],
          },
        },
        { name: "scratch", emptyDir: {} },
        { name: "memory", emptyDir: { medium: "Memory" } },
      ],
    },
  );
  pod.spec.containers[0]!.volumeMounts = pod.spec.volumes!.map((volume) => ({
    name: volume.name,
    mountPath: `/${volume.name}`,
  }));
  await node.writePod(`${name}.json`, pod);
}

async function running(name: string, restarts = 0): Promise<Pod> {
  return await eventually(
    () => {
      const pod = podOf(agent, `${name}-test-node`);
      const [status] = pod?.status?.containerStatuses ?? [];
      if (status?.state?.running && status.restartCount === restarts)
        return pod!;
      throw new Error(JSON.stringify([pod?.status, messages(name)]));
    },
    { what: `${name} to run`, timeoutMs: 60_000 },
  );
}

function messages(name: string): string[] {
  const events = (agent.directory?.objects("events") ?? []) as Event[];
  return events
    .filter(({ involvedObject }) => involvedObject.name === `${name}-test-node`)
    .map(({ reason, message }) => `${reason} ${message}`);
}

/** What the pod's container printed at its start, without the empty columns. */
async function printed({ metadata }: Pod, count = 6): Promise<string[]> {
  return await eventually(
    async () => {
      const stream = await agent.logs("default", metadata.name, {
        container: "main",
        follow: false,
        previous: false,
        timestamps: false,
      });
      let text = "";
      for await (const chunk of stream) text += String(chunk);
      const lines = text.trim().split("\n");
      expect(lines).toHaveLength(count);
      return lines.map((line) => line.trim().replace(/ +/g, " "));
    },
    { what: "the container's lines", timeoutMs: 30_000 },
  );
}

const recordOf = (pod: Pod): string =>
  path.join(node.directory, "agent/pods", pod.metadata.uid!, "userns");

test("a runtime that is not able is given no such pod; one that is runs it with ids of its own, over restarts", async () => {
  await writePod("one");
  if (!isAble) {
    const refusal =
      "FailedCreatePodSandBox Failed to create pod sandbox: can't set `spec.hostUsers: false`, runtime does not support user namespaces";
    await eventually(() => messages("one").includes(refusal), {
      what: "the refusal",
      timeoutMs: 60_000,
    });
    const made = await node.runtime.listPodSandboxes({
      "io.kubernetes.pod.name": "one-test-node",
    });
    expect(made).toEqual([]);
    return;
  }
  const one = await running("one");
  const lines = await printed(one);
  expect(lines[0]).toMatch(/^0 \d+ 65536$/);
  // Whom the host has as owners, the pod sees as its own root.
  expect(lines.slice(1)).toEqual(["0", "0", "0", "0", "one-test-node"]);
  const [, first] = lines[0]!.split(" ").map(Number);
  expect(first).toBeGreaterThanOrEqual(65_536);
  expect(JSON.parse(await fs.readFile(recordOf(one), "utf8"))).toMatchObject({
    uidMappings: [{ hostId: first }],
  });
  const made = path.join(
    path.dirname(recordOf(one)),
    "volumes/kubernetes.io~empty-dir/scratch/made",
  );
  expect((await fs.stat(made)).uid).toBe(0);

  await writePod("two");
  const other = await printed(await running("two"));
  expect(other[0]).not.toBe(lines[0]);

  await agent.stop();
  agent = await startAgent();
  await running("one");
  const [container] = await node.runtime.listContainers({
    labels: { "io.kubernetes.pod.name": "one-test-node" },
  });
  await node.runtime.stopContainer(container!.id, 0);
  expect(await printed(await running("one", 1))).toEqual(lines);
});

test("an image volume is mounted read-only, or its container is refused", async () => {
  const pod = busyboxPod(
    "volume",
    "test -x /image/bin/busybox && echo there; touch /image/new || echo read-only; sleep 3600",
    {
      volumes: [
        {
          name: "image",
          image: { reference: busyboxImage, pullPolicy: "Never" },
        },
      ],
    },
  );
  pod.spec.containers[0]!.volumeMounts = [
    { name: "image", mountPath: "/image" },
  ];
  await node.writePod("volume.json", pod);
  const { runtimeVersion } = await node.runtime.version();
  const [major = 0, minor = 0] = (/\d+\.\d+/.exec(runtimeVersion)?.[0] ?? "")
    .split(".")
    .map(Number);
  if (major > 2 || (major === 2 && minor >= 1)) {
    const lines = await printed(await running("volume"), 3);
    expect(lines.filter((line) => !line.startsWith("touch:"))).toEqual([
      "there",
      "read-only",
    ]);
    return;
  }
  const refusal = `CreateContainerError: containerd ${runtimeVersion} does not support image volumes: 2.1 or later is needed`;
  await eventually(
    () => {
      const found = podOf(agent, "volume-test-node")?.status;
      const waiting = found?.containerStatuses?.[0]?.state?.waiting;
      return waiting && `${waiting.reason}: ${waiting.message}` === refusal;
    },
    { what: "the refusal", timeoutMs: 60_000 },
  );
});

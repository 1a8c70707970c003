// A node whose file system for pods is really full, of inodes or of bytes: the pod that took them ends and what it had is
// given back, what the agent can't write is retried, and all goes on when there is room. A small tmpfs is the file system;
// images and containers lie elsewhere.
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import type { Agent, AgentOptions } from "../../../agent/agent.ts";
import { systemClock } from "../../../api/clock.ts";
import type { Event, Node, Pod } from "../../../api/types/core-v1.ts";
import type { Client } from "../../../client/client.ts";
import { createClient } from "../../../client/create-client.ts";
import { configMaps, events, nodes, pods } from "../../../client/resources.ts";
import { eventually } from "../../support/eventually.ts";
import { MemoryApi } from "../../support/memory-api.ts";
import {
  makeTempDirectory,
  removeTempDirectory,
} from "../../support/temp-directory.ts";
import { busyboxPod, startNode, type NodeFixture } from "./node-fixture.ts";

const timeoutMs = 30_000;
const inodes = 1000;
let node: NodeFixture;
let api: MemoryApi;
let client: Client;
let root: string;
let agent: Agent;

beforeAll(async () => {
  node = await startNode();
  root = makeTempDirectory("orbit-full-");
  execFileSync("mount", [
    ...["-t", "tmpfs", "-o", `size=4m,nr_inodes=${inodes}`, "tmpfs", root],
  ]);
  api = new MemoryApi(systemClock);
  client = createClient(api, { clock: systemClock, logger: node.logger });
});
afterAll(async () => {
  fs.rmSync(path.join(root, "fill"), { recursive: true, force: true });
  await node?.close();
  await client?.close();
  execFileSync("umount", ["-R", "-l", root]);
  removeTempDirectory(root);
});
afterEach(async () => {
  giveBack();
  await agent.stop();
});

async function start(config: Partial<AgentOptions["config"]>): Promise<void> {
  agent = node.agent({
    client,
    config: {
      nodeName: "test-node",
      rootDirectory: root,
      nodeStatusUpdateFrequencyMs: 500,
      evictionPressureTransitionPeriodMs: 500,
      ...config,
    },
  });
  await agent.start();
}

/** What no pod has written. */
function fillInodes(until: number): void {
  const directory = path.join(root, "fill");
  fs.mkdirSync(directory, { recursive: true });
  for (let index = 0; fs.statfsSync(root).ffree > until; index++)
    fs.writeFileSync(path.join(directory, `i${index}`), "");
}

function fillBytes(): void {
  const directory = path.join(root, "fill");
  fs.mkdirSync(directory, { recursive: true });
  const file = fs.openSync(path.join(directory, "bytes"), "w");
  const block = Buffer.alloc(4096, 1);
  try {
    for (;;) fs.writeSync(file, block);
  } catch (error) {
    expect(error).toMatchObject({ code: "ENOSPC" });
  } finally {
    fs.closeSync(file);
  }
}

function giveBack(): void {
  fs.rmSync(path.join(root, "fill"), { recursive: true, force: true });
}

const find = (name: string): Pod | undefined =>
  api.all<Pod>(pods).find(({ metadata }) => metadata.name === name);
const underPressure = (): boolean =>
  api
    .all<Node>(nodes)[0]
    ?.status?.conditions?.some(
      ({ type, status }) => type === "DiskPressure" && status === "True",
    ) ?? false;

async function create(pod: Pod): Promise<void> {
  await client
    .resource(pods)
    .create({ ...pod, spec: { ...pod.spec, nodeName: "test-node" } });
}

const phase = (name: string, wanted: string): Promise<Pod> =>
  eventually(
    () => {
      const pod = find(name);
      return pod?.status?.phase === wanted ? pod : undefined;
    },
    { timeoutMs, what: `${name} to be ${wanted}` },
  );

async function remove(name: string): Promise<void> {
  await client.resource(pods).delete(name, "default", {});
  await eventually(() => !find(name), { timeoutMs, what: `${name} to go` });
}

const withCache = (name: string, script: string): Pod => {
  const pod = busyboxPod(name, script, {
    volumes: [{ name: "cache", emptyDir: {} }],
  });
  pod.spec.containers[0]!.volumeMounts = [
    { name: "cache", mountPath: "/cache" },
  ];
  return pod;
};

test("a pod that takes all inodes ends, and the others have them again", async () => {
  await start({ evictionHard: { "nodefs.inodesFree": "20%" } });
  await node.writePod("static.json", busyboxPod("static", "sleep 1000"));
  await phase("static-test-node", "Running");
  await create(
    withCache("greedy", "cd /cache; seq 1 5000 | xargs touch; sleep 1000"),
  );
  const evicted = await phase("greedy", "Failed");
  expect(evicted.status).toMatchObject({ reason: "Evicted" });
  expect(evicted.status?.message).toMatch(
    /^The node was low on resource: inodes\. Threshold quantity: 200, available: \d+\./,
  );
  expect(evicted.status?.conditions).toContainEqual(
    expect.objectContaining({
      type: "DisruptionTarget",
      status: "True",
      reason: "TerminationByKubelet",
    }),
  );
  expect(agent.evictions().get("nodefs.inodesFree")).toBe(1);
  expect(find("static-test-node")?.status?.phase).toBe("Running");
  await eventually(() => fs.statfsSync(root).ffree > inodes / 2, {
    timeoutMs,
    what: "the inodes of its volume",
  });
  await eventually(() => !underPressure(), {
    timeoutMs,
    what: "the pressure to go",
  });
  await create(withCache("after", "touch /cache/x && sleep 1000"));
  await phase("after", "Running");
  await remove("greedy");
  await remove("after");
});

test.each([
  ["inodes", () => fillInodes(0), "Failed"],
  ["bytes", fillBytes, "FailedMount"],
])(
  "with all %s taken a pod waits and is reported; it runs when there is room",
  async (what, fill, wanted) => {
    // No threshold: nothing is ended before the file system is really full.
    await start({ evictionHard: {} });
    const name = `waits-${what}`;
    await node.writePod("static.json", busyboxPod("static", "sleep 1000"));
    await client.resource(configMaps).create({
      metadata: { name, namespace: "default" },
      data: { text: "x".repeat(10_000) },
    });
    await phase("static-test-node", "Running");
    const before = find("static-test-node")?.status?.containerStatuses?.[0];
    fill();
    await create(
      busyboxPod(name, "sleep 1000", {
        volumes: [{ name: "v", configMap: { name } }],
      }),
    );
    await eventually(
      () =>
        api
          .all<Event>(events)
          .some(
            ({ involvedObject, reason, message }) =>
              involvedObject.name === name &&
              reason === wanted &&
              /ENOSPC|no space left on device/.test(message ?? ""),
          ),
      { timeoutMs, what: "the event" },
    );
    expect(find(name)?.status?.phase ?? "Pending").toBe("Pending");
    giveBack();
    await phase(name, "Running");
    expect(
      find("static-test-node")?.status?.containerStatuses?.[0],
    ).toMatchObject({
      containerID: before?.containerID,
      restartCount: 0,
    });
    await remove(name);
  },
);

// Swap of pods under LimitedSwap, on a machine that has cgroups v2 alone and swap: only a Burstable container may be swapped
// out, by its share of the machine's memory, also after its memory was resized; the rest stays in memory. What is used is in
// the figures of the node. Elsewhere there is nothing to be seen.
import * as fs from "node:fs";
import * as path from "node:path";
import { systemClock } from "../../../api/clock.ts";
import type { Pod, ResourceRequirements } from "../../../api/types/core-v1.ts";
import { createClient } from "../../../client/create-client.ts";
import { pods } from "../../../client/resources.ts";
import { eventually } from "../../support/eventually.ts";
import { MemoryApi } from "../../support/memory-api.ts";
import { busyboxPod, startNode, type NodeFixture } from "./node-fixture.ts";

const mount = "/sys/fs/cgroup";
const mebibytes = 2 ** 20;

function bytesOf(name: string): number {
  const text = fs.readFileSync("/proc/meminfo", "utf8");
  const found = new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(text);
  return 1024 * Number(found?.[1] ?? 0);
}

const possible =
  fs.existsSync(path.join(mount, "cgroup.controllers")) &&
  bytesOf("SwapTotal") >= 512 * mebibytes;

let node: NodeFixture | undefined;
afterEach(async () => {
  await node?.close();
});

(possible ? test : test.skip)(
  "a container's part of the swap is what the kernel lets it have",
  async () => {
    const { cgroupRoot, agent: newAgent, logger } = (node = await startNode());
    const api = new MemoryApi(systemClock);
    const client = createClient(api, { clock: systemClock, logger });
    const agent = newAgent({
      client,
      config: {
        nodeName: "test-node",
        swapBehavior: "LimitedSwap",
        featureGates: { InPlacePodVerticalScaling: true },
      },
    });
    await agent.start();

    const run = async (
      name: string,
      script: string,
      resources: ResourceRequirements,
    ): Promise<void> => {
      const pod = busyboxPod(name, script);
      pod.spec.nodeName = "test-node";
      pod.spec.containers[0]!.resources = resources;
      await client.resource(pods).create(pod);
    };
    const find = (name: string): Pod | undefined =>
      api.all<Pod>(pods).find(({ metadata }) => metadata.name === name);
    const figure = async (name: string, file: string): Promise<number> => {
      const pod = await eventually(() => {
        const found = find(name);
        return found?.status?.containerStatuses?.[0]?.state?.running && found;
      });
      const { metadata, status } = pod!;
      const qos = status!.qosClass === "Guaranteed" ? "" : status!.qosClass!;
      const { containerID } = status!.containerStatuses![0]!;
      const directory = path.join(
        ...[mount, cgroupRoot, qos.toLowerCase(), `pod${metadata.uid!}`],
        containerID!.replace(/^.*:\/\//, ""),
      );
      return Number(fs.readFileSync(path.join(directory, file), "utf8"));
    };

    // dd keeps its one block, more than it may have in memory and less than that and its swap: nobody reads what it writes.
    // With Docker the limit is there when the container has started.
    const request = 64 * mebibytes;
    const share =
      Math.floor((request / bytesOf("MemTotal")) * bytesOf("SwapTotal")) &
      ~4095;
    const limit = 72 * mebibytes;
    const kept = limit + Math.floor(share / 2);
    await run(
      "burstable",
      `until grep -qx ${share} /sys/fs/cgroup/memory.swap.max; do sleep 0.1; done
       dd if=/dev/zero bs=${kept} count=1 | sleep 1000`,
      {
        requests: { memory: `${request}` },
        limits: { memory: `${limit}` },
      },
    );
    await run("guaranteed", "sleep 1000", {
      requests: { cpu: "100m", memory: "32Mi" },
      limits: { cpu: "100m", memory: "32Mi" },
    });
    await run("best-effort", "sleep 1000", {});
    await eventually(
      async () => (await figure("burstable", "memory.swap.max")) === share,
      { what: "the container's part of the swap" },
    );
    expect(await figure("guaranteed", "memory.swap.max")).toBe(0);
    expect(await figure("best-effort", "memory.swap.max")).toBe(0);
    await eventually(
      async () => (await figure("burstable", "memory.swap.current")) > 0,
      { what: "something to be swapped out" },
    );

    const pod = structuredClone(find("burstable")!);
    pod.spec.containers[0]!.resources!.limits = { memory: `${2 * limit}` };
    await client.resource(pods).update(pod);
    await eventually(
      async () => (await figure("burstable", "memory.max")) === 2 * limit,
    );
    // The daemon's own update takes it away for a moment.
    await eventually(
      async () => (await figure("burstable", "memory.swap.max")) === share,
      { what: "the container's part of the swap after its memory was resized" },
    );
    expect(find("burstable")!.status!.containerStatuses![0]!.restartCount).toBe(
      0,
    );
    await client.close();
  },
);

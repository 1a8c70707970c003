// What a pod is held to have written on the node's disk: also what its containers write into files of the agent's.
import * as fs from "node:fs";
import * as path from "node:path";
import { resolveAgentConfig } from "../../../../agent/config/agent-config.ts";
import { podUsage } from "../../../../agent/stats/pod-usage.ts";
import { storageExcess } from "../../../../eviction/local-storage.ts";
import { podMemory, type PodUsage } from "../../../../eviction/pod-usage.ts";
import { FakeClock } from "../../../support/fake-clock.ts";
import { useTempDirectories } from "../../../support/temp-directory.ts";
import { testPod } from "../runtime-objects.ts";

const directories = useTempDirectories();
const mebibyte = 1 << 20;
const pod = testPod({
  containers: [
    {
      name: "app",
      image: "i",
      resources: { limits: { "ephemeral-storage": "1Mi" } },
    },
  ],
});

/** @param file the agent's, below the pod's directory */
async function usageWith(file: string, bytes: number): Promise<PodUsage> {
  const rootDirectory = directories();
  const place = path.join(rootDirectory, "pods", "u", file);
  fs.mkdirSync(path.dirname(place), { recursive: true });
  fs.writeFileSync(place, Buffer.alloc(bytes, "x"));
  const found = await podUsage(
    {
      runtime: { containerStats: () => Promise.resolve([]) },
      cgroups: { podUsage: () => Promise.resolve({}) },
      config: resolveAgentConfig({ nodeName: "n", rootDirectory }),
      clock: new FakeClock(),
    },
    [pod],
    true,
  );
  return found.get("u")!;
}

test.each(["etc-hosts", "containers/app/1-0"])(
  "%s counts to the pod's storage",
  async (file) => {
    const small = await usageWith(file, 100);
    expect(small.agentFiles.bytes).toBeLessThan(mebibyte / 2);
    expect(small.agentFiles.bytes).toBeGreaterThan(0);
    expect(storageExcess(pod, small, false)).toBeUndefined();
    const large = await usageWith(file, 2 * mebibyte);
    expect(large.agentFiles.bytes).toBeGreaterThanOrEqual(2 * mebibyte);
    expect(storageExcess(pod, large, false)?.message).toMatch(
      /exceeds the total limit/,
    );
  },
);

test.each([
  [{ workingSetBytes: 900 }, 900],
  [{}, 30],
])("of the pod's cgroup %j its memory is %d", async (ofCgroup, expected) => {
  const container = {
    ...{ id: "c", name: "app", timestampMs: 0, memoryWorkingSetBytes: 30 },
    labels: { "io.kubernetes.pod.uid": "u" },
  };
  const found = await podUsage(
    {
      runtime: { containerStats: () => Promise.resolve([container]) },
      cgroups: { podUsage: () => Promise.resolve(ofCgroup) },
      config: resolveAgentConfig({ nodeName: "n", rootDirectory: "/nowhere" }),
      clock: new FakeClock(),
    },
    [pod],
    false,
  );
  expect(podMemory(found.get("u")!)).toBe(expected);
});

test.each<[string, () => Promise<never>]>([
  ["hangs", () => new Promise(() => undefined)],
  ["is away", () => Promise.reject(new Error("away"))],
])(
  "a runtime that %s holds up nobody where cgroups say enough",
  async (_, containerStats) => {
    const clock = new FakeClock();
    const usage = (workingSetBytes: number | undefined) =>
      podUsage(
        {
          runtime: { containerStats },
          cgroups: {
            podUsage: () =>
              Promise.resolve(
                workingSetBytes === undefined ? {} : { workingSetBytes },
              ),
          },
          config: resolveAgentConfig({ nodeName: "n", rootDirectory: "/no" }),
          clock,
        },
        [pod],
        false,
      );
    const found = usage(900);
    await clock.advanceAsync(2000);
    expect(podMemory((await found).get("u")!)).toBe(900);
    const settled = jest.fn();
    void usage(undefined).then(settled, () => undefined);
    await clock.advanceAsync(60_000);
    expect(settled).not.toHaveBeenCalled();
  },
);

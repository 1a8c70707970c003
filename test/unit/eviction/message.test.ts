// What the message of an eviction says of its containers.
import type { Pod } from "../../../api/types/core-v1.ts";
import { evictionMessage } from "../../../eviction/message.ts";
import { noUsage } from "../../../eviction/pod-usage.ts";
import { parseThresholds } from "../../../eviction/thresholds.ts";

test("requests are shown as they are written, shares of the capacity in whole bytes", () => {
  const pod: Pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "p", namespace: "ns", uid: "u" },
    spec: {
      containers: [
        {
          name: "c",
          image: "i",
          resources: { requests: { memory: "100M" } },
        },
      ],
    },
  };
  const nothing = { bytes: 0, inodes: 0 };
  const usage = {
    containers: [
      {
        name: "c",
        memoryBytes: 256 * 1024 * 1024,
        writableLayer: nothing,
        logs: nothing,
      },
    ],
    emptyDirs: new Map(),
    agentFiles: nothing,
    processes: 1,
  };
  const [threshold] = parseThresholds({
    hard: { "memory.available": "10%" },
    soft: {},
    softGracePeriod: {},
    minimumReclaim: {},
    enforcePods: false,
  });
  const signals = new Map([
    ["memory.available", { available: 4096, capacity: 8_589_938_688 }] as const,
  ]);
  expect(evictionMessage(pod, usage, threshold!, signals).message).toBe(
    "The node was low on resource: memory. Threshold quantity: 858993881, available: 4Ki. Container c was using 256Mi, request is 100M, has larger consumption of memory. ",
  );
});

test("what is left of inodes is a decimal quantity, a share of them a binary one", () => {
  const pod: Pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "p", namespace: "ns", uid: "u" },
    spec: { containers: [{ name: "c", image: "i" }] },
  };
  const message = (share: string, available: number): string => {
    const [threshold] = parseThresholds({
      hard: { "nodefs.inodesFree": share },
      soft: {},
      softGracePeriod: {},
      minimumReclaim: {},
      enforcePods: false,
    });
    const signals = new Map([
      ["nodefs.inodesFree", { available, capacity: 40_960 }] as const,
    ]);
    return evictionMessage(pod, noUsage, threshold!, signals).message;
  };
  expect([message("5%", 1000), message("2500", 1999)]).toEqual([
    "The node was low on resource: inodes. Threshold quantity: 2Ki, available: 1k. ",
    "The node was low on resource: inodes. Threshold quantity: 2500, available: 1999. ",
  ]);
});

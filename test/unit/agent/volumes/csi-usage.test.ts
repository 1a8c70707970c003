// What a driver says of a volume's use, as statistics show it.
import { systemClock } from "../../../../api/clock.ts";
import { CsiCalls } from "../../../../agent/volumes/csi/csi-calls.ts";
import { CsiPaths } from "../../../../agent/volumes/csi/csi-records.ts";
import { nodeCapability } from "../../../../agent/volumes/csi/csi-protocol.ts";
import type { CsiRegistry } from "../../../../agent/volumes/csi/csi-registry.ts";
import { testPod } from "../runtime-objects.ts";
import {
  csiVolume,
  usageOf,
} from "../../../../agent/volumes/csi/csi-volume.ts";

test("bytes, inodes and the condition of a volume", () => {
  expect(
    usageOf({
      usage: [
        { available: 60, total: 100, used: 40, unit: 1 },
        { available: 9, total: 10, used: 0, unit: 2 },
      ],
      volume_condition: { abnormal: true, message: "a disk is failing" },
    }),
  ).toEqual({
    availableBytes: 60,
    capacityBytes: 100,
    usedBytes: 40,
    inodesFree: 9,
    inodes: 10,
    inodesUsed: 0,
    condition: { abnormal: true, message: "a disk is failing" },
  });
});

test("negative amounts are left out: readers take them as unsigned", () => {
  expect(
    usageOf({
      usage: [
        { available: -1, total: 100, used: -5, unit: 1 },
        { available: -1, total: -1, used: -1, unit: 2 },
      ],
    }),
  ).toEqual({ capacityBytes: 100 });
});

test.each([
  { health: true, capabilities: [nodeCapability.condition], shown: true },
  { health: false, capabilities: [nodeCapability.condition], shown: false },
  { health: true, capabilities: [nodeCapability.volumeStats], shown: false },
])(
  "gate $health, capabilities $capabilities: the condition is shown: $shown",
  async ({ health, capabilities, shown }) => {
    const condition = { abnormal: true, message: "a disk is failing" };
    const stats = () =>
      Promise.resolve({ usage: [], volume_condition: condition });
    const calls = new CsiCalls(
      {
        nodeName: "n1",
        client: undefined,
        registry: { find: () => ({ stats }) } as unknown as CsiRegistry,
        health,
        clock: systemClock,
        secret: () => Promise.resolve(undefined),
        token: () => Promise.reject(new Error("not asked for")),
      },
      new CsiPaths({ rootDirectory: "/r", memoryDirectory: undefined }),
    );
    const volume = csiVolume({
      ...{ pod: testPod({}), name: "v" },
      source: { csi: { driver: "d" } },
    });
    expect(
      await calls.usage(
        { volume, capabilities: new Set(capabilities) },
        "/r/v",
      ),
    ).toEqual(shown ? { condition } : {});
  },
);

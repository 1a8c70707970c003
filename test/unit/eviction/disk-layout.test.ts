// What is removed, and which pod ends, where images or writable layers lie on file systems of their own.
import pino from "pino";
import type { Pod } from "../../../api/types/core-v1.ts";
import {
  diskLayout,
  garbageOn,
  shareOn,
  type DiskLayout,
  type Garbage,
} from "../../../eviction/disk-layout.ts";
import { EvictionManager } from "../../../eviction/eviction-manager.ts";
import type { DiskUsage, PodUsage } from "../../../eviction/pod-usage.ts";
import type { Signals } from "../../../eviction/signals.ts";
import { parseThresholds } from "../../../eviction/thresholds.ts";
import { FakeClock } from "../../support/fake-clock.ts";

test("the layout follows the devices", () => {
  expect([
    diskLayout({ node: 1, images: 1, layers: 1 }),
    diskLayout({ node: 1, images: 2, layers: 2 }),
    diskLayout({ node: 1, images: 2, layers: 1 }),
    // The agent's directory and the layers on a disk each: they count together, as at the reference.
    diskLayout({ node: 1, images: 2, layers: 3 }),
  ]).toEqual([
    "together",
    "images and layers apart",
    "images apart",
    "images apart",
  ]);
});

test("devices that are not known are those of the others", () => {
  expect([
    diskLayout({ node: 1, images: undefined, layers: 1 }),
    diskLayout({ node: 1, images: 2, layers: undefined }),
  ]).toEqual(["together", "images and layers apart"]);
});

test.each<[DiskLayout, string, string]>([
  ["together", "containers images, all", "containers images, all"],
  [
    "images and layers apart",
    ", logs and volumes",
    "containers images, writable layers",
  ],
  ["images apart", "containers, all", "images, nothing"],
])("%s: what counts where", (layout, onNode, onImages) => {
  const words = (signal: "nodefs.available" | "imagefs.inodesFree"): string => {
    const { containers, images } = garbageOn(signal, layout);
    const garbage = [
      ...(containers ? ["containers"] : []),
      ...(images ? ["images"] : []),
    ];
    return `${garbage.join(" ")}, ${shareOn(signal, layout)}`;
  };
  expect([words("nodefs.available"), words("imagefs.inodesFree")]).toEqual([
    onNode,
    onImages,
  ]);
});

test("no garbage helps where memory is short", () => {
  expect(garbageOn("memory.available", "together")).toEqual({
    containers: false,
    images: false,
  });
});

const none: DiskUsage = { bytes: 0, inodes: 0 };
const uses = (layerBytes: number, logBytes: number): PodUsage => ({
  containers: [
    {
      name: "c",
      memoryBytes: 0,
      writableLayer: { ...none, bytes: layerBytes },
      logs: { ...none, bytes: logBytes },
    },
  ],
  emptyDirs: new Map(),
  agentFiles: none,
  processes: 0,
});

/** One look at a full disk: what is removed, and who ends. */
async function whenFull(
  signal: "nodefs.available" | "imagefs.available",
  layout: DiskLayout,
): Promise<{ garbage: Garbage[]; ended: string[] }> {
  const garbage: Garbage[] = [];
  const ended: string[] = [];
  const pod = (name: string, priority: number): Pod => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, uid: name },
    spec: { priority, containers: [{ name: "c", image: "i" }] },
  });
  const signals: Signals = new Map([[signal, { available: 1, capacity: 100 }]]);
  const manager = new EvictionManager({
    thresholds: parseThresholds({
      hard: { [signal]: "10%" },
      soft: {},
      softGracePeriod: {},
      minimumReclaim: {},
      enforcePods: false,
    }),
    transitionPeriodMs: 0,
    maxPodGraceSeconds: 0,
    localStorageLimits: false,
    pods: () =>
      [pod("writes", 10), pod("logs", 10), pod("idle", 0)].map((each) => ({
        pod: each,
        critical: false,
        requests: new Map(),
      })),
    usage: () =>
      Promise.resolve(
        new Map([
          ["writes", uses(100, 0)],
          ["logs", uses(0, 10)],
        ]),
      ),
    reclaimDisk: (wanted) => {
      garbage.push(wanted);
      return Promise.resolve();
    },
    readSignals: () => Promise.resolve(signals),
    diskLayout: () => layout,
    evict: ({ metadata }) => void ended.push(metadata.name ?? ""),
    isEnded: () => false,
    onChange: () => undefined,
    onReclaim: () => undefined,
    onOverdue: () => undefined,
    onEviction: () => undefined,
    clock: new FakeClock(),
    logger: pino({ level: "silent" }),
  });
  await manager.look();
  return { garbage, ended };
}

test("where layers lie with the volumes, ended containers go and then the pod that writes most", async () => {
  expect(await whenFull("nodefs.available", "images apart")).toEqual({
    garbage: [{ containers: true, images: false }],
    ended: ["writes"],
  });
});

test("where images lie alone, only images go, and what pods write does not count against them", async () => {
  expect(await whenFull("imagefs.available", "images apart")).toEqual({
    garbage: [{ containers: false, images: true }],
    ended: ["idle"],
  });
});

test("where images and layers lie together, the node's file system has logs and volumes only", async () => {
  expect(await whenFull("nodefs.available", "images and layers apart")).toEqual(
    { garbage: [], ended: ["logs"] },
  );
});

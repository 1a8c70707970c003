// What is removed, and which pod ends, where images or writable layers lie on file systems of their own.
import pino from "pino";
import type { Pod } from "../../../api/types/core-v1.ts";
import {
  diskLayout,
  garbageOn,
  isApart,
  shareOn,
  together,
  type DiskLayout,
  type Garbage,
} from "../../../eviction/disk-layout.ts";
import { EvictionManager } from "../../../eviction/eviction-manager.ts";
import type { DiskUsage, PodUsage } from "../../../eviction/pod-usage.ts";
import type { NodePressure } from "../../../eviction/pressure-state.ts";
import {
  readSignals,
  type SignalName,
  type Signals,
} from "../../../eviction/signals.ts";
import { parseThresholds } from "../../../eviction/thresholds.ts";
import { FakeClock } from "../../support/fake-clock.ts";

const imagesApart: DiskLayout = { images: "images", layers: "node" };
const bothApart: DiskLayout = { images: "images", layers: "images" };
const layersApart: DiskLayout = { images: "node", layers: "layers" };
const allApart: DiskLayout = { images: "images", layers: "layers" };

test("the layout follows the devices", () => {
  expect([
    diskLayout({ node: 1, images: 1, layers: 1 }),
    diskLayout({ node: 1, images: 2, layers: 2 }),
    diskLayout({ node: 1, images: 2, layers: 1 }),
    diskLayout({ node: 1, images: 1, layers: 2 }),
    diskLayout({ node: 1, images: 2, layers: 3 }),
  ]).toEqual([together, bothApart, imagesApart, layersApart, allApart]);
});

test("devices that are not known are those of the others", () => {
  expect([
    diskLayout({ node: 1, images: undefined, layers: 1 }),
    diskLayout({ node: 1, images: 2, layers: undefined }),
    diskLayout({ node: 1, images: 1, layers: undefined }),
  ]).toEqual([together, bothApart, together]);
});

test("only what is together is not apart", () => {
  const layouts = [together, imagesApart, bothApart, layersApart, allApart];
  expect(layouts.map(isApart)).toEqual([false, true, true, true, true]);
});

const everything = "containers images, all";
test.each<[string, DiskLayout, [string, string, string]]>([
  ["together", together, [everything, everything, everything]],
  [
    "images and layers apart",
    bothApart,
    [
      ", logs and volumes",
      "containers images, writable layers",
      "containers images, writable layers",
    ],
  ],
  [
    "images apart",
    imagesApart,
    ["containers, all", "images, nothing", "containers, all"],
  ],
  [
    "layers apart",
    layersApart,
    [
      "images, logs and volumes",
      "images, logs and volumes",
      "containers, writable layers",
    ],
  ],
  [
    "each apart",
    allApart,
    [", logs and volumes", "images, nothing", "containers, writable layers"],
  ],
])("%s: what counts where", (_name, layout, expected) => {
  const words = (signal: SignalName): string => {
    const { containers, images } = garbageOn(signal, layout);
    const garbage = [
      ...(containers ? ["containers"] : []),
      ...(images ? ["images"] : []),
    ];
    return `${garbage.join(" ")}, ${shareOn(signal, layout)}`;
  };
  expect([
    words("nodefs.available"),
    words("imagefs.inodesFree"),
    words("containerfs.inodesFree"),
  ]).toEqual(expected);
});

test("no garbage helps where memory is short", () => {
  expect(garbageOn("memory.available", together)).toEqual({
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
  signal: SignalName,
  layout: DiskLayout,
): Promise<{
  garbage: Garbage[];
  ended: string[];
  pressure: NodePressure[];
}> {
  const pressure: NodePressure[] = [];
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
      hard: { "nodefs.available": "10%", "imagefs.available": "10%" },
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
    onChange: (now) => void pressure.push(now),
    onReclaim: () => undefined,
    onOverdue: () => undefined,
    onEviction: () => undefined,
    clock: new FakeClock(),
    logger: pino({ level: "silent" }),
  });
  await manager.look();
  return { garbage, ended, pressure };
}

test("where layers lie with the volumes, ended containers go and then the pod that writes most", async () => {
  expect(await whenFull("nodefs.available", imagesApart)).toMatchObject({
    garbage: [{ containers: true, images: false }],
    ended: ["writes"],
  });
});

test("where images lie alone, only images go, and what pods write does not count against them", async () => {
  expect(await whenFull("imagefs.available", imagesApart)).toMatchObject({
    garbage: [{ containers: false, images: true }],
    ended: ["idle"],
  });
});

test("where images and layers lie together, the node's file system has logs and volumes only", async () => {
  expect(await whenFull("nodefs.available", bothApart)).toMatchObject({
    garbage: [],
    ended: ["logs"],
  });
});

test("layers alone on a full file system are held to the node's threshold: ended containers go, then the pod that writes most", async () => {
  expect(await whenFull("containerfs.available", allApart)).toEqual({
    garbage: [{ containers: true, images: false }],
    ended: ["writes"],
    pressure: [{ memory: false, disk: true, pid: false }],
  });
});

test("the layers' file system is read where it is another one", async () => {
  const names = async (containerfs: string | undefined): Promise<string[]> => {
    const signals = await readSignals({
      nodefs: "/",
      imagefs: undefined,
      containerfs,
      podsMemory: () => Promise.resolve(undefined),
    });
    return [...signals.keys()].filter((name) => name.startsWith("container"));
  };
  expect(await names(undefined)).toEqual([]);
  expect(await names("/")).toContain("containerfs.available");
});

// Which pods end when the node is short, with which words; and pods above their own disk limits.
import pino from "pino";
import type { Container, Pod, Volume } from "../../../api/types/core-v1.ts";
import { EvictionManager } from "../../../eviction/eviction-manager.ts";
import { formatBinary } from "../../../eviction/format.ts";
import {
  hasStorageLimits,
  storageExcess,
} from "../../../eviction/local-storage.ts";
import type { EvictablePod, PodUsage } from "../../../eviction/pod-usage.ts";
import { rankForEviction } from "../../../eviction/ranking.ts";
import type { Signals } from "../../../eviction/signals.ts";

const mebibyte = 1 << 20;
const logger = pino({ level: "silent" });

function candidate(
  name: string,
  options: {
    memoryMi?: number;
    priority?: number;
    critical?: boolean;
    containers?: Container[];
    volumes?: Volume[];
  } = {},
): EvictablePod {
  const { memoryMi = 0, priority, critical = false } = options;
  return {
    critical,
    requests: new Map([["memory", memoryMi * mebibyte]]),
    pod: {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, uid: name },
      spec: {
        containers: options.containers ?? [
          {
            name: "c",
            image: "i",
            resources: { requests: { memory: `${memoryMi}Mi` } },
          },
        ],
        ...(priority === undefined ? {} : { priority }),
        ...(options.volumes ? { volumes: options.volumes } : {}),
      },
    },
  };
}

const using = (memoryMi: number, storageMi = 0): PodUsage => ({
  containers: [
    {
      name: "c",
      memoryBytes: memoryMi * mebibyte,
      storageBytes: storageMi * mebibyte,
    },
  ],
  emptyDirBytes: new Map(),
});

test("above the request first, then the less important, then the furthest above", () => {
  const pods = [
    candidate("within", { memoryMi: 100 }),
    candidate("little-above", { memoryMi: 100 }),
    candidate("far-above", { memoryMi: 100 }),
    candidate("important", { priority: 1000 }),
    candidate("system", { critical: true }),
  ];
  const usage = new Map([
    ["within", using(90)],
    ["little-above", using(110)],
    ["far-above", using(300)],
    ["important", using(900)],
    ["system", using(9000)],
  ]);
  expect(
    rankForEviction(pods, usage, "memory").map(({ pod }) => pod.metadata.name),
  ).toEqual(["far-above", "little-above", "important", "within"]);
});

test("byte counts as quantities", () => {
  expect([0, 1000, 1024, 100 * mebibyte, 1536].map(formatBinary)).toEqual([
    "0",
    "1000",
    "1Ki",
    "100Mi",
    "1536",
  ]);
});

function manager(
  pods: EvictablePod[],
  usage: Map<string, PodUsage>,
  after?: Signals,
): {
  look: (signals: Signals) => Promise<void>;
  ended: string[];
  reclaimed: () => number;
} {
  const ended: string[] = [];
  let reclaimed = 0;
  const made = new EvictionManager({
    thresholds: { "memory.available": "100Mi", "nodefs.available": "10%" },
    pods: () => pods,
    usage: () => Promise.resolve(usage),
    reclaimDisk: () => Promise.resolve(void reclaimed++),
    readSignals: () => Promise.resolve(after ?? new Map()),
    evict: (pod: Pod, message) =>
      void ended.push(`${pod.metadata.name}: ${message}`),
    logger,
  });
  return {
    look: (signals) => made.look(signals),
    ended,
    reclaimed: () => reclaimed,
  };
}

const lowMemory: Signals = new Map([
  ["memory.available", { available: 50 * mebibyte, capacity: 1000 * mebibyte }],
]);

test("one pod a look, and why", async () => {
  const { look, ended } = manager(
    [candidate("a", { memoryMi: 10 }), candidate("b", { memoryMi: 10 })],
    new Map([
      ["a", using(5)],
      ["b", using(64)],
    ]),
  );
  await look(lowMemory);
  expect(ended).toEqual([
    "b: The node was low on resource: memory. Threshold quantity: 100Mi, available: 50Mi. Container c was using 64Mi, request is 10Mi, has larger consumption of memory. ",
  ]);
});

test("nobody ends while nothing is short, nor when all are critical", async () => {
  const calm = manager([candidate("a")], new Map([["a", using(5)]]));
  await calm.look(
    new Map([["memory.available", { available: 1e12, capacity: 1e12 }]]),
  );
  expect(calm.ended).toEqual([]);
  const critical = manager([candidate("a", { critical: true })], new Map());
  await critical.look(lowMemory);
  expect(critical.ended).toEqual([]);
});

test("disk space is sought among images first", async () => {
  const full: Signals = new Map([
    ["nodefs.available", { available: 1, capacity: 100 }],
  ]);
  const pods = [candidate("a")];
  const usage = new Map([["a", using(0, 10)]]);
  const helped = manager(
    pods,
    usage,
    new Map([["nodefs.available", { available: 50, capacity: 100 }]]),
  );
  await helped.look(full);
  expect([helped.reclaimed(), helped.ended]).toEqual([1, []]);
  const still = manager(pods, usage, full);
  await still.look(full);
  expect(still.ended).toEqual([
    "a: The node was low on resource: ephemeral-storage. Threshold quantity: 10, available: 1. Container c was using 10Mi, request is 0, has larger consumption of ephemeral-storage. ",
  ]);
});

const limited = (limit?: string): Container[] => [
  {
    name: "c",
    image: "i",
    ...(limit ? { resources: { limits: { "ephemeral-storage": limit } } } : {}),
  },
];
const cache: Volume = { name: "cache", emptyDir: { sizeLimit: "1Mi" } };
const withCache = (bytes: number): PodUsage => ({
  containers: [{ name: "c", memoryBytes: 0, storageBytes: 0 }],
  emptyDirBytes: new Map([["cache", bytes]]),
});

test.each<[string, EvictablePod, PodUsage, string | undefined]>([
  [
    "an emptyDir above its limit",
    candidate("a", { volumes: [cache] }),
    withCache(2 * mebibyte),
    'Usage of EmptyDir volume "cache" exceeds the limit "1Mi". ',
  ],
  [
    "an emptyDir within its limit",
    candidate("a", { volumes: [cache] }),
    withCache(mebibyte),
    undefined,
  ],
  [
    "an emptyDir in memory",
    candidate("a", {
      volumes: [
        { name: "cache", emptyDir: { sizeLimit: "1Mi", medium: "Memory" } },
      ],
    }),
    withCache(2 * mebibyte),
    undefined,
  ],
  [
    "a pod above the sum of its limits",
    candidate("a", { containers: limited("2Mi") }),
    using(0, 3),
    "Pod ephemeral local storage usage exceeds the total limit of containers 2Mi. ",
  ],
  [
    "a pod above the only limit in it",
    candidate("a", {
      containers: [...limited("2Mi"), { name: "d", image: "i" }],
    }),
    using(0, 3),
    "Pod ephemeral local storage usage exceeds the total limit of containers 2Mi. ",
  ],
  [
    "a container above its own",
    candidate("a", {
      containers: [...limited("2Mi"), { ...limited("10Mi")[0]!, name: "d" }],
    }),
    using(0, 3),
    'Container c exceeded its local ephemeral storage limit "2Mi". ',
  ],
])("%s", (_what, { pod }, usage, wanted) => {
  expect(storageExcess(pod, usage)).toBe(wanted);
});

test("only pods with limits are looked at without pressure", async () => {
  expect(hasStorageLimits(candidate("a").pod)).toBe(false);
  expect(hasStorageLimits(candidate("a", { volumes: [cache] }).pod)).toBe(true);
  const { look, ended } = manager(
    [candidate("a", { volumes: [cache] }), candidate("b")],
    new Map([["a", withCache(2 * mebibyte)]]),
  );
  await look(new Map());
  expect(ended).toHaveLength(1);
});

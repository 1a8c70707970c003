// Which pods end when the node is short, with which words; and pods above their own disk limits.
import pino from "pino";
import type { Container, Pod, Volume } from "../../../api/types/core-v1.ts";
import { together, type DiskLayout } from "../../../eviction/disk-layout.ts";
import { EvictionManager } from "../../../eviction/eviction-manager.ts";
import { formatBinary } from "../../../eviction/format.ts";
import { storageExcess } from "../../../eviction/local-storage.ts";
import type { EvictablePod, PodUsage } from "../../../eviction/pod-usage.ts";
import type { NodePressure } from "../../../eviction/pressure-state.ts";
import { rankForEviction } from "../../../eviction/ranking.ts";
import type { Signals } from "../../../eviction/signals.ts";
import {
  parseThresholds,
  type ThresholdSettings,
} from "../../../eviction/thresholds.ts";
import { FakeClock } from "../../support/fake-clock.ts";

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

const using = (
  memoryMi: number,
  storageMi = 0,
  logsMi = 0,
  processes = 0,
): PodUsage => ({
  containers: [
    {
      name: "c",
      memoryBytes: memoryMi * mebibyte,
      writableLayer: { bytes: storageMi * mebibyte, inodes: storageMi },
      logs: { bytes: logsMi * mebibyte, inodes: logsMi },
    },
  ],
  emptyDirs: new Map(),
  agentFiles: { bytes: 0, inodes: 0 },
  processes,
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

interface Made {
  look: (signals: Signals) => Promise<void>;
  /** Time passes, and what was ended is gone unless `stuck`. */
  pass: (ms: number, stuck?: boolean) => void;
  ended: string[];
  /** Those that did not end in time. */
  overdue: string[];
  graces: number[];
  reclaimed: () => number;
  pressures: NodePressure[];
  counted: string[];
}

function manager(
  pods: EvictablePod[],
  usage: Map<string, PodUsage>,
  options: {
    after?: Signals;
    /** Once it was read what pods use. */
    meanwhile?: Signals;
    settings?: Partial<ThresholdSettings>;
    layout?: DiskLayout;
    maxPodGraceSeconds?: number;
  } = {},
): Made {
  const clock = new FakeClock();
  const running = new Set<string>();
  const ended: string[] = [];
  const overdue: string[] = [];
  const graces: number[] = [];
  const pressures: NodePressure[] = [];
  const counted: string[] = [];
  let reclaimed = 0;
  let now: Signals = new Map();
  const made = new EvictionManager({
    thresholds: parseThresholds({
      hard: { "memory.available": "100Mi", "nodefs.available": "10%" },
      soft: {},
      softGracePeriod: {},
      minimumReclaim: {},
      enforcePods: false,
      ...options.settings,
    }),
    transitionPeriodMs: 0,
    maxPodGraceSeconds: options.maxPodGraceSeconds ?? 0,
    localStorageLimits: true,
    pods: () => pods.filter(({ pod }) => !running.has(pod.metadata.uid ?? "")),
    usage: () => {
      now = options.meanwhile ?? now;
      return Promise.resolve(usage);
    },
    reclaimDisk: () => {
      reclaimed++;
      if (options.after) now = options.after;
      return Promise.resolve();
    },
    readSignals: () => Promise.resolve(now),
    diskLayout: () => options.layout ?? together,
    evict: (pod: Pod, { message, graceSeconds }) => {
      running.add(pod.metadata.uid ?? "");
      ended.push(`${pod.metadata.name}: ${message}`);
      graces.push(graceSeconds);
    },
    isEnded: (uid) => !running.has(uid),
    onChange: (pressure) => pressures.push(pressure),
    onReclaim: () => undefined,
    onOverdue: ({ metadata }) => overdue.push(metadata.name),
    onEviction: (signal) => counted.push(signal),
    clock,
    logger,
  });
  return {
    look: (signals) => {
      now = signals;
      return made.look();
    },
    pass: (ms, stuck = false) => {
      if (!stuck) {
        pods.splice(
          0,
          pods.length,
          ...pods.filter(({ pod }) => !running.has(pod.metadata.uid ?? "")),
        );
        running.clear();
      }
      clock.advance(ms);
    },
    ended,
    overdue,
    graces,
    reclaimed: () => reclaimed,
    pressures,
    counted,
  };
}

const lowMemory: Signals = new Map([
  ["memory.available", { available: 50 * mebibyte, capacity: 1000 * mebibyte }],
]);
const fullDisk: Signals = new Map([
  ["nodefs.available", { available: 1, capacity: 100 }],
]);

test("one pod a look, and why", async () => {
  const { look, ended, counted, graces, pressures } = manager(
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
  expect([counted, graces]).toEqual([["memory.available"], [1]]);
  expect(pressures).toEqual([{ memory: true, disk: false, pid: false }]);
});

test("the next pod ends only when the one before is gone, or after half a minute", async () => {
  const { look, pass, ended, overdue } = manager(
    ["a", "b", "c"].map((name) => candidate(name)),
    new Map(),
  );
  await look(lowMemory);
  pass(1000, true);
  await look(lowMemory);
  expect(ended).toHaveLength(1);
  pass(1000);
  await look(lowMemory);
  expect(ended).toHaveLength(2);
  expect(overdue).toEqual([]);
  pass(31_000, true);
  await look(lowMemory);
  expect(ended).toHaveLength(3);
  expect(overdue).toEqual(["b"]);
});

test.each<[number, string[]]>([
  [900, []],
  [99, ["b"]],
])(
  "memory that came back to %d Mi while it was read what pods use",
  async (availableMi, expected) => {
    const { look, pass, ended } = manager(
      [candidate("a"), candidate("b")],
      new Map([["b", using(64)]]),
      {
        meanwhile: new Map([
          [
            "memory.available",
            {
              available: availableMi * mebibyte,
              capacity: 1000 * mebibyte,
            },
          ],
        ]),
      },
    );
    await look(lowMemory);
    expect(ended.map((text) => text.split(":")[0])).toEqual(expected);
    // Nothing waits for the next time that memory is short.
    pass(1000);
    await look(lowMemory);
    expect(ended).toHaveLength(2 * expected.length);
  },
);

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

test("a soft threshold leaves the pod its grace up to the longest one", async () => {
  const grace = async (own: number | undefined): Promise<number[]> => {
    const pod = candidate("a");
    if (own !== undefined) pod.pod.spec.terminationGracePeriodSeconds = own;
    const { look, graces } = manager([pod], new Map(), {
      settings: {
        hard: {},
        soft: { "memory.available": "100Mi" },
        softGracePeriod: { "memory.available": "0s" },
      },
      maxPodGraceSeconds: 20,
    });
    await look(lowMemory);
    return graces;
  };
  // A grace period of nothing makes it a hard threshold, as at the reference.
  expect(await grace(5)).toEqual([1]);
  const soft = async (
    own: number | undefined,
    maxPodGraceSeconds = 20,
  ): Promise<number[]> => {
    const pod = candidate("a");
    if (own !== undefined) pod.pod.spec.terminationGracePeriodSeconds = own;
    const made = manager([pod], new Map(), {
      settings: {
        hard: {},
        soft: { "memory.available": "100Mi" },
        softGracePeriod: { "memory.available": "10s" },
      },
      maxPodGraceSeconds,
    });
    await made.look(lowMemory);
    expect(made.ended).toEqual([]);
    made.pass(10_000);
    await made.look(lowMemory);
    return made.graces;
  };
  expect(await soft(5)).toEqual([5]);
  expect(await soft(30)).toEqual([20]);
  expect(await soft(45, -1)).toEqual([45]);
  expect(await soft(undefined, -1)).toEqual([30]);
});

test("disk space is sought among images first", async () => {
  const pods = (): EvictablePod[] => [candidate("a")];
  const usage = new Map([["a", using(0, 10)]]);
  const helped = manager(pods(), usage, {
    after: new Map([["nodefs.available", { available: 50, capacity: 100 }]]),
  });
  await helped.look(fullDisk);
  expect([helped.reclaimed(), helped.ended]).toEqual([1, []]);
  const still = manager(pods(), usage);
  await still.look(fullDisk);
  expect(still.ended).toEqual([
    "a: The node was low on resource: ephemeral-storage. Threshold quantity: 10, available: 1. Container c was using 10Mi, request is 0, has larger consumption of ephemeral-storage. ",
  ]);
});

test("with images on a file system of their own, the node's is sought among pods with logs and volumes", async () => {
  const { look, reclaimed, ended } = manager(
    [candidate("writes"), candidate("logs")],
    new Map([
      ["writes", using(0, 100)],
      ["logs", using(0, 0, 10)],
    ]),
    { layout: { images: "images", layers: "images" } },
  );
  await look(fullDisk);
  expect(reclaimed()).toBe(0);
  expect(ended[0]).toMatch(/^logs: /);
});

test("after nothing could be done, the next attempt waits ten seconds", async () => {
  const { look, pass, reclaimed } = manager([], new Map());
  await look(fullDisk);
  pass(9_000);
  await look(fullDisk);
  expect(reclaimed()).toBe(1);
  pass(1_000);
  await look(fullDisk);
  expect(reclaimed()).toBe(2);
});

test("of processes the priority counts first, then the number", () => {
  const pods = [
    candidate("few"),
    candidate("many"),
    candidate("important", { priority: 10 }),
  ];
  const usage = new Map([
    ["few", using(0, 0, 0, 5)],
    ["many", using(0, 0, 0, 500)],
    ["important", using(0, 0, 0, 5000)],
  ]);
  expect(
    rankForEviction(pods, usage, "pids").map(({ pod }) => pod.metadata.name),
  ).toEqual(["many", "few", "important"]);
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
  containers: [],
  emptyDirs: new Map([["cache", { bytes, inodes: 1 }]]),
  agentFiles: { bytes: 0, inodes: 0 },
  processes: 0,
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
    "limits in another form",
    candidate("a", { containers: limited("2500k") }),
    using(0, 3),
    "Pod ephemeral local storage usage exceeds the total limit of containers 2500k. ",
  ],
  [
    "a limit that is not written in the usual form",
    candidate("a", {
      volumes: [{ name: "cache", emptyDir: { sizeLimit: "1024Ki" } }],
    }),
    withCache(2 * mebibyte),
    'Usage of EmptyDir volume "cache" exceeds the limit "1Mi". ',
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
  expect(storageExcess(pod, usage, false)?.message).toBe(wanted);
});

test("the message says what was short before unused images were removed", async () => {
  const { look, ended } = manager(
    [candidate("a")],
    new Map([["a", using(5)]]),
    {
      after: new Map([
        [
          "memory.available",
          { available: 50 * mebibyte, capacity: 1000 * mebibyte },
        ],
        ["nodefs.available", { available: 90, capacity: 100 }],
      ]),
    },
  );
  await look(fullDisk);
  expect(ended).toEqual([
    "a: The node was low on resource: ephemeral-storage. Threshold quantity: 10, available: 1. ",
  ]);
});

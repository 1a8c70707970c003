// Pods above their own disk limits: who is looked at, how often, and that a look at millions of files holds up nobody else.
import pino from "pino";
import type { Pod } from "../../../api/types/core-v1.ts";
import { together } from "../../../eviction/disk-layout.ts";
import { EvictionManager } from "../../../eviction/eviction-manager.ts";
import { hasStorageLimits } from "../../../eviction/local-storage.ts";
import type { EvictablePod, PodUsage } from "../../../eviction/pod-usage.ts";
import { StorageLimitWatch } from "../../../eviction/storage-limit-watch.ts";
import { parseThresholds } from "../../../eviction/thresholds.ts";
import { FakeClock } from "../../support/fake-clock.ts";

const logger = pino({ level: "silent" });

function evictable(
  name: string,
  sizeLimit?: string,
  critical = false,
): EvictablePod {
  const emptyDir = sizeLimit === undefined ? {} : { sizeLimit };
  return {
    critical,
    requests: new Map(),
    pod: {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, uid: name },
      spec: {
        containers: [{ name: "c", image: "i" }],
        volumes: [{ name: "cache", emptyDir }],
      },
    },
  };
}

const using = (bytes: number): PodUsage => ({
  containers: [],
  emptyDirs: new Map([["cache", { bytes, inodes: 1 }]]),
  agentFiles: { bytes: 0, inodes: 0 },
  processes: 0,
});
const overLimit = 2 << 20;

/** `looks`: the pods of each look, and how to end it. */
function watch(pods: EvictablePod[]) {
  const clock = new FakeClock();
  const ended: string[] = [];
  const looks: { names: string[]; done: () => void; fail: () => void }[] = [];
  const made = new StorageLimitWatch({
    pods: () => pods,
    usage: (chosen) =>
      new Promise((resolve, reject) => {
        looks.push({
          names: chosen.map(({ metadata }) => metadata.name),
          done: () =>
            resolve(
              new Map(
                chosen.map(({ metadata }) => [metadata.uid!, using(overLimit)]),
              ),
            ),
          fail: () => reject(new Error("the runtime is away")),
        });
      }),
    imagesApart: () => false,
    end: (pod: Pod, { limit }) => ended.push(`${pod.metadata.name} ${limit}`),
    clock,
    logger,
  });
  return { clock, ended, looks, watch: made };
}

const settle = (): Promise<void> =>
  new Promise((resolve) => setImmediate(resolve));

test("pods with limits that are not critical end when they are above", async () => {
  expect(hasStorageLimits(evictable("a").pod)).toBe(false);
  const {
    ended,
    looks,
    watch: made,
  } = watch([
    evictable("a", "1Mi"),
    evictable("b"),
    evictable("c", "1Mi", true),
    evictable("d", "1Gi"),
  ]);
  const look = made.look();
  looks[0]!.done();
  await look;
  expect(looks[0]!.names).toEqual(["a", "d"]);
  expect(ended).toEqual(["a emptydirfs.limit"]);
});

test("a limit of nothing is one", () => {
  const { pod } = evictable("a");
  pod.spec.containers = [
    { name: "c", resources: { limits: { "ephemeral-storage": "0" } } },
  ];
  expect(hasStorageLimits(pod)).toBe(true);
});

test("without limits nothing is read", async () => {
  const { looks, watch: made } = watch([evictable("a")]);
  await made.look();
  expect(looks).toEqual([]);
});

test("a pod that ended meanwhile is left alone", async () => {
  const pods = [evictable("a", "1Mi"), evictable("b", "1Mi")];
  const { ended, looks, watch: made } = watch(pods);
  const look = made.look();
  pods.shift();
  looks[0]!.done();
  await look;
  expect(ended).toEqual(["b emptydirfs.limit"]);
});

test("a look each ten seconds, and fewer where one takes long or fails", async () => {
  const { clock, looks, watch: made } = watch([evictable("a", "1Gi")]);
  made.start();
  looks[0]!.done();
  await settle();
  clock.advance(9_999);
  expect(looks).toHaveLength(1);
  clock.advance(1);
  expect(looks).toHaveLength(2);
  clock.advance(60_000);
  expect(looks).toHaveLength(2);
  looks[1]!.fail();
  await settle();
  clock.advance(179_999);
  expect(looks).toHaveLength(2);
  clock.advance(1);
  expect(looks).toHaveLength(3);
  made.stop();
  looks[2]!.done();
  await settle();
  clock.advance(600_000);
  expect(looks).toHaveLength(3);
});

test("the node's pressure is seen while a pod's files are being counted", async () => {
  const clock = new FakeClock();
  const pressures: boolean[] = [];
  let available = 1 << 30;
  const manager = new EvictionManager({
    thresholds: parseThresholds({
      hard: { "memory.available": "100Mi" },
      soft: {},
      softGracePeriod: {},
      minimumReclaim: {},
      enforcePods: false,
    }),
    transitionPeriodMs: 0,
    maxPodGraceSeconds: 0,
    localStorageLimits: true,
    pods: () => [evictable("a", "1Gi")],
    // It never ends.
    usage: (_pods, disk) =>
      disk ? new Promise(() => undefined) : Promise.resolve(new Map()),
    reclaimDisk: () => Promise.resolve(),
    readSignals: () =>
      Promise.resolve(
        new Map([["memory.available", { available, capacity: 1 << 30 }]]),
      ),
    diskLayout: () => together,
    evict: () => undefined,
    isEnded: () => false,
    onChange: ({ memory }) => pressures.push(memory),
    onReclaim: () => undefined,
    onOverdue: () => undefined,
    onEviction: () => undefined,
    clock,
    logger,
  });
  manager.start();
  await settle();
  available = 1 << 20;
  clock.advance(1000);
  await settle();
  expect(pressures).toEqual([true]);
  manager.stop();
});

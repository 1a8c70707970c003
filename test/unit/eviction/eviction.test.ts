import pino from "pino";
import {
  ImageGarbage,
  type ImageStore,
} from "../../../eviction/image-garbage.ts";
import { PressureMonitor } from "../../../eviction/pressure-monitor.ts";
import {
  crossed,
  thresholdValue,
  type Signals,
} from "../../../eviction/signals.ts";
import { eventually } from "../../support/eventually.ts";
import { FakeClock } from "../../support/fake-clock.ts";

const logger = pino({ level: "silent" });

test("thresholds are amounts or shares of the capacity", () => {
  expect(thresholdValue("100Mi", 1)).toBe(100 << 20);
  expect(thresholdValue("10%", 500)).toBe(50);
  const signals: Signals = new Map([
    ["memory.available", { available: 50 << 20, capacity: 1 << 30 }],
    ["nodefs.available", { available: 20, capacity: 100 }],
  ]);
  expect(
    crossed(signals, {
      "memory.available": "100Mi",
      "nodefs.available": "10%",
      "pid.available": "5%",
    }),
  ).toEqual(["memory.available"]);
});

test("pressure comes at once and goes after the transition period", async () => {
  const clock = new FakeClock();
  let available = 5;
  const seen: boolean[] = [];
  let looks = 0;
  const monitor = new PressureMonitor({
    thresholds: { "memory.available": "10" },
    transitionPeriodMs: 60_000,
    paths: () => ({ nodefs: "/", imagefs: undefined }),
    read: () => {
      looks++;
      return Promise.resolve(
        new Map([["memory.available", { available, capacity: 100 }]]),
      );
    },
    clock,
    logger,
    onChange: ({ memory }) => seen.push(memory),
  });
  const look = async (): Promise<void> => {
    const before = looks;
    await eventually(() => clock.pending > 0);
    clock.advance(10_000);
    await eventually(() => looks > before);
  };
  monitor.start();
  await eventually(() => seen.length === 1);
  available = 50;
  for (let round = 0; round < 5; round++) await look();
  expect(seen).toEqual([true]);
  await look();
  await look();
  await eventually(() => seen.length === 2);
  expect(seen).toEqual([true, false]);
  monitor.stop();
});

const image = (
  id: string,
  pinned = false,
): {
  id: string;
  repoTags: string[];
  repoDigests: string[];
  sizeBytes: number;
  pinned: boolean;
} => ({
  id,
  repoTags: [`${id}:latest`],
  repoDigests: [],
  sizeBytes: 10,
  pinned,
});

test("unused images go when the disk is full, the rest stays", async () => {
  const clock = new FakeClock();
  let images = [image("used"), image("pinned", true), image("a"), image("b")];
  let availableBytes = 50;
  const store: ImageStore = {
    listImages: () => Promise.resolve(images),
    listContainers: () =>
      Promise.resolve([{ image: "used:latest", imageRef: "used" }]),
    removeImage: (id) => {
      images = images.filter((candidate) => candidate.id !== id);
      return Promise.resolve();
    },
    imageFsInfo: () => Promise.resolve([{ mountpoint: "/" }]),
  };
  const failures: string[] = [];
  const garbage = new ImageGarbage({
    runtime: store,
    clock,
    logger,
    highThresholdPercent: 85,
    lowThresholdPercent: 80,
    minimumAgeMs: 120_000,
    onFailure: (reason) => failures.push(reason),
    filesystem: () => Promise.resolve({ capacityBytes: 100, availableBytes }),
  });
  expect(await garbage.collect()).toBe(0);
  availableBytes = 11;
  expect(await garbage.collect()).toBe(0);
  expect(failures).toEqual(["FreeDiskSpaceFailed"]);
  clock.advance(121_000);
  expect(await garbage.collect()).toBe(10);
  expect(images.map(({ id }) => id)).toEqual(["used", "pinned", "b"]);
  expect(await garbage.collect(true)).toBe(10);
  expect(images.map(({ id }) => id)).toEqual(["used", "pinned"]);
});

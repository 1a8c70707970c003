// Which images go, and when.
import pino from "pino";
import { metricsText } from "../../../api/metrics/family.ts";
import {
  ImageGarbage,
  type ImageStore,
} from "../../../eviction/image-garbage.ts";
import { FakeClock } from "../../support/fake-clock.ts";

const logger = pino({ level: "silent" });

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
  let images = [
    image("used"),
    image("pinned", true),
    image("pause"),
    image("a"),
    image("b"),
  ];
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
    sandboxImage: "pause:latest",
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
  await expect(garbage.collect()).rejects.toThrow("only found 0 bytes");
  expect(failures).toEqual(["FreeDiskSpaceFailed"]);
  clock.advance(121_000);
  expect(await garbage.collect()).toBe(10);
  expect(images.map(({ id }) => id)).toEqual(["used", "pinned", "pause", "b"]);
  expect(await garbage.collect(true)).toBe(10);
  expect(metricsText(garbage.families())).toContain(
    'kubelet_image_garbage_collected_total{reason="space"} 2\n',
  );
  expect(images.map(({ id }) => id)).toEqual(["used", "pinned", "pause"]);
});

/** On a disk of 103 bytes, of which nine too few are free. */
function crowded(runtime: Pick<ImageStore, "listImages" | "removeImage">): {
  garbage: ImageGarbage;
  messages: string[];
} {
  const messages: string[] = [];
  const garbage = new ImageGarbage({
    runtime: {
      ...runtime,
      listContainers: () => Promise.resolve([]),
      imageFsInfo: () => Promise.resolve([{ mountpoint: "/" }]),
    },
    clock: new FakeClock(),
    logger,
    highThresholdPercent: 85,
    lowThresholdPercent: 81,
    minimumAgeMs: 0,
    onFailure: (_reason, message) => messages.push(message),
    filesystem: () =>
      Promise.resolve({ capacityBytes: 103, availableBytes: 10 }),
  });
  return { garbage, messages };
}

test("what the node needs at once is not put off by a collection that is under way", async () => {
  const removed: string[] = [];
  let list = (): void => undefined;
  const listed = new Promise<void>((resolve) => (list = resolve));
  const { garbage, messages } = crowded({
    listImages: async () => {
      await listed;
      return [image("a"), image("b")].filter(({ id }) => !removed.includes(id));
    },
    removeImage: (id) => Promise.resolve(void removed.push(id)),
  });
  const usual = garbage.collect();
  const forced = [garbage.collect(true), garbage.collect(true)];
  list();
  // It had enough with one.
  expect(await usual).toBe(10);
  expect(await Promise.all(forced)).toEqual([10, 10]);
  expect(removed).toEqual(["a", "b"]);
  expect(messages).toEqual([]);
});

test("how much was wanted is in whole bytes", async () => {
  const { garbage, messages } = crowded({
    listImages: () => Promise.resolve([]),
    removeImage: () => Promise.resolve(),
  });
  await expect(garbage.collect()).rejects.toThrow("Failed to garbage collect");
  // 19 % of 103 are 19.57.
  expect(messages).toEqual([
    "Failed to garbage collect required amount of images. Attempted to free 9 bytes, but only found 0 bytes eligible to free.",
  ]);
});

test("an image that can't be removed is an error, and keeps no other", async () => {
  const removed: string[] = [];
  const { garbage, messages } = crowded({
    listImages: () =>
      Promise.resolve(
        ["a", "b"].filter((id) => !removed.includes(id)).map((id) => image(id)),
      ),
    removeImage: (id) =>
      id === "a"
        ? Promise.reject(new Error("a is held"))
        : Promise.resolve(void removed.push(id)),
  });
  await expect(garbage.collect()).rejects.toThrow(
    "wanted to free 9 bytes, but freed 10 bytes space with errors in image deletion: a is held",
  );
  expect(removed).toEqual(["b"]);
  expect(messages).toEqual([]);
  // What is removed for the node's sake is what could be.
  expect(await garbage.collect(true)).toBe(0);
});

test("a file system without a capacity is an error", async () => {
  const messages: string[] = [];
  const garbage = new ImageGarbage({
    runtime: {
      listImages: () => Promise.resolve([]),
      listContainers: () => Promise.resolve([]),
      removeImage: () => Promise.resolve(),
      imageFsInfo: () => Promise.resolve([{ mountpoint: "/" }]),
    },
    clock: new FakeClock(),
    logger,
    highThresholdPercent: 85,
    lowThresholdPercent: 80,
    minimumAgeMs: 0,
    onFailure: (...failure) => messages.push(failure.join(" ")),
    filesystem: () => Promise.resolve({ capacityBytes: 0, availableBytes: 0 }),
  });
  await expect(garbage.collect()).rejects.toThrow("invalid capacity 0");
  expect(messages).toEqual([
    "InvalidDiskCapacity invalid capacity 0 on image filesystem",
  ]);
});

test("an image that a container has as a volume is in use", async () => {
  let images = [image("volume"), image("a")];
  let mounted = ["volume"];
  const garbage = new ImageGarbage({
    runtime: {
      listImages: () => Promise.resolve(images),
      listContainers: () => Promise.resolve([]),
      removeImage: (id) => {
        images = images.filter((candidate) => candidate.id !== id);
        return Promise.resolve();
      },
      imageFsInfo: () => Promise.resolve([{ mountpoint: "/" }]),
    },
    mounted: () => Promise.resolve(mounted),
    clock: new FakeClock(),
    logger,
    highThresholdPercent: 85,
    lowThresholdPercent: 80,
    minimumAgeMs: 0,
    onFailure: () => undefined,
  });
  await garbage.collect(true);
  expect(images.map(({ id }) => id)).toEqual(["volume"]);
  mounted = [];
  await garbage.collect(true);
  expect(images).toEqual([]);
});

test("nothing is removed while it is not known which images are volumes", async () => {
  const removed: string[] = [];
  const garbage = new ImageGarbage({
    runtime: {
      listImages: () => Promise.resolve([image("volume")]),
      listContainers: () => Promise.resolve([]),
      removeImage: (id) => Promise.resolve(void removed.push(id)),
      imageFsInfo: () => Promise.resolve([{ mountpoint: "/" }]),
    },
    mounted: () => Promise.reject(new Error("away")),
    clock: new FakeClock(),
    logger,
    highThresholdPercent: 85,
    lowThresholdPercent: 80,
    minimumAgeMs: 0,
    onFailure: () => undefined,
  });
  await expect(garbage.collect(true)).rejects.toThrow("away");
  expect(removed).toEqual([]);
});

test("an image unused for longer than the maximum goes whatever the disk's use; one in use stays", async () => {
  const clock = new FakeClock();
  let images = [image("used"), image("pinned", true), image("a")];
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
  const garbage = new ImageGarbage({
    runtime: store,
    clock,
    logger,
    highThresholdPercent: 85,
    lowThresholdPercent: 80,
    minimumAgeMs: 0,
    maximumAgeMs: 60_000,
    onFailure: () => undefined,
    filesystem: () =>
      Promise.resolve({ capacityBytes: 100, availableBytes: 90 }),
  });
  await garbage.collect();
  clock.advance(60_000);
  await garbage.collect();
  expect(images).toHaveLength(3);
  clock.advance(1);
  await garbage.collect();
  expect(images.map(({ id }) => id)).toEqual(["used", "pinned"]);
});

test("an image that was here at the start is old enough at the first collection", async () => {
  const clock = new FakeClock();
  let images = [image("a")];
  const garbage = new ImageGarbage({
    runtime: {
      listImages: () => Promise.resolve(images),
      listContainers: () => Promise.resolve([]),
      removeImage: (id) => {
        images = images.filter((candidate) => candidate.id !== id);
        return Promise.resolve();
      },
      imageFsInfo: () => Promise.resolve([{ mountpoint: "/" }]),
    },
    clock,
    logger,
    highThresholdPercent: 100,
    lowThresholdPercent: 80,
    minimumAgeMs: 1000,
    maximumAgeMs: 60_000,
    onFailure: () => undefined,
  });
  await garbage.observe();
  clock.advance(59_000);
  await garbage.collect();
  expect(images).toHaveLength(1);
  clock.advance(2000);
  await garbage.collect();
  expect(images).toEqual([]);
});

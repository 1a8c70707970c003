// Volumes whose file system never answers, a pod's own or another machine's: nothing but the volume waits for it. A process
// has four threads for calls of file systems, so each of these tests would stop all others if one of them waited.
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import type {
  HostPathVolumeSource,
  Pod,
} from "../../../../api/types/core-v1.ts";
import { mountsOf } from "../../../../agent/volumes/container-mounts.ts";
import { directoryUsage } from "../../../../agent/volumes/files/directory-usage.ts";
import {
  ensureAnswer,
  remoteUsage,
} from "../../../../agent/volumes/files/remote-usage.ts";
import { propagatedMounts } from "../../../../agent/volumes/propagated-mounts.ts";
import { hostPathPlugin } from "../../../../agent/volumes/types/host-path.ts";
import type { MountedVolume } from "../../../../agent/volumes/volume-plugin.ts";
import {
  fileSystemUsage,
  VolumeStatistics,
} from "../../../../agent/volumes/volume-statistics.ts";
import { FakeClock } from "../../../support/fake-clock.ts";
import {
  mountSilent,
  type SilentFileSystem,
} from "../../../support/silent-file-system.ts";
import { useTempDirectories } from "../../../support/temp-directory.ts";
import { testPod } from "../runtime-objects.ts";

const directories = useTempDirectories();
const threads = 4;
let silent: SilentFileSystem[] = [];

afterEach(() => {
  for (const each of silent) each.end();
  silent = [];
});

function silentDirectory(parent = directories()): string {
  const place = path.join(parent, "silent");
  fs.mkdirSync(place);
  silent.push(mountSilent(place));
  return place;
}

const mounting = (mountPropagation?: "Bidirectional"): Pod =>
  testPod({
    volumes: [{ name: "v", emptyDir: {} }],
    containers: [
      {
        ...{ name: "c", image: "x" },
        volumeMounts: [
          {
            ...{ name: "v", mountPath: "/v" },
            ...(mountPropagation ? { mountPropagation } : {}),
          },
        ],
      },
    ],
  });

function statistics(volume: MountedVolume, clock: FakeClock): VolumeStatistics {
  const mounted = new Map([["v", volume]]);
  return new VolumeStatistics({
    ...{ periodMs: 60_000, clock, mounted: () => mounted },
  });
}

test("what a pod mounted in its volume is not counted, nor asked", async () => {
  const volume = directories();
  fs.writeFileSync(path.join(volume, "file"), Buffer.alloc(1 << 20));
  const pod = mounting("Bidirectional");
  const before = await directoryUsage(volume);
  const place = silentDirectory(volume);
  const mounts = await propagatedMounts(pod, "v", volume);
  expect(mounts).toEqual([place]);
  expect(await propagatedMounts(mounting(), "v", volume)).toEqual([]);
  for (let round = 0; round < threads + 1; round++)
    expect(await directoryUsage(volume, mounts)).toEqual(before);
  const clock = new FakeClock();
  const usage = statistics(
    { path: volume, readOnly: false, usage: "directory" },
    clock,
  );
  expect(await usage.of(pod)).toEqual([
    expect.objectContaining({ name: "v", usedBytes: before.bytes }),
  ]);
});

test("a file system of another machine", async () => {
  const place = silentDirectory();
  await Promise.all(
    Array.from({ length: threads + 1 }, () =>
      expect(remoteUsage(place)).rejects.toThrow("does not answer"),
    ),
  );
  const here = directories();
  const [found, expected] = [
    await remoteUsage(here),
    await fileSystemUsage(here),
  ];
  expect(Object.keys(found).sort()).toEqual(Object.keys(expected).sort());
  expect(found.capacityBytes).toBe(expected.capacityBytes);
  expect(found.inodes).toBe(expected.inodes);
}, 30_000);

test("a path that is not there yet may be on one that answers", async () => {
  const place = directories();
  // FUSE's own list of connections counts as one, by its name, and always answers.
  execFileSync("mount", ["-t", "fusectl", "fusectl", place]);
  try {
    await ensureAnswer(path.join(place, "absent/below"));
  } finally {
    execFileSync("umount", [place]);
  }
});

test("a sub-path of it is refused, one of a volume that answers is not", async () => {
  const subPaths = directories();
  const mounts = (hostPath: string): Promise<unknown> =>
    mountsOf(
      {
        ...{ name: "c", image: "x" },
        volumeMounts: [{ name: "v", mountPath: "/v", subPath: "absent" }],
      },
      new Map([
        ["v", { path: hostPath, readOnly: true, usage: "remote-file-system" }],
      ]),
      subPaths,
      () => undefined,
      false,
    );
  await expect(mounts(silentDirectory())).rejects.toThrow(
    'the file system of volume "v" does not answer',
  );
  await expect(mounts(directories())).rejects.toThrow(
    "failed to prepare subPath",
  );
}, 30_000);

test("a path of the node on it is refused, others are looked at as ever", async () => {
  const place = silentDirectory();
  const mount = (hostPath: HostPathVolumeSource): Promise<unknown> =>
    hostPathPlugin.mount({
      ...{ pod: mounting(), name: "v", source: { hostPath } },
    });
  await Promise.all(
    Array.from({ length: threads + 1 }, () =>
      expect(
        mount({ path: path.join(place, "below"), type: "Directory" }),
      ).rejects.toThrow("does not answer"),
    ),
  );
  const here = directories();
  expect(await mount({ path: here, type: "Directory" })).toMatchObject({
    path: here,
  });
  await expect(mount({ path: here, type: "File" })).rejects.toThrow(
    "is not a file",
  );
  // Not looked at at all: the runtime mounts it.
  expect(await mount({ path: place })).toMatchObject({ path: place });
}, 30_000);

test("while one volume hangs others are read, and it is not asked again", async () => {
  const clock = new FakeClock();
  let asked = 0;
  let answer: (bytes: number) => void = () => undefined;
  const usage = statistics(
    {
      ...{ path: "/", readOnly: false },
      usage: () => {
        asked++;
        return new Promise((resolve) => {
          answer = (usedBytes) => resolve({ usedBytes });
        });
      },
    },
    clock,
  );
  const pod = mounting();
  const look = async (
    meanwhile: () => void,
  ): Promise<readonly (number | undefined)[]> => {
    const found = usage.of(pod);
    meanwhile();
    return (await found).map(({ usedBytes }) => usedBytes);
  };
  const late = (): void => clock.advance(5000);
  const nextPeriod = (): void => clock.advance(60_000);
  expect(await look(late)).toEqual([]);
  nextPeriod();
  expect(await look(late)).toEqual([]);
  expect(asked).toBe(1);
  answer(7);
  await new Promise(setImmediate);
  nextPeriod();
  expect(await look(() => answer(8))).toEqual([8]);
  nextPeriod();
  expect(await look(late)).toEqual([8]);
  expect(asked).toBe(3);
});

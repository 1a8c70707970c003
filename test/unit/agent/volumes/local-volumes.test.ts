// Volumes on this machine: directories of the built-in class are made and removed with their PersistentVolumes, devices
// carry file systems or are handed on, and what an administrator has is never made, written over or removed.
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import pino from "pino";
import { systemClock } from "../../../../api/clock.ts";
import { errors } from "../../../../api/errors.ts";
import { LocalPathDirectories } from "../../../../agent/volumes/local-path/local-path-directories.ts";
import { localPlugin } from "../../../../agent/volumes/types/local.ts";
import type { VolumeRequest } from "../../../../agent/volumes/volume-plugin.ts";
import { createClient } from "../../../../client/create-client.ts";
import { MemoryObjects } from "../../../../client/memory-objects.ts";
import { persistentVolumes } from "../../../../client/resources.ts";
import type {
  PersistentVolume,
  PersistentVolumeSpec,
} from "../../../../api/types/core-v1.ts";
import { FakeClock } from "../../../support/fake-clock.ts";
import { MemoryApi } from "../../../support/memory-api.ts";
import { useTempDirectories } from "../../../support/temp-directory.ts";
import { testPod } from "../runtime-objects.ts";

const directories = useTempDirectories();
const logger = pino({ level: "silent" });

function setUp(root = directories()) {
  const api = new MemoryApi(systemClock);
  const client = createClient(api, { clock: systemClock, logger });
  const used = new Set<string>();
  const clock = new FakeClock();
  const builtIn = new LocalPathDirectories({
    directory: path.join(root, "local-path"),
    client,
    clock,
    logger,
    inUse: (where) => used.has(where),
  });
  const config = { rootDirectory: root, memoryDirectory: undefined };
  return {
    root,
    api,
    client,
    used,
    builtIn,
    clock,
    plugin: localPlugin(config, builtIn),
  };
}

const request = (
  name: string,
  spec: PersistentVolumeSpec,
  uid = "u",
): VolumeRequest => ({
  pod: { ...testPod({}), metadata: { name: "p", uid } },
  name: "v",
  source: spec,
  persistentVolume: { metadata: { name }, spec } as PersistentVolume,
});

test("a directory of the built-in class comes with the first mount and goes when its volume is gone", async () => {
  const { root, client, used, builtIn, plugin, api } = setUp();
  const where = path.join(root, "local-path", "pvc-1");
  const spec = { local: { path: where } };
  await client
    .resource(persistentVolumes)
    .create({ metadata: { name: "pvc-1" }, spec });
  const mounted = await plugin.mount(request("pvc-1", spec));
  expect(mounted).toEqual({
    path: where,
    readOnly: false,
    fsGroup: "by-policy",
    usage: "file-system",
  });
  expect(fs.statSync(where).mode & 0o7777).toBe(0o777);
  expect(fs.statSync(path.dirname(where)).mode & 0o777).toBe(0o700);
  // Rights that the pod gave it stay.
  fs.chmodSync(where, 0o2750);
  fs.writeFileSync(path.join(where, "kept"), "");
  await plugin.mount(request("pvc-1", spec));
  expect(fs.statSync(where).mode & 0o7777).toBe(0o2750);
  await builtIn.sweep();
  expect(fs.existsSync(path.join(where, "kept"))).toBe(true);

  await client.resource(persistentVolumes).delete("pvc-1");
  used.add(where);
  await builtIn.sweep();
  expect(fs.existsSync(where)).toBe(true);
  used.clear();
  // An API server that fails has not said that it is gone.
  api.intercept = ({ resource }) => {
    throw errors.forbidden(resource, "pvc-1", "no");
  };
  await builtIn.sweep();
  expect(fs.existsSync(where)).toBe(true);
  api.intercept = () => undefined;
  await builtIn.sweep();
  expect(fs.existsSync(where)).toBe(false);
});

test("nothing else in the directory is touched, and no link is followed", async () => {
  const { root, builtIn, plugin } = setUp();
  const outside = directories();
  fs.writeFileSync(path.join(outside, "precious"), "");
  const below = path.join(root, "local-path");
  fs.mkdirSync(below);
  fs.mkdirSync(path.join(below, "others"));
  fs.symlinkSync(outside, path.join(below, "pvc-2"));
  await builtIn.sweep();
  expect(fs.existsSync(path.join(below, "others"))).toBe(true);
  expect(fs.existsSync(path.join(outside, "precious"))).toBe(true);
  const elsewhere = path.join(root, "pvc-3");
  await expect(
    plugin.mount(request("pvc-3", { local: { path: elsewhere } })),
  ).rejects.toThrow("does not exist");
  expect(builtIn.owns(path.join(below, "pvc-1/../../x"))).toBe(false);
});

test("a directory is mounted with the volume's options, once a pod", async () => {
  const { root, plugin } = setUp();
  const shared = path.join(root, "shared");
  fs.mkdirSync(shared);
  fs.writeFileSync(path.join(shared, "file"), "");
  const asked = request("pv", {
    local: { path: shared },
    mountOptions: ["noexec", "nosuid"],
  });
  const mounted = await plugin.mount(asked);
  const bound = path.join(root, "pods/u/volumes/kubernetes.io~local-volume/pv");
  try {
    expect(mounted).toMatchObject({ path: bound, origin: shared });
    expect(await plugin.mount(asked)).toEqual(mounted);
    expect(fs.readdirSync(bound)).toEqual(["file"]);
    const lines = fs
      .readFileSync("/proc/self/mounts", "utf8")
      .split("\n")
      .filter((line) => line.includes(` ${bound} `));
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/nosuid.*noexec/);
  } finally {
    execFileSync("umount", [bound]);
  }
});

describe("without an API server", () => {
  const volume = (
    root: string,
    name: string,
    persistentVolumeReclaimPolicy: string,
  ): PersistentVolume => ({
    metadata: { name },
    spec: {
      local: { path: path.join(root, "local-path", name) },
      persistentVolumeReclaimPolicy,
    },
  });

  function alone(root = directories()) {
    const objects = new MemoryObjects();
    const clock = new FakeClock();
    const used = new Set<string>();
    const local = createClient(objects, { clock, logger });
    const builtIn = new LocalPathDirectories({
      directory: path.join(root, "local-path"),
      client: undefined,
      local,
      clock,
      logger,
      inUse: (where) => used.has(where),
    });
    builtIn.start();
    const stop = async (): Promise<void> => {
      await builtIn.stop();
      await local.close();
    };
    return { root, objects, clock, used, builtIn, stop };
  }
  const left = (root: string): string[] =>
    fs.readdirSync(path.join(root, "local-path")).sort();

  test("the directory goes a minute after its volume with the policy Delete, and stays with Retain", async () => {
    const { root, objects, clock, builtIn, used, stop } = alone();
    const all = {
      "pvc-1": "Delete",
      "pvc-2": "Retain",
      "pvc-3": "Delete",
      "pvc-4": "Delete",
    };
    for (const [name, policy] of Object.entries(all)) {
      const made = volume(root, name, policy);
      objects.put(persistentVolumes, made);
      await builtIn.make(made.spec!.local!.path);
    }
    // Of no claim that was seen: from an agent before this one.
    await builtIn.make(path.join(root, "local-path/pvc-5"));
    for (const name of ["pvc-1", "pvc-2", "pvc-3"])
      objects.remove(persistentVolumes, name);
    const inUse = path.join(root, "local-path/pvc-3");
    used.add(inUse);
    clock.advance(59_000);
    await builtIn.sweep();
    expect(left(root)).toEqual(["pvc-1", "pvc-2", "pvc-3", "pvc-4", "pvc-5"]);
    clock.advance(12_000);
    await builtIn.sweep();
    expect(left(root)).toEqual(["pvc-2", "pvc-3", "pvc-4", "pvc-5"]);
    // When its last pod is gone.
    used.clear();
    clock.advance(11_000);
    await builtIn.sweep();
    expect(left(root)).toEqual(["pvc-2", "pvc-4", "pvc-5"]);
    await stop();
  });

  test("a volume that comes back in time keeps its directory, with any policy", async () => {
    const { root, objects, clock, builtIn, stop } = alone();
    for (const policy of ["Delete", "Retain"]) {
      objects.put(persistentVolumes, volume(root, "pvc-1", "Delete"));
      await builtIn.make(path.join(root, "local-path/pvc-1"));
      objects.remove(persistentVolumes, "pvc-1");
      clock.advance(50_000);
      objects.put(persistentVolumes, volume(root, "pvc-1", policy));
      clock.advance(120_000);
      await builtIn.sweep();
      expect(left(root)).toEqual(["pvc-1"]);
    }
    await stop();
  });

  test("an ephemeral volume goes with a pod that went while no agent ran", async () => {
    const { root, objects, builtIn, stop } = alone();
    const plugin = localPlugin(
      { rootDirectory: root, memoryDirectory: undefined },
      builtIn,
    );
    for (const [name, podUid] of [
      ["pvc-1", "gone"],
      ["pvc-2", "kept"],
      ["pvc-3", undefined],
    ] as const) {
      const made = volume(root, name, "Delete");
      if (podUid)
        made.metadata.annotations = { "orbit.io/ephemeral-volume-of": podUid };
      objects.put(persistentVolumes, made);
      await plugin.mount({
        ...request(name, made.spec!),
        persistentVolume: made,
      });
    }
    await stop();

    const { clock, builtIn: next, stop: stopNext } = alone(root);
    const isKnown = (uid: string): boolean => uid === "kept";
    await next.releaseOthers(isKnown);
    clock.advance(59_000);
    // The first that found it gone counts.
    await next.releaseOthers(isKnown);
    await next.sweep();
    expect(left(root)).toEqual(["pvc-1", "pvc-2", "pvc-3"]);
    clock.advance(1000);
    await next.sweep();
    expect(left(root)).toEqual(["pvc-2", "pvc-3"]);
    // Nothing of it is found again.
    await next.releaseOthers(() => true);
    expect(fs.readdirSync(path.join(root, "local-path-owners"))).toEqual([
      "pvc-2",
      "pvc-3",
    ]);
    await stopNext();
  });

  test("what was made so stays when the agent has an API server, which does not know it", async () => {
    const { root, builtIn, stop } = alone();
    await builtIn.make(path.join(root, "local-path/pvc-1"));
    await stop();
    fs.mkdirSync(path.join(root, "local-path/pvc-2"));
    await setUp(root).builtIn.sweep();
    expect(left(root)).toEqual(["pvc-1"]);
  });

  test("a path outside of the directory is never removed, whatever a volume says", async () => {
    const { root, objects, clock, builtIn, stop } = alone();
    const outside = path.join(root, "pvc-1");
    fs.mkdirSync(outside);
    fs.mkdirSync(path.join(root, "local-path"));
    objects.put(persistentVolumes, {
      metadata: { name: "pvc-1" },
      spec: {
        local: { path: outside },
        persistentVolumeReclaimPolicy: "Delete",
      },
    } as PersistentVolume);
    objects.remove(persistentVolumes, "pvc-1");
    clock.advance(120_000);
    await builtIn.sweep();
    expect(fs.existsSync(outside)).toBe(true);
    await stop();
  });
});

describe("with a block device", () => {
  const made: string[] = [];
  const device = (): string => {
    const image = path.join(directories(), "disk");
    fs.writeFileSync(image, "");
    fs.truncateSync(image, 16 << 20);
    const name = execFileSync("losetup", ["-f", "--show", image], {
      encoding: "utf8",
    }).trim();
    made.push(name);
    return name;
  };
  afterEach(() => {
    for (const name of made.splice(0)) execFileSync("losetup", ["-d", name]);
  });

  test("a file system is made once, shared by two pods and unmounted after the second", async () => {
    const { root, plugin } = setUp();
    const spec = { local: { path: device(), fsType: "ext4" } };
    const a = await plugin.mount(request("disk", spec, "a"));
    fs.writeFileSync(path.join(a.path, "data"), "1");
    const b = await plugin.mount(request("disk", spec, "b"));
    expect(fs.readFileSync(path.join(b.path, "data"), "utf8")).toBe("1");
    const mounts = (): number =>
      fs.readFileSync("/proc/self/mountinfo", "utf8").split(root).length - 1;
    expect(mounts()).toBe(3);
    execFileSync("umount", [a.path]);
    await plugin.released!();
    expect(mounts()).toBe(2);
    execFileSync("umount", [b.path]);
    await plugin.released!();
    expect(mounts()).toBe(0);
    // What is on it stays.
    const again = await plugin.mount(request("disk", spec, "c"));
    expect(fs.existsSync(path.join(again.path, "data"))).toBe(true);
    execFileSync("umount", [again.path]);
    await plugin.released!();
  });

  test("another file system than is asked for is refused; Block gets the device itself", async () => {
    const { plugin } = setUp();
    const disk = device();
    execFileSync("mkfs.ext4", ["-q", disk]);
    await expect(
      plugin.mount(request("d", { local: { path: disk, fsType: "xfs" } })),
    ).rejects.toThrow(
      'failed to mount the volume as "xfs", it already contains ext4',
    );
    const block = { local: { path: disk }, volumeMode: "Block" };
    expect(await plugin.mount(request("d", block))).toEqual({
      path: disk,
      device: true,
      readOnly: false,
    });
    const directory = { local: { path: directories() }, volumeMode: "Block" };
    await expect(plugin.mount(request("d", directory))).rejects.toThrow(
      "is not a block device",
    );
  });
});

// --enable-hostpath-provisioner: directories of this machine, and what may not be removed with them.
import { randomUUID } from "node:crypto";
import {
  chmod,
  mkdir,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import * as path from "node:path";
import type { Event, PersistentVolume } from "../../../../api/types/core-v1.ts";
import {
  events,
  persistentVolumeClaims,
  persistentVolumes,
  storageClasses,
} from "../../../../client/resources.ts";
import { HostPathDirectories } from "../../../../controllers/volumes/host-path-directories.ts";
import {
  passes,
  startControlPlane,
  type ControlPlane,
} from "../../../support/control-plane.ts";
import { useTempDirectories } from "../../../support/temp-directory.ts";

const tempDirectory = useTempDirectories();
const root = "/tmp/hostpath_pv";

describe("volumes", () => {
  let plane: ControlPlane;
  const made: string[] = [];
  afterEach(async () => {
    await plane.stop();
    for (const directory of made.splice(0))
      await rm(directory, { recursive: true, force: true });
  });
  const start = async (enableHostpathProvisioner: boolean): Promise<void> => {
    plane = await startControlPlane({
      controllers: { enableHostpathProvisioner },
    });
    await plane.client.resource(storageClasses).create({
      metadata: { name: "host" },
      provisioner: "kubernetes.io/host-path",
      reclaimPolicy: "Delete",
      volumeBindingMode: "Immediate",
    });
  };
  const claim = () =>
    plane.client.resource(persistentVolumeClaims).create({
      metadata: { name: "c", namespace: "default" },
      spec: {
        accessModes: ["ReadWriteMany"],
        resources: { requests: { storage: "1Gi" } },
        storageClassName: "host",
      },
    });
  const endClaim = () =>
    plane.client.resource(persistentVolumeClaims).delete("c", "default");
  const volumes = () => plane.api.all<PersistentVolume>(persistentVolumes);
  const messages = () =>
    plane.api.all<Event>(events).map(({ message }) => message);
  const bound = async (): Promise<PersistentVolume> => {
    await passes(() => expect(volumes()[0]?.status?.phase).toBe("Bound"));
    const [volume] = volumes();
    made.push(volume!.spec!.hostPath!.path);
    return volume!;
  };

  test("a claim gets a directory, which goes with it", async () => {
    await start(true);
    const { metadata } = await claim();
    const volume = await bound();
    const directory = `${root}/${metadata.uid}`;
    expect(volume).toMatchObject({
      metadata: {
        name: `pvc-${metadata.uid}`,
        annotations: {
          "kubernetes.io/createdby": "hostpath-dynamic-provisioner",
          "pv.kubernetes.io/provisioned-by": "kubernetes.io/host-path",
        },
        finalizers: expect.arrayContaining(["kubernetes.io/pv-controller"]),
      },
      spec: {
        accessModes: ["ReadWriteMany"],
        capacity: { storage: "1Gi" },
        hostPath: { path: directory },
        persistentVolumeReclaimPolicy: "Delete",
      },
    });
    expect((await stat(directory)).isDirectory()).toBe(true);
    await writeFile(`${directory}/data`, "x");
    await endClaim();
    await passes(() => expect(volumes()).toEqual([]));
    await expect(stat(directory)).rejects.toThrow("ENOENT");
  });

  test("a volume deleted before its claim keeps its directory until the claim goes", async () => {
    await start(true);
    await claim();
    const { metadata, spec } = await bound();
    await plane.client.resource(persistentVolumes).delete(metadata.name);
    await endClaim();
    await passes(() => expect(volumes()).toEqual([]));
    await expect(stat(spec!.hostPath!.path)).rejects.toThrow("ENOENT");
  });

  test("a volume that is to be kept keeps its directory, and its object may be deleted", async () => {
    await start(true);
    await claim();
    const volume = await bound();
    await plane.client
      .resource(persistentVolumes)
      .patch(volume.metadata.name, undefined, {
        type: "merge",
        body: { spec: { persistentVolumeReclaimPolicy: "Retain" } },
      });
    await endClaim();
    await passes(() => expect(volumes()[0]?.status?.phase).toBe("Released"));
    await plane.client.resource(persistentVolumes).delete(volume.metadata.name);
    await passes(() => expect(volumes()).toEqual([]));
    expect((await stat(volume.spec!.hostPath!.path)).isDirectory()).toBe(true);
  });

  test("without the option nothing is made", async () => {
    await start(false);
    await claim();
    await passes(() =>
      expect(messages()).toContain(
        'Failed to create provisioner: provisioning in volume plugin "kubernetes.io/host-path" is disabled',
      ),
    );
    expect(volumes()).toEqual([]);
  });

  test.each(["/etc", `${root}/..`, `${root}/${randomUUID()}/..`])(
    "a volume that names %s is not removed",
    async (directory) => {
      await start(true);
      await plane.client.resource(persistentVolumes).create({
        metadata: {
          name: "v",
          annotations: {
            "pv.kubernetes.io/provisioned-by": "kubernetes.io/host-path",
          },
        },
        spec: {
          accessModes: ["ReadWriteOnce"],
          capacity: { storage: "1Gi" },
          claimRef: { name: "gone", namespace: "default", uid: "u" },
          persistentVolumeReclaimPolicy: "Delete",
          hostPath: { path: directory },
        },
      });
      await passes(() =>
        expect(volumes()[0]?.status).toMatchObject({
          phase: "Failed",
          message: `host_path deleter only supports ${root}/<uid> but received provided ${directory}`,
        }),
      );
    },
  );
});

describe("directories", () => {
  const place = async () => {
    const base = await tempDirectory();
    const above = path.join(base, "hostpath_pv");
    const outside = path.join(base, "outside");
    await mkdir(outside);
    await writeFile(`${outside}/kept`, "kept");
    return { above, outside, directories: new HostPathDirectories(above) };
  };
  const kept = (outside: string) => readFile(`${outside}/kept`, "utf8");

  test("a tree deeper than descriptors reach is removed, links in it are not followed", async () => {
    const { above, outside, directories } = await place();
    const directory = await directories.make(randomUUID());
    // Twice is the same: a manager that was cut off makes it again.
    expect(await directories.make(path.basename(directory))).toBe(directory);
    for (let at = 0; at < 20; at += 1) await deepen(directory, `d${at}`);
    await symlink(outside, `${directory}/link`);
    await symlink(outside, `${directory}/d0/link`);
    await directories.remove(directory);
    await directories.remove(directory);
    expect(await readdir(above)).toEqual([]);
    expect(await kept(outside)).toBe("kept");
  });

  const deepen = (directory: string, name: string) =>
    mkdir(path.join(directory, name, ..."d".repeat(100)), { recursive: true });

  test("a directory that a link took the place of is refused", async () => {
    const { above, outside, directories } = await place();
    const directory = await directories.make(randomUUID());
    await rm(directory, { recursive: true });
    await symlink(outside, directory);
    await expect(directories.remove(directory)).rejects.toThrow();
    await expect(directories.make(path.basename(directory))).rejects.toThrow();
    expect(await readdir(above)).toHaveLength(1);
    expect(await kept(outside)).toBe("kept");
  });

  test("a directory above that is a link, or that others may write into, is refused", async () => {
    const { above, outside, directories } = await place();
    await symlink(outside, above);
    await expect(directories.make(randomUUID())).rejects.toThrow();
    await rm(above);
    await mkdir(above);
    await chmod(above, 0o777);
    await expect(directories.make(randomUUID())).rejects.toThrow(
      /must be a directory of user \d+ that nobody else may write into/,
    );
    await expect(
      directories.remove(`${above}/${randomUUID()}`),
    ).rejects.toThrow("nobody else may write into");
  });

  test.each(["..", "a/b", "", "../outside", "x"])(
    "%j is no name of a directory",
    async (name) => {
      const { above, outside, directories } = await place();
      await expect(directories.make(name)).rejects.toThrow("is no uid");
      await expect(directories.remove(`${above}/${name}`)).rejects.toThrow(
        "host_path deleter only supports",
      );
      expect(await kept(outside)).toBe("kept");
    },
  );
});

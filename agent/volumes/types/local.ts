// local: a directory or a block device of this machine, as a persistent volume. A directory of the built-in class is made
// with the first mount; every other one an administrator made. A block device is handed on as such, or carries a file
// system that is made and mounted.
import { realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { ephemeralAnnotation } from "../../../api/objects/volumes/local-path.ts";
import { SharedReading } from "../../../api/queueing/shared-reading.ts";
import type { AgentConfig } from "../../config/agent-config.ts";
import { mountDevice } from "../files/devices.ts";
import { mountPoints, mountsBelow, unmount } from "../files/mounts.ts";
import { ensureAnswer } from "../files/remote-usage.ts";
import { bindVolume } from "../files/volume-directory.ts";
import { VolumeFailure, type VolumePlugin } from "../volume-plugin.ts";
import type { LocalPathDirectories } from "../local-path/local-path-directories.ts";
import { pluginDirectory, podsDirectory, volumePath } from "../volume-paths.ts";

export function localPlugin(
  config: Pick<AgentConfig, "rootDirectory" | "memoryDirectory">,
  builtIn: Pick<LocalPathDirectories, "owns" | "make">,
): VolumePlugin {
  const { rootDirectory } = config;
  const mountsOfDevices = join(
    pluginDirectory({ rootDirectory }, "kubernetes.io~local-volume"),
    "mounts",
  );
  const unused = new SharedReading(() =>
    unmountUnused(mountsOfDevices, podsDirectory(config)),
  );
  return {
    field: "local",
    serves: ["persistent"],
    async mount({ pod, name, source, persistentVolume }) {
      const { path, fsType } = source.local!;
      if (builtIn.owns(path))
        await builtIn.make(
          path,
          persistentVolume?.metadata.annotations?.[ephemeralAnnotation],
        );
      else await ensureAnswer(path);
      const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== "ENOENT") throw error;
        throw new VolumeFailure(
          "MountVolume.NewMounter initialization",
          persistentVolume?.metadata.name ?? name,
          `path "${path}" does not exist`,
        );
      });
      const isDevice = found.isBlockDevice();
      if (persistentVolume?.spec?.volumeMode === "Block") {
        if (!isDevice) throw new Error(`${path} is not a block device`);
        return { path: await realpath(path), device: true, readOnly: false };
      }
      const options = persistentVolume?.spec?.mountOptions ?? [];
      const bound = volumePath(
        config,
        pod.metadata.uid ?? "",
        "local-volume",
        persistentVolume?.metadata.name ?? name,
      );
      if (isDevice) {
        const target = join(mountsOfDevices, persistentVolume!.metadata.name);
        await mountDevice(
          await realpath(path),
          target,
          fsType ?? "ext4",
          options,
        );
        // A mount a pod: from these it follows who still uses the file system.
        await bindVolume(target, bound);
        return {
          path: bound,
          readOnly: false,
          fsGroup: "by-policy",
          usage: "file-system",
        };
      }
      if (!found.isDirectory())
        throw new Error(`${path} is neither a directory nor a block device`);
      const hasOptions = options.length > 0;
      if (hasOptions) await bindVolume(path, bound, options);
      return {
        ...(hasOptions ? { path: bound, origin: path } : { path }),
        readOnly: false,
        fsGroup: "by-policy",
        usage: "file-system",
      };
    },
    released: () => unused.value(),
  };
}

/** File systems on devices stay mounted while a pod uses them. */
async function unmountUnused(
  mountsOfDevices: string,
  pods: string,
): Promise<void> {
  if ((await mountsBelow(mountsOfDevices)).length === 0) return;
  const all = await mountPoints();
  const used = new Set(
    all
      .filter(({ target }) => target.startsWith(`${pods}/`))
      .map(({ device }) => device),
  );
  for (const { target, device } of all)
    if (target.startsWith(`${mountsOfDevices}/`) && !used.has(device))
      await unmount(target);
}

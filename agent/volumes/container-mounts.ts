// A container's mounts and devices of its pod's volumes, with subPaths bound to places of the agent's own.
import { join } from "node:path";
import type { Container, VolumeMount } from "../../api/types/core-v1.ts";
import type { ContainerConfig, Mount } from "../../cri/runtime.ts";
import { expandStrictly } from "../pods/shape/expansion.ts";
import { recursiveReadOnly } from "../pods/shape/recursive-read-only.ts";
import { ensureAnswer } from "./files/remote-usage.ts";
import { mountSubPath } from "./files/sub-path.ts";
import { makeMountPoints } from "./mount-points.ts";
import type { MountedVolume } from "./volume-plugin.ts";

/** By the names of volumes. */
export type MountedImages = ReadonlyMap<string, NonNullable<Mount["image"]>>;

/**
 * `subPaths`: the directory for the pod's subPath mounts. `lookup` resolves $(VAR) of subPathExpr. `recursive`: the
 * runtime can make mounts below a mount read-only.
 */
export async function mountsOf(
  container: Container,
  volumes: ReadonlyMap<string, MountedVolume> | undefined,
  subPaths: string,
  lookup: (name: string) => string | undefined,
  recursive: boolean,
  images?: MountedImages,
): Promise<Mount[]> {
  const mounts: Mount[] = [];
  const written = new Set<Mount>();
  for (const [index, mount] of (container.volumeMounts ?? []).entries()) {
    const volume = volumes?.get(mount.name);
    if (!volume || volume.device)
      throw new Error(
        `cannot find volume "${mount.name}" to mount into container "${container.name}"`,
      );
    const subPath = mount.subPathExpr
      ? expandStrictly(mount.subPathExpr, lookup)
      : mount.subPath;
    const image = volume.image && images?.get(mount.name);
    if (volume.image && (!image || subPath))
      throw new Error(
        subPath
          ? `volume "${mount.name}" is an image, of which container "${container.name}" can't have a subPath`
          : `the image of volume "${mount.name}" is not known`,
      );
    const coversBelow = recursiveReadOnly(mount, recursive);
    const target = join(subPaths, mount.name, container.name, String(index));
    if (subPath) checkSubPath(subPath);
    // A sub-path is opened by this process, which a server that is gone must not hold up.
    if (subPath)
      await ensureAnswer(join(volume.path, subPath)).catch((error: unknown) => {
        throw new Error(
          `the file system of volume "${mount.name}" does not answer`,
          { cause: error },
        );
      });
    const hostPath = subPath
      ? await mountSubPath(
          volume.path,
          subPath,
          target,
          // In one that the agent writes an absent file, as of an optional configMap, is a directory, as at the reference.
          volume.readOnly && !volume.written,
        ).catch((error: unknown) => {
          // Why is not for who made the links in the volume: the node's other files would show through it.
          throw new Error(
            `failed to prepare subPath for volumeMount ${JSON.stringify(mount.name)} of container ${JSON.stringify(container.name)}`,
            { cause: error },
          );
        })
      : volume.path;
    const made: Mount = {
      containerPath: mount.mountPath.startsWith("/")
        ? mount.mountPath
        : `/${mount.mountPath}`,
      hostPath,
      readonly: mount.readOnly === true || volume.readOnly,
      propagation: mountPropagation(mount),
      ...(coversBelow ? { recursiveReadOnly: true } : {}),
      ...(image ? { image } : {}),
    };
    mounts.push(made);
    if (volume.written) written.add(made);
  }
  await makeMountPoints(mounts, written);
  return mounts;
}

/** With the reference's texts: what was expanded has not been checked before. */
function checkSubPath(subPath: string): void {
  if (subPath.startsWith("/"))
    throw new Error(
      `error SubPath \`${subPath}\` must not be an absolute path`,
    );
  if (subPath.split("/").includes(".."))
    throw new Error(
      `unable to provision SubPath \`${subPath}\`: must not contain '..'`,
    );
}

export function devicesOf(
  container: Container,
  volumes: ReadonlyMap<string, MountedVolume> | undefined,
): ContainerConfig["devices"] {
  return (container.volumeDevices ?? []).map(({ name, devicePath }) => {
    const volume = volumes?.get(name);
    if (!volume?.device)
      throw new Error(
        `cannot find volume "${name}" to pass into container "${container.name}"`,
      );
    return {
      containerPath: devicePath,
      hostPath: volume.path,
      permissions: volume.readOnly ? "r" : "mrw",
    };
  });
}

function mountPropagation(mount: VolumeMount): Mount["propagation"] {
  switch (mount.mountPropagation) {
    case "HostToContainer":
      return "host-to-container";
    case "Bidirectional":
      return "bidirectional";
    default:
      return "private";
  }
}

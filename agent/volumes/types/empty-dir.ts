// emptyDir: a directory of the pod's; a tmpfs bounded by its own limit, the pod's memory limits and the node's memory; or
// huge pages of the size that the pod's containers ask for.
import { lstat } from "node:fs/promises";
import { parseQuantity, quantityValue } from "../../../api/quantity.ts";
import type { Pod } from "../../../api/types/core-v1.ts";
import type { AgentConfig } from "../../config/agent-config.ts";
import { podResources } from "../../resources/linux-resources.ts";
import { isMountPoint, mountHugepages, mountTmpfs } from "../files/mounts.ts";
import { ensureVolumeDirectory } from "../files/volume-directory.ts";
import { volumePath } from "../volume-paths.ts";
import type { VolumePlugin } from "../volume-plugin.ts";

type Directories = Pick<AgentConfig, "rootDirectory" | "memoryDirectory">;

const hugepages = "HugePages";

export function emptyDirPath(
  config: Directories,
  uid: string,
  name: string,
): string {
  return volumePath(config, uid, "empty-dir", name);
}

/** @param nodeMemoryBytes what a tmpfs without a limit of its own or the pod's may take */
export function emptyDirPlugin(
  config: Directories,
  nodeMemoryBytes: () => number,
): VolumePlugin {
  return {
    field: "emptyDir",
    serves: ["pod"],
    async mount({ pod, name, source, isSetUp = false }) {
      const { medium = "", sizeLimit } = source.emptyDir!;
      const path = emptyDirPath(config, pod.metadata.uid ?? "", name);
      const mounted = {
        path,
        readOnly: false,
        fsGroup: "always",
        usage: "directory",
      } as const;
      const mount = mountOf(medium, pod, () =>
        tmpfsSize(pod, sizeLimit, nodeMemoryBytes()),
      );
      const isThere = mount
        ? await isMountPoint(path)
        : await isDirectory(path);
      if (isSetUp && isThere) return mounted;
      await ensureVolumeDirectory(path, 0o777);
      if (mount && !isThere) {
        await mount(path);
        // The root of the new file system has rights of its own.
        await ensureVolumeDirectory(path, 0o777);
      }
      return { ...mounted, isNew: true };
    },
  };
}

/** A link is none. */
async function isDirectory(path: string): Promise<boolean> {
  return await lstat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

/** undefined: on the disk. */
function mountOf(
  medium: string,
  pod: Pod,
  sizeBytes: () => number | undefined,
): ((path: string) => Promise<void>) | undefined {
  if (medium === "") return undefined;
  if (medium === "Memory") return (path) => mountTmpfs(path, sizeBytes());
  if (medium === hugepages || medium.startsWith(`${hugepages}-`)) {
    const bytes = pageSize(medium, pod);
    return (path) => mountHugepages(path, bytes);
  }
  throw new Error(`emptyDir medium "${medium}" is not supported`);
}

function tmpfsSize(
  pod: Pod,
  sizeLimit: string | undefined,
  nodeMemoryBytes: number,
): number | undefined {
  const wanted =
    sizeLimit === undefined ? 0 : quantityValue(parseQuantity(sizeLimit));
  const { memoryLimited, memoryLimitBytes } = podResources(pod);
  const bounds = [
    wanted,
    memoryLimited ? memoryLimitBytes : 0,
    nodeMemoryBytes,
  ].filter((bytes) => bytes > 0);
  return bounds.length > 0 ? Math.min(...bounds) : undefined;
}

/** Bytes of a page: the medium's, which a container must ask for, or the only one that containers ask for. */
function pageSize(medium: string, { spec }: Pod): number {
  const asked = new Set(
    [...spec.containers, ...(spec.initContainers ?? [])]
      .flatMap(({ resources }) => Object.keys(resources?.requests ?? {}))
      .flatMap((name) =>
        name.startsWith("hugepages-")
          ? [quantityValue(parseQuantity(name.slice("hugepages-".length)))]
          : [],
      ),
  );
  if (medium !== hugepages) {
    const size = quantityValue(
      parseQuantity(medium.slice(hugepages.length + 1)),
    );
    if (asked.has(size)) return size;
  } else if (asked.size > 1)
    throw new Error(
      `medium: ${medium} can't be used if container requests multiple huge page sizes`,
    );
  const [size] = asked;
  if (medium !== hugepages || size === undefined)
    throw new Error(
      `medium ${medium}: hugePages storage requested, but there is no resource request for huge pages`,
    );
  return size;
}

// emptyDir: a directory of the pod's, or a tmpfs of a size bounded by the pod's memory limits.
import { parseQuantity, quantityValue } from "../../../api/quantity.ts";
import type { Pod } from "../../../api/types/core-v1.ts";
import type { AgentConfig } from "../../config/agent-config.ts";
import { podResources } from "../../resources/linux-resources.ts";
import { isMountPoint, mountTmpfs } from "../files/mounts.ts";
import { ensureVolumeDirectory } from "../files/volume-directory.ts";
import { volumePath } from "../volume-paths.ts";
import type { VolumePlugin } from "../volume-plugin.ts";

type Directories = Pick<AgentConfig, "rootDirectory" | "memoryDirectory">;

export function emptyDirPath(
  config: Directories,
  uid: string,
  name: string,
): string {
  return volumePath(config, uid, "empty-dir", name);
}

export function emptyDirPlugin(config: Directories): VolumePlugin {
  return {
    field: "emptyDir",
    serves: ["pod"],
    async mount({ pod, name, source }) {
      const { medium, sizeLimit } = source.emptyDir!;
      if (medium && medium !== "Memory")
        throw new Error(`emptyDir medium "${medium}" is not supported`);
      const path = emptyDirPath(config, pod.metadata.uid ?? "", name);
      await ensureVolumeDirectory(path, 0o777);
      if (medium === "Memory" && !(await isMountPoint(path))) {
        await mountTmpfs(path, tmpfsSize(pod, sizeLimit));
        // The root of the new file system has rights of its own.
        await ensureVolumeDirectory(path, 0o777);
      }
      return { path, readOnly: false, fsGroup: "always" };
    },
  };
}

function tmpfsSize(
  pod: Pod,
  sizeLimit: string | undefined,
): number | undefined {
  const wanted =
    sizeLimit === undefined ? 0 : quantityValue(parseQuantity(sizeLimit));
  const { memoryLimited, memoryLimitBytes } = podResources(pod);
  const bounds = [wanted, memoryLimited ? memoryLimitBytes : 0].filter(
    (bytes) => bytes > 0,
  );
  return bounds.length > 0 ? Math.min(...bounds) : undefined;
}

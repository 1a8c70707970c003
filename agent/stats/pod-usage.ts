// What pods use, for eviction: memory and writable layers from the runtime, logs and emptyDir volumes by reading their
// directories. Only asked for while the node is short or a pod has limits of its own.
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Pod } from "../../api/types/core-v1.ts";
import type { Runtime } from "../../cri/runtime.ts";
import type { ContainerUsage, PodUsage } from "../../eviction/pod-usage.ts";
import type { AgentConfig } from "../config/agent-config.ts";
import { containerNameLabel, podUidLabel } from "../pods/shape/labels.ts";
import { podLogDirectory } from "../pods/shape/pod-names.ts";
import { emptyDirPath } from "../volumes/empty-dir.ts";

const blockBytes = 512;

/** Bytes on the disk of all files below, each inode once; what vanishes meanwhile counts nothing. */
async function directoryBytes(path: string): Promise<number> {
  const seen = new Set<number>();
  const pending = [path];
  let bytes = 0;
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const directory = next;
    const entries = await readdir(directory, { withFileTypes: true }).catch(
      () => [],
    );
    for (const entry of entries) {
      const child = join(directory, entry.name);
      const found = await lstat(child).catch(() => undefined);
      if (!found || (found.nlink > 1 && seen.has(found.ino))) continue;
      if (found.nlink > 1) seen.add(found.ino);
      bytes += found.blocks * blockBytes;
      if (entry.isDirectory()) pending.push(child);
    }
  }
  return bytes;
}

export async function podUsage(
  runtime: Runtime,
  config: AgentConfig,
  pods: readonly Pod[],
  disk: boolean,
): Promise<Map<string, PodUsage>> {
  const stats = await runtime.containerStats();
  const usage = new Map<string, PodUsage>();
  for (const pod of pods) {
    const uid = pod.metadata.uid ?? "";
    const containers: ContainerUsage[] = [];
    for (const container of stats) {
      if (container.labels[podUidLabel] !== uid) continue;
      const name = container.labels[containerNameLabel] ?? container.name;
      containers.push({
        name,
        memoryBytes: container.memoryWorkingSetBytes ?? 0,
        storageBytes:
          (container.writableLayer?.usedBytes ?? 0) +
          (disk
            ? await directoryBytes(join(podLogDirectory(config, pod), name))
            : 0),
      });
    }
    const emptyDirBytes = new Map<string, number>();
    for (const { name, emptyDir } of disk ? (pod.spec.volumes ?? []) : [])
      if (emptyDir && emptyDir.medium !== "Memory")
        emptyDirBytes.set(
          name,
          await directoryBytes(emptyDirPath(config, uid, name)),
        );
    usage.set(uid, { containers, emptyDirBytes });
  }
  return usage;
}

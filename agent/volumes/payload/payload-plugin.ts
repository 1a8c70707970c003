// The frame of volumes whose content comes from the API: written as a whole and compared again from time to time. A
// mounted volume serves on when the API can't be read: a lost API server must not keep a container from being restarted.
import type { Logger } from "pino";
import type { Pod } from "../../../api/types/core-v1.ts";
import type { AgentConfig } from "../../config/agent-config.ts";
import { isWritten, writePayload } from "../files/atomic-writer.ts";
import { memoryCalls, pooledCalls } from "../files/file-calls.ts";
import { ensureVolumeDirectory } from "../files/volume-directory.ts";
import type { MemoryDirectory } from "./memory-directory.ts";
import type { Files, PayloadSource } from "./payload.ts";
import { volumePath } from "../volume-paths.ts";
import type {
  VolumePlugin,
  VolumeRequest,
  VolumeSource,
} from "../volume-plugin.ts";

interface PayloadContext {
  readonly config: Pick<AgentConfig, "rootDirectory" | "memoryDirectory">;
  readonly memory: MemoryDirectory;
  readonly source: PayloadSource;
  readonly logger: Logger;
}

export interface PayloadType {
  readonly field: keyof VolumeSource;
  /** As the reference's plug-in is called, e.g. configmap. */
  readonly type: string;
  /** Nothing secret is in it: it may lie on the disk. */
  readonly onDisk?: boolean;
  /** Rejects with the text for the FailedMount event. */
  files(
    pod: Pod,
    source: VolumeSource,
    from: PayloadSource,
  ): Promise<Files> | Files;
  unmount?(uid: string): Promise<void>;
}

/** Of further ones the first failure is reported too. */
const maxStale = 4096;

export function payloadPlugin(
  context: PayloadContext,
  type: PayloadType,
): VolumePlugin {
  const { config, memory, source: from, logger } = context;
  const pathOf = async ({ pod, name }: VolumeRequest): Promise<string> => {
    const uid = pod.metadata.uid ?? "";
    return type.onDisk
      ? volumePath(config, uid, type.type, name)
      : await memory.volumePath(uid, type.type, name);
  };
  /** Volumes whose last refresh failed, by their paths. */
  const stale = new Set<string>();
  const write = async (
    request: VolumeRequest,
    path: string,
    known: boolean,
  ): Promise<void> => {
    const { pod, name, source } = request;
    let files: Files;
    try {
      files = await type.files(pod, source, from);
    } catch (error) {
      if (!known && !(await isWritten(path))) throw error;
      // While a namespace ends its objects may go before its pods: the first time is no news, nor is what ends.
      const isKnown = stale.has(path) || stale.size >= maxStale;
      const isNews = isKnown && !pod.metadata.deletionTimestamp;
      if (stale.size < maxStale) stale.add(path);
      logger[isNews ? "warn" : "debug"](
        { err: error, pod: pod.metadata.name, volume: name },
        "can't refresh a volume; its last content stays",
      );
      return;
    }
    stale.delete(path);
    const calls = type.onDisk ? pooledCalls : memoryCalls(files);
    if (!known) await ensureVolumeDirectory(path, 0o755, calls);
    await writePayload(path, files, pod.spec.securityContext?.fsGroup, calls);
  };
  return {
    field: type.field,
    serves: ["pod"],
    async mount(request) {
      const path = await pathOf(request);
      await write(request, path, false);
      return { path, readOnly: true, written: true, usage: "directory" };
    },
    async refresh(request) {
      await write(request, await pathOf(request), true);
    },
    async unmount(uid) {
      for (const path of stale)
        if (path.includes(`/${uid}/`)) stale.delete(path);
      await type.unmount?.(uid);
    },
  };
}

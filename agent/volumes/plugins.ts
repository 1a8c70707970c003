// The types of volumes this agent serves. Another type is a file of its own and a line here.
import type { Logger } from "pino";
import type { Client } from "../../client/client.ts";
import type { AgentConfig } from "../config/agent-config.ts";
import type { VolumeMetrics } from "./volume-metrics.ts";
import type { ExclusiveVolumes } from "./exclusive-volumes.ts";
import { claimPlugins } from "./types/claim.ts";
import { configMapType } from "./payload/config-map.ts";
import { downwardApiType } from "./payload/downward-api.ts";
import { emptyDirPlugin } from "./types/empty-dir.ts";
import { hostPathPlugin } from "./types/host-path.ts";
import { iscsiPlugin } from "./iscsi/iscsi-plugin.ts";
import type { LocalPathDirectories } from "./local-path/local-path-directories.ts";
import { localPlugin } from "./types/local.ts";
import { imagePlugin } from "./types/image.ts";
import { nfsPlugin } from "./types/nfs.ts";
import type { MemoryDirectory } from "./payload/memory-directory.ts";
import { payloadPlugin } from "./payload/payload-plugin.ts";
import type { PayloadSource } from "./payload/payload.ts";
import { projectedType } from "./payload/projected.ts";
import { secretType } from "./payload/secret.ts";
import type { VolumePlugin } from "./volume-plugin.ts";

interface PluginContext {
  readonly config: Pick<AgentConfig, "rootDirectory" | "memoryDirectory">;
  readonly claims: Client;
  readonly exclusive: Pick<ExclusiveVolumes, "hold">;
  readonly memory: MemoryDirectory;
  readonly source: PayloadSource;
  readonly forgetTokens: (uid: string) => void;
  readonly localPath: Pick<LocalPathDirectories, "owns" | "make">;
  readonly csi?: VolumePlugin;
  /** The gate ImageVolume. */
  readonly images?: boolean;
  readonly logger: Logger;
  readonly metrics?: Pick<VolumeMetrics, "observe"> | undefined;
}

export function volumePlugins(context: PluginContext): VolumePlugin[] {
  const observed = (plugin: VolumePlugin): VolumePlugin =>
    context.metrics?.observe(plugin) ?? plugin;
  const ofContent = [
    configMapType,
    secretType,
    downwardApiType,
    projectedType(context.forgetTokens),
  ].map((type) => observed(payloadPlugin(context, type)));
  const onNode = [
    emptyDirPlugin(
      context.config,
      () => context.source.nodeResources().memoryBytes,
    ),
    hostPathPlugin,
    localPlugin(context.config, context.localPath),
    nfsPlugin(context.config),
    iscsiPlugin({ config: context.config, secret: context.source.secret }),
    ...(context.csi ? [context.csi] : []),
    ...(context.images ? [imagePlugin] : []),
  ].map(observed);
  return [...ofContent, ...onNode, ...claimPlugins(context, onNode)];
}

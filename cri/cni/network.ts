// The pod network of a node where no other program's configuration takes its place: our configuration list, with masquerading and
// host ports by rules of whom the composition names.
import * as fs from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import {
  installLoopbackScript,
  removeLoopbackScript,
} from "./loopback-script.ts";
import { installPairScript, pairPluginName } from "./pair-script.ts";
import {
  cniFileName,
  defaultNetworkName,
  usualPluginDirectories,
  type CniOptions,
} from "./configuration.ts";
import { hasBandwidthPlugin } from "./bandwidth.ts";
import { isReplaced } from "./other-configurations.ts";
import { writeCniConfiguration } from "./write-configuration.ts";

export interface PodNetworkOptions extends Omit<
  CniOptions,
  | "iptables"
  | "mtu"
  | "podCidr"
  | "extraCidrs"
  | "pairPlugin"
  | "bandwidthPlugin"
> {
  /** How large packets may be; undefined: as the plug-in has it. */
  mtu?: () => Promise<number | undefined>;
  /**
   * Has what pods of these ranges send outside leave with the node's address, and the node's ports lead to them; rejects
   * when that can't be done. Absent: it is not done.
   */
  setPodRules?: (podCidrs: readonly string[]) => Promise<void>;
  /** Called before the configuration file is made. */
  onFile?: (file: string) => Promise<void>;
  /** The runtime's directory of plug-ins, when it is ours: a plug-in of our own is put there. */
  pluginDirectory?: string;
  /** Where the runtime looks for plug-ins; default: the usual places. */
  machinePluginDirectories?: readonly string[];
}

/**
 * Where the rules can't be set, the plug-ins make them with iptables. The function leaves the configuration of another
 * program alone, unless that has ours make the pods' first link. Resolves to true when a configuration file was written.
 */
export async function setUpPodNetwork(
  {
    setPodRules,
    mtu,
    pluginDirectory,
    machinePluginDirectories = usualPluginDirectories,
    onFile,
    ...options
  }: PodNetworkOptions & Pick<CniOptions, "podCidr" | "extraCidrs">,
  logger: Logger,
): Promise<boolean> {
  if (await isReplaced(options.directory, options.name)) return false;
  const ranges = [options.podCidr, ...(options.extraCidrs ?? [])];
  const iptables = await setPodRules?.(ranges).then(
    () => false,
    (error: unknown) => {
      logger.warn(
        { err: error },
        "no rules of our own for what leaves pods and for host ports: the network plug-ins make them for each pod, which is slow",
      );
      return true;
    },
  );
  const size = await mtu?.();
  const { ipamDirectory, name = defaultNetworkName } = options;
  const ownPlugin =
    pluginDirectory !== undefined &&
    ipamDirectory !== undefined &&
    iptables !== true &&
    (await installPairScript(pluginDirectory, {
      leaseDirectory: join(ipamDirectory, name),
      ranges,
      mtu: size,
    }));
  const file = join(options.directory, cniFileName);
  await onFile?.(file);
  // A runtime that has read a configuration with other plug-ins may use it for a moment yet.
  const before = await fs.readFile(file, "utf8").catch(() => pairPluginName);
  const others = !before.includes(pairPluginName);
  if (!ownPlugin && pluginDirectory !== undefined)
    await removeLoopbackScript(pluginDirectory);
  const written = await writeCniConfiguration({
    ...options,
    ...(ownPlugin
      ? { pairPlugin: pairPluginName }
      : {
          bandwidthPlugin: await hasBandwidthPlugin(machinePluginDirectories),
        }),
    ...(size === undefined ? {} : { mtu: size }),
    ...(iptables === undefined ? {} : { iptables }),
  });
  if (ownPlugin && !others) await installLoopbackScript(pluginDirectory, file);
  return written;
}

// The pod network of a node whose CNI directory holds no other configuration: our configuration list, and masquerading by
// whom the composition names.
import * as fs from "node:fs/promises";
import type { Logger } from "pino";
import {
  cniFileName,
  isConfiguration,
  writeCniConfiguration,
  type CniOptions,
} from "./configuration.ts";

export interface PodNetworkOptions extends CniOptions {
  /** Has what pods of these ranges send outside leave with the node's address; rejects when that can't be done. */
  masquerade?: (podCidrs: readonly string[]) => Promise<void>;
}

/**
 * With `ipMasq` the masquerading is that of `masquerade`, and only where that can't be set the ptp plug-in's.
 * The function leaves the configuration of another program alone. Resolves to true when a configuration file was written.
 */
export async function setUpPodNetwork(
  { masquerade, ...options }: PodNetworkOptions,
  logger: Logger,
): Promise<boolean> {
  const present = await fs.readdir(options.directory).catch(() => []);
  if (present.some((name) => isConfiguration(name) && name !== cniFileName))
    return false;
  if (!options.ipMasq || !masquerade) return writeCniConfiguration(options);
  const ranges = [options.podCidr, ...(options.extraCidrs ?? [])];
  const ipMasq = await masquerade(ranges).then(
    () => false,
    (error: unknown) => {
      logger.warn(
        { err: error },
        "no masquerade rule of our own: the network plug-in makes one for each pod, which is slow",
      );
      return true;
    },
  );
  return writeCniConfiguration({ ...options, ipMasq });
}

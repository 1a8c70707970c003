// The pod network of a node whose CNI directory holds no other configuration: our configuration list and the masquerade rule.
import * as fs from "node:fs/promises";
import type { Logger } from "pino";
import {
  cniFileName,
  isConfiguration,
  writeCniConfiguration,
  type CniOptions,
} from "./configuration.ts";
import { ensureMasquerade } from "./masquerade.ts";

/**
 * With `ipMasq` the masquerading is one rule of our own, and only where that can't be set the ptp plug-in's.
 * The function leaves the configuration of another program alone. Resolves to true when a configuration file was written.
 */
export async function setUpPodNetwork(
  options: CniOptions,
  logger: Logger,
  masquerade: (podCidr: string) => Promise<void> = ensureMasquerade,
): Promise<boolean> {
  const present = await fs.readdir(options.directory).catch(() => []);
  if (present.some((name) => isConfiguration(name) && name !== cniFileName))
    return false;
  if (!options.ipMasq) return writeCniConfiguration(options);
  const ranges = [options.podCidr, ...(options.extraCidrs ?? [])];
  const ipMasq = await Promise.all(
    ranges.map((range) => masquerade(range)),
  ).then(
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

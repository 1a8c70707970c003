// Limits of a pod's bandwidth, from the annotations `kubernetes.io/ingress-bandwidth` and `kubernetes.io/egress-bandwidth`:
// the capability `bandwidth` of CNI's conventions. Our own plug-in takes it (`bandwidth-script.ts`); elsewhere the machine's
// plug-in of that name does, chained behind ptp.
import {
  compareQuantities,
  parseQuantity,
  quantityValue,
} from "../../api/quantity.ts";
import { holdsPlugin } from "./plugin-files.ts";

/** The capability, and the machine's plug-in. */
export const bandwidthPluginName = "bandwidth";

/** Bits a second, and bits; 0: no limit. */
interface BandwidthCapability {
  ingressRate: number;
  ingressBurst: number;
  egressRate: number;
  egressBurst: number;
}

const annotationPrefix = "kubernetes.io/";
const smallest = "1k";
const largest = "1P";
/** What may leave at once: the bytes of a fiftieth of a second, and some large packets at least. */
export const burstsASecond = 50;
export const smallestBurstBytes = 16_384;
export const largestBurstBytes = 64 * 1024 * 1024;

/** @throws Error that names the annotation */
function rate(
  annotations: Readonly<Record<string, string>>,
  direction: "ingress" | "egress",
): number {
  const name = `${annotationPrefix}${direction}-bandwidth`;
  const text = annotations[name];
  if (text === undefined) return 0;
  let quantity;
  try {
    quantity = parseQuantity(text);
  } catch (error) {
    throw new Error(`${name}: ${(error as Error).message}`, { cause: error });
  }
  if (compareQuantities(quantity, smallest) < 0)
    throw new Error(`${name}: resource is unreasonably small (< 1kbit)`);
  if (compareQuantities(quantity, largest) > 0)
    throw new Error(`${name}: resource is unreasonably large (> 1Pbit)`);
  return quantityValue(quantity);
}

const burst = (bits: number): number =>
  bits === 0
    ? 0
    : Math.min(
        8 * largestBurstBytes,
        Math.max(8 * smallestBurstBytes, Math.ceil(bits / burstsASecond)),
      );

/**
 * For a runtime that does not read the annotations itself; undefined: the pod has no limit.
 * @throws Error for a value that is no quantity, or outside of 1k to 1P, as the reference's runtimes
 */
export function bandwidthCapability(
  annotations: Readonly<Record<string, string>>,
): BandwidthCapability | undefined {
  const ingressRate = rate(annotations, "ingress");
  const egressRate = rate(annotations, "egress");
  if (ingressRate === 0 && egressRate === 0) return undefined;
  return {
    ingressRate,
    ingressBurst: burst(ingressRate),
    egressRate,
    egressBurst: burst(egressRate),
  };
}

/** True when a runtime that finds the plug-in ptp in one of these directories finds the plug-in bandwidth, too. */
export async function hasBandwidthPlugin(
  directories: readonly string[],
): Promise<boolean> {
  const found = await Promise.all(
    directories.map(async (directory) => ({
      ptp: await holdsPlugin(directory, "ptp"),
      bandwidth: await holdsPlugin(directory, bandwidthPluginName),
    })),
  );
  const places = found.filter(({ ptp }) => ptp);
  return places.length > 0 && places.every(({ bandwidth }) => bandwidth);
}

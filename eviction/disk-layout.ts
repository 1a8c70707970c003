// What lies on which file system, and so what gives space back when one is short. Pure.
import type { DiskShare } from "./pod-usage.ts";
import type { SignalName } from "./signals.ts";

/**
 * Beside the node's file system, which has volumes and logs: nothing is elsewhere; images and writable layers are on one
 * of their own; or images alone are, and the layers are with the volumes.
 */
export type DiskLayout =
  "together" | "images and layers apart" | "images apart";

/** What can be removed without ending a pod. */
export interface Garbage {
  /** Ended containers: their writable layers and logs. */
  readonly containers: boolean;
  readonly images: boolean;
}

/** Devices, as `stat` reports them; undefined where they are not known. */
interface Devices {
  readonly node: number | undefined;
  readonly images: number | undefined;
  readonly layers: number | undefined;
}

export function diskLayout({ node, images, layers }: Devices): DiskLayout {
  if (images === undefined || images === node) return "together";
  return layers === undefined || layers === images
    ? "images and layers apart"
    : "images apart";
}

/** What of a pod lies on the file system of the signal. */
export function shareOn(signal: SignalName, layout: DiskLayout): DiskShare {
  const ofImages = signal.startsWith("imagefs.");
  switch (layout) {
    case "together":
      return "all";
    case "images and layers apart":
      return ofImages ? "writable layers" : "logs and volumes";
    case "images apart":
      return ofImages ? "nothing" : "all";
  }
}

/** What of garbage lies on the file system of the signal. */
export function garbageOn(signal: SignalName, layout: DiskLayout): Garbage {
  const ofImages = signal.startsWith("imagefs.");
  if (!ofImages && !signal.startsWith("nodefs."))
    return { containers: false, images: false };
  switch (layout) {
    case "together":
      return { containers: true, images: true };
    case "images and layers apart":
      return { containers: ofImages, images: ofImages };
    case "images apart":
      return { containers: !ofImages, images: ofImages };
  }
}

// What lies on which file system, and so what gives space back when one is short. Pure.
import type { DiskShare } from "./pod-usage.ts";
import type { SignalName } from "./signals.ts";

/** A file system, by the first of these that lies on it: the node's has volumes and logs. */
type Place = "node" | "images" | "layers";

export interface DiskLayout {
  readonly images: Exclude<Place, "layers">;
  /** Containers' writable layers. */
  readonly layers: Place;
}

/** Nothing is elsewhere. */
export const together: DiskLayout = { images: "node", layers: "node" };

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
  if (images === undefined) return together;
  const ofImages = images === node ? "node" : "images";
  if (layers === undefined || layers === images)
    return { images: ofImages, layers: ofImages };
  return { images: ofImages, layers: layers === node ? "node" : "layers" };
}

/** Whether volumes, images and layers lie on more than one file system. */
export function isApart({ images, layers }: DiskLayout): boolean {
  return images !== "node" || layers !== "node";
}

/** What of a pod lies on the file system of the signal. */
export function shareOn(signal: SignalName, layout: DiskLayout): DiskShare {
  const place = placeOf(signal, layout);
  const hasLayers = layout.layers === place;
  if (place === "node") return hasLayers ? "all" : "logs and volumes";
  return hasLayers ? "writable layers" : "nothing";
}

/** What of garbage lies on the file system of the signal. */
export function garbageOn(signal: SignalName, layout: DiskLayout): Garbage {
  const place = placeOf(signal, layout);
  return {
    containers: layout.layers === place,
    images: layout.images === place,
  };
}

/** Undefined for what is no file system. */
function placeOf(signal: SignalName, layout: DiskLayout): Place | undefined {
  if (signal.startsWith("nodefs.")) return "node";
  if (signal.startsWith("imagefs.")) return layout.images;
  return signal.startsWith("containerfs.") ? layout.layers : undefined;
}

// image volumes (gate ImageVolume): what an image has in its layers, read-only. Nothing of them is on the host: a container's
// start makes the image present, as it does its own, and the runtime mounts it.
import type { VolumePlugin } from "../volume-plugin.ts";

export const imagePlugin: VolumePlugin = {
  field: "image",
  serves: ["pod"],
  mount: () => Promise.resolve({ path: "", readOnly: true, image: true }),
};

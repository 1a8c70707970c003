// local: a directory of this machine that an administrator made, as a persistent volume.
import { stat } from "node:fs/promises";
import type { VolumePlugin } from "../volume-plugin.ts";

export const localPlugin: VolumePlugin = {
  field: "local",
  serves: ["persistent"],
  async mount({ source }) {
    const { path } = source.local!;
    await stat(path);
    return { path, readOnly: false };
  },
};

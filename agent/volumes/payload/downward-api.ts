// downwardAPI volumes: fields of the pod's object as files.
import type { DownwardAPIVolumeFile, Pod } from "../../../api/types/core-v1.ts";
import {
  podFieldValue,
  resourceFieldValue,
} from "../../pods/shape/field-paths.ts";
import { defaultFileMode, type Files, type PayloadSource } from "./payload.ts";
import type { PayloadType } from "./payload-plugin.ts";

export const downwardApiType: PayloadType = {
  field: "downwardAPI",
  type: "downward-api",
  files(pod, source, from) {
    const { items = [], defaultMode = defaultFileMode } = source.downwardAPI!;
    const files: Files = new Map();
    addDownward(files, pod, items, from, defaultMode);
    return files;
  },
};

export function addDownward(
  files: Files,
  pod: Pod,
  items: readonly DownwardAPIVolumeFile[],
  source: PayloadSource,
  mode: number,
): void {
  for (const item of items) {
    const text = item.fieldRef
      ? podFieldValue(pod, item.fieldRef)
      : item.resourceFieldRef
        ? resourceFieldValue(
            pod,
            undefined,
            item.resourceFieldRef,
            source.nodeResources(),
          )
        : "";
    files.set(item.path, { data: Buffer.from(text), mode: item.mode ?? mode });
  }
}

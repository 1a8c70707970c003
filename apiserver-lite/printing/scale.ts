// A Scale's row: it is not stored, so no strategy has it.
import type { KubeObject } from "../../api/object.ts";
import { formatAge } from "./age.ts";
import type { RowPrinter } from "./table.ts";

interface Scale extends KubeObject {
  spec?: { replicas?: number };
  status?: { replicas?: number };
}

export const scaleRows: RowPrinter<Scale> = {
  printRow(object, now) {
    const { metadata, spec, status } = object;
    const { name, creationTimestamp } = metadata;
    return [
      name,
      spec?.replicas ?? 0,
      status?.replicas ?? 0,
      formatAge(creationTimestamp, now),
    ];
  },
};

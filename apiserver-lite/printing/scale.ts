// A Scale's row: it is not stored, so no strategy has it.
import type { AnyObject } from "../../api/object.ts";
import { formatAge } from "./age.ts";
import type { RowPrinter } from "./table.ts";

export const scaleRows: RowPrinter = {
  printRow(object: Readonly<AnyObject>, now) {
    const { spec, status } = object as unknown as Record<
      "spec" | "status",
      { replicas?: number } | undefined
    >;
    const { name, creationTimestamp } = object.metadata;
    return [
      name,
      spec?.replicas ?? 0,
      status?.replicas ?? 0,
      formatAge(creationTimestamp, now),
    ];
  },
};

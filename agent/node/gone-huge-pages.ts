// Sizes of huge pages that the machine no longer has leave the Node with the next report, as at the reference's
// registration (reconcileHugePageResource). Other resources that are not the agent's stay: other clients write such.
import type { Node } from "../../api/types/core-v1.ts";

type Resources = Record<string, string | null>;

/** For a strategic patch: null takes away what the API server has. */
export function withoutGoneHugePages(
  known: Node | undefined,
  status: NonNullable<Node["status"]>,
): { capacity: Resources; allocatable: Resources } {
  const of = (field: "capacity" | "allocatable"): Resources => {
    const own = status[field] ?? {};
    const gone = Object.keys(known?.status?.[field] ?? {}).filter(
      (name) => name.startsWith("hugepages-") && !(name in own),
    );
    return { ...own, ...Object.fromEntries(gone.map((name) => [name, null])) };
  };
  return { capacity: of("capacity"), allocatable: of("allocatable") };
}

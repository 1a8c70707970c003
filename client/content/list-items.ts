// Items of a list as objects of their own.
import type { KubeList, KubeObject } from "../../api/object.ts";

/** Items of a list come without apiVersion and kind: give them theirs, so that all objects look alike. */
export function nameItems(list: KubeList<KubeObject>): void {
  if (!list.kind?.endsWith("List") || !list.items) return;
  const kind = list.kind.slice(0, -"List".length);
  list.items = list.items.map((item) =>
    item.kind
      ? item
      : {
          ...(list.apiVersion ? { apiVersion: list.apiVersion } : {}),
          kind,
          ...item,
        },
  );
}

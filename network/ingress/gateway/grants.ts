// References into another namespace, which count only where a ReferenceGrant of that namespace allows them.
import type { ReferenceGrant } from "./objects.ts";

interface Reference {
  readonly from: { group: string; kind: string; namespace: string };
  readonly to: { group: string; kind: string; namespace: string; name: string };
}

export type MayRefer = (reference: Reference) => boolean;

/** @param grantsOf those of a namespace */
export function referencesBy(
  grantsOf: (namespace: string) => readonly ReferenceGrant[],
): MayRefer {
  return ({ from, to }) =>
    from.namespace === to.namespace ||
    grantsOf(to.namespace).some(
      ({ spec }) =>
        spec.from.some(
          (each) =>
            each.group === from.group &&
            each.kind === from.kind &&
            each.namespace === from.namespace,
        ) &&
        spec.to.some(
          (each) =>
            each.group === to.group &&
            each.kind === to.kind &&
            (each.name === undefined ||
              each.name === "" ||
              each.name === to.name),
        ),
    );
}

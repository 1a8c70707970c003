// Claims that ask for more than they have: volumes are expanded by the resizer of their CSI driver, and no type of
// volumes here is expanded by the controllers. The claim's event says so.
import { compareQuantities } from "../../api/quantity.ts";
import { objectKey, splitKey } from "../../api/object.ts";
import type { PersistentVolumeClaim } from "../../api/types/core-v1.ts";
import { persistentVolumeClaims } from "../../client/resources.ts";
import type { Controller, ControllerContext } from "../context.ts";
import { Reconciler } from "../reconciler.ts";

export function createClaimExpansionController(
  context: ControllerContext,
): Controller {
  const claims = context.client.informer(persistentVolumeClaims);
  const recorder = context.recorder("volume_expand");
  const reconciler: Reconciler = new Reconciler({
    name: "persistentvolume-expander-controller",
    context,
    reconcile(key) {
      const { name, namespace } = splitKey(key);
      const claim = claims.lister.get(name, namespace);
      if (claim && asksForMore(claim))
        recorder.event(
          claim,
          "Normal",
          "ExternalExpanding",
          "waiting for an external controller to expand this PVC",
        );
      return Promise.resolve();
    },
  });
  return reconciler.watch(claims, {
    onUpdate(old, claim) {
      if (asksForMore(claim) && sizeAsked(old) !== sizeAsked(claim))
        reconciler.queue.add(objectKey(claim));
    },
  });
}

const sizeAsked = ({ spec }: PersistentVolumeClaim): string =>
  spec?.resources?.requests?.["storage"] ?? "0";

function asksForMore(claim: PersistentVolumeClaim): boolean {
  const { status, spec } = claim;
  return (
    status?.phase === "Bound" &&
    Boolean(spec?.volumeName) &&
    compareQuantities(sizeAsked(claim), status.capacity?.["storage"] ?? "0") > 0
  );
}

// Removes old CertificateSigningRequests: issued, denied and failed ones after an hour, pending ones after a day.
import { isNotFound } from "../../api/errors.ts";
import type { CertificateSigningRequest } from "../../api/types/certificates-v1.ts";
import { findCondition } from "../../api/objects/conditions.ts";
import { certificateSigningRequests } from "../../client/resources.ts";
import type { Controller, ControllerContext } from "../context.ts";
import { Reconciler } from "../reconciler.ts";
import type { ReconcileResult } from "../reconciler.ts";

const doneMs = 3_600_000;
const pendingMs = 24 * 3_600_000;

export function createCertificateCleaner(
  context: ControllerContext,
): Controller {
  const { client, clock } = context;
  const informer = client.informer(certificateSigningRequests);
  const reconciler = new Reconciler({
    name: "certificatesigningrequest-cleaner-controller",
    context,
    reconcile,
  });

  async function reconcile(name: string): Promise<ReconcileResult> {
    const csr = informer.lister.get(name);
    if (!csr) return;
    const leftMs = expiryMs(csr) - clock.now();
    if (leftMs > 0) return { requeueAfterMs: leftMs };
    try {
      await client.resource(certificateSigningRequests).delete(name);
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  return reconciler.watch(informer, {
    onAdd: ({ metadata }) => reconciler.queue.add(metadata.name),
    onUpdate: (_, { metadata }) => reconciler.queue.add(metadata.name),
  });
}

function expiryMs({ metadata, status }: CertificateSigningRequest): number {
  const { conditions } = status ?? {};
  for (const type of ["Denied", "Failed", "Approved"]) {
    const condition = findCondition(conditions, type);
    const over = type !== "Approved" || status?.certificate !== undefined;
    if (condition && over)
      return (
        Date.parse(
          condition.lastUpdateTime ?? condition.lastTransitionTime ?? "",
        ) + doneMs
      );
  }
  return Date.parse(metadata.creationTimestamp ?? "") + pendingMs;
}

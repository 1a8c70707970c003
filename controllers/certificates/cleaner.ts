// Removes old CertificateSigningRequests: issued, denied and failed ones after an hour, pending ones after a day, and
// those whose certificate is over.
import { X509Certificate } from "node:crypto";
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
    if (leftMs === Infinity) return;
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

/** Infinity: one that was decided on and is not issued yet waits for its signer, who may note conditions of its own. */
function expiryMs({ metadata, status }: CertificateSigningRequest): number {
  const { conditions = [], certificate } = status ?? {};
  if (conditions.length === 0)
    return Date.parse(metadata.creationTimestamp ?? "") + pendingMs;
  const doneAtMs = conditions
    .filter(
      ({ type }) =>
        type === "Denied" ||
        type === "Failed" ||
        (type === "Approved" && certificate !== undefined),
    )
    .map(({ lastUpdateTime, lastTransitionTime }) =>
      Date.parse(lastUpdateTime ?? lastTransitionTime ?? ""),
    );
  const isIssued =
    certificate !== undefined && findCondition(conditions, "Approved");
  return Math.min(
    // Without a time it stays.
    ...doneAtMs.map((ms) => (Number.isNaN(ms) ? Infinity : ms + doneMs)),
    isIssued ? certificateEndMs(certificate) : Infinity,
  );
}

/** Infinity for what is no certificate. */
function certificateEndMs(certificate: string): number {
  try {
    const pem = Buffer.from(certificate, "base64");
    return Date.parse(new X509Certificate(pem).validTo);
  } catch {
    return Infinity;
  }
}

// Approves the client certificates of nodes by themselves: a node's own renewal (selfnodeclient) and the first one of a
// bootstrapping agent (nodeclient), when RBAC lets the requester create that subresource.
import { formatTime } from "../../api/clock.ts";
import { parseCsr } from "../../api/pki/signing-request.ts";
import type { CertificateSigningRequest } from "../../api/types/certificates-v1.ts";
import { findCondition } from "../../api/objects/conditions.ts";
import {
  certificateSigningRequests,
  subjectAccessReviews,
} from "../../client/resources.ts";
import type { Controller, ControllerContext } from "../context.ts";
import { Reconciler } from "../reconciler.ts";
import { kubeletClientSigner, signerProblem } from "./signers.ts";

export function createCertificateApprover(
  context: ControllerContext,
): Controller {
  const { client, clock } = context;
  const informer = client.informer(certificateSigningRequests);
  const reconciler = new Reconciler({
    name: "certificatesigningrequest-approving-controller",
    context,
    concurrency: 5,
    reconcile,
  });

  async function reconcile(name: string): Promise<void> {
    const csr = informer.lister.get(name);
    if (csr?.spec.signerName !== kubeletClientSigner) return;
    if (csr.status?.certificate) return;
    const { conditions } = csr.status ?? {};
    if (
      findCondition(conditions, "Approved") ||
      findCondition(conditions, "Denied")
    )
      return;
    const kind = kindOf(csr);
    if (!kind || !(await mayApprove(csr, kind.subresource))) return;
    const time = formatTime(clock.now());
    await client
      .resource(certificateSigningRequests)
      .updateSubresource(name, undefined, "approval", {
        ...csr,
        status: {
          ...csr.status,
          conditions: [
            ...(conditions ?? []),
            {
              type: "Approved",
              status: "True",
              reason: "AutoApproved",
              message: kind.message,
              lastUpdateTime: time,
              lastTransitionTime: time,
            },
          ],
        },
      });
  }

  async function mayApprove(
    csr: CertificateSigningRequest,
    subresource: string,
  ): Promise<boolean> {
    const { username, groups, uid, extra } = csr.spec;
    const review = await client.resource(subjectAccessReviews).create({
      apiVersion: "authorization.k8s.io/v1",
      kind: "SubjectAccessReview",
      metadata: { name: "" },
      spec: {
        ...(username ? { user: username } : {}),
        ...(groups ? { groups } : {}),
        ...(uid ? { uid } : {}),
        ...(extra ? { extra } : {}),
        resourceAttributes: {
          group: "certificates.k8s.io",
          resource: "certificatesigningrequests",
          verb: "create",
          subresource,
          version: "*",
        },
      },
    });
    return review.status?.allowed === true;
  }

  return reconciler.watch(informer, {
    onAdd: ({ metadata }) => reconciler.queue.add(metadata.name),
    onUpdate: (_, { metadata }) => reconciler.queue.add(metadata.name),
  });
}

/** Which permission the request needs; undefined when it is not a node's client certificate. */
function kindOf(
  csr: CertificateSigningRequest,
): { subresource: string; message: string } | undefined {
  try {
    const request = parseCsr(
      Buffer.from(csr.spec.request, "base64").toString("utf8"),
    );
    if (signerProblem(csr, request)) return undefined;
    return csr.spec.username === request.subject.commonName
      ? {
          subresource: "selfnodeclient",
          message:
            "Auto approving self kubelet client certificate after SubjectAccessReview.",
        }
      : {
          subresource: "nodeclient",
          message:
            "Auto approving kubelet client certificate after SubjectAccessReview.",
        };
  } catch {
    return undefined;
  }
}

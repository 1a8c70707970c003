// Approves the client certificates of nodes by themselves: a node's own renewal (selfnodeclient) and the first one of a
// bootstrapping agent (nodeclient), when RBAC lets the requester create that subresource; where the cluster asks for it,
// also nodes' serving certificates.
import { formatTime } from "../../api/clock.ts";
import {
  parseCsr,
  type CertificateRequest,
} from "../../api/pki/signing-request.ts";
import type { CertificateSigningRequest } from "../../api/types/certificates-v1.ts";
import { findCondition } from "../../api/objects/conditions.ts";
import {
  certificateSigningRequests,
  subjectAccessReviews,
} from "../../client/resources.ts";
import type { Controller, ControllerContext } from "../context.ts";
import { Reconciler, RetryLater } from "../reconciler.ts";
import { ServingApprover } from "./serving-approver.ts";
import {
  kubeletClientSigner,
  servingSigner,
  signerProblem,
} from "./signers.ts";

interface Kind {
  readonly subresource: string;
  readonly message: string;
}

export function createCertificateApprover(
  context: ControllerContext,
): Controller {
  const { client, clock, options } = context;
  const serving = options.approveServingCertificates
    ? new ServingApprover(client)
    : undefined;
  const approvable = new Set([
    kubeletClientSigner,
    ...(serving ? [servingSigner] : []),
  ]);
  const informer = client.informer(certificateSigningRequests);
  const reconciler = new Reconciler({
    name: "certificatesigningrequest-approving-controller",
    context,
    concurrency: 5,
    baseBackoffMs: 200,
    reconcile,
  });

  async function reconcile(name: string): Promise<void> {
    const csr = informer.lister.get(name);
    if (!csr || !approvable.has(csr.spec.signerName)) return;
    if (csr.status?.certificate) return;
    const { conditions } = csr.status ?? {};
    if (
      findCondition(conditions, "Approved") ||
      findCondition(conditions, "Denied")
    )
      return;
    const message = await approval(csr);
    if (message === undefined) return;
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
              message,
              lastUpdateTime: time,
              lastTransitionTime: time,
            },
          ],
        },
      });
  }

  /** Why it is approved; undefined: it is left to others. */
  async function approval(
    csr: CertificateSigningRequest,
  ): Promise<string | undefined> {
    if (csr.spec.signerName === servingSigner)
      return serving?.approval(csr, soundRequest(csr));
    const kinds = kindsOf(csr);
    for (const { subresource, message } of kinds)
      if (await mayApprove(csr, subresource)) return message;
    // The permission may come later, without an event here.
    if (kinds.length > 0)
      throw new RetryLater(
        `${csr.spec.username} may not have certificate request ${csr.metadata.name} approved`,
      );
    return undefined;
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

  serving?.watchedBy(reconciler);
  return reconciler.watch(informer, {
    onAdd: ({ metadata }) => reconciler.queue.add(metadata.name),
    onUpdate: (_, { metadata }) => reconciler.queue.add(metadata.name),
  });
}

const selfRenewal: Kind = {
  subresource: "selfnodeclient",
  message:
    "Auto approving self kubelet client certificate after SubjectAccessReview.",
};
const firstOne: Kind = {
  subresource: "nodeclient",
  message:
    "Auto approving kubelet client certificate after SubjectAccessReview.",
};

/** Which permissions let the request pass, one of them; none when it is not a node's client certificate. */
function kindsOf(csr: CertificateSigningRequest): Kind[] {
  const request = soundRequest(csr);
  if (!request) return [];
  return csr.spec.username === request.subject.commonName
    ? [selfRenewal, firstOne]
    : [firstOne];
}

/** Undefined: the signer would refuse it. */
function soundRequest(
  csr: CertificateSigningRequest,
): CertificateRequest | undefined {
  try {
    const request = parseCsr(
      Buffer.from(csr.spec.request, "base64").toString("utf8"),
    );
    return signerProblem(csr, request) ? undefined : request;
  } catch {
    return undefined;
  }
}

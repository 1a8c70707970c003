// Approves the client certificates of nodes by themselves: a node's own renewal (selfnodeclient) and the first one of a
// bootstrapping agent (nodeclient), when RBAC lets the requester create that subresource; where the cluster asks for it,
// also nodes' serving certificates.
import { formatTime } from "../../api/clock.ts";
import {
  parseCsr,
  type CertificateRequest,
} from "../../api/pki/signing-request.ts";
import { isNotFound } from "../../api/errors.ts";
import type { CertificateSigningRequest } from "../../api/types/certificates-v1.ts";
import { findCondition } from "../../api/objects/conditions.ts";
import {
  certificateSigningRequests,
  endpointSlices,
  nodes,
  services,
  subjectAccessReviews,
} from "../../client/resources.ts";
import type { Controller, ControllerContext } from "../context.ts";
import { Reconciler } from "../reconciler.ts";
import { mayServe, nodeOfUser } from "./serving-approval.ts";
import {
  kubeletClientSigner,
  servingSigner,
  signerProblem,
} from "./signers.ts";

export function createCertificateApprover(
  context: ControllerContext,
): Controller {
  const { client, clock, options } = context;
  const approvable = new Set([
    kubeletClientSigner,
    ...(options.approveServingCertificates ? [servingSigner] : []),
  ]);
  const informer = client.informer(certificateSigningRequests);
  const holders = options.approveServingCertificates
    ? {
        nodes: client.informer(nodes),
        services: client.informer(services),
        slices: client.informer(endpointSlices),
      }
    : undefined;
  const reconciler = new Reconciler({
    name: "certificatesigningrequest-approving-controller",
    context,
    concurrency: 5,
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
    if (csr.spec.signerName === servingSigner) return servingApproval(csr);
    const kind = kindOf(csr);
    return kind && (await mayApprove(csr, kind.subresource))
      ? kind.message
      : undefined;
  }

  async function servingApproval(
    csr: CertificateSigningRequest,
  ): Promise<string | undefined> {
    const name = nodeOfUser(csr.spec.username);
    const request = soundRequest(csr);
    if (name === undefined || !request || !holders) return undefined;
    const node = await client
      .resource(nodes)
      .get(name)
      .catch((error: unknown) => {
        if (isNotFound(error)) return undefined;
        throw error;
      });
    const others = {
      nodes: holders.nodes.lister.list(),
      services: holders.services.lister.list(),
      slices: holders.slices.lister.list("default"),
    };
    return mayServe(csr, request, node, others)
      ? "Auto approving a node's serving certificate for its own name and addresses."
      : undefined;
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

  // Nothing is approved before all who have names and addresses are known.
  if (holders)
    reconciler
      .watch(holders.nodes, {})
      .watch(holders.services, {})
      .watch(holders.slices, {});
  return reconciler.watch(informer, {
    onAdd: ({ metadata }) => reconciler.queue.add(metadata.name),
    onUpdate: (_, { metadata }) => reconciler.queue.add(metadata.name),
  });
}

/** Which permission the request needs; undefined when it is not a node's client certificate. */
function kindOf(
  csr: CertificateSigningRequest,
): { subresource: string; message: string } | undefined {
  const request = soundRequest(csr);
  if (!request) return undefined;
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

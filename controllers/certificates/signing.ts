// Signs approved CertificateSigningRequests of the built-in signers with the cluster's authority, for at most
// --cluster-signing-duration or what the request asks for, if that is less.
import { formatTime } from "../../api/clock.ts";
import { certifyPublicKey } from "../../api/pki/certificate.ts";
import type {
  CertificatePair,
  ExtendedKeyUsage,
  KeyUsage,
} from "../../api/pki/certificate.ts";
import { inspectCertificate } from "../../api/pki/inspect.ts";
import { parseCsr } from "../../api/pki/signing-request.ts";
import type { CertificateSigningRequest } from "../../api/types/certificates-v1.ts";
import { findCondition } from "../../api/objects/conditions.ts";
import { certificateSigningRequests } from "../../client/resources.ts";
import type { Controller, ControllerContext } from "../context.ts";
import { errorText } from "../workloads/pod-control.ts";
import { Reconciler } from "../reconciler.ts";
import {
  kubeletClientSigner,
  servingSigner,
  signerProblem,
  signers,
} from "./signers.ts";

const minDurationMs = 600_000;
const minBackdateMs = 300_000;
/** Longer lives count from the backdated start, as at the reference; of a shorter one it would take too much. */
const longMs = 8 * 3_600_000;
const nodeBackdateMs = 86_400_000;

/**
 * As the reference for all but nodes'. A node whose certificate is not valid yet for the API server, because that one's
 * clock was ahead and has been set right, can't ask for another one: a day's difference is allowed for, as far as it is
 * little of the certificate's life.
 */
function backdateMs(signerName: string, validityMs: number): number {
  return signerName === kubeletClientSigner || signerName === servingSigner
    ? Math.max(minBackdateMs, Math.min(nodeBackdateMs, validityMs / 10))
    : minBackdateMs;
}

const keyUsages = new Set<string>([
  "digital signature",
  "content commitment",
  "key encipherment",
  "data encipherment",
  "key agreement",
  "cert sign",
  "crl sign",
]);

/** `authorityOf` gives the authority of a signer; undefined: its requests are left alone. */
export function createCertificateSigner(
  context: ControllerContext,
  authorityOf: (signerName: string) => CertificatePair | undefined,
): Controller {
  const { client, clock, options } = context;
  const informer = client.informer(certificateSigningRequests);
  const reconciler = new Reconciler({
    name: "certificatesigningrequest-signing-controller",
    context,
    concurrency: 5,
    reconcile,
  });

  async function reconcile(name: string): Promise<void> {
    const csr = informer.lister.get(name);
    if (!csr || !signers.has(csr.spec.signerName)) return;
    const authority = authorityOf(csr.spec.signerName);
    if (!authority) return;
    if (csr.status?.certificate || !isApproved(csr)) return;
    if (findCondition(csr.status?.conditions, "Failed")) return;
    // It would be no certificate. The request waits for another authority.
    const { notAfterMs } = inspectCertificate(authority.certificate);
    if (notAfterMs <= clock.now())
      throw new Error(
        `${name} is not signed: the authority expired at ${formatTime(notAfterMs)}`,
      );
    let certificate: string;
    try {
      certificate = sign(csr, authority);
    } catch (error) {
      await fail(csr, errorText(error));
      return;
    }
    await client.resource(certificateSigningRequests).updateStatus({
      ...csr,
      status: {
        ...csr.status,
        certificate: Buffer.from(certificate).toString("base64"),
      },
    });
  }

  function sign(
    csr: CertificateSigningRequest,
    authority: CertificatePair,
  ): string {
    const request = parseCsr(
      Buffer.from(csr.spec.request, "base64").toString("utf8"),
    );
    const problem = signerProblem(csr, request);
    if (problem) throw new Error(problem);
    const usages = csr.spec.usages ?? [];
    const { publicKey, ...names } = request;
    const wantedMs = (csr.spec.expirationSeconds ?? Infinity) * 1000;
    const validityMs = Math.min(
      options.clusterSigningDurationMs,
      Math.max(minDurationMs, wantedMs),
    );
    return certifyPublicKey(authority, publicKey, {
      ...names,
      keyUsages: usages.filter((usage) => keyUsages.has(usage)) as KeyUsage[],
      usages: usages.filter(
        (usage) => !keyUsages.has(usage),
      ) as ExtendedKeyUsage[],
      nowMs: clock.now(),
      validityMs: validityMs - (validityMs < longMs ? 0 : minBackdateMs),
      backdateMs: backdateMs(csr.spec.signerName, validityMs),
    });
  }

  async function fail(
    csr: CertificateSigningRequest,
    message: string,
  ): Promise<void> {
    const time = formatTime(clock.now());
    await client.resource(certificateSigningRequests).updateStatus({
      ...csr,
      status: {
        ...csr.status,
        conditions: [
          ...(csr.status?.conditions ?? []),
          {
            type: "Failed",
            status: "True",
            reason: "SignerValidationFailure",
            message,
            lastUpdateTime: time,
            lastTransitionTime: time,
          },
        ],
      },
    });
  }

  return reconciler.watch(informer, {
    onAdd: ({ metadata }) => reconciler.queue.add(metadata.name),
    onUpdate: (_, { metadata }) => reconciler.queue.add(metadata.name),
  });
}

function isApproved(csr: CertificateSigningRequest): boolean {
  const has = (type: string): boolean =>
    findCondition(csr.status?.conditions, type)?.status === "True";
  return has("Approved") && !has("Denied");
}

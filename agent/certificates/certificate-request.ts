// A certificate by way of a CertificateSigningRequest: asked for, and waited for until it is signed or refused.
import type { CertificatePair } from "../../api/pki/certificate.ts";
import type { Logger } from "pino";
import type { Clock } from "../../api/clock.ts";
import { createPrivateKeyPem } from "../../api/pki/keys.ts";
import type { AlternativeNames } from "../../api/pki/names.ts";
import { createCsr } from "../../api/pki/signing-request.ts";
import type { CertificateSigningRequest } from "../../api/types/certificates-v1.ts";
import { findCondition } from "../../api/objects/conditions.ts";
import { Backoff, sleep } from "../../api/queueing/backoff.ts";
import type { Client } from "../../client/client.ts";
import { certificateSigningRequests } from "../../client/resources.ts";

const answerTimeoutMs = 15 * 60_000;

interface NodeCertificateRequest {
  readonly nodeName: string;
  readonly signerName: string;
  readonly usages: readonly string[];
  readonly names?: AlternativeNames;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Rejects when the request is refused or not signed in 15 minutes. */
export async function requestNodeCertificate(
  client: Client,
  {
    nodeName,
    signerName,
    usages,
    names,
    clock,
    logger,
  }: NodeCertificateRequest,
): Promise<CertificatePair> {
  const key = createPrivateKeyPem();
  const request = createCsr(
    key,
    {
      commonName: `system:node:${nodeName}`,
      organizations: ["system:nodes"],
    },
    names,
  );
  const requests = client.resource(certificateSigningRequests);
  const made = await requests.create({
    apiVersion: "certificates.k8s.io/v1",
    kind: "CertificateSigningRequest",
    metadata: { name: "", generateName: "node-csr-" },
    spec: {
      signerName,
      request: Buffer.from(request).toString("base64"),
      usages: [...usages],
    },
  } as CertificateSigningRequest);
  const { name } = made.metadata;
  logger.info({ request: name, signerName }, "asked for a certificate");
  const deadlineMs = clock.monotonic() + answerTimeoutMs;
  const backoff = new Backoff({ baseMs: 200, maxMs: 5000 });
  while (clock.monotonic() < deadlineMs) {
    const { status } = await requests.get(name);
    if (status?.certificate)
      return {
        certificate: Buffer.from(status.certificate, "base64").toString("utf8"),
        key,
      };
    for (const type of ["Denied", "Failed"]) {
      const condition = findCondition(status?.conditions, type);
      if (condition)
        throw new Error(
          `certificate signing request ${name}: ${type}: ${condition.message ?? condition.reason ?? ""}`,
        );
    }
    await sleep(clock, backoff.nextMs());
  }
  throw new Error(`certificate signing request ${name} was not signed`);
}

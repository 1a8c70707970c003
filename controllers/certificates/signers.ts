// The built-in signers: what each accepts, as the reference does. A request that a signer can't sign is marked Failed
// with the reason; other signers' requests are left alone.
import type { CertificateRequest } from "../../api/pki/signing-request.ts";
import type { CertificateSigningRequest } from "../../api/types/certificates-v1.ts";

export const kubeletClientSigner =
  "kubernetes.io/kube-apiserver-client-kubelet";
const clientSigner = "kubernetes.io/kube-apiserver-client";
export const servingSigner = "kubernetes.io/kubelet-serving";
const legacySigner = "kubernetes.io/legacy-unknown";
const nodeGroup = "system:nodes";
const nodePrefix = "system:node:";

export const signers: ReadonlySet<string> = new Set([
  clientSigner,
  kubeletClientSigner,
  servingSigner,
  legacySigner,
]);

/** Without "key encipherment", which RSA keys need and others do not, the usages must be exactly these. */
function nodeUsagesProblem(
  { spec }: CertificateSigningRequest,
  purpose: string,
): string | undefined {
  const usages = new Set(spec.usages);
  usages.delete("key encipherment");
  return usages.size === 2 &&
    usages.has("digital signature") &&
    usages.has(purpose)
    ? undefined
    : `usages did not match ${purpose === "client auth" ? "[client auth digital signature key encipherment]" : "[digital signature key encipherment server auth]"}`;
}

/** Whatever it is for besides, a certificate for clients signs and proves nothing else. */
function clientUsagesProblem({
  spec,
}: CertificateSigningRequest): string | undefined {
  const { usages = [] } = spec;
  const wrong = usages.find((usage) => !clientUsages.has(usage));
  if (wrong !== undefined)
    return `invalid usage for client certificate: ${wrong}`;
  return usages.includes("client auth")
    ? undefined
    : "missing required usage for client certificate: client auth";
}

const clientUsages: ReadonlySet<string> = new Set([
  "digital signature",
  "key encipherment",
  "client auth",
]);

function organizationProblem({
  subject,
}: CertificateRequest): string | undefined {
  const { organizations } = subject;
  return organizations.length === 1 && organizations[0] === nodeGroup
    ? undefined
    : `subject organization is not ${nodeGroup}`;
}

function commonNameProblem({
  subject,
}: CertificateRequest): string | undefined {
  return subject.commonName.startsWith(nodePrefix)
    ? undefined
    : `subject common name does not begin with ${nodePrefix}`;
}

/** Why the signer refuses the request, in the reference's words; undefined when it does not. */
export function signerProblem(
  csr: CertificateSigningRequest,
  request: CertificateRequest,
): string | undefined {
  const { dnsNames, ipAddresses, emailAddresses, uris } = request;
  const refused = (names: readonly string[], what: string) =>
    names.length > 0 ? `${what} subjectAltNames are not allowed` : undefined;
  switch (csr.spec.signerName) {
    case kubeletClientSigner:
      return (
        organizationProblem(request) ??
        refused(dnsNames, "DNS") ??
        refused(emailAddresses, "Email") ??
        refused(ipAddresses, "IP") ??
        refused(uris, "URI") ??
        commonNameProblem(request) ??
        nodeUsagesProblem(csr, "client auth")
      );
    case servingSigner:
      return (
        organizationProblem(request) ??
        (dnsNames.length + ipAddresses.length === 0
          ? "DNS or IP subjectAltName is required"
          : undefined) ??
        refused(emailAddresses, "Email") ??
        refused(uris, "URI") ??
        nodeUsagesProblem(csr, "server auth") ??
        commonNameProblem(request)
      );
    case clientSigner:
      return clientUsagesProblem(csr);
    default:
      // legacy-unknown signs whatever was approved; the API takes no new requests for it.
      return undefined;
  }
}

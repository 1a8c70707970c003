// The built-in signers: what each accepts, as the reference does. A request that a signer can't sign is marked Failed
// with the reason; other signers' requests are left alone.
import type { CertificateRequest } from "../../api/pki/signing-request.ts";
import type { CertificateSigningRequest } from "../../api/types/certificates-v1.ts";

export const kubeletClientSigner =
  "kubernetes.io/kube-apiserver-client-kubelet";
const clientSigner = "kubernetes.io/kube-apiserver-client";
const servingSigner = "kubernetes.io/kubelet-serving";
const legacySigner = "kubernetes.io/legacy-unknown";
const nodeGroup = "system:nodes";
const nodePrefix = "system:node:";

export const signers: ReadonlySet<string> = new Set([
  clientSigner,
  kubeletClientSigner,
  servingSigner,
  legacySigner,
]);

const isNodeSubject = ({ subject }: CertificateRequest): boolean =>
  subject.organizations.length === 1 &&
  subject.organizations[0] === nodeGroup &&
  subject.commonName.startsWith(nodePrefix);

/** Exactly the usages named, "key encipherment" being free to leave out. */
function hasUsages(
  { spec }: CertificateSigningRequest,
  purpose: string,
): boolean {
  const usages = new Set(spec.usages);
  usages.delete("key encipherment");
  return (
    usages.size === 2 && usages.has("digital signature") && usages.has(purpose)
  );
}

/** Why the signer refuses the request; undefined when it does not. */
export function signerProblem(
  csr: CertificateSigningRequest,
  request: CertificateRequest,
): string | undefined {
  const names =
    request.dnsNames.length +
    request.ipAddresses.length +
    request.emailAddresses.length +
    request.uris.length;
  switch (csr.spec.signerName) {
    case kubeletClientSigner:
      if (!isNodeSubject(request))
        return "subject must be system:node:<name> in group system:nodes";
      if (names > 0) return "subject alternative names are not allowed";
      return hasUsages(csr, "client auth")
        ? undefined
        : "usages did not match [digital signature client auth]";
    case servingSigner:
      if (!isNodeSubject(request))
        return "subject must be system:node:<name> in group system:nodes";
      if (request.dnsNames.length + request.ipAddresses.length === 0)
        return "DNS or IP subjectAltName is required";
      if (request.emailAddresses.length + request.uris.length > 0)
        return "email and URI subjectAltNames are not allowed";
      return hasUsages(csr, "server auth")
        ? undefined
        : "usages did not match [digital signature server auth]";
    case clientSigner:
      return csr.spec.usages?.includes("client auth") &&
        !csr.spec.usages.includes("server auth")
        ? undefined
        : "usages must be those of a client";
    default:
      return undefined;
  }
}

// Which server a certificate is for, as Go decides it: by the names in its extension alone. Node would go by the subject's
// common name where there are none, which no client of Kubernetes takes.
import { checkServerIdentity, type PeerCertificate } from "node:tls";

/** For `checkServerIdentity` of a TLS connection: what is wrong, or undefined. */
export function checkServerNames(
  host: string,
  certificate: PeerCertificate,
): Error | undefined {
  const problem = checkServerIdentity(host, {
    ...certificate,
    subject: {} as PeerCertificate["subject"],
  });
  // Its texts are made of the whole certificate.
  return problem && Object.assign(problem, { cert: certificate });
}

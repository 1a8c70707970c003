// Writes kubeconfig files: one cluster, one user with a client certificate, one context.
import type { CertificatePair } from "../../api/pki/certificate.ts";
import {
  readFileIfAny,
  writePrivateFile,
} from "../../http-kit/certificates/private-files.ts";

interface KubeconfigContent {
  /** e.g. https://127.0.0.1:6443 */
  readonly server: string;
  /** PEM */
  readonly certificateAuthority: string;
  readonly client: CertificatePair;
  readonly clusterName?: string;
  readonly userName?: string;
}

export function kubeconfigText(content: KubeconfigContent): string {
  const {
    server,
    certificateAuthority,
    client,
    clusterName = "orbit",
    userName = "kubernetes-admin",
  } = content;
  const base64 = (pem: string | Buffer): string =>
    (typeof pem === "string" ? Buffer.from(pem) : pem).toString("base64");
  const context = `${userName}@${clusterName}`;
  return [
    "apiVersion: v1",
    "kind: Config",
    "clusters:",
    "- cluster:",
    `    certificate-authority-data: ${base64(certificateAuthority)}`,
    `    server: ${server}`,
    `  name: ${clusterName}`,
    "contexts:",
    "- context:",
    `    cluster: ${clusterName}`,
    `    user: ${userName}`,
    `  name: ${context}`,
    `current-context: ${context}`,
    "preferences: {}",
    "users:",
    `- name: ${userName}`,
    "  user:",
    `    client-certificate-data: ${base64(client.certificate)}`,
    `    client-key-data: ${base64(client.key)}`,
    "",
  ].join("\n");
}

/** Mode 0600; left alone when it already says the same. */
export function writeKubeconfig(
  file: string,
  content: KubeconfigContent,
): void {
  const text = kubeconfigText(content);
  if (readFileIfAny(file) !== text) writePrivateFile(file, text);
}

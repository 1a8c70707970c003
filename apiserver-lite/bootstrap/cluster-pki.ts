// The cluster's keys and certificates under one directory, in kubeadm's file names: made when missing, loaded when
// there, and renewed when two thirds of their life are over, when the authority changed, or when the names they must
// be valid for are not all in them. Authorities and the ServiceAccount key are never replaced here.
import { createPrivateKey, X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import * as path from "node:path";
import {
  createCertificateAuthority,
  YEAR_MS,
  type CertificatePair,
} from "../../api/pki/certificate.ts";
import { inspectCertificate, renewalTimeMs } from "../../api/pki/inspect.ts";
import {
  createPrivateKeyPem,
  publicKeyPem,
  type PrivateKeyPem,
} from "../../api/pki/keys.ts";
import type { Subject } from "../../api/pki/names.ts";
import { loadLeaf } from "../../http-kit/certificates/kept-certificate.ts";
import {
  readFileIfAny,
  readKeyIfAny,
  writePrivateFile,
} from "../../http-kit/certificates/private-files.ts";

export interface ClusterPkiOptions {
  /** Holds the files; made with mode 0700. */
  readonly directory: string;
  /** Host names and addresses clients may use, beside localhost. */
  readonly hosts: readonly string[];
  /** Addresses of the `kubernetes` service. */
  readonly serviceAddresses: readonly string[];
  /** Default: cluster.local */
  readonly clusterDomain?: string;
  readonly nowMs: number;
  /** Of leaf certificates. Default: a year. */
  readonly validityMs?: number;
}

export interface ClusterPki {
  /** Signs the serving certificate, and clients of the API and of the agents. */
  readonly clusterCa: CertificatePair;
  /** Signs who may speak for others by request headers. */
  readonly frontProxyCa: CertificatePair;
  readonly frontProxyClient: CertificatePair;
  /** The API server's own. */
  readonly serving: CertificatePair;
  /** With what the API server goes to the agents. */
  readonly kubeletClient: CertificatePair;
  /** kubernetes-admin in group system:masters. */
  readonly admin: CertificatePair;
  /** PEM; signs ServiceAccount tokens. */
  readonly serviceAccountKey: PrivateKeyPem;
  readonly serviceAccountPublicKey: string;
  /** When the first certificate is due: load again then. Epoch milliseconds. */
  readonly renewalDueMs: number;
  /** Before it one is not valid yet: the clock was set back since, and they have to be loaded again. Epoch milliseconds. */
  readonly validFromMs: number;
}

/** Under 20 ms the first time, 2 ms later. Fails when a file is there but unusable: it is never overwritten silently. */
export function loadClusterPki(options: ClusterPkiOptions): ClusterPki {
  const { directory, nowMs } = options;
  const domain = options.clusterDomain ?? "cluster.local";
  const validityMs = options.validityMs ?? YEAR_MS;
  const file = (name: string): string => path.join(directory, name);
  const authority = (name: string, commonName: string) =>
    loadAuthority(file(name), { commonName }, nowMs);

  const clusterCa = authority("ca", "orbit-ca");
  const frontProxyCa = authority("front-proxy-ca", "orbit-front-proxy-ca");
  const client = (name: string, ca: CertificatePair, subject: Subject) =>
    loadLeaf(file(name), ca, {
      subject,
      usages: ["client auth"],
      validityMs,
      nowMs,
    });

  const hosts = new Set([
    ...[
      "localhost",
      "kubernetes",
      "kubernetes.default",
      "kubernetes.default.svc",
      `kubernetes.default.svc.${domain}`,
    ],
    ...["127.0.0.1", "::1", ...options.serviceAddresses, ...options.hosts],
  ]);
  const serving = loadLeaf(file("apiserver"), clusterCa, {
    subject: { commonName: "kube-apiserver" },
    usages: ["server auth"],
    dnsNames: [...hosts].filter((host) => isIP(host) === 0),
    ipAddresses: [...hosts].filter((host) => isIP(host) !== 0),
    validityMs,
    nowMs,
  });
  const kubeletClient = client("apiserver-kubelet-client", clusterCa, {
    commonName: "kube-apiserver-kubelet-client",
    organizations: ["system:masters"],
  });
  const admin = client("admin", clusterCa, {
    commonName: "kubernetes-admin",
    organizations: ["system:masters"],
  });
  const frontProxyClient = client("front-proxy-client", frontProxyCa, {
    commonName: "front-proxy-client",
  });
  const serviceAccountKey = loadKey(file("sa.key"));
  const leaves = [serving, kubeletClient, admin, frontProxyClient].map(
    ({ certificate }) => inspectCertificate(certificate),
  );
  return {
    clusterCa,
    frontProxyCa,
    frontProxyClient,
    serving,
    kubeletClient,
    admin,
    serviceAccountKey,
    serviceAccountPublicKey: publicKeyPem(serviceAccountKey),
    renewalDueMs: Math.min(...leaves.map(renewalTimeMs)),
    validFromMs: Math.max(...leaves.map(({ notBeforeMs }) => notBeforeMs)),
  };
}

function loadAuthority(
  file: string,
  subject: Subject,
  nowMs: number,
): CertificatePair {
  const certificate = readFileIfAny(`${file}.crt`);
  const key = readKeyIfAny(`${file}.key`);
  if (!certificate && !key) {
    const made = createCertificateAuthority({ subject, nowMs });
    writePrivateFile(`${file}.key`, made.key);
    writePrivateFile(`${file}.crt`, made.certificate);
    return made;
  }
  if (!key) throw new Error(`${file}.key is missing beside ${file}.crt`);
  if (!certificate) {
    // A crash between the two writes: nothing can have been signed with this key yet.
    const made = createCertificateAuthority({ subject, nowMs });
    writePrivateFile(`${file}.key`, made.key);
    writePrivateFile(`${file}.crt`, made.certificate);
    return made;
  }
  if (!matches(certificate, key))
    throw new Error(`${file}.key does not belong to ${file}.crt`);
  return { certificate, key };
}

function matches(certificate: string, key: PrivateKeyPem): boolean {
  try {
    return new X509Certificate(certificate).checkPrivateKey(
      createPrivateKey(key),
    );
  } catch {
    return false;
  }
}

function loadKey(file: string): PrivateKeyPem {
  const known = readKeyIfAny(file);
  if (known) {
    createPrivateKey(known);
    return known;
  }
  const key = createPrivateKeyPem();
  writePrivateFile(file, key);
  return key;
}

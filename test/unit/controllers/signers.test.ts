// What each built-in signer signs, and the words it refuses with: as in the reference.
import { createPrivateKeyPem } from "../../../api/pki/keys.ts";
import { createCsr, parseCsr } from "../../../api/pki/signing-request.ts";
import type { CertificateSigningRequest } from "../../../api/types/certificates-v1.ts";
import { signerProblem } from "../../../controllers/certificates/signers.ts";

const key = createPrivateKeyPem();
const node = { commonName: "system:node:n1", organizations: ["system:nodes"] };
const ann = { commonName: "ann", organizations: ["people"] };
const dns = { dnsNames: ["n1"] };
const client = ["digital signature", "client auth"];
const server = ["digital signature", "server auth"];
const rsa = "key encipherment";

const clientSigner = "kube-apiserver-client";
const kubelet = "kube-apiserver-client-kubelet";
const serving = "kubelet-serving";
const legacy = "legacy-unknown";
const clientUsages = "[client auth digital signature key encipherment]";
const serverUsages = "[digital signature key encipherment server auth]";

it.each<[string, object, object, readonly string[], string | undefined]>([
  [clientSigner, ann, {}, client, undefined],
  [clientSigner, ann, {}, ["client auth"], undefined],
  [clientSigner, ann, dns, [...client, rsa], undefined],
  ...[
    "cert sign",
    "crl sign",
    "code signing",
    "server auth",
    "any",
    "content commitment",
    "data encipherment",
    "key agreement",
    "email protection",
    "ocsp signing",
    "timestamping",
  ].map(
    (usage) =>
      [
        clientSigner,
        ann,
        {},
        [...client, usage],
        `invalid usage for client certificate: ${usage}`,
      ] as [string, object, object, string[], string],
  ),
  [
    clientSigner,
    ann,
    {},
    ["digital signature"],
    "missing required usage for client certificate: client auth",
  ],
  [
    clientSigner,
    ann,
    {},
    [],
    "missing required usage for client certificate: client auth",
  ],
  [kubelet, node, {}, client, undefined],
  [kubelet, node, {}, [...client, rsa], undefined],
  [
    kubelet,
    node,
    {},
    [...client, "cert sign"],
    `usages did not match ${clientUsages}`,
  ],
  [kubelet, node, {}, ["client auth"], `usages did not match ${clientUsages}`],
  [kubelet, node, {}, server, `usages did not match ${clientUsages}`],
  [kubelet, ann, {}, client, "subject organization is not system:nodes"],
  [
    kubelet,
    { ...node, organizations: ["system:nodes", "system:masters"] },
    {},
    client,
    "subject organization is not system:nodes",
  ],
  [
    kubelet,
    { ...node, commonName: "ann" },
    {},
    client,
    "subject common name does not begin with system:node:",
  ],
  [kubelet, node, dns, client, "DNS subjectAltNames are not allowed"],
  [
    kubelet,
    node,
    { ipAddresses: ["10.0.0.1"] },
    client,
    "IP subjectAltNames are not allowed",
  ],
  [serving, node, dns, server, undefined],
  [serving, node, { ipAddresses: ["10.0.0.1"] }, [...server, rsa], undefined],
  [serving, node, {}, server, "DNS or IP subjectAltName is required"],
  [serving, node, dns, client, `usages did not match ${serverUsages}`],
  [
    serving,
    node,
    dns,
    [...server, "client auth"],
    `usages did not match ${serverUsages}`,
  ],
  [serving, ann, dns, server, "subject organization is not system:nodes"],
  [
    serving,
    { ...node, commonName: "ann" },
    dns,
    server,
    "subject common name does not begin with system:node:",
  ],
  [legacy, ann, dns, [...client, "cert sign"], undefined],
])("%s, %j with %j for %j: %s", (signer, subject, names, usages, problem) => {
  const text = createCsr(key, subject as typeof node, names);
  const csr = {
    metadata: { name: "r" },
    spec: {
      signerName: `kubernetes.io/${signer}`,
      request: Buffer.from(text).toString("base64"),
      usages,
    },
  } as unknown as CertificateSigningRequest;
  expect(signerProblem(csr, parseCsr(text))).toBe(problem);
});

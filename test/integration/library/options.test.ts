// Options that a cluster of the library takes, and those that it refuses rather than ignores.
import * as fs from "node:fs";
import * as https from "node:https";
import * as path from "node:path";
import {
  createCertificateAuthority,
  issueCertificate,
  type CertificatePair,
} from "../../../api/pki/certificate.ts";
import { startCluster } from "../../../index.ts";
import { createKubectl } from "../../support/kubectl.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const directory = useTempDirectories();

const refused: readonly (readonly [option: string, reason: RegExp])[] = [
  ["--store=etcd", /state is in memory/],
  ["--store-servers=http://127.0.0.1:2379", /state is in memory/],
  ["--data-dir=/nonexistent", /state is in memory/],
  ["--encryption-provider-config=/nonexistent", /state is in memory/],
  ["--pod-manifest-path=/nonexistent", /reads no directory/],
  ["--write-kubeconfig=/nonexistent", /cluster\.kubeconfig/],
  ["--disable=scheduler", /scheduler: false/],
  ["--secure-port=6443", /option port/],
  ["--bind-address=0.0.0.0", /127\.0\.0\.1 alone/],
  ["--tls-san=example.com", /certificate/],
  ["--node-ip=192.0.2.1", /no node agent/],
  ["--agent-arg=max-pods=5", /no node agent/],
  ["--ingress-http-port=8080", /no node agent/],
  ["--cluster-cidr=10.1.0.0/16", /no network/],
];

test.each(refused)("%s is refused by name", async (option, reason) => {
  const started = startCluster({ args: [option] });
  const error = await started.then(
    async (cluster) => {
      await cluster.stop();
      return new Error("it was accepted");
    },
    (problem: unknown) => problem as Error,
  );
  expect(error.message).toMatch(reason);
});

test("options of the API server, the controllers and the scheduler have their effect", async () => {
  const cluster = await startCluster({
    args: [
      "--service-cluster-ip-range=10.55.0.0/24",
      "--controller-manager-arg=concurrent-gc-syncs=2",
      "--scheduler-arg=kube-api-qps=20",
    ],
  });
  try {
    const { body } = await cluster.client.raw(
      "GET",
      "/api/v1/namespaces/default/services/kubernetes",
    );
    expect(body).toMatchObject({ spec: { clusterIP: "10.55.0.1" } });
  } finally {
    await cluster.stop();
  }
});

/** Who the server takes the owner of this certificate for, or the status of its refusal. */
const whoIs = (
  url: string,
  ca: string,
  { certificate: cert, key }: CertificatePair,
): Promise<string | number> =>
  new Promise((resolve, reject) => {
    const request = https.request(
      `${url}/apis/authentication.k8s.io/v1/selfsubjectreviews`,
      {
        method: "POST",
        headers: { "content-type": "application/json" },
        ca,
        cert,
        key,
        agent: false,
      },
      (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (part) => (text += part));
        response.on("end", () => {
          if (response.statusCode !== 201)
            return resolve(response.statusCode ?? 0);
          const review = JSON.parse(text) as {
            status: { userInfo: { username: string } };
          };
          resolve(review.status.userInfo.username);
        });
      },
    );
    request.on("error", reject);
    request.end(
      JSON.stringify({
        apiVersion: "authentication.k8s.io/v1",
        kind: "SelfSubjectReview",
      }),
    );
  });

test("--client-ca-file admits clients of other authorities beside the cluster's own", async () => {
  const nowMs = Date.now();
  const others = createCertificateAuthority({
    subject: { commonName: "others" },
    nowMs,
  });
  const strangers = createCertificateAuthority({
    subject: { commonName: "strangers" },
    nowMs,
  });
  const jane = (authority: CertificatePair): CertificatePair =>
    issueCertificate(authority, {
      subject: { commonName: "jane" },
      usages: ["client auth"],
      validityMs: 3_600_000,
      nowMs,
    });
  const file = path.join(directory(), "clients.crt");
  fs.writeFileSync(file, others.certificate);
  const cluster = await startCluster({ args: [`--client-ca-file=${file}`] });
  try {
    const { url, certificateAuthority: ca } = cluster;
    expect(await whoIs(url, ca, jane(others))).toBe("jane");
    expect(await whoIs(url, ca, jane(strangers))).toBe(401);
    const kubeconfig = path.join(directory(), "kubeconfig");
    fs.writeFileSync(kubeconfig, cluster.kubeconfig, { mode: 0o600 });
    expect(
      await createKubectl(kubeconfig)("get namespace default -o name"),
    ).toMatchObject({ code: 0, stdout: "namespace/default\n" });
    const published = await cluster.client.raw(
      "GET",
      "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication",
    );
    expect(published.body).toMatchObject({
      data: {
        "client-ca-file": expect.stringContaining(
          others.certificate.trim(),
        ) as string,
      },
    });
  } finally {
    await cluster.stop();
  }
});

// A joining agent's client certificate, signed by the controllers of a real cluster: asked for, written beside a kubeconfig
// that works, and renewed when it is due.
import * as fs from "node:fs";
import * as path from "node:path";
import { pino } from "pino";
import {
  bootstrapClientCertificate,
  ClientCertificateKeeper,
} from "../../../agent/certificates/client-certificate.ts";
import { systemClock } from "../../../api/clock.ts";
import { inspectCertificate } from "../../../api/pki/inspect.ts";
import type { Client } from "../../../client/client.ts";
import { createClient } from "../../../client/create-client.ts";
import { createHttpTransport } from "../../../client/http-transport.ts";
import { loadKubeconfig } from "../../../client/kubeconfig.ts";
import {
  clusterRoleBindings,
  selfSubjectReviews,
} from "../../../client/resources.ts";
import { startCluster, type Cluster } from "../../../index.ts";
import { eventually } from "../../support/eventually.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const tempDirectory = useTempDirectories();
const logger = pino({ level: "silent" });
const nodeName = "joining";
let cluster: Cluster;

beforeAll(async () => {
  cluster = await startCluster({ scheduler: false });
  // As kubeadm does: nodes may renew their own certificates.
  await cluster.client.resource(clusterRoleBindings).create({
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRoleBinding",
    metadata: { name: "nodes-renew" },
    roleRef: {
      apiGroup: "rbac.authorization.k8s.io",
      kind: "ClusterRole",
      name: "system:certificates.k8s.io:certificatesigningrequests:selfnodeclient",
    },
    subjects: [
      {
        apiGroup: "rbac.authorization.k8s.io",
        kind: "Group",
        name: "system:nodes",
      },
    ],
  });
});
afterAll(() => cluster?.stop());

const userOf = async (client: Client): Promise<string | undefined> =>
  (
    await client.resource(selfSubjectReviews).create({
      apiVersion: "authentication.k8s.io/v1",
      kind: "SelfSubjectReview",
      metadata: { name: "" },
    })
  ).status?.userInfo?.username;

test("an agent joins with a certificate of its own and renews it", async () => {
  const directory = tempDirectory();
  const bootstrap = path.join(directory, "bootstrap.kubeconfig");
  const kubeconfig = path.join(directory, "agent.kubeconfig");
  fs.writeFileSync(bootstrap, cluster.kubeconfig);
  await bootstrapClientCertificate(
    await loadKubeconfig({ path: bootstrap }),
    kubeconfig,
    { nodeName, directory, clock: systemClock, logger },
  );
  const pemFile = path.join(directory, "orbitlet-client-current.pem");
  expect(fs.statSync(pemFile).mode & 0o077).toBe(0);
  expect(fs.statSync(kubeconfig).mode & 0o077).toBe(0);

  const connection = await loadKubeconfig({ path: kubeconfig });
  const transport = createHttpTransport({ ...connection, logger });
  const client = createClient(transport, { clock: systemClock, logger });
  const first = fs.readFileSync(pemFile, "utf8");
  const { notAfterMs, notBeforeMs } = inspectCertificate(first);
  const clock = new FakeClock(Date.now());
  const keeper = new ClientCertificateKeeper(
    client,
    connection.tls ?? {},
    (tls) => transport.updateTls(tls),
    { nodeName, directory, clock, logger },
  );
  try {
    expect(await userOf(client)).toBe(`system:node:${nodeName}`);
    keeper.start();
    clock.advance((notAfterMs - notBeforeMs) / 2);
    expect(fs.readFileSync(pemFile, "utf8")).toBe(first);
    clock.advance((notAfterMs - notBeforeMs) / 3);
    await eventually(() => {
      clock.advance(1000);
      return fs.readFileSync(pemFile, "utf8") !== first;
    });
    expect(await userOf(client)).toBe(`system:node:${nodeName}`);
  } finally {
    keeper.stop();
    await client.close();
  }
});

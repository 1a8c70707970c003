// Certificates for nodes and mirrored endpoints on the real API server.
import { X509Certificate } from "node:crypto";
import { systemClock } from "../../../api/clock.ts";
import { createCertificateAuthority } from "../../../api/pki/certificate.ts";
import { createPrivateKeyPem } from "../../../api/pki/keys.ts";
import { createCsr } from "../../../api/pki/signing-request.ts";
import type { CertificateSigningRequest } from "../../../api/types/certificates-v1.ts";
import { createApiServer, superuser } from "../../../apiserver-lite/server.ts";
import type { ApiServer } from "../../../apiserver-lite/server.ts";
import { createClient } from "../../../client/create-client.ts";
import type { Client } from "../../../client/client.ts";
import {
  certificateSigningRequests,
  endpoints,
  endpointSlices,
  nodes,
  services,
} from "../../../client/resources.ts";
import { createControllerManager } from "../../../controllers/manager.ts";
import type { ControllerManager } from "../../../controllers/manager.ts";
import { createMemoryStore } from "../../../storage/memory/memory-store.ts";
import { passes, silent } from "../../support/control-plane.ts";

const clock = systemClock;
const logger = silent;
const authority = createCertificateAuthority({
  subject: { commonName: "test-ca" },
  nowMs: Date.now(),
});
let server: ApiServer;
let client: Client;
let manager: ControllerManager;

beforeEach(async () => {
  server = createApiServer({ store: createMemoryStore(), logger });
  await server.start();
  client = createClient(server.transport(superuser), { clock, logger });
  manager = createControllerManager({
    client,
    clock,
    logger,
    options: { clusterSigningCa: authority, approveServingCertificates: true },
  });
  await manager.start();
});
afterEach(async () => {
  await manager.stop();
  await client.close();
  await server.stop();
});

const ask = (name: string, commonName: string, expirationSeconds = 3600) =>
  client.resource(certificateSigningRequests).create({
    metadata: { name },
    spec: {
      signerName: "kubernetes.io/kube-apiserver-client-kubelet",
      usages: ["digital signature", "client auth"],
      expirationSeconds,
      request: Buffer.from(
        createCsr(createPrivateKeyPem(), {
          commonName,
          organizations: ["system:nodes"],
        }),
      ).toString("base64"),
    },
  });
const approve = async (name: string) => {
  const resource = client.resource(certificateSigningRequests);
  const csr = await resource.get(name);
  await resource.updateSubresource(name, undefined, "approval", {
    ...csr,
    status: {
      conditions: [
        { type: "Approved", status: "True", reason: "Test", message: "" },
      ],
    },
  } as CertificateSigningRequest);
};

test("an approved request is signed for the time it asks", async () => {
  await ask("a", "system:node:n1");
  await approve("a").catch(() => undefined); // Or approved by itself already.
  const certificate = async () => {
    const { status } = await client
      .resource(certificateSigningRequests)
      .get("a");
    return status?.certificate;
  };
  await passes(async () => expect(await certificate()).toBeDefined());
  const pem = Buffer.from((await certificate())!, "base64").toString();
  const issued = new X509Certificate(pem);
  expect(issued.subject).toContain("CN=system:node:n1");
  expect(
    issued.verify(new X509Certificate(authority.certificate).publicKey),
  ).toBe(true);
  const hours = (Date.parse(issued.validTo) - Date.now()) / 3_600_000;
  expect(hours).toBeGreaterThan(0.9);
  expect(hours).toBeLessThan(1.1);
});

test("a node's certificate outlives a clock that is set back by a day", async () => {
  await ask("long", "system:node:n1", 30 * 86_400);
  await ask("short", "system:node:n1", 3600);
  const lifeSeconds = async (name: string): Promise<number> => {
    const { status } = await client
      .resource(certificateSigningRequests)
      .get(name);
    const pem = Buffer.from(status!.certificate!, "base64").toString();
    const { validFrom, validTo } = new X509Certificate(pem);
    return (Date.parse(validTo) - Date.parse(validFrom)) / 1000;
  };
  for (const name of ["long", "short"])
    await approve(name).catch(() => undefined); // Or approved by itself already.
  await passes(async () => {
    expect(await lifeSeconds("long")).toBe(31 * 86_400 - 300);
    // No more than a tenth of its life: renewal is due after two thirds of it.
    expect(await lifeSeconds("short")).toBe(3600 + 360);
  });
});

test("a request the signer does not accept is marked failed", async () => {
  await ask("b", "somebody");
  await approve("b");
  await passes(async () => {
    const { status } = await client
      .resource(certificateSigningRequests)
      .get("b");
    expect(status?.conditions?.map(({ type }) => type)).toEqual([
      "Approved",
      "Failed",
    ]);
    expect(status?.certificate).toBeUndefined();
  });
});

test("a node gets serving certificates for itself, not for the API server", async () => {
  const user = {
    name: "system:node:n1",
    groups: ["system:nodes", "system:authenticated"],
    extra: {},
  };
  const node = createClient(server.transport(user), { clock, logger });
  const resource = node.resource(certificateSigningRequests);
  const askFor = (name: string, dnsName: string, address: string) =>
    resource.create({
      metadata: { name },
      spec: {
        signerName: "kubernetes.io/kubelet-serving",
        usages: ["digital signature", "server auth"],
        request: Buffer.from(
          createCsr(
            createPrivateKeyPem(),
            { commonName: user.name, organizations: ["system:nodes"] },
            { dnsNames: [dnsName], ipAddresses: [address] },
          ),
        ).toString("base64"),
      },
    });
  const made = await node
    .resource(nodes)
    .create({ metadata: { name: "n1" }, spec: {} });
  await node.resource(nodes).updateStatus({
    ...made,
    status: {
      addresses: [
        { type: "InternalIP", address: "192.0.2.1" },
        { type: "Hostname", address: "kubernetes.default.svc" },
      ],
    },
  });
  await askFor("theirs", "kubernetes.default.svc", "192.0.2.1");
  await askFor("own", "n1", "192.0.2.1");
  await passes(async () =>
    expect((await resource.get("own")).status?.certificate).toBeDefined(),
  );
  // It came first and was looked at first.
  expect((await resource.get("theirs")).status?.conditions ?? []).toEqual([]);
  await node.close();
});

test("hand-made Endpoints are mirrored, and the mirror goes with them", async () => {
  const metadata = { name: "ext", namespace: "default" };
  await client
    .resource(services)
    .create({ metadata, spec: { ports: [{ port: 80 }] } });
  await client.resource(endpoints).create({
    metadata,
    subsets: [{ addresses: [{ ip: "192.0.2.1" }], ports: [{ port: 8080 }] }],
  });
  const mirrored = async () =>
    (
      await client.resource(endpointSlices).list({
        namespace: "default",
        labelSelector: "kubernetes.io/service-name=ext",
      })
    ).items;
  await passes(async () =>
    expect(await mirrored()).toMatchObject([
      {
        addressType: "IPv4",
        endpoints: [{ addresses: ["192.0.2.1"], conditions: { ready: true } }],
        ports: [{ port: 8080 }],
      },
    ]),
  );
  await client.resource(endpoints).delete("ext", "default");
  await passes(async () => expect(await mirrored()).toEqual([]));
});

// Kinds that only alpha and beta APIs serve: ClusterTrustBundles, IPAddresses, ServiceCIDRs and LeaseCandidates have the
// reference's rules, and the API server's authority is published as a bundle.
import pino from "pino";
import { builtinCatalogue } from "../../../api/catalogue.ts";
import { systemClock } from "../../../api/clock.ts";
import {
  createCertificateAuthority,
  issueCertificate,
} from "../../../api/pki/certificate.ts";
import { superuser } from "../../../apiserver-lite/server.ts";
import { createClient } from "../../../client/create-client.ts";
import { createControllerManager } from "../../../controllers/manager.ts";
import { accountTransport } from "../../support/account-access.ts";
import { eventually } from "../../support/eventually.ts";
import { startTestServer, type Json, type TestServer } from "./support.ts";

const logger = pino({ level: "silent" });
const clock = systemClock;
const nowMs = clock.now();
const authority = createCertificateAuthority({
  subject: { commonName: "one" },
  nowMs,
});
const other = createCertificateAuthority({
  subject: { commonName: "two" },
  nowMs,
});
const leaf = issueCertificate(authority, {
  subject: { commonName: "leaf" },
  usages: ["server auth"],
  validityMs: 3_600_000,
  nowMs,
});

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({
    catalogue: builtinCatalogue(() => true),
    featureGates: { ClusterTrustBundle: true },
  });
});
afterAll(() => server.stop());

const bundlesPath = "/apis/certificates.k8s.io/v1alpha1/clustertrustbundles";
const bundle = (name: string, spec: object): object => ({
  apiVersion: "certificates.k8s.io/v1alpha1",
  kind: "ClusterTrustBundle",
  metadata: { name },
  spec,
});

/** What is wrong with an object; "" when it was made. */
async function refusal(path: string, object: object): Promise<string> {
  const { status, body } = await server.call("POST", path, object);
  if (status === 201) return "";
  const { details, message } = body as Json;
  return details?.causes
    ? details.causes
        .map(({ field, message: text }: Json) => `${field}: ${text}`)
        .join("\n")
    : message;
}

describe("ClusterTrustBundles", () => {
  test.each([
    ["mine", authority.certificate + other.certificate, ""],
    ["text-around", `x\n${authority.certificate}y`, ""],
    ["empty", "nothing", "at least one trust anchor must be provided"],
    ["leaf", leaf.certificate, "entry 0 does not have the CA bit set"],
    [
      "key",
      authority.certificate + authority.key.toString(),
      /^entry 1 has bad block type: (EC )?PRIVATE KEY$/,
    ],
    [
      "headers",
      authority.certificate.replace("-----\n", "-----\na: b\n\n"),
      "entry 0 has PEM block headers",
    ],
    [
      "broken",
      "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
      "entry 0 does not parse as X.509",
    ],
    [
      "twice",
      authority.certificate + other.certificate + authority.certificate,
      "duplicate trust anchor (indices [0 2])",
    ],
  ])("%s", async (name, trustBundle, problem) => {
    const said = await refusal(bundlesPath, bundle(name, { trustBundle }));
    const prefix = 'spec.trustBundle: Invalid value: "<value omitted>": ';
    if (problem === "") expect(said).toBe("");
    else {
      expect(said.slice(0, prefix.length)).toBe(prefix);
      expect(said.slice(prefix.length)).toMatch(problem);
    }
  });

  test("a text of more than a mebibyte is refused unread", async () => {
    const trustBundle = "-----BEGIN ".repeat(100_000);
    expect(await refusal(bundlesPath, bundle("long", { trustBundle }))).toBe(
      "spec.trustBundle: Too long: may not be more than 1048576 bytes",
    );
  });

  test("those of a signer are called by it, listed by it, and stay its", async () => {
    const trustBundle = authority.certificate;
    const ofSigner = (name: string, signerName: string): object =>
      bundle(name, { trustBundle, signerName });
    expect(await refusal(bundlesPath, ofSigner("a", "x.y/z"))).toBe(
      'metadata.name: Invalid value: "a": ClusterTrustBundle for signerName x.y/z must be named with prefix x.y:z:',
    );
    expect(
      await refusal(bundlesPath, bundle("x.y:z:a", { trustBundle })),
    ).toContain("ClusterTrustBundle without signer name must not have");
    expect(await refusal(bundlesPath, ofSigner("x:z:a", "x/z"))).toContain(
      "should be a domain with at least two segments",
    );
    expect(await refusal(bundlesPath, ofSigner("x.y:z:a", "x.y/z"))).toBe("");
    const { body } = await server.call(
      "GET",
      `${bundlesPath}?fieldSelector=spec.signerName=x.y/z`,
    );
    expect(body.items).toHaveLength(1);
    const [{ metadata, spec }] = body.items;
    const changed = await server.call("PUT", `${bundlesPath}/x.y:z:a`, {
      ...ofSigner("x.y:z:a", ""),
      metadata,
      spec: { trustBundle: spec.trustBundle },
    });
    expect(changed.status).toBe(422);
    expect(changed.text).toContain("field is immutable");
  });
});

test.each<[string, string | undefined, string, RegExp]>([
  ["good", "10.0.0.1", "services", /^$/],
  ["no address", "a", "services", /unable to parse IP/],
  ["a long form", "fd00:0::1", "services", /must be a canonical format/],
  [
    "no resource",
    "10.0.0.2",
    "",
    /^spec\.parentRef\.resource: Required value$/,
  ],
])("an IPAddress: %s", async (_what, name, resource, wanted) => {
  const said = await refusal("/apis/networking.k8s.io/v1beta1/ipaddresses", {
    apiVersion: "networking.k8s.io/v1beta1",
    kind: "IPAddress",
    metadata: { name },
    spec: { parentRef: { resource, namespace: "default", name: "s" } },
  });
  expect(said).toMatch(wanted);
});

test("an IPAddress needs a parent, and shows it", async () => {
  const path = "/apis/networking.k8s.io/v1beta1/ipaddresses";
  const address = {
    apiVersion: "networking.k8s.io/v1beta1",
    kind: "IPAddress",
    metadata: { name: "10.0.0.9" },
    spec: {},
  };
  expect(await refusal(path, address)).toBe("spec.parentRef: Required value");
  const parentRef = { group: "a.b", resource: "Cs", namespace: "n", name: "c" };
  expect(await refusal(path, { ...address, spec: { parentRef } })).toBe("");
  const { body } = await server.call("GET", `${path}/10.0.0.9`, undefined, {
    accept: "application/json;as=Table;g=meta.k8s.io;v=v1",
  });
  expect(body.rows[0].cells).toEqual(["10.0.0.9", "cs.a.b/n/c"]);
});

test.each<[string[], RegExp]>([
  [["10.1.0.0/16", "fd00::/108"], /^$/],
  [[], /^spec\.cidrs: Required value: at least one CIDR required$/],
  [["10.1.0.0/16", "10.2.0.0/16"], /no more than one IP for each IP family/],
  [["10.1.0.0/16", "10.2.0.0/16", "fd00::/8"], /may only hold up to 2 values/],
  [["10.1.0.1/16"], /^spec\.cidrs\[0\].*IP doesn't match network IP address$/],
  [["fd00:0::/108"], /CIDR not in RFC 5952 canonical format$/],
  [["10.1.0.0"], /no valid CIDR$/],
])("a ServiceCIDR of %j", async (cidrs, wanted) => {
  const said = await refusal("/apis/networking.k8s.io/v1beta1/servicecidrs", {
    apiVersion: "networking.k8s.io/v1beta1",
    kind: "ServiceCIDR",
    metadata: { generateName: "c-" },
    spec: { cidrs },
  });
  expect(said).toMatch(wanted);
});

const candidate = {
  leaseName: "l",
  binaryVersion: "1.32.0",
  emulationVersion: "1.31.0",
  strategy: "OldestEmulationVersion",
};
test.each<[object, RegExp]>([
  [{}, /^$/],
  [{ leaseName: "" }, /^spec\.leaseName: Required value$/],
  [{ binaryVersion: "1.32" }, /must be a valid semantic version/],
  [{ binaryVersion: "1.30.9" }, /must be greater than or equal/],
  [{ emulationVersion: "" }, /must be specified when `strategy` is/],
  [{ strategy: "a.b/own", emulationVersion: "" }, /^$/],
  [{ strategy: "Youngest" }, /^spec\.strategy\.strategy: Unsupported value/],
])("a LeaseCandidate with %j", async (change, wanted) => {
  const said = await refusal(
    "/apis/coordination.k8s.io/v1alpha2/namespaces/default/leasecandidates",
    {
      apiVersion: "coordination.k8s.io/v1alpha2",
      kind: "LeaseCandidate",
      metadata: { generateName: "c-" },
      spec: { ...candidate, ...change },
    },
  );
  expect(said).toMatch(wanted);
});

test("the API server's authority is published while the gate is on, and nothing else stays", async () => {
  const signerName = "kubernetes.io/kube-apiserver-serving";
  const prefix = "kubernetes.io:kube-apiserver-serving:";
  const stale = bundle(`${prefix}old`, {
    signerName,
    trustBundle: other.certificate,
  });
  expect(await refusal(bundlesPath, stale)).toBe("");
  const denied: string[] = [];
  const account = "kube-apiserver-serving-clustertrustbundle-publisher";
  const transport = server.server.transport(superuser);
  const client = createClient(accountTransport(transport, account, denied), {
    clock,
    logger,
  });
  const manager = createControllerManager({
    client,
    clock,
    logger,
    options: {
      controllers: [account],
      rootCa: authority.certificate,
      featureGates: { ClusterTrustBundle: true },
    },
  });
  await manager.start();
  const published = async (): Promise<Json[]> => {
    const { body } = await server.call(
      "GET",
      `${bundlesPath}?fieldSelector=spec.signerName=${signerName}`,
    );
    return body.items;
  };
  const one = async (): Promise<Json> =>
    await eventually(
      async () => {
        const items = await published();
        return items.length === 1 &&
          items[0].spec.trustBundle === authority.certificate
          ? items[0]
          : undefined;
      },
      { what: "one bundle with the authority" },
    );
  const { metadata } = await one();
  expect(metadata.name).toMatch(
    /^kubernetes\.io:kube-apiserver-serving:[0-9a-f]{24}$/,
  );
  // What others delete or change comes back.
  await server.call("DELETE", `${bundlesPath}/${metadata.name}`);
  expect((await one()).metadata.name).toBe(metadata.name);
  await server.call(
    "PATCH",
    `${bundlesPath}/${metadata.name}`,
    { spec: { trustBundle: other.certificate } },
    { "content-type": "application/merge-patch+json" },
  );
  await one();
  expect(denied).toEqual([]);
  await manager.stop();
  await client.close();
});

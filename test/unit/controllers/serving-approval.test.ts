// Which requests for a node's serving certificate are approved without a person.
import {
  mayServe,
  type Holders,
} from "../../../controllers/certificates/serving-approval.ts";
import type { CertificateRequest } from "../../../api/pki/signing-request.ts";
import type { CertificateSigningRequest } from "../../../api/types/certificates-v1.ts";
import type { Node } from "../../../api/types/core-v1.ts";

const node: Node = {
  metadata: { name: "one" },
  spec: {},
  status: {
    addresses: [
      { type: "InternalIP", address: "192.0.2.1" },
      { type: "InternalIP", address: "fd00::1" },
      { type: "Hostname", address: "one.example" },
    ],
  },
};

function approved(
  change: Partial<CertificateRequest> & {
    username?: string;
    groups?: string[];
  } = {},
  of: Node | undefined = node,
  holders: Partial<Holders> = {},
): boolean {
  const { username = "system:node:one", groups = ["system:nodes"] } = change;
  return mayServe(
    {
      metadata: { name: "csr" },
      spec: { request: "", signerName: "", username, groups },
    } satisfies CertificateSigningRequest,
    {
      subject: {
        commonName: "system:node:one",
        organizations: ["system:nodes"],
      },
      publicKey: Buffer.alloc(0),
      dnsNames: ["one"],
      ipAddresses: ["192.0.2.1"],
      emailAddresses: [],
      uris: [],
      ...change,
    } as CertificateRequest,
    of,
    { nodes: [of], services: [], slices: [], ...holders },
  );
}

test("its own name and addresses, in any form", () => {
  expect(approved()).toBe(true);
  expect(
    approved({
      dnsNames: ["one", "one.example"],
      ipAddresses: ["192.0.2.1", "FD00:0:0:0:0:0:0:1"],
    }),
  ).toBe(true);
});

test.each([
  ["another node's name", { dnsNames: ["two"] }],
  ["a service's name", { dnsNames: ["one", "kubernetes.default"] }],
  ["another address", { ipAddresses: ["192.0.2.1", "192.0.2.2"] }],
  ["a wildcard", { dnsNames: ["*"] }],
  ["another node's certificate", { username: "system:node:two" }],
  ["a user that is no node", { username: "one" }],
  ["a node's name without its group", { groups: ["system:authenticated"] }],
  [
    "a subject that is another node",
    { subject: { commonName: "system:node:two", organizations: [] } },
  ],
])("%s: not approved", (_, change) =>
  expect(approved(change as never)).toBe(false),
);

test("a node that is not registered gets none", () =>
  expect(approved({}, { metadata: { name: "other" }, spec: {} })).toBe(false));

// A node writes its own addresses and chooses its name: what it says is no proof.
test.each([
  ["the API server's name", { dnsNames: ["kubernetes.default.svc"] }],
  ["in short", { dnsNames: ["kubernetes"] }],
  ["in other letters", { dnsNames: ["Kubernetes.Default"] }],
  ["in full", { dnsNames: ["kubernetes.default.svc.cluster.local."] }],
  ["a service's name", { dnsNames: ["db.prod.svc.cluster.local"] }],
  ["this machine's name", { dnsNames: ["localhost"] }],
  ["this machine's address", { ipAddresses: ["::ffff:127.0.0.1"] }],
  ["a service's address", { ipAddresses: ["10.0.0.1"] }],
  ["its second one", { ipAddresses: ["FD00:0::1:1"] }],
  ["an API server's address", { ipAddresses: ["192.0.2.7"] }],
  ["an older node's name", { dnsNames: ["Zero"] }],
  ["an older node's address", { ipAddresses: ["192.0.2.9"] }],
  ["one of a node as old", { ipAddresses: ["192.0.2.8"] }],
])("it says it has %s: not approved", (_, change) => {
  const aged = (name: string, time: string, ...addresses: string[]): Node => ({
    metadata: { name, creationTimestamp: `2026-01-01T00:00:0${time}Z` },
    spec: {},
    status: {
      addresses: addresses.map((address) => ({ type: "InternalIP", address })),
    },
  });
  const { dnsNames = [], ipAddresses = [] } = change as Partial<
    Record<string, string[]>
  >;
  const claimed = [...dnsNames, ...ipAddresses];
  const own = aged("one", "5", "192.0.2.1", ...claimed);
  const service = {
    metadata: { name: "kubernetes" },
    spec: { clusterIP: "10.0.0.1", clusterIPs: ["10.0.0.1", "fd00::1:1"] },
  };
  const slice = (service: string, address: string) => ({
    metadata: {
      name: service,
      labels: { "kubernetes.io/service-name": service },
    },
    addressType: "IPv4" as const,
    endpoints: [{ addresses: [address] }],
  });
  const slices = [slice("kubernetes", "192.0.2.7"), slice("db", "192.0.2.1")];
  const nodes = [
    own,
    aged("zero", "4", "192.0.2.9"),
    aged("twin", "5", "192.0.2.8"),
    // Who comes later takes nothing away.
    aged("late", "6", "192.0.2.1", "one"),
  ];
  const holders = { nodes, services: [service], slices };
  expect(approved(change as never, own, holders)).toBe(false);
  expect(approved({}, own, holders)).toBe(true);
});

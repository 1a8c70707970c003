// Which requests for a node's serving certificate are approved without a person.
import { mayServe } from "../../../controllers/certificates/serving-approval.ts";
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

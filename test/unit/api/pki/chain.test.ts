// Chains of client certificates, made by openssl: what is accepted, and what never is.
import { verifyChain } from "../../../../api/pki/chain.ts";
import {
  authority,
  client,
  issueIn,
  type Issue,
  type Pair,
} from "../../../support/openssl-certificates.ts";
import {
  makeTempDirectory,
  removeTempDirectory,
} from "../../../support/temp-directory.ts";

const CLIENT_AUTH = "1.3.6.1.5.5.7.3.2";

let directory: string;
let issue: Issue;
beforeAll(() => {
  directory = makeTempDirectory("orbit-chain-");
  issue = issueIn(directory);
});
afterAll(() => removeTempDirectory(directory));

function verify(
  leaf: Pair,
  intermediates: readonly Pair[],
  root: Pair,
  nowMs = Date.now(),
) {
  return verifyChain(leaf.certificate, {
    authorities: [root.certificate],
    intermediates: intermediates.map(({ certificate }) => certificate),
    nowMs,
    usage: CLIENT_AUTH,
  });
}

/** root → middle → leaf, each with these extensions. */
function threeOf({
  root = authority,
  middle = authority,
  leaf = client,
}: {
  root?: string;
  middle?: string;
  leaf?: string;
}): [Pair, Pair[], Pair] {
  const top = issue("root", root);
  const between = issue("middle", middle, top);
  return [issue("ann", leaf, between), [between], top];
}

it("takes leaves of the authority, and over one or more intermediates", () => {
  const root = issue("root", authority);
  const first = issue("first", authority, root);
  const second = issue("second", authority, first);
  const other = issue("other", authority);
  const direct = issue("ann", client, root);
  const leaf = issue("ann", client, second);
  expect(verify(direct, [], root)).toBeDefined();
  // In any order, with some that do not belong.
  expect(verify(leaf, [first, second], root)).toBeDefined();
  expect(verify(leaf, [other, second, root, first], root)).toBeDefined();
  expect(verify(leaf, [second], root)).toBeUndefined();
  expect(verify(leaf, [], root)).toBeUndefined();
  expect(verify(leaf, [first, second], other)).toBeUndefined();
  // An authority that is sent along is not one that is trusted.
  expect(verify(leaf, [first, second, root], other)).toBeUndefined();
  expect(verify(leaf, [second], first)).toBeDefined();
});

it("is valid as long as every certificate of the path", () => {
  const root = issue("root", authority);
  const middle = issue("middle", authority, root, ["-days", "1"]);
  const leaf = issue("ann", client, middle);
  const found = verify(leaf, [middle], root)!;
  expect(found.notAfterMs).toBe(Date.parse(middle.certificate.validTo));
  const laterMs = Date.now() + 1.5 * 24 * 3600 * 1000;
  expect(verify(leaf, [middle], root, laterMs)).toBeUndefined();
});

it.each<[string, Parameters<typeof threeOf>[0], boolean]>([
  [
    "an intermediate that is no authority",
    { middle: "basicConstraints=critical,CA:FALSE" },
    false,
  ],
  [
    "an intermediate that says nothing",
    { middle: "keyUsage=keyCertSign" },
    false,
  ],
  [
    "an intermediate that may not sign certificates",
    {
      middle:
        "basicConstraints=critical,CA:TRUE\nkeyUsage=critical,digitalSignature",
    },
    false,
  ],
  [
    "an authority that may not sign certificates",
    { root: "basicConstraints=critical,CA:TRUE\nkeyUsage=critical,cRLSign" },
    false,
  ],
  [
    "an authority for no intermediates",
    { root: "basicConstraints=critical,CA:TRUE,pathlen:0" },
    false,
  ],
  [
    "an authority for one intermediate",
    { root: "basicConstraints=critical,CA:TRUE,pathlen:1" },
    true,
  ],
  [
    "an intermediate for no others",
    { middle: "basicConstraints=critical,CA:TRUE,pathlen:0" },
    true,
  ],
  [
    "an intermediate for servers alone",
    { middle: `${authority}\nextendedKeyUsage=serverAuth` },
    false,
  ],
  [
    "an intermediate for clients",
    { middle: `${authority}\nextendedKeyUsage=clientAuth` },
    true,
  ],
  [
    "an authority for servers alone",
    { root: `${authority}\nextendedKeyUsage=serverAuth` },
    false,
  ],
  [
    "a leaf for servers alone",
    { leaf: "basicConstraints=CA:FALSE\nextendedKeyUsage=serverAuth" },
    false,
  ],
  [
    "a leaf for any use",
    { leaf: "basicConstraints=CA:FALSE\nextendedKeyUsage=anyExtendedKeyUsage" },
    true,
  ],
  [
    "constraints on names nobody below has",
    {
      middle: `${authority}\nnameConstraints=critical,permitted;DNS:example.com`,
    },
    true,
  ],
  [
    "constraints on names the leaf has",
    {
      middle: `${authority}\nnameConstraints=critical,permitted;DNS:example.com`,
      leaf: `${client}\nsubjectAltName=DNS:other.org`,
    },
    false,
  ],
  [
    "constraints on subjects",
    {
      middle: `${authority}\nnameConstraints=critical,excluded;dirName:dn\n[dn]\nCN=ann`,
    },
    false,
  ],
  [
    "constraints of the authority",
    {
      root: `${authority}\nnameConstraints=critical,excluded;email:example.com`,
      leaf: `${client}\nsubjectAltName=email:ann@example.com`,
    },
    false,
  ],
  [
    "a critical extension nobody knows",
    { middle: `${authority}\n1.2.3.4=critical,ASN1:UTF8String:x` },
    false,
  ],
  [
    "a critical extension nobody knows on the leaf",
    { leaf: `${client}\n1.2.3.4=critical,ASN1:UTF8String:x` },
    false,
  ],
  [
    "an extension nobody knows",
    { middle: `${authority}\n1.2.3.4=ASN1:UTF8String:x` },
    true,
  ],
  [
    "policy constraints",
    {
      middle: `${authority}\npolicyConstraints=critical,requireExplicitPolicy:0`,
    },
    false,
  ],
])("%s", (_, chain, accepted) => {
  expect(verify(...threeOf(chain)) !== undefined).toBe(accepted);
});

it("refuses signatures that can be forged", () => {
  const root = issue("root", authority);
  expect(
    verify(issue("ann", client, root, ["-sha1"]), [], root),
  ).toBeUndefined();
  const middle = issue("middle", authority, root, ["-sha1"]);
  const leaf = issue("ann", client, middle);
  expect(verify(leaf, [middle], root)).toBeUndefined();
});

it("ends with crossed and repeated intermediates", () => {
  const root = issue("root", authority);
  // Two that issued each other's names, and none that leads to the root.
  const a = issue("a", authority);
  const b = issue("b", authority, a);
  const leaf = issue("ann", client, b);
  const many = Array.from({ length: 50 }, () => b);
  expect(verify(leaf, [a, b, ...many], root)).toBeUndefined();
});

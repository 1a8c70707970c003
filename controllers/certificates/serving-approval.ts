// Whether a request for a node's serving certificate can be approved without a person: it is the node's own, of the form
// that the kubelet-serving signer asks for, and for nothing but the name and the addresses that its Node object has. The
// reference leaves this to others; the rules are those that approvers for it have in common. A node says itself which names
// and addresses it has: what is the API server's, a Service's or an older node's is no other node's, whatever it says.
import { BlockList, isIP } from "node:net";
import { addressKind } from "../../api/address-kind.ts";
import type { CertificateRequest } from "../../api/pki/signing-request.ts";
import type { CertificateSigningRequest } from "../../api/types/certificates-v1.ts";
import type { EndpointSlice } from "../../api/types/discovery-v1.ts";
import type { Node, Service } from "../../api/types/core-v1.ts";

const prefix = "system:node:";

/** Whether two texts are the same address. */
function sameAddress(one: string, other: string): boolean {
  const family = isIP(one);
  if (family === 0 || isIP(other) !== family) return false;
  const list = new BlockList();
  const type = family === 4 ? "ipv4" : "ipv6";
  list.addAddress(one, type);
  return list.check(other, type);
}

/** Who else has names and addresses. */
export interface Holders {
  readonly nodes: readonly Node[];
  readonly services: readonly Service[];
  /** Those of namespace default: the API servers' addresses are in those of kubernetes. */
  readonly slices: readonly EndpointSlice[];
}

/** @param node the one that the requester is; undefined: there is none */
export function mayServe(
  { spec }: CertificateSigningRequest,
  { subject, dnsNames, ipAddresses }: CertificateRequest,
  node: Node | undefined,
  holders: Holders,
): boolean {
  if (
    !node ||
    spec.username !== `${prefix}${node.metadata.name}` ||
    subject.commonName !== spec.username ||
    !spec.groups?.includes("system:nodes")
  )
    return false;
  const known = namesOf(node);
  const older = holders.nodes.filter((other) => mayBeOlder(other, node));
  const taken = [
    ...older.flatMap(namesOf),
    ...holders.services.flatMap(addressesOf),
    ...holders.slices
      .filter(isOfApiServers)
      .flatMap(({ endpoints }) =>
        (endpoints ?? []).flatMap(({ addresses }) => addresses),
      ),
  ];
  return (
    dnsNames.every(
      (name) =>
        known.includes(name) &&
        !isClusterName(name) &&
        !taken.some((each) => sameName(each, name)),
    ) &&
    ipAddresses.every(
      (address) =>
        addressKind(address) === "outside" &&
        known.some((each) => sameAddress(each, address)) &&
        !taken.some((each) => sameAddress(each, address)),
    )
  );
}

function namesOf({ metadata, status }: Node): string[] {
  const addresses = status?.addresses ?? [];
  return [metadata.name, ...addresses.map(({ address }) => address)];
}

/** Those of balancers may be the nodes' own. */
function addressesOf({
  spec: { clusterIP = "", clusterIPs = [] },
}: Service): string[] {
  return [clusterIP, ...clusterIPs];
}

function isOfApiServers({ metadata }: EndpointSlice): boolean {
  return metadata.labels?.["kubernetes.io/service-name"] === "kubernetes";
}

/** Times are whole seconds: of two nodes of one second neither is the first. */
function mayBeOlder(other: Node, node: Node): boolean {
  return (
    other.metadata.name !== node.metadata.name &&
    (other.metadata.creationTimestamp ?? "") <=
      (node.metadata.creationTimestamp ?? "")
  );
}

const plain = (name: string): string => name.toLowerCase().replace(/\.$/, "");

const sameName = (one: string, other: string): boolean =>
  plain(one) === plain(other);

/** Names by which pods reach the API server and Services, in every form that their resolver completes. */
function isClusterName(name: string): boolean {
  const labels = plain(name).split(".");
  return (
    labels.includes("svc") ||
    labels.at(-1) === "localhost" ||
    (labels[0] === "kubernetes" &&
      (labels.length === 1 || (labels.length === 2 && labels[1] === "default")))
  );
}

/** The name of the node that a requester is; undefined: it is none. */
export function nodeOfUser(username: string | undefined): string | undefined {
  return username?.startsWith(prefix)
    ? username.slice(prefix.length)
    : undefined;
}

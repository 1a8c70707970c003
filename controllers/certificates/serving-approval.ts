// Whether a request for a node's serving certificate can be approved without a person: it is the node's own, of the form
// that the kubelet-serving signer asks for, and for nothing but the name and the addresses that its Node object has. The
// reference leaves this to others; the rules are those that approvers for it have in common.
import { BlockList, isIP } from "node:net";
import type { CertificateRequest } from "../../api/pki/signing-request.ts";
import type { CertificateSigningRequest } from "../../api/types/certificates-v1.ts";
import type { Node } from "../../api/types/core-v1.ts";

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

/** @param node the one that the requester is; undefined: there is none */
export function mayServe(
  { spec }: CertificateSigningRequest,
  { subject, dnsNames, ipAddresses }: CertificateRequest,
  node: Node | undefined,
): boolean {
  if (
    !node ||
    spec.username !== `${prefix}${node.metadata.name}` ||
    subject.commonName !== spec.username ||
    !spec.groups?.includes("system:nodes")
  )
    return false;
  const known = (node.status?.addresses ?? []).map(({ address }) => address);
  const names = new Set([node.metadata.name, ...known]);
  return (
    dnsNames.every((name) => names.has(name)) &&
    ipAddresses.every((address) =>
      known.some((each) => sameAddress(each, address)),
    )
  );
}

/** The name of the node that a requester is; undefined: it is none. */
export function nodeOfUser(username: string | undefined): string | undefined {
  return username?.startsWith(prefix)
    ? username.slice(prefix.length)
    : undefined;
}

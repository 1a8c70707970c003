// The certificates a client showed in the handshake, in DER. Whether they are good is found out for each request.
import type { X509Certificate } from "node:crypto";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { maxIntermediates } from "../../api/pki/chain.ts";
import type { Peer } from "../exchange.ts";

/** The leaf and the issuers that were sent beside it, in their order. */
export function clientCertificates(
  socket: Socket,
): Pick<Peer, "clientCertificate" | "clientChain"> {
  // The certificate as OpenSSL holds it: getPeerCertificate would make an object of all its fields.
  const leaf = (socket as Partial<TLSSocket>).getPeerX509Certificate?.();
  if (!leaf) return { clientCertificate: undefined };
  const clientChain: Buffer[] = [];
  let issuer: X509Certificate | undefined = leaf.issuerCertificate;
  while (issuer && clientChain.length < maxIntermediates) {
    clientChain.push(issuer.raw);
    issuer = issuer.issuerCertificate;
  }
  return { clientCertificate: leaf.raw, clientChain };
}

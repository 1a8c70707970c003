// The certificates a client showed in the handshake, in DER. Whether they are good is found out for each request.
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { maxIntermediates } from "../api/pki/chain.ts";
import type { Peer } from "./exchange.ts";

/** The leaf and its issuers. The last issuer, when it is trusted, comes from the server's own bundle. */
export function clientCertificates(
  socket: Socket,
): Pick<Peer, "clientCertificate" | "clientChain"> {
  let certificate = (socket as Partial<TLSSocket>).getPeerCertificate?.(true);
  if (!certificate?.raw) return { clientCertificate: undefined };
  const leaf = certificate.raw;
  const clientChain: Buffer[] = [];
  // One that issued itself is linked to itself.
  while (
    clientChain.length < maxIntermediates &&
    certificate.issuerCertificate &&
    certificate.issuerCertificate !== certificate
  ) {
    certificate = certificate.issuerCertificate;
    clientChain.push(certificate.raw);
  }
  return { clientCertificate: leaf, clientChain };
}

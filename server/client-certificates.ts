// Who a client certificate speaks for, asked with each request: a connection outlives its handshake, and a resumed TLS
// session even skips the check there. So each time the certificate must be valid now and be signed by the client
// authorities of today. The work of verifying is done once for a connection and a set of authorities.
import { X509Certificate } from "node:crypto";
import type { DetailedPeerCertificate, TLSSocket } from "node:tls";
import type { Clock } from "../api/clock.ts";
import type { UserInfo } from "../api/contracts.ts";

interface Verified {
  /** Of the authorities it was verified with. */
  generation: number;
  user: UserInfo | undefined;
  /** When the whole chain is valid. */
  fromMs: number;
  untilMs: number;
}

const longestChain = 8;

export class ClientCertificates {
  readonly #clock: Clock;
  readonly #verified = new WeakMap<TLSSocket, Verified>();
  #authorities: readonly X509Certificate[] = [];
  #generation = 0;

  constructor(clock: Clock, authorities: string | undefined) {
    this.#clock = clock;
    this.trust(authorities);
  }

  /** From now on these count, also for connections that are open. `authorities`: PEM, one or more. */
  trust(authorities: string | undefined): void {
    this.#generation++;
    this.#authorities = (
      authorities?.match(
        /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g,
      ) ?? []
    ).map((pem) => new X509Certificate(pem));
  }

  /** CN is the user, O the groups. undefined without a certificate that counts now. */
  user(socket: TLSSocket): UserInfo | undefined {
    if (!socket.authorized) return undefined;
    let known = this.#verified.get(socket);
    if (known?.generation !== this.#generation) {
      known = this.#verify(socket.getPeerCertificate(true));
      this.#verified.set(socket, known);
    }
    const nowMs = this.#clock.now();
    return nowMs >= known.fromMs && nowMs < known.untilMs
      ? known.user
      : undefined;
  }

  #verify(leaf: DetailedPeerCertificate): Verified {
    const refused: Verified = {
      generation: this.#generation,
      user: undefined,
      fromMs: 0,
      untilMs: 0,
    };
    let fromMs = -Infinity;
    let untilMs = Infinity;
    const narrow = ({ validFrom, validTo }: X509Certificate): void => {
      fromMs = Math.max(fromMs, Date.parse(validFrom));
      untilMs = Math.min(untilMs, Date.parse(validTo));
    };
    let link: DetailedPeerCertificate | undefined = leaf;
    for (let depth = 0; link?.raw && depth < longestChain; depth++) {
      const certificate: X509Certificate = new X509Certificate(link.raw);
      narrow(certificate);
      const authority = this.#authorities.find((each) =>
        isSignedBy(certificate, each),
      );
      if (authority) {
        narrow(authority);
        return { ...refused, user: userOf(leaf), fromMs, untilMs };
      }
      const issuer: DetailedPeerCertificate | undefined =
        link.issuerCertificate;
      if (
        !issuer?.raw ||
        !isSignedBy(certificate, new X509Certificate(issuer.raw))
      )
        return refused;
      link = issuer;
    }
    return refused;
  }
}

function isSignedBy(
  certificate: X509Certificate,
  issuer: X509Certificate,
): boolean {
  return (
    certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey)
  );
}

function userOf(leaf: DetailedPeerCertificate): UserInfo | undefined {
  const subject = leaf.subject as
    { CN?: string | string[]; O?: string | string[] } | undefined;
  const name = Array.isArray(subject?.CN) ? subject.CN[0] : subject?.CN;
  if (name === undefined || name === "") return undefined;
  const organizations = subject?.O === undefined ? [] : [subject.O].flat();
  return {
    name,
    groups: [...organizations, "system:authenticated"],
    extra: {},
  };
}

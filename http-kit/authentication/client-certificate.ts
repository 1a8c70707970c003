// Client certificates: the common name is the user, the organizations are its groups. The chain is verified here
// against the client authorities, whatever the TLS layer thought of it; a certificate that does not verify is an error,
// as it is with the reference (401), not an anonymous request.
// Intermediates are sent in full handshakes only: a session that is resumed shows the leaf alone, which is then known by
// its fingerprint.
import { createHash, X509Certificate } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { Clock } from "../../api/clock.ts";
import type { UserInfo } from "../../api/contracts.ts";
import { errors } from "../../api/errors.ts";
import { Family } from "../../api/metrics/family.ts";
import { Histogram } from "../../api/metrics/histogram.ts";
import { verifyChain } from "../../api/pki/chain.ts";
import { certificateSubject } from "../../api/pki/inspect.ts";
import { splitCertificates } from "../../api/pki/pem.ts";
import type {
  AuthenticationRequest,
  AuthenticationResult,
  RequestAuthenticator,
} from "./authenticator.ts";
import { withAuthenticatedGroup } from "./groups.ts";

const CLIENT_AUTH = "1.3.6.1.5.5.7.3.2";
/** Leaves that are remembered for their next connections: parsing and verifying one takes most of a millisecond. */
const maxRemembered = 4096;

const hour = 3600;
const day = 24 * hour;
const lifetimes = [
  ...[0, hour / 2, hour, 2 * hour, 6 * hour, 12 * hour],
  ...[1, 2, 4, 7, 30, 90, 180, 360].map((days) => days * day),
];

interface VerifiedCertificate {
  /** The same object for all requests with the certificate, with the group of everybody who is known. */
  readonly user: UserInfo;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
}

/** Verifies certificates against a bundle that may be replaced while running. */
export class ClientCertificateVerifier {
  readonly #clock: Clock;
  /**
   * Keyed by the Buffer object: the TLS layer gives the same for every request of a connection. `null` is a refusal,
   * which must cost no more than a success: a certificate of another authority's is asked about with every request.
   */
  #verified = new WeakMap<Buffer, VerifiedCertificate | null>();
  /** By the leaf's SHA-256: the same bytes verify alike as long as the authorities and the path's validity last. */
  readonly #remembered = new LRUCache<string, VerifiedCertificate>({
    max: maxRemembered,
  });
  #authorities: X509Certificate[] = [];
  readonly #lifetimes = new Histogram(lifetimes);

  /** @param bundle PEM of the authorities */
  constructor(bundle: string, clock: Clock) {
    this.#clock = clock;
    this.setAuthorities(bundle);
  }

  setAuthorities(bundle: string): void {
    this.#authorities = splitCertificates(bundle).map(
      (pem) => new X509Certificate(pem),
    );
    this.#verified = new WeakMap();
    this.#remembered.clear();
  }

  /** Undefined when it is not from these authorities or not valid now. @param chain what was sent beside it, in DER */
  verify(
    der: Buffer,
    chain: readonly Buffer[] = [],
  ): VerifiedCertificate | undefined {
    const nowMs = this.#clock.now();
    const known = this.#verified.get(der);
    if (known === null) return undefined;
    if (known) return isValidAt(known, nowMs) ? known : undefined;
    const verified = this.#examine(der, chain, nowMs);
    this.#verified.set(der, verified ?? null);
    return verified;
  }

  /** A request came with it. */
  used({ notAfterMs }: VerifiedCertificate): void {
    this.#lifetimes.observe((notAfterMs - this.#clock.now()) / 1000);
  }

  /** How long the certificates of requests were still valid. */
  families(): Family[] {
    return [
      new Family(
        "apiserver_client_certificate_expiration_seconds",
        "histogram",
        "For how long the certificates that requests came with were still valid.",
      ).addHistogram({}, this.#lifetimes),
    ];
  }

  #examine(
    der: Buffer,
    chain: readonly Buffer[],
    nowMs: number,
  ): VerifiedCertificate | undefined {
    const fingerprint = createHash("sha256").update(der).digest("hex");
    const remembered = this.#remembered.get(fingerprint);
    if (remembered && isValidAt(remembered, nowMs)) return remembered;
    try {
      const certificate = new X509Certificate(der);
      const verified = verifyChain(certificate, {
        authorities: this.#authorities,
        intermediates: chain.map((each) => new X509Certificate(each)),
        nowMs,
        usage: CLIENT_AUTH,
      });
      if (!verified) return undefined;
      const { commonName, organizations } = certificateSubject(der);
      if (commonName === "") return undefined;
      const known: VerifiedCertificate = {
        user: withAuthenticatedGroup({
          name: commonName,
          groups: organizations,
          extra: {
            "authentication.kubernetes.io/credential-id": [
              `X509SHA256=${fingerprint}`,
            ],
          },
        }),
        ...verified,
      };
      this.#remembered.set(fingerprint, known);
      return known;
    } catch {
      return undefined;
    }
  }
}

function isValidAt(
  { notBeforeMs, notAfterMs }: VerifiedCertificate,
  nowMs: number,
): boolean {
  return nowMs >= notBeforeMs && nowMs <= notAfterMs;
}

export class ClientCertificateAuthenticator implements RequestAuthenticator {
  constructor(private readonly verifier: ClientCertificateVerifier) {}

  authenticate(
    request: AuthenticationRequest,
  ): AuthenticationResult | undefined {
    if (!request.clientCertificate) return undefined;
    const verified = this.verifier.verify(
      request.clientCertificate,
      request.clientChain,
    );
    if (!verified) throw errors.unauthorized();
    this.verifier.used(verified);
    return verified;
  }
}

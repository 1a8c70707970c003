// Client certificates: the common name is the user, the organizations are its groups. The chain is verified here
// against the client authorities, whatever the TLS layer thought of it; a certificate that does not verify is an error,
// as it is with the reference (401), not an anonymous request.
import { X509Certificate } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { Clock } from "../../api/clock.ts";
import type { UserInfo } from "../../api/contracts.ts";
import { errors } from "../../api/errors.ts";
import { certificateSubject, verifyChain } from "../../api/pki/inspect.ts";
import { splitCertificates } from "../../api/pki/pem.ts";
import type {
  AuthenticationRequest,
  AuthenticationResult,
  RequestAuthenticator,
} from "./authenticator.ts";

const CLIENT_AUTH = "1.3.6.1.5.5.7.3.2";
const ANY_USAGE = "2.5.29.37.0";

export interface VerifiedCertificate {
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
  #authorities: X509Certificate[] = [];

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
  }

  /** Undefined when it is not from these authorities or not valid now. */
  verify(der: Buffer): VerifiedCertificate | undefined {
    const nowMs = this.#clock.now();
    const known = this.#verified.get(der);
    if (known === null) return undefined;
    if (known)
      return nowMs >= known.notBeforeMs && nowMs <= known.notAfterMs
        ? known
        : undefined;
    const verified = this.#examine(der, nowMs);
    this.#verified.set(der, verified ?? null);
    return verified;
  }

  #examine(der: Buffer, nowMs: number): VerifiedCertificate | undefined {
    try {
      const certificate = new X509Certificate(der);
      if (!verifyChain(certificate, this.#authorities, nowMs)) return undefined;
      const usages = certificate.keyUsage as string[] | undefined;
      if (
        usages &&
        !usages.includes(CLIENT_AUTH) &&
        !usages.includes(ANY_USAGE)
      )
        return undefined;
      const { commonName, organizations } = certificateSubject(der);
      if (commonName === "") return undefined;
      const fingerprint = certificate.fingerprint256
        .replaceAll(":", "")
        .toLowerCase();
      return {
        user: {
          name: commonName,
          groups: organizations,
          extra: {
            "authentication.kubernetes.io/credential-id": [
              `X509SHA256=${fingerprint}`,
            ],
          },
        },
        notBeforeMs: new Date(certificate.validFrom).getTime(),
        notAfterMs: new Date(certificate.validTo).getTime(),
      };
    } catch {
      return undefined;
    }
  }
}

export class ClientCertificateAuthenticator implements RequestAuthenticator {
  constructor(private readonly verifier: ClientCertificateVerifier) {}

  authenticate(
    request: AuthenticationRequest,
  ): AuthenticationResult | undefined {
    if (!request.clientCertificate) return undefined;
    const verified = this.verifier.verify(request.clientCertificate);
    if (!verified) throw errors.unauthorized();
    return verified;
  }
}

/** Bounded memory of what tokens turned out to be. */
export function createTokenMemory<T extends object>(
  entries = 4096,
): LRUCache<string, T> {
  return new LRUCache<string, T>({ max: entries });
}

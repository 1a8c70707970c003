// Servers whose certificate and whose authority have the same name, as Knative's webhooks make them, or both an empty one.
// OpenSSL takes such a certificate for one that signed itself, and refuses it whatever the bundle holds; Go goes by
// signatures. For just that shape the certificate is verified here against the bundle, and then it, alone, is what
// OpenSSL trusts for the connection.
//
// Invariants: no connection is handed out that OpenSSL and Node's check of names have not verified; the one that fetches
// the certificate gets no byte of a request and is closed; every new connection verifies the certificate once more.
// What can't be verified fails with the first connection's error.
import { X509Certificate } from "node:crypto";
import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import type { Clock } from "../../api/clock.ts";
import { verifyChain } from "../../api/pki/chain.ts";
import { splitCertificates } from "../../api/pki/pem.ts";

export type Callback = (
  ...result: [error: null, socket: Socket | TLSSocket] | [Error, null]
) => void;
export type Connector<Target> = (target: Target, callback: Callback) => void;

const serverUsage = "1.3.6.1.5.5.7.3.1";

/** How OpenSSL refuses it. */
const refusal = "DEPTH_ZERO_SELF_SIGNED_CERT";

/** Is it of that shape, and from one of these authorities? Never throws. */
export function isFromBundle(
  leaf: X509Certificate,
  authorities: readonly X509Certificate[],
  nowMs: number,
): boolean {
  try {
    if (leaf.subject !== leaf.issuer || leaf.verify(leaf.publicKey))
      return false;
  } catch {
    // Its key or its signature is none that can be checked.
    return false;
  }
  const chain = verifyChain(leaf, { authorities, nowMs, usage: serverUsage });
  return chain !== undefined;
}

/** Without what can't be read. */
function authoritiesIn(bundle: string): X509Certificate[] {
  return splitCertificates(bundle).flatMap((text) => {
    try {
      return [new X509Certificate(text)];
    } catch {
      return [];
    }
  });
}

/** What Go takes of a bundle (PEM): OpenSSL stops at the first certificate that it can't read, and trusts none after it. */
export function readableBundle(bundle: string): string {
  return authoritiesIn(bundle).join("") || bundle;
}

interface Connectors<Target> {
  /** Verifies with the bundle. */
  readonly strict: Connector<Target>;
  /** Verifies nothing, and shows no client certificate. */
  readonly open: Connector<Target>;
  /** Verifies with this certificate (PEM) alone. */
  readonly trusting: (certificate: string) => Connector<Target>;
}

/** @param bundle PEM */
export function connectorForBundle<Target>(
  { strict, open, trusting }: Connectors<Target>,
  bundle: string,
  clock: Clock,
): Connector<Target> {
  let authorities: readonly X509Certificate[] | undefined;
  const trusted = () => (authorities ??= authoritiesIn(bundle));
  let known: { leaf: X509Certificate; connect: Connector<Target> } | undefined;
  const isGood = (leaf: X509Certificate): boolean =>
    isFromBundle(leaf, trusted(), clock.now());
  const meet = (target: Target, callback: Callback): void =>
    strict(target, (...result) => {
      const [error] = result;
      if (!error || (error as NodeJS.ErrnoException).code !== refusal)
        return callback(...result);
      open(target, (_, socket) => {
        const leaf = shownBy(socket);
        if (!leaf || !isGood(leaf)) return callback(...result);
        const connect = trusting(leaf.toString());
        known = { leaf, connect };
        connect(target, callback);
      });
    });
  return (target, callback) => {
    if (!known || !isGood(known.leaf)) return meet(target, callback);
    known.connect(target, (...result) => {
      const [error] = result;
      if (!error) return callback(...result);
      // It may have another certificate now.
      known = undefined;
      meet(target, callback);
    });
  };
}

/** Closes the connection. */
function shownBy(socket: unknown): X509Certificate | undefined {
  if (!(socket instanceof TLSSocket)) return undefined;
  const leaf = socket.getPeerX509Certificate();
  socket.destroy();
  return leaf;
}

// Why a server could not be reached, as the reference's clients put it.
import type { Place } from "./extension-server.ts";

const dialTexts: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connect: connection refused",
  EHOSTUNREACH: "connect: no route to host",
  ENETUNREACH: "connect: network is unreachable",
  ETIMEDOUT: "i/o timeout",
};

const unverified = "tls: failed to verify certificate: x509: ";
const tlsTexts: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: `${unverified}certificate signed by unknown authority`,
  SELF_SIGNED_CERT_IN_CHAIN: `${unverified}certificate signed by unknown authority`,
  UNABLE_TO_GET_ISSUER_CERT: `${unverified}certificate signed by unknown authority`,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: `${unverified}certificate signed by unknown authority`,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: `${unverified}certificate signed by unknown authority`,
  CERT_SIGNATURE_FAILURE: `${unverified}certificate signed by unknown authority`,
  CERT_HAS_EXPIRED: `${unverified}certificate has expired or is not yet valid`,
  CERT_NOT_YET_VALID: `${unverified}certificate has expired or is not yet valid`,
  EPROTO: "tls: first record does not look like a TLS handshake",
};

export function reachError(error: unknown, { host, port }: Place): string {
  const { code = "", message = String(error) } = (error ?? {}) as {
    code?: string;
    message?: string;
  };
  const dial = dialTexts[code];
  if (dial)
    return `dial tcp ${host.includes(":") ? `[${host}]` : host}:${port}: ${dial}`;
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID")
    return `${unverified}${mismatch(error)}`;
  if (code === "ECONNRESET") return "EOF";
  return tlsTexts[code] ?? message;
}

function mismatch(error: unknown): string {
  const { host = "", cert } = error as {
    host?: string;
    cert?: { subjectaltname?: string };
  };
  const names = (cert?.subjectaltname ?? "")
    .split(", ")
    .flatMap((one) => (one.startsWith("DNS:") ? [one.slice(4)] : []));
  return names.length > 0
    ? `certificate is valid for ${names.join(", ")}, not ${host}`
    : `certificate is not valid for any names, but wanted to match ${host}`;
}

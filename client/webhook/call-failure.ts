// What went wrong with a call, in the reference's texts, which clients and operators search for. It relies on Node's and
// undici's error codes; a code that is not known here keeps its own text.
import { isIP } from "node:net";
import type { ReasonedStatus } from "./response-status.ts";

/** No answer: the server could not be reached, is not the one that was meant, or broke off. */
export class WebhookCallError extends Error {
  override readonly name = "WebhookCallError";
}

/** There was no whole answer in time. */
export class WebhookTimeoutError extends WebhookCallError {}

/** An answer that is not 2xx. */
export class WebhookStatusError extends Error {
  override readonly name = "WebhookStatusError";
  constructor(readonly status: ReasonedStatus) {
    super(status.message);
  }

  get statusCode(): number {
    return this.status.code;
  }
}

const connectionTexts: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connect: connection refused",
  EHOSTUNREACH: "connect: no route to host",
  ENETUNREACH: "connect: network is unreachable",
  ETIMEDOUT: "i/o timeout",
  UND_ERR_CONNECT_TIMEOUT: "i/o timeout",
  ECONNRESET: "read: connection reset by peer",
};

/** Of a connection that was not made; undefined for other failures. */
export function connectionText(code: string): string | undefined {
  return connectionTexts[code];
}

const unknownAuthority = new Set([
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "CERT_SIGNATURE_FAILURE",
]);

interface Failure extends NodeJS.ErrnoException {
  readonly errors?: readonly unknown[];
  readonly hostname?: string;
  readonly host?: string;
  readonly cert?: {
    readonly subjectaltname?: string;
    readonly subject?: { readonly CN?: string };
  };
}

/** @param place host and port the connection went to, `10.0.0.1:443` */
export function failureText(error: unknown, place: string): string {
  let failure = error as Failure;
  // Several addresses were tried.
  if (failure.errors?.length) failure = failure.errors[0] as Failure;
  const { message, name } = failure;
  const code = typeof failure.code === "string" ? failure.code : "";
  const text = connectionTexts[code];
  if (text) return `dial tcp ${place}: ${text}`;
  if (code === "ENOTFOUND" || code === "EAI_AGAIN")
    return `dial tcp: lookup ${failure.hostname ?? place}: no such host`;
  if (unknownAuthority.has(code))
    return unverified("certificate signed by unknown authority");
  if (code === "CERT_HAS_EXPIRED" || code === "CERT_NOT_YET_VALID")
    return unverified("certificate has expired or is not yet valid");
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID")
    return unverified(otherNames(failure));
  if (code === "UND_ERR_SOCKET" || code === "UND_ERR_CLOSED") return "EOF";
  if (code === "ERR_SSL_WRONG_VERSION_NUMBER" || code === "EPROTO")
    return message.includes("wrong version number") ||
      message.includes("packet length too long")
      ? "http: server gave HTTP response to HTTPS client"
      : `remote error: tls: ${message}`;
  if (name === "HTTPParserError")
    return `net/http: HTTP/1.x transport connection broken: malformed HTTP response: ${message}`;
  return message;
}

const unverified = (why: string): string =>
  `tls: failed to verify certificate: x509: ${why}`;

function otherNames({ host = "", cert }: Failure): string {
  const names = (cert?.subjectaltname ?? "")
    .split(", ")
    .filter((name) => name !== "");
  const addresses = names
    .filter((name) => name.startsWith("IP Address:"))
    .map((name) => name.slice("IP Address:".length));
  if (isIP(host) !== 0)
    return addresses.length === 0
      ? `cannot validate certificate for ${host} because it doesn't contain any IP SANs`
      : `certificate is valid for ${addresses.join(", ")}, not ${host}`;
  const hosts = names
    .filter((name) => name.startsWith("DNS:"))
    .map((name) => name.slice("DNS:".length));
  if (hosts.length > 0)
    return `certificate is valid for ${hosts.join(", ")}, not ${host}`;
  return names.length === 0 && cert?.subject?.CN
    ? "certificate relies on legacy Common Name field, use SANs instead"
    : `certificate is not valid for any names, but wanted to match ${host}`;
}

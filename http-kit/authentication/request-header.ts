// The front proxy's way to speak for others: who comes with a certificate of the front-proxy authority (and an allowed
// common name) may name the user in headers. From anybody else those headers mean nothing.
import type { IncomingHttpHeaders } from "node:http";
import { certificateSubject } from "../../api/pki/inspect.ts";
import type {
  AuthenticationRequest,
  AuthenticationResult,
  RequestAuthenticator,
} from "./authenticator.ts";
import type { ClientCertificateVerifier } from "./client-certificate.ts";

interface RequestHeaderOptions {
  readonly verifier: ClientCertificateVerifier;
  /** Common names that may; empty: any that verifies. */
  readonly allowedNames: readonly string[];
  /** In lower case; the first present counts. Default: x-remote-user … */
  readonly usernameHeaders?: readonly string[];
  readonly groupHeaders?: readonly string[];
  readonly uidHeaders?: readonly string[];
  readonly extraPrefixes?: readonly string[];
}

export class RequestHeaderAuthenticator implements RequestAuthenticator {
  constructor(private readonly options: RequestHeaderOptions) {}

  authenticate({
    headers,
    clientCertificate,
    clientChain,
  }: AuthenticationRequest): AuthenticationResult | undefined {
    const { verifier, allowedNames } = this.options;
    if (!clientCertificate || !verifier.verify(clientCertificate, clientChain))
      return undefined;
    const { commonName } = certificateSubject(clientCertificate);
    if (allowedNames.length > 0 && !allowedNames.includes(commonName))
      return undefined;
    const name = firstOf(
      headers,
      this.options.usernameHeaders ?? ["x-remote-user"],
    );
    if (!name) return undefined;
    const uid = firstOf(headers, this.options.uidHeaders ?? ["x-remote-uid"]);
    const groups = (this.options.groupHeaders ?? ["x-remote-group"]).flatMap(
      (header) => valuesOf(headers, header),
    );
    return {
      user: {
        name,
        ...(uid ? { uid } : {}),
        groups,
        extra: this.#extra(headers),
      },
    };
  }

  #extra(headers: IncomingHttpHeaders): Record<string, string[]> {
    const extra: Record<string, string[]> = {};
    for (const prefix of this.options.extraPrefixes ?? ["x-remote-extra-"]) {
      for (const header of Object.keys(headers)) {
        if (!header.startsWith(prefix)) continue;
        extra[decode(header.slice(prefix.length))] = valuesOf(headers, header);
      }
    }
    return extra;
  }
}

function firstOf(
  headers: IncomingHttpHeaders,
  names: readonly string[],
): string | undefined {
  return names.map((name) => valuesOf(headers, name)[0]).find((value) => value);
}

/** HTTP joins repeated headers with a comma and a space. */
function valuesOf(headers: IncomingHttpHeaders, name: string): string[] {
  const value = headers[name];
  if (value === undefined) return [];
  const values = Array.isArray(value) ? value : value.split(", ");
  return values.filter((item) => item !== "");
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

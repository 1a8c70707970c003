// The front proxy's way to speak for others: who comes with a certificate of the front-proxy authority (and an allowed
// common name) may name the user in headers. From anybody else those headers mean nothing.
import type { IncomingHttpHeaders } from "node:http";
import type { UserInfo } from "../../api/contracts.ts";
import { errors } from "../../api/errors.ts";
import { certificateSubject } from "../../api/pki/inspect.ts";
import type {
  AuthenticationRequest,
  AuthenticationResult,
  RequestAuthenticator,
} from "./authenticator.ts";
import type { ClientCertificateVerifier } from "./client-certificate.ts";
import { identityText } from "./identity-text.ts";

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
    exchange,
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
      exchange,
      this.options.usernameHeaders ?? ["x-remote-user"],
    );
    if (!name) return undefined;
    const uid = firstOf(exchange, this.options.uidHeaders ?? ["x-remote-uid"]);
    const groups = (this.options.groupHeaders ?? ["x-remote-group"]).flatMap(
      (header) => valuesOf(exchange, header),
    );
    return {
      user: {
        name,
        ...(uid ? { uid } : {}),
        groups,
        extra: this.#extra(headers, exchange),
      },
    };
  }

  #extra(headers: IncomingHttpHeaders, source: Source): UserInfo["extra"] {
    // Keys are the user's words: none of them is a property every object has.
    const extra = Object.create(null) as Record<string, string[]>;
    for (const prefix of this.options.extraPrefixes ?? ["x-remote-extra-"]) {
      for (const header of Object.keys(headers)) {
        if (!header.startsWith(prefix)) continue;
        const key = decode(header.slice(prefix.length));
        extra[key] = [...(extra[key] ?? []), ...valuesOf(source, header)];
      }
    }
    return { ...extra };
  }
}

type Source = AuthenticationRequest["exchange"];

function firstOf(source: Source, names: readonly string[]): string | undefined {
  return names.map((name) => valuesOf(source, name)[0]).find((value) => value);
}

/** One a header, whole: a comma in it is part of the name. Throws ApiError 401 for what is no text. */
function valuesOf(source: Source, name: string): string[] {
  const values = source.headerValues(name).map((value) => {
    const text = identityText(value);
    if (text === undefined) throw errors.unauthorized();
    return text;
  });
  return values.filter((value) => value !== "");
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

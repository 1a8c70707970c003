// The identity of a request's sender. An authenticator answers undefined for "not mine" and rejects for "mine, and bad"
// (401).
import type { IncomingHttpHeaders } from "node:http";
import type { AuthenticationRemarks, UserInfo } from "../../api/contracts.ts";

export interface AuthenticationRequest {
  readonly headers: IncomingHttpHeaders;
  /** Gives the values of a repeated header apart from each other: `headers` joins them by commas, which values may have as well. */
  readonly exchange: { headerValues(name: string): readonly string[] };
  readonly path: string;
  /** The verified or unverified chain's leaf in DER, as the TLS layer gave it. */
  readonly clientCertificate: Buffer | undefined;
  /** What the client sent beside it, in DER. */
  readonly clientChain?: readonly Buffer[] | undefined;
  readonly remoteAddress: string;
  readonly remarks?: AuthenticationRemarks;
}

export interface AuthenticationResult {
  readonly user: UserInfo;
  readonly audiences?: readonly string[];
}

export interface RequestAuthenticator {
  /** A promise only where something has to be waited for: most requests are known by their connection. */
  authenticate(
    request: AuthenticationRequest,
  ):
    | AuthenticationResult
    | undefined
    | Promise<AuthenticationResult | undefined>;
}

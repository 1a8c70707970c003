// Who asks at the agent's port: a client certificate of the client CA, or a bearer token (TokenAuthenticator), or, where
// allowed, nobody (system:anonymous). As at the reference, a bad credential is 401 also where anonymous is allowed.
import type { IncomingMessage } from "node:http";
import type { TLSSocket } from "node:tls";
import type { TokenAuthenticator, UserInfo } from "../api/contracts.ts";
import type { ClientCertificates } from "./client-certificates.ts";

export interface AuthenticationOptions {
  certificates: ClientCertificates;
  tokens?: TokenAuthenticator;
  /** Requests without credentials are system:anonymous instead of 401. */
  anonymous: boolean;
}

const anonymousUser: UserInfo = {
  name: "system:anonymous",
  groups: ["system:unauthenticated"],
  extra: {},
};

function hasCertificate(socket: TLSSocket): boolean {
  return Object.keys(socket.getPeerCertificate() ?? {}).length > 0;
}

/** undefined: 401. */
export async function authenticate(
  request: IncomingMessage,
  options: AuthenticationOptions,
): Promise<UserInfo | undefined> {
  const socket = request.socket as TLSSocket;
  const user = options.certificates.user(socket);
  if (user !== undefined) return user;
  const token = /^Bearer +(\S+)$/i.exec(
    request.headers.authorization ?? "",
  )?.[1];
  if (token !== undefined) {
    try {
      const found = await options.tokens?.authenticateToken(token);
      if (found === undefined) return undefined;
      const groups = found.groups.includes("system:authenticated")
        ? found.groups
        : [...found.groups, "system:authenticated"];
      return { ...found, groups };
    } catch {
      return undefined;
    }
  }
  if (hasCertificate(socket) || request.headers.authorization !== undefined)
    return undefined;
  return options.anonymous ? anonymousUser : undefined;
}

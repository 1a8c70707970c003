// Who asks at the agent's port: a client certificate of the client CA, or a bearer token (TokenAuthenticator), or, where
// allowed, nobody (system:anonymous). As at the reference, a bad credential is 401 also where anonymous is allowed.
import type { IncomingMessage } from "node:http";
import type { TLSSocket } from "node:tls";
import type { TokenAuthenticator, UserInfo } from "../api/contracts.ts";

export interface AuthenticationOptions {
  tokens?: TokenAuthenticator;
  /** Requests without credentials are system:anonymous instead of 401. */
  anonymous: boolean;
}

const anonymousUser: UserInfo = {
  name: "system:anonymous",
  groups: ["system:unauthenticated"],
  extra: {},
};

/** CN is the user, O the groups. undefined without a verified certificate. */
function certificateUser(socket: TLSSocket): UserInfo | undefined {
  if (!socket.authorized) return undefined;
  const subject = socket.getPeerCertificate().subject as
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

function hasCertificate(socket: TLSSocket): boolean {
  return Object.keys(socket.getPeerCertificate() ?? {}).length > 0;
}

/** undefined: 401. */
export async function authenticate(
  request: IncomingMessage,
  options: AuthenticationOptions,
): Promise<UserInfo | undefined> {
  const socket = request.socket as TLSSocket;
  const user = certificateUser(socket);
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

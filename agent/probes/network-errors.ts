// Errors of connections as Go's network library says them: events and statuses of pods carry these texts, and people and
// programs search for them.
const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connect: connection refused",
  EHOSTUNREACH: "connect: no route to host",
  ENETUNREACH: "connect: network is unreachable",
  ETIMEDOUT: "i/o timeout",
};

function addressText(host: string, port: number): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

export function dialText(
  host: string,
  port: number,
  error: NodeJS.ErrnoException,
): string {
  if (error.code === "ENOTFOUND" || error.code === "EAI_AGAIN")
    return `dial tcp: lookup ${host}: no such host`;
  const why = reasons[error.code ?? ""] ?? error.message;
  return `dial tcp ${addressText(host, port)}: ${why}`;
}

/** A server answered HTTPS with HTTP. */
export function isPlainAnswer(error: NodeJS.ErrnoException): boolean {
  return (
    error.code === "EPROTO" &&
    /wrong version number|packet length/.test(error.message)
  );
}

export function httpErrorText(url: URL, error: NodeJS.ErrnoException): string {
  return `Get "${url.href}": ${why(url, error)}`;
}

function why(url: URL, error: NodeJS.ErrnoException): string {
  if (isPlainAnswer(error))
    return "http: server gave HTTP response to HTTPS client";
  if (error.code === "ECONNRESET")
    return error.message === "socket hang up"
      ? "EOF"
      : "read: connection reset by peer";
  if (error.syscall === "connect" || error.syscall === "getaddrinfo") {
    const port = Number(url.port) || (url.protocol === "https:" ? 443 : 80);
    return dialText(url.hostname.replace(/^\[|\]$/g, ""), port, error);
  }
  return error.message;
}

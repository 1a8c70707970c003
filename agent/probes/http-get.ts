// One HTTP GET as probes and lifecycle hooks make it: no certificate check, redirects followed only on the same host,
// a fresh connection each time, at most 10 KiB of the body read. The server is the pod's, and may send what it likes for as
// long as it likes: one time limit holds for all redirects together, and what is read on one connection is bounded.
import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import type { Container, HTTPGetAction } from "../../api/types/core-v1.ts";
import { lookUpHost } from "./host-lookup.ts";
import { requestTarget } from "./request-target.ts";
import { httpErrorText } from "./network-errors.ts";

const maxBodyBytes = 10 * 1024;
const maxRedirects = 10;
/** Statuses whose Location is gone to, as by Go's client. */
const followed: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** The reference's. */
const maxHeaderBytes = 1 << 20;
const maxInformational = 5;
/** Of an answer that is headers and the beginning of a body; what its framing takes has no end otherwise. */
const maxReadBytes = 4 << 20;
const checkReadEveryMs = 100;

interface HttpAnswer {
  statusCode: number;
  body: string;
  /** Redirected to another host: counts as success, with a warning. */
  redirected?: boolean;
}

/** A number, a numeric text, or the name of a container port. Throws when there is none of that name. */
export function resolvePort(
  port: number | string,
  container: Container,
): number {
  const named =
    typeof port === "string"
      ? container.ports?.find(({ name }) => name === port)?.containerPort
      : undefined;
  const number = named ?? Number(port);
  if (!Number.isInteger(number) || number < 1 || number > 65_535)
    throw new Error(
      typeof port === "string" && Number.isNaN(number)
        ? `couldn't find port: ${port}`
        : `invalid port number: ${port}`,
    );
  return number;
}

export async function httpGet(
  action: HTTPGetAction,
  host: string,
  container: Container,
  options: { signal?: AbortSignal; timeoutMs?: number; userAgent: string },
): Promise<HttpAnswer> {
  const scheme = (action.scheme ?? "HTTP").toLowerCase();
  const port = resolvePort(action.port, container);
  const path = requestTarget(action.path ?? "/");
  const url = new URL(
    `${scheme}://${host.includes(":") ? `[${host}]` : host}:${port}${path}`,
  );
  const headers: Record<string, string | string[]> = {
    "User-Agent": options.userAgent,
    Accept: "*/*",
    Connection: "close",
  };
  for (const { name, value } of action.httpHeaders ?? []) {
    const key =
      Object.keys(headers).find(
        (known) => known.toLowerCase() === name.toLowerCase(),
      ) ?? name;
    if (value === "" && (key === "User-Agent" || key === "Accept"))
      delete headers[key];
    else if (["User-Agent", "Accept", "Connection"].includes(key))
      headers[key] = value;
    else headers[key] = [...[headers[key] ?? []].flat(), value];
  }
  const { signal, timeoutMs } = options;
  const untilMs =
    timeoutMs === undefined ? undefined : performance.now() + timeoutMs;
  let target = { url, path };
  for (let redirects = 0; ; redirects++) {
    const answer = await get(target, headers, signal, untilMs);
    const location = answer.headers.location;
    if (!location || !followed.has(answer.statusCode)) return answer;
    const next = new URL(location, target.url);
    if (next.hostname !== url.hostname) return { ...answer, redirected: true };
    if (redirects === maxRedirects)
      throw new Error("stopped after 10 redirects");
    target = { url: next, path: `${next.pathname}${next.search}` };
  }
}

/** `untilMs`: monotonic. */
function get(
  { url, path }: { url: URL; path: string },
  headers: Record<string, string | string[]>,
  signal: AbortSignal | undefined,
  untilMs: number | undefined,
): Promise<HttpAnswer & { headers: IncomingMessage["headers"] }> {
  return new Promise((resolve, reject) => {
    const start = url.protocol === "https:" ? httpsRequest : httpRequest;
    const chunks: Buffer[] = [];
    let answer: IncomingMessage | undefined;
    const outgoing = start(url, {
      // A URL's own path has no dot segments any more.
      path,
      agent: false,
      // As Go's client: servers of a few lines of shell end theirs with a line feed alone.
      insecureHTTPParser: true,
      headers,
      lookup: lookUpHost,
      maxHeaderSize: maxHeaderBytes,
      rejectUnauthorized: false,
      ...(signal ? { signal } : {}),
    });
    const end = (): void => {
      clearTimeout(late);
      clearInterval(reading);
      outgoing.destroy();
    };
    const fail = (error: Error): void => {
      end();
      reject(error);
    };
    const text = (why: string): Error => new Error(`Get "${url.href}": ${why}`);
    const late =
      untilMs === undefined
        ? undefined
        : setTimeout(
            () =>
              fail(
                text(
                  `context deadline exceeded (Client.Timeout ${answer ? "or context cancellation while reading body" : "exceeded while awaiting headers"})`,
                ),
              ),
            Math.max(0, untilMs - performance.now()),
          );
    const reading = setInterval(() => {
      if ((outgoing.socket?.bytesRead ?? 0) > maxReadBytes)
        fail(text("the server sends without end"));
    }, checkReadEveryMs);
    const finish = ({
      statusCode = 0,
      headers: given,
    }: IncomingMessage): void => {
      end();
      const body = Buffer.concat(chunks)
        .subarray(0, maxBodyBytes)
        .toString("utf8");
      resolve({ statusCode, body, headers: given });
    };
    let informational = 0;
    outgoing.on("information", () => {
      if (++informational > maxInformational)
        fail(text("net/http: too many 1xx informational responses"));
    });
    // Without a listener an answer of 101 would be none at all, not even an error.
    outgoing.on("upgrade", finish);
    outgoing.on("response", (response) => {
      answer = response;
      let size = 0;
      response.on("data", (chunk: Buffer) => {
        chunks.push(chunk);
        size += chunk.length;
        if (size > maxBodyBytes) finish(response);
      });
      response.on("end", () => finish(response));
      response.on("error", () => fail(text("unexpected EOF")));
    });
    outgoing.on("error", (error: NodeJS.ErrnoException) => {
      // What comes after a whole answer is no part of it: its end is about to be reported.
      if (answer?.complete) return;
      fail(new Error(httpErrorText(url, error), { cause: error }));
    });
    outgoing.on("close", () => {
      if (!answer) fail(text("EOF"));
    });
    outgoing.end();
  });
}

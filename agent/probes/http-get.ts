// One HTTP GET as probes and lifecycle hooks make it: no certificate check, redirects followed only on the same host,
// a fresh connection each time, at most 10 KiB of the body read.
import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import type { Container, HTTPGetAction } from "../../api/types/core-v1.ts";
import { httpErrorText } from "./network-errors.ts";

const maxBodyBytes = 10 * 1024;
const maxRedirects = 10;

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
  const path = action.path ?? "/";
  const url = new URL(
    `${scheme}://${host.includes(":") ? `[${host}]` : host}:${port}${path.startsWith("/") ? "" : "/"}${path}`,
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
  let target = url;
  for (let redirects = 0; ; redirects++) {
    const answer = await get(target, headers, options);
    const location = answer.headers.location;
    if (!location || answer.statusCode < 300 || answer.statusCode >= 400)
      return answer;
    const next = new URL(location, target);
    if (next.hostname !== url.hostname) return { ...answer, redirected: true };
    if (redirects === maxRedirects)
      throw new Error("stopped after 10 redirects");
    target = next;
  }
}

function get(
  url: URL,
  headers: Record<string, string | string[]>,
  { signal, timeoutMs }: { signal?: AbortSignal; timeoutMs?: number },
): Promise<HttpAnswer & { headers: IncomingMessage["headers"] }> {
  return new Promise((resolve, reject) => {
    const start = url.protocol === "https:" ? httpsRequest : httpRequest;
    const late = new Error(
      `Get "${url.href}": context deadline exceeded (Client.Timeout exceeded while awaiting headers)`,
    );
    const outgoing = start(
      url,
      {
        agent: false,
        headers,
        rejectUnauthorized: false,
        ...(signal ? { signal } : {}),
      },
      (response) => {
        const chunks: Buffer[] = [];
        let size = 0;
        const finish = (): void => {
          if (timer) clearTimeout(timer);
          const body = Buffer.concat(chunks)
            .subarray(0, maxBodyBytes)
            .toString("utf8");
          resolve({
            statusCode: response.statusCode ?? 0,
            body,
            headers: response.headers,
          });
        };
        response.on("data", (chunk: Buffer) => {
          chunks.push(chunk);
          size += chunk.length;
          if (size > maxBodyBytes) {
            finish();
            response.destroy();
          }
        });
        response.on("end", finish);
        response.on("error", reject);
      },
    );
    const timer =
      timeoutMs === undefined
        ? undefined
        : setTimeout(() => outgoing.destroy(late), timeoutMs);
    outgoing.on("error", (error: NodeJS.ErrnoException) => {
      if (timer) clearTimeout(timer);
      reject(
        error === late
          ? error
          : new Error(httpErrorText(url, error), { cause: error }),
      );
    });
    outgoing.end();
  });
}

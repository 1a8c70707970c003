// /healthz, /livez, /readyz with named checks: ?verbose, ?exclude=, and each check under its own path.
import type { OutgoingHttpHeaders } from "node:http";
import { metricsContentType, metricsText } from "../../api/metrics/family.ts";
import type { HealthResults } from "../../http-kit/health-results.ts";
import type { HttpRequest } from "../serving/http-request.ts";
import { pageNotFound } from "../request/route.ts";
import type { PathHandler } from "../serving/path-handler.ts";

export interface HealthCheck {
  readonly name: string;
  /** Which endpoints it counts for; default all. */
  readonly on?: readonly ("healthz" | "livez" | "readyz")[];
  /** Rejects with the reason when it fails. */
  check(): Promise<void>;
  /** Longer is a failure. Default 10 s. */
  readonly timeoutMs?: number;
}

const defaultTimeoutMs = 10_000;
export const metricsType = `${metricsContentType}; escaping=values`;

/** Results of the checks, for Prometheus. */
export function slisPath(results: HealthResults): PathHandler {
  return {
    path: "/metrics/slis",
    handle: (request) =>
      request.respond(
        200,
        { "content-type": metricsType },
        metricsText(results.families()),
      ),
  };
}

export function healthPaths(
  checks: () => readonly HealthCheck[],
  results: HealthResults,
): PathHandler[] {
  return (["healthz", "livez", "readyz"] as const).flatMap((endpoint) => {
    const own = () => checks().filter(({ on }) => !on || on.includes(endpoint));
    return [
      {
        path: `/${endpoint}`,
        handle: (request) => answer(request, endpoint, own(), results),
      },
      {
        path: `/${endpoint}/`,
        listed: () => own().map(({ name }) => `/${endpoint}/${name}`),
        handle: (request) => {
          const name = request.info.path.slice(endpoint.length + 2);
          const found = own().filter((check) => check.name === name);
          if (found.length === 0) throw pageNotFound();
          return answer(request, endpoint, found, results, true);
        },
      },
    ] satisfies PathHandler[];
  });
}

async function answer(
  request: HttpRequest,
  endpoint: string,
  checks: readonly HealthCheck[],
  results: HealthResults,
  single = false,
): Promise<void> {
  const excluded = new Set(request.query.getAll("exclude"));
  const lines: string[] = [];
  const failed: string[] = [];
  let reason = "";
  await Promise.all(
    checks.map(async ({ name, check, timeoutMs }, index) => {
      if (excluded.delete(name)) {
        lines[index] = `[+]${name} excluded: ok`;
        return;
      }
      try {
        await bounded(check(), timeoutMs ?? defaultTimeoutMs);
        lines[index] = `[+]${name} ok`;
        results.note(endpoint, name, true);
      } catch (error) {
        results.note(endpoint, name, false);
        failed.push(name);
        reason = (error as Error).message;
        lines[index] = `[-]${name} failed: reason withheld`;
      }
    }),
  );
  if (excluded.size > 0)
    lines.push(
      `warn: some health checks cannot be excluded: no matches for ${[...excluded].map((name) => JSON.stringify(name)).join(", ")}`,
    );
  const headers: OutgoingHttpHeaders = {
    "content-type": "text/plain; charset=utf-8",
  };
  if (!single || failed.length > 0)
    headers["x-content-type-options"] = "nosniff";
  if (failed.length > 0)
    return request.respond(
      500,
      headers,
      single
        ? `internal server error: ${reason}\n`
        : `${lines.join("\n")}\n${endpoint} check failed\n`,
    );
  request.respond(
    200,
    headers,
    request.query.has("verbose") && !single
      ? `${lines.join("\n")}\n${endpoint} check passed\n`
      : "ok",
  );
}

async function bounded(check: Promise<void>, timeoutMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  try {
    await Promise.race([
      check,
      new Promise<never>((_, reject) => {
        timer = setTimeout(
          () => reject(new Error("context deadline exceeded")),
          timeoutMs,
        );
      }),
    ]);
  } finally {
    clearTimeout(timer);
  }
}

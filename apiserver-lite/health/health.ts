// /healthz, /livez, /readyz with named checks: ?verbose, ?exclude=, and each check under its own path.
import type { OutgoingHttpHeaders } from "node:http";
import {
  Family,
  metricsContentType,
  metricsText,
} from "../../api/metrics/family.ts";
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

interface CheckResults {
  readonly labels: { readonly name: string; readonly type: string };
  now: 0 | 1;
  ok: number;
  bad: number;
}

/** Results of checks, for /metrics/slis. */
export class HealthResults {
  readonly #results = new Map<string, CheckResults>();

  note(type: string, name: string, passed: boolean): void {
    const key = `${name} ${type}`;
    let result = this.#results.get(key);
    if (!result) {
      result = { labels: { name, type }, now: 0, ok: 0, bad: 0 };
      this.#results.set(key, result);
    }
    result.now = passed ? 1 : 0;
    if (passed) result.ok++;
    else result.bad++;
  }

  path(): PathHandler {
    return {
      path: "/metrics/slis",
      handle: (request) =>
        request.respond(
          200,
          { "content-type": metricsType },
          metricsText(this.#families()),
        ),
    };
  }

  #families(): Family[] {
    const states = new Family(
      "kubernetes_healthcheck",
      "gauge",
      "Whether a check passed when it was last made.",
    );
    const made = new Family(
      "kubernetes_healthchecks_total",
      "counter",
      "Checks made, by their results.",
    );
    const inOrder = [...this.#results].sort(([a], [b]) => (a < b ? -1 : 1));
    for (const [, { labels, now, ok, bad }] of inOrder) {
      states.add(labels, now);
      if (bad) made.add({ ...labels, status: "error" }, bad);
      if (ok) made.add({ ...labels, status: "success" }, ok);
    }
    return [states, made];
  }
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

// /healthz, /livez, /readyz with named checks: ?verbose, ?exclude=, and each check under its own path.
import type { Exchange } from "../http/exchange.ts";
import { pathNotFound, type Asked } from "../http/answers.ts";
import type { PathHandler } from "../http/front.ts";

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

export function healthPaths(
  checks: () => readonly HealthCheck[],
): PathHandler[] {
  return (["healthz", "livez", "readyz"] as const).flatMap((endpoint) => {
    const own = () => checks().filter(({ on }) => !on || on.includes(endpoint));
    return [
      {
        path: `/${endpoint}`,
        handle: (exchange, asked) => answer(exchange, asked, endpoint, own()),
      },
      {
        path: `/${endpoint}/`,
        handle: (exchange, asked) => {
          const name = asked.info.path.slice(endpoint.length + 2);
          const found = own().filter((check) => check.name === name);
          if (found.length === 0) throw pathNotFound();
          return answer(exchange, asked, endpoint, found, true);
        },
      },
    ] satisfies PathHandler[];
  });
}

async function answer(
  exchange: Exchange,
  asked: Asked,
  endpoint: string,
  checks: readonly HealthCheck[],
  single = false,
): Promise<void> {
  const excluded = new Set(asked.query.getAll("exclude"));
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
      } catch (error) {
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
  const headers = {
    ...asked.headers,
    "content-type": "text/plain; charset=utf-8",
    "x-content-type-options": "nosniff",
    "cache-control": "no-cache, private",
  };
  if (failed.length > 0)
    return exchange.respond(
      500,
      headers,
      single
        ? `internal server error: ${reason}\n`
        : `${lines.join("\n")}\n${endpoint} check failed\n`,
    );
  exchange.respond(
    200,
    headers,
    asked.query.has("verbose")
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

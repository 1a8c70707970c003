// /healthz and its single checks, as the reference answers them: "ok", or 500 with one line a check.
import type { HealthResults } from "../http-kit/health-results.ts";
import { HttpError } from "../http-kit/http-error.ts";
import type { PortRequest } from "../http-kit/port.ts";

export interface HealthCheck {
  name: string;
  /** Rejects with the reason. */
  check(): Promise<void>;
}

async function failure(
  check: HealthCheck,
  results: HealthResults,
): Promise<string | undefined> {
  const reason = await check.check().then(
    () => undefined,
    (error: unknown) =>
      error instanceof Error ? error.message : String(error),
  );
  results.note("healthz", check.name, reason === undefined);
  return reason;
}

/** `name` undefined: all checks, less those of ?exclude=. */
export async function serveHealth(
  request: PortRequest,
  checks: readonly HealthCheck[],
  results: HealthResults,
  name: string | undefined,
): Promise<void> {
  if (name !== undefined) {
    const check = checks.find((candidate) => candidate.name === name);
    if (check === undefined) throw new HttpError(404, "404 page not found\n");
    const reason = await failure(check, results);
    if (reason === undefined) request.text("ok");
    else request.text(`internal server error: ${reason}\n`, 500);
    return;
  }
  const excluded = new Set(request.query.getAll("exclude"));
  const lines: string[] = [];
  let failed = false;
  for (const check of checks) {
    if (excluded.has(check.name)) {
      lines.push(`[+]${check.name} excluded: ok`);
      continue;
    }
    const reason = await failure(check, results);
    failed ||= reason !== undefined;
    // Reasons are for the log and the single check; here they could give strangers too much.
    lines.push(
      reason === undefined
        ? `[+]${check.name} ok`
        : `[-]${check.name} failed: reason withheld`,
    );
  }
  if (failed) request.text(`${lines.join("\n")}\nhealthz check failed\n`, 500);
  else if (request.query.has("verbose"))
    request.text(`${lines.join("\n")}\nhealthz check passed\n`);
  else request.text("ok");
}

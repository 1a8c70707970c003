// Tables of inputs: each row is one object sent to the same place, without anything being stored.
import type { Json } from "./normalise.ts";
import type { Server } from "./scenario.ts";

/** An error without what repeats itself: kind, status, name and the causes' texts, which are in the message. */
export function verdict(body: Json): unknown {
  if (body?.kind !== "Status") return body;
  const { message, reason, details } = body as Record<string, Json>;
  const causes = (details?.causes ?? []) as Json[];
  return {
    message,
    reason,
    ...(causes.length > 0
      ? {
          causes: causes.map(
            (cause) => `${cause.reason ?? ""} ${cause.field ?? ""}`,
          ),
        }
      : {}),
  };
}

/** What is left of an object for a row that asks what became of its spec. */
export const keepSpec = (body: Json): unknown =>
  body?.kind === "Status" ? verdict(body) : (body?.spec as unknown);

export async function tryEach(
  call: Server["call"],
  path: string,
  prefix: string,
  rows: Readonly<Record<string, unknown>>,
  options: {
    method?: "POST" | "PUT" | "PATCH";
    keep?: (body: Json) => unknown;
    headers?: Record<string, string>;
  } = {},
): Promise<void> {
  const { method = "POST", keep = verdict, headers } = options;
  for (const [label, body] of Object.entries(rows))
    await call(`${prefix}: ${label}`, method, `${path}?dryRun=All`, {
      body,
      keep,
      ...(headers ? { headers } : {}),
    });
}

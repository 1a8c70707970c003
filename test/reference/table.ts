// Tables of inputs: each row is one object sent to the same place, without anything being stored. Kept are the status,
// warnings, of an error what it says, and of an object what differs from the answer to the first, which is a plain one.
import { brief, unlike } from "./cases.ts";
import type { Json } from "./normalise.ts";
import type { Server } from "./scenario.ts";

export async function tryEach(
  { call }: Pick<Server, "call">,
  path: string,
  prefix: string,
  plain: Json,
  rows: Readonly<Record<string, unknown>>,
  method: "POST" | "PUT" = "POST",
): Promise<void> {
  const url = `${path}?dryRun=All`;
  const first = await call("", method, url, { body: plain, silent: true });
  for (const [label, body] of Object.entries(rows)) {
    // One key, so that the recording is short: an error, or what is unlike.
    const keep = (body: Json): unknown =>
      body?.kind === "Status" ? brief(body) : unlike(body, first.body);
    await call(`${prefix}: ${label}`, method, url, { body, keep, lean: true });
  }
}

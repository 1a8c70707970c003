// `orbit agent`: not joined yet.
import { UsageError } from "./options/table.ts";

export function runAgent(
  _argv: readonly string[],
): Promise<number | undefined> {
  return Promise.reject(new UsageError("this part is not there yet"));
}

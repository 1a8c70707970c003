// `orbit server`: not joined yet.
import { UsageError } from "./options/table.ts";

export function runServer(
  _argv: readonly string[],
): Promise<number | undefined> {
  return Promise.reject(new UsageError("this part is not there yet"));
}

// Writing as fast as the client reads.
import type { Writable } from "node:stream";

/** Undefined: more may be written at once. The promise resolves when it may, or when nobody reads any more. */
export function writeTo(
  out: Writable,
  bytes: Uint8Array,
): Promise<void> | undefined {
  if (out.destroyed || out.write(bytes)) return undefined;
  return new Promise<void>((resolve) => {
    const done = (): void => {
      out.off("drain", done);
      out.off("close", done);
      resolve();
    };
    out.once("drain", done);
    out.once("close", done);
  });
}

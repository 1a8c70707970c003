// Writing as fast as the client reads.
import type { Writable } from "node:stream";

/**
 * Undefined: more may be written at once. The promise resolves when it may, or when the reader is gone.
 * @param written called when the bytes are no longer needed
 */
export function writeTo(
  out: Writable,
  bytes: Uint8Array,
  written?: () => void,
): Promise<void> | undefined {
  if (out.destroyed) return undefined;
  const more = out.write(bytes, (error) => {
    // A stream that failed may still hold the bytes.
    if (!error) written?.();
  });
  if (more) return undefined;
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

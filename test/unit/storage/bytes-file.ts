// Bytes as the file that the log's readers read.
import type { OpenFile } from "../../../storage/file/file-system.ts";

/** A file that is only read: `parts` one after the other, as often as they say. */
export function fileOf(
  parts: readonly { bytes: Buffer; times: number }[],
): OpenFile {
  const unused = (): never => {
    throw new Error("not for this test");
  };
  const total = parts.reduce(
    (sum, { bytes, times }) => sum + bytes.length * times,
    0,
  );
  return {
    size: () => Promise.resolve(total),
    read(buffer, position) {
      let from = 0;
      for (const { bytes, times } of parts) {
        const to = from + bytes.length * times;
        if (position < to) {
          const at = (position - from) % bytes.length;
          return Promise.resolve(bytes.copy(buffer, 0, at));
        }
        from = to;
      }
      return Promise.resolve(0);
    },
    write: unused,
    truncate: unused,
    datasync: unused,
    sync: unused,
    durable: unused,
    close: () => Promise.resolve(),
  };
}

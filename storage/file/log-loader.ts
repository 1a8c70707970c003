// Reads a log into the state: first every frame (checksums, keys, and where values lie), then only the values that are
// still live, packed. So garbage in the log costs no memory, and no more than one window of the file is held.
import { LiveVersion } from "../local/live-version.ts";
import type { StoredVersion } from "../local/live-version.ts";
import type { OpenFile } from "./file-system.ts";
import { FileWindow, WINDOW_BYTES } from "./file-window.ts";
import { readLog, type LogContent, type ReadOptions } from "./log-reader.ts";
import { ValuePacker } from "./value-packer.ts";

interface Place {
  readonly revision: number;
  readonly expiresAtMs: number;
  readonly at: number;
  readonly bytes: number;
}

/**
 * Puts every live value into `state`. Rejects with StoreError "corrupt" on damage.
 * @param name of the file, for messages
 */
export async function loadLog(
  file: OpenFile,
  name: string,
  state: { set(key: string, version: StoredVersion): unknown },
  options: ReadOptions = {},
): Promise<LogContent> {
  const places = new Map<string, Place>();
  const content = await readLog(
    file,
    name,
    ({ key, revision, expiresAtMs, valueAt, valueBytes }, at) => {
      // Deleted first, so that the places stay in the order of the file.
      places.delete(key);
      if (valueAt !== undefined)
        places.set(key, { revision, expiresAtMs, at, bytes: valueBytes });
    },
    options,
  );
  const { windowBytes = WINDOW_BYTES } = options;
  const window = new FileWindow(file, content.soundBytes, windowBytes);
  const packer = new ValuePacker();
  for (const [key, { revision, expiresAtMs, at, bytes }] of places) {
    const value = packer.pack(
      window.held(at, bytes) ?? (await window.read(at, bytes)),
    );
    state.set(key, new LiveVersion(key, value, revision, expiresAtMs));
  }
  return content;
}

// Writes the live state into `log.new`, in place of a log that is mostly garbage, while commits go on to the old log.
//
// The state is read while it changes: an entry may be newer than the compaction's beginning. That does no harm, because
// every frame that was committed since then is copied behind the entries, and a later record of a key wins.
//
// Example: the log holds a@1 a@2 b@3 when it begins. It writes a@2; then a@4 is committed; it writes b@3, and the frames
// from the old log's end at the beginning on: a@4. The new log reads as a@4 b@3.
import type { StoredVersion } from "../local/live-version.ts";
import { crashPoint } from "../../api/crash-point.ts";
import { FileWindow } from "./file-window.ts";
import {
  encodeFileHeader,
  encodeFrame,
  encodeRevisionFrame,
  recordBytes,
} from "./frame.ts";
import type { LogFile } from "./log-file.ts";

/** Frames of a compacted file: large enough for speed, small enough not to hold the event loop. */
const FRAME_BYTES = 256 * 1024;

/** Where bytes are appended: a log, or what also hashes them. */
interface ByteSink {
  appendUnsynced(bytes: Buffer): Promise<void>;
}

/**
 * A whole log: header, revision, live entries, and the revision again as the mark that the state is whole; not synced.
 * @param goOn throws when it is not to go on
 */
export async function writeState(
  log: ByteSink,
  seed: number,
  revision: number,
  entries: Iterable<StoredVersion>,
  goOn: () => void = () => undefined,
): Promise<void> {
  await log.appendUnsynced(encodeFileHeader(seed));
  await log.appendUnsynced(encodeRevisionFrame(seed, revision));
  let chunk: StoredVersion[] = [];
  let bytes = 0;
  for (const entry of entries) {
    chunk.push(entry);
    bytes += recordBytes(entry.key, entry.value.length);
    if (bytes < FRAME_BYTES) continue;
    goOn();
    await log.appendUnsynced(encodeFrame(seed, chunk, revision));
    chunk = [];
    bytes = 0;
  }
  if (chunk.length > 0)
    await log.appendUnsynced(encodeFrame(seed, chunk, revision));
  await log.appendUnsynced(encodeRevisionFrame(seed, revision));
  crashPoint("store.state.written");
}

/** Appends what `from` holds between two positions, not synced. */
export async function copyFrames(
  from: LogFile,
  start: number,
  end: number,
  to: LogFile,
): Promise<void> {
  const window = new FileWindow(from.handle, end);
  for (let at = start; at < end;) {
    const bytes = await window.read(at, FRAME_BYTES);
    await to.appendUnsynced(bytes);
    at += bytes.length;
  }
}

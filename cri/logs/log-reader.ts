// Reads one container's log as a stream: from the end for --tail without reading the whole file, from a time on, up to a
// number of bytes, and on and on with follow, through rotation (the file is renamed and a new one begun) until the
// container has ended and the file is read to its end. Memory: one chunk of 64 KiB and one line, of which what is beyond the
// longest is left out.
import { watch, type FSWatcher } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { Readable } from "node:stream";
import type { LogOptions } from "./container-logs.ts";
import { isDockerEntry, parseLogLine, shownTimestamp } from "./log-line.ts";
import { inodeOf, openLogSource, type LogSource } from "./regular-file.ts";

export interface LogReaderOptions extends LogOptions, LogSource {
  /** Awaited before the log is opened: see createLogFiles. */
  complete?: (mayWrite: boolean) => Promise<void>;
}

const chunkBytes = 64 * 1024;
const newline = 0x0a;
/** Runtimes cut lines at 16 KiB; a file without an end of line is no log. */
const longestLineBytes = 4 << 20;
/** inotify can miss a file on odd file systems: look again this often while following. */
const followFallbackMs = 1000;

export function readLog(options: LogReaderOptions): Readable {
  const abort = new AbortController();
  const source = Readable.from(lines(options, abort.signal), {
    objectMode: false,
    highWaterMark: chunkBytes,
  });
  source.once("close", () => abort.abort());
  return source;
}

async function* lines(
  options: LogReaderOptions,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  if (options.tailLines === 0 && !options.follow) return;
  let remaining = options.limitBytes ?? Infinity;
  const format = formatter(options);
  for await (const batch of rawLines(options, signal)) {
    const pieces: Buffer[] = [];
    for (const line of batch) {
      let text = format(line);
      if (!text) continue;
      if (text.length > remaining) text = text.subarray(0, remaining);
      remaining -= text.length;
      pieces.push(text);
      if (remaining <= 0) break;
    }
    if (pieces.length > 0)
      yield pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
    if (remaining <= 0) return;
  }
}

/** Undoes the CRI framing; a partial line goes on without a newline, and only its beginning carries the timestamp. */
function formatter(
  options: LogReaderOptions,
): (line: Buffer) => Buffer | undefined {
  const within = { stdout: false, stderr: false };
  return (line) => {
    const parsed = parseLogLine(line);
    if (!parsed) return undefined;
    if (options.stream && parsed.stream !== options.stream) return undefined;
    if (
      options.sinceMs !== undefined &&
      Date.parse(parsed.timestamp) < options.sinceMs
    )
      return undefined;
    const begins = !within[parsed.stream];
    within[parsed.stream] = parsed.partial;
    const parts: Buffer[] = [];
    if (options.timestamps && begins)
      parts.push(Buffer.from(`${shownTimestamp(parsed.timestamp)} `));
    parts.push(parsed.text);
    if (!parsed.partial) parts.push(Buffer.from("\n"));
    return Buffer.concat(parts);
  };
}

/** Whole lines of the file in batches, without newlines. */
async function* rawLines(
  options: LogReaderOptions,
  signal: AbortSignal,
): AsyncGenerator<Buffer[]> {
  const { follow } = options;
  const wake = follow ? watcher(options, signal) : undefined;
  let handle: FileHandle | undefined;
  try {
    await options.complete?.(options.isRunning());
    handle = await openLog(options, wake, signal);
    if (!handle) return;
    // Without follow the answer is what is there now: a container that goes on writing neither adds to the last lines
    // that were asked for nor keeps the answer from ending.
    const { size } = await handle.stat();
    const end = follow ? Infinity : size;
    let position =
      options.tailLines === undefined
        ? 0
        : await tailPosition(handle, options.tailLines, size);
    let rest: Buffer = Buffer.alloc(0);
    const chunk = Buffer.alloc(chunkBytes);
    while (!signal.aborted) {
      const mayWrite = options.isRunning();
      wake?.reset();
      const { bytesRead } = await handle.read(
        chunk,
        0,
        Math.min(chunkBytes, end - position),
        position,
      );
      if (bytesRead > 0) {
        position += bytesRead;
        const batch: Buffer[] = [];
        const read = chunk.subarray(0, bytesRead);
        const isTooLong =
          rest.length >= longestLineBytes && !read.includes(newline);
        if (!isTooLong) rest = splitLines(Buffer.concat([rest, read]), batch);
        if (batch.length > 0) yield batch;
        continue;
      }
      if (!wake) break;
      const next = await rotated(options, handle);
      if (next) {
        await handle.close();
        handle = next;
        position = 0;
        rest = Buffer.alloc(0);
        continue;
      }
      if (!mayWrite) break;
      await wake.wait();
    }
    if (rest.length > 0) yield [rest];
  } finally {
    wake?.close();
    await handle?.close();
  }
}

function splitLines(bytes: Buffer, batch: Buffer[]): Buffer {
  let start = 0;
  for (
    let end = bytes.indexOf(newline);
    end >= 0;
    end = bytes.indexOf(newline, start)
  ) {
    batch.push(bytes.subarray(start, end));
    start = end + 1;
  }
  return Buffer.from(bytes.subarray(start));
}

async function openLog(
  source: LogSource,
  wake: Wake | undefined,
  signal: AbortSignal,
): Promise<FileHandle | undefined> {
  for (;;) {
    try {
      return await openLogSource(source);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT" || !wake)
        throw error;
      await wake.wait();
      if (signal.aborted) return undefined;
    }
  }
}

/** The file now at the path when it is another one than is open. */
async function rotated(
  source: LogSource,
  handle: FileHandle,
): Promise<FileHandle | undefined> {
  const [opened, current] = await Promise.all([handle.stat(), inodeOf(source)]);
  if (current === undefined || current === opened.ino) return undefined;
  return await openLogSource(source).catch(() => undefined);
}

/**
 * Where the last `count` lines of the first `size` bytes begin; pieces of one line (tag P) count as one with the piece that ends it. The file is
 * read backwards, a chunk at a time, only as far as needed.
 */
async function tailPosition(
  handle: FileHandle,
  count: number,
  size: number,
): Promise<number> {
  if (count <= 0 || size === 0) return size;
  const chunk = Buffer.alloc(chunkBytes);
  let counted = 0;
  // The physical line being looked for ends here (at its newline, or at the end of the file).
  let lineEnd = size;
  const last = Buffer.alloc(1);
  await handle.read(last, 0, 1, size - 1);
  if (last[0] === newline) lineEnd = size - 1;
  for (let end = lineEnd; end > 0;) {
    const start = Math.max(0, end - chunkBytes);
    const { bytesRead } = await handle.read(chunk, 0, end - start, start);
    for (let index = bytesRead - 1; index >= 0; index--) {
      if (chunk[index] !== newline) continue;
      const lineStart = start + index + 1;
      const following = lineEnd + 1;
      if (counted === 0 || !(await isPartial(handle, lineStart, lineEnd))) {
        if (counted === count) return following;
        counted++;
      }
      lineEnd = start + index;
    }
    end = start;
  }
  const whole = counted === 0 || !(await isPartial(handle, 0, lineEnd));
  return whole && counted === count ? lineEnd + 1 : 0;
}

/** Timestamp, stream and tag fit in this. */
const headBytes = 64;
/** Docker's entries of 16 KiB of text, each byte of which may be an escape of six. */
const longestEntryBytes = 128 * 1024;

async function isPartial(
  handle: FileHandle,
  lineStart: number,
  lineEnd: number,
): Promise<boolean> {
  const read = async (most: number): Promise<Buffer> => {
    const bytes = Buffer.alloc(Math.min(most, lineEnd - lineStart));
    await handle.read(bytes, 0, bytes.length, lineStart);
    return bytes;
  };
  const head = await read(headBytes);
  const line = isDockerEntry(head) ? await read(longestEntryBytes) : head;
  return parseLogLine(line)?.partial ?? false;
}

interface Wake {
  /** What happens from now on ends the next wait. */
  reset(): void;
  wait(): Promise<void>;
  close(): void;
}

function watcher(options: LogReaderOptions, signal: AbortSignal): Wake {
  let pending = false;
  let resolveWait: (() => void) | undefined;
  const notify = (): void => {
    pending = true;
    resolveWait?.();
  };
  let inotify: FSWatcher | undefined;
  try {
    // The directory: the file itself is renamed when it is rotated.
    const name = basename(options.path);
    inotify = watch(
      dirname(options.path),
      { persistent: false },
      (_event, changed) => {
        if (changed === null || changed === name) notify();
      },
    );
    inotify.on("error", notify);
  } catch {
    // The fallback timer alone.
  }
  const stopListening = options.onStateChange?.(notify);
  signal.addEventListener("abort", notify, { once: true });
  return {
    reset: () => {
      pending = false;
    },
    wait: () =>
      new Promise<void>((resolve) => {
        if (pending || signal.aborted) return resolve();
        const timer = setTimeout(notify, followFallbackMs);
        timer.unref();
        resolveWait = () => {
          clearTimeout(timer);
          resolveWait = undefined;
          resolve();
        };
      }),
    close: () => {
      inotify?.close();
      stopListening?.();
      signal.removeEventListener("abort", notify);
    },
  };
}

/** Timestamps and tags come on top of the text. */
const framingBytes = 64;

/** The end of a log as text, without following it: the last lines, at most so many characters of them. */
export async function readLogTail(
  source: LogSource,
  maxLines: number,
  maxCharacters: number,
): Promise<string> {
  const handle = await openLogSource(source);
  try {
    const { size } = await handle.stat();
    const start = Math.max(
      await tailPosition(handle, maxLines, size),
      size - 2 * maxCharacters - maxLines * framingBytes,
    );
    const buffer = Buffer.alloc(size - start);
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, start);
    const lines: Buffer[] = [];
    const rest = splitLines(buffer.subarray(0, bytesRead), lines);
    const text = [...lines, rest]
      .map((line) => {
        const parsed = parseLogLine(line);
        if (!parsed) return "";
        return parsed.text.toString("utf8") + (parsed.partial ? "" : "\n");
      })
      .join("");
    return text.slice(-maxCharacters);
  } finally {
    await handle.close();
  }
}

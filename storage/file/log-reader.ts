// Reads a log's frames in order, whatever its size, and classifies what is not sound:
//
//   damage:    bad bytes with a sound frame behind them, or bad bytes at the end that no crash leaves. Acknowledged writes
//              are lost in it.
//   torn tail: bad bytes that reach to the end of the file and look like a write that a crash ended: cut off, or with
//              sectors never written. No client received an answer for this write. The state with which the file
//              begins has no torn tail: it was durable before the file got its name.
//
// Only one commit is ever in flight, so nothing sound can be behind a torn frame.
import { StoreError } from "../store.ts";
import type { OpenFile } from "./file-system.ts";
import { FileWindow, WINDOW_BYTES } from "./file-window.ts";
import {
  FILE_HEADER_BYTES,
  decodePayload,
  type FrameHeader,
  type PlacedRecord,
} from "./frame.ts";
import { format1, formatOf, type FrameFormat } from "./frame-format.ts";

interface Damage {
  readonly fromByte: number;
  readonly toByte: number;
  /** The newest revision before it. */
  readonly afterRevision: number;
  /** The first revision of the sound frame behind it; undefined: there is none, or its format does not hold it. */
  readonly beforeRevision: number | undefined;
}

export interface LogContent {
  readonly format: FrameFormat;
  /** The end of the last sound frame; a torn tail goes from here to `bytes`. */
  readonly soundBytes: number;
  /** Of the file (or the part of it that was read). */
  readonly bytes: number;
  readonly frames: number;
  /** The newest in any sound frame. */
  readonly revision: number;
  /** The last frame is the mark of a store that was closed. */
  readonly closed: boolean;
  readonly damages: readonly Damage[];
}

/** Called for puts and deletes; `at`: the value's position in the file. */
type RecordVisitor = (record: PlacedRecord, at: number) => void;

export interface ReadOptions {
  /** Part of the file; default: all of it. */
  readonly from?: number;
  readonly to?: number;
  readonly windowBytes?: number;
}

/** Reads everything that is sound, also behind damage. Rejects only when the file can't be read. */
export async function scanLog(
  file: OpenFile,
  visit: RecordVisitor,
  options: ReadOptions = {},
): Promise<LogContent> {
  const { from = 0, windowBytes = WINDOW_BYTES } = options;
  const to = options.to ?? (await file.size());
  const scan = new LogScan(file, from, to, windowBytes, visit);
  return scan.run();
}

/** The same, but damage fails with StoreError "corrupt". @param name of the file, for the message */
export async function readLog(
  file: OpenFile,
  name: string,
  visit: RecordVisitor,
  options: ReadOptions = {},
): Promise<LogContent> {
  const content = await scanLog(file, visit, options);
  const [damage] = content.damages;
  if (damage) throw new StoreError("corrupt", describe(name, damage));
  return content;
}

/** Which acknowledged writes may be in damaged bytes, in words. */
export function inDanger({ afterRevision, beforeRevision }: Damage): string {
  if (beforeRevision === undefined)
    return `every revision after ${afterRevision}`;
  // Frames of a compacted state hold old revisions in any order.
  if (beforeRevision <= afterRevision)
    return `some of the values written up to revision ${afterRevision}`;
  return `revisions ${afterRevision + 1} to ${Math.max(beforeRevision - 1, afterRevision + 1)}`;
}

function describe(name: string, damage: Damage): string {
  return (
    `${name} is damaged from byte ${damage.fromByte} to ${damage.toByte}; in danger: ${inDanger(damage)}. ` +
    'Nothing was changed. "orbit store check" lists what is sound; ' +
    '"orbit store snapshot restore FILE --replace" puts a snapshot in its place'
  );
}

const SECTOR_BYTES = 512;

class LogScan {
  readonly #window: FileWindow;
  #revision = 0;
  #frames = 0;
  #closed = false;
  /** Records of the revision; the second one ends the state with which the file begins. */
  #marks = 0;
  readonly #damages: Damage[] = [];

  constructor(
    private readonly file: OpenFile,
    private readonly from: number,
    private readonly to: number,
    private readonly windowBytes: number,
    private readonly visit: RecordVisitor,
  ) {
    this.#window = new FileWindow(file, to, windowBytes);
  }

  async run(): Promise<LogContent> {
    const { from, to } = this;
    const first = await this.#window.read(from, FILE_HEADER_BYTES);
    const format = formatOf(first, to - from);
    if (!format) {
      // Nothing was ever acknowledged from an empty file. Any other was made whole, header and all.
      if (to > from) this.#damaged(from, to, undefined);
      return this.#content(format1, from);
    }
    let at = from + format.firstFrameAt;
    let sound = at;
    while (at < to) {
      const end = await this.#frame(format, at);
      if (end !== undefined) {
        at = sound = end;
        continue;
      }
      const next = await this.#nextSound(format, at + 1);
      if (!next) {
        if (format.showsTears && this.#marks < 2)
          this.#damaged(at, to, this.#revision);
        else if (!(await this.#isTorn(format, at)))
          this.#damaged(at, to, undefined);
        break;
      }
      this.#damaged(at, next.at, next.header.firstRevision || undefined);
      at = next.at;
    }
    // Cut between two frames of the state.
    if (format.showsTears && this.#marks < 2 && this.#damages.length === 0)
      this.#damaged(at, to, this.#revision);
    return this.#content(format, sound);
  }

  #content(format: FrameFormat, soundBytes: number): LogContent {
    return {
      format,
      soundBytes,
      bytes: this.to,
      frames: this.#frames,
      revision: this.#revision,
      closed: this.#closed,
      damages: this.#damages,
    };
  }

  #damaged(fromByte: number, toByte: number, before: number | undefined): void {
    this.#damages.push({
      fromByte,
      toByte,
      afterRevision: this.#revision,
      beforeRevision: before,
    });
  }

  /** Visits the frame at a position; its end, or undefined when it is not sound. */
  async #frame(format: FrameFormat, at: number): Promise<number | undefined> {
    const { headerBytes } = format;
    const header = format.decodeHeader(
      this.#window.held(at, headerBytes) ??
        (await this.#window.read(at, headerBytes)),
      0,
    );
    if (!header) return undefined;
    const payloadAt = at + headerBytes;
    const end = payloadAt + header.payloadBytes;
    if (end > this.to) return undefined;
    const payload =
      this.#window.held(payloadAt, header.payloadBytes) ??
      (await this.#window.read(payloadAt, header.payloadBytes));
    if (!format.isSound(header, payload)) return undefined;
    let records = 0;
    for (const record of decodePayload(payload)) {
      this.#revision = Math.max(this.#revision, record.revision);
      if (record.key !== "")
        this.visit(record, payloadAt + (record.valueAt ?? 0));
      else this.#marks++;
      records++;
      this.#closed = record.key === "" && records === 1 && this.#frames > 0;
    }
    this.#frames++;
    return end;
  }

  async #nextSound(
    format: FrameFormat,
    from: number,
  ): Promise<{ at: number; header: FrameHeader } | undefined> {
    const { headerBytes } = format;
    const step = Math.max(this.windowBytes, 4 * headerBytes);
    const search = new FileWindow(this.file, this.to, step);
    let at = from;
    while (at + headerBytes <= this.to) {
      const bytes = await search.read(at, step);
      if (bytes.length < headerBytes) return undefined;
      let candidate = format.nextCandidate(bytes, 0);
      for (
        ;
        candidate >= 0;
        candidate = format.nextCandidate(bytes, candidate + 1)
      ) {
        const header = format.decodeHeader(bytes, candidate);
        if (!header) continue;
        const payloadAt = at + candidate + headerBytes;
        if (payloadAt + header.payloadBytes > this.to) continue;
        const payload =
          search.held(payloadAt, header.payloadBytes) ??
          (await this.#window.read(payloadAt, header.payloadBytes));
        if (format.isSound(header, payload))
          return { at: at + candidate, header };
      }
      if (at + bytes.length >= this.to) return undefined;
      // The next window begins with what may be the beginning of a header.
      at += bytes.length - headerBytes - 1;
    }
    return undefined;
  }

  /** Is what lies from here to the end a write that a crash ended? Nothing sound is behind it. */
  async #isTorn(format: FrameFormat, at: number): Promise<boolean> {
    // Format 1 has no header that says that the file is a log at all.
    if (!format.showsTears) return this.#frames > 0;
    if (this.to - at < format.headerBytes) return true;
    const header = format.decodeHeader(
      await this.#window.read(at, format.headerBytes),
      0,
    );
    const end = header
      ? at + format.headerBytes + header.payloadBytes
      : this.to;
    return end > this.to || this.#hasUnwrittenSector(at, end);
  }

  /** A sector that the disk never wrote reads as zeros. */
  async #hasUnwrittenSector(from: number, to: number): Promise<boolean> {
    for (let at = from; at < to;) {
      const end = Math.min(to, at - (at % SECTOR_BYTES) + SECTOR_BYTES);
      const sector = await this.#window.read(at, end - at);
      if (sector.every((byte) => byte === 0)) return true;
      at = end;
    }
    return false;
  }
}

// A watcher's side of the binary watch streams: cuts what the server wrote into events. The product only writes them.
import { parseCbor } from "../../api/codec/cbor.ts";
import { decoderOf } from "../../api/codec/protobuf-decode.ts";
import { WireReader } from "../../api/codec/wire-reader.ts";

interface StreamEvent {
  type: string;
  object: Record<string, unknown>;
}

const watchEvent = "io.k8s.apimachinery.pkg.apis.meta.v1.WatchEvent";

/** Frames of a big-endian length and a WatchEvent; takes chunks as they come. */
export class WatchFrameDecoder {
  #rest: Buffer = Buffer.alloc(0);

  push(chunk: Uint8Array): StreamEvent[] {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    const events: StreamEvent[] = [];
    while (this.#rest.length >= 4) {
      const end = 4 + this.#rest.readUInt32BE(0);
      if (this.#rest.length < end) break;
      events.push(
        decoderOf(watchEvent)(
          new WireReader(this.#rest.subarray(4, end)),
        ) as StreamEvent,
      );
      this.#rest = this.#rest.subarray(end);
    }
    return events;
  }
}

/** CBOR items one behind the other; takes chunks as they come. */
export class CborSequenceDecoder {
  #rest: Buffer = Buffer.alloc(0);

  push(chunk: Uint8Array): unknown[] {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    const items: unknown[] = [];
    for (;;) {
      const end = itemEnd(this.#rest, 0);
      if (end === undefined) return items;
      items.push(parseCbor(this.#rest.subarray(0, end)).value);
      this.#rest = this.#rest.subarray(end);
    }
  }
}

/** Where the item that begins at `at` ends (RFC 8949 §3); undefined while bytes are missing. */
function itemEnd(bytes: Buffer, at: number): number | undefined {
  const initial = bytes[at];
  if (initial === undefined) return undefined;
  const [major, info] = [initial >> 5, initial & 31];
  const size = info >= 24 && info <= 27 ? 1 << (info - 24) : 0;
  let end = at + 1 + size;
  if (bytes.length < end) return undefined;
  let argument = info;
  if (size === 8) argument = Number(bytes.readBigUInt64BE(at + 1));
  else if (size > 0) argument = bytes.readUIntBE(at + 1, size);
  if (major === 2 || major === 3)
    return bytes.length < end + argument ? undefined : end + argument;
  const parts = { 4: argument, 5: 2 * argument, 6: 1 }[major] ?? 0;
  for (let part = 0; part < parts; part++) {
    const next = itemEnd(bytes, end);
    if (next === undefined) return undefined;
    end = next;
  }
  return end;
}

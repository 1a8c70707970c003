// How a transport's bodies are encoded: JSON, protobuf or CBOR (--kube-api-content-type). An answer is decoded by the type
// it has, whatever was asked for: kinds without a wire form come as JSON. Patches are JSON in every encoding.
import type { GroupVersionResource } from "../../api/object.ts";
import { lines } from "./watch-frames.ts";

/** The encodings a client can be given. */
export const contentTypes = [
  "application/json",
  "application/vnd.kubernetes.protobuf",
  "application/cbor",
] as const;
export type ContentType = (typeof contentTypes)[number];

export interface EncodedBody {
  readonly bytes: string | Buffer;
  readonly contentType: string;
}

/** An event of a watch as it was decoded, not checked yet. */
export interface DecodedEvent {
  readonly type: string;
  readonly object: unknown;
}

export interface BodyCodec {
  /** The header of requests and of watches. */
  readonly accept: string;
  /** @param resource what the request is for: not every server of it takes every encoding */
  encode(body: object, resource: GroupVersionResource): EncodedBody;
  /** Throws what the decoder throws for a body that is damaged. */
  decode(bytes: Buffer, contentType: string): unknown;
  events(
    chunks: AsyncIterable<Uint8Array>,
    contentType: string,
  ): AsyncIterable<DecodedEvent>;
}

/** @param contentType of a patch, where it is one */
export const jsonBody = (
  body: unknown,
  contentType = "application/json",
): EncodedBody => ({ bytes: JSON.stringify(body), contentType });

export const jsonCodec: BodyCodec = {
  accept: "application/json",
  encode: (body) => jsonBody(body),
  decode: (bytes) => JSON.parse(bytes.toString("utf8")) as unknown,
  async *events(chunks) {
    for await (const line of lines(chunks))
      if (line.trim() !== "") yield JSON.parse(line) as DecodedEvent;
  },
};

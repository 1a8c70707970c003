// Chooses a client's encoding; the binary ones are loaded with their first use.
import { type BodyCodec, type ContentType, jsonCodec } from "./body-codec.ts";

export async function bodyCodecOf(type: ContentType): Promise<BodyCodec> {
  if (type === "application/json") return jsonCodec;
  const { cborCodec, protobufCodec } = await import("./binary-codec.ts");
  return type === "application/cbor" ? cborCodec : protobufCodec;
}

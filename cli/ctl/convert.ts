// orbitctl convert: changes the encoding of objects offline. The input's encoding is recognised: protobuf by its four-byte
// magic, CBOR by its self-description tag (or a map at its start), else YAML or JSON.
import { parseApiVersion, type AnyObject } from "../../api/object.ts";
import { option } from "../options/build-table.ts";
import { UsageError } from "../options/table.ts";
import type { CtlCommand } from "./command.ts";
import { parseDocuments, readSource } from "./input.ts";

type Encoding = "json" | "yaml" | "protobuf" | "cbor";
const encodings: readonly Encoding[] = ["json", "yaml", "protobuf", "cbor"];

function recogniseEncoding(bytes: Uint8Array): Encoding {
  const [a, b, c, d] = bytes;
  if (a === 0x6b && b === 0x38 && c === 0x73 && d === 0x00) return "protobuf";
  if (a === 0xd9 && b === 0xd9 && c === 0xf7) return "cbor";
  // A CBOR map without the tag: no text starts with these bytes.
  if (a !== undefined && a >= 0xa0 && a <= 0xbf) return "cbor";
  return "json";
}

async function decode(bytes: Buffer, source: string): Promise<unknown[]> {
  switch (recogniseEncoding(bytes)) {
    case "protobuf":
      return [await decodeProtobufObject(bytes, source)];
    case "cbor":
      return [await decodeCborObject(bytes, source)];
    default:
      return parseDocuments(bytes.toString(), source);
  }
}

async function decodeProtobufObject(
  bytes: Buffer,
  source: string,
): Promise<unknown> {
  const { decodeProtobuf } = await import("../../api/codec/protobuf.ts");
  try {
    return decodeProtobuf(bytes);
  } catch (error) {
    throw new UsageError(`${source}: ${(error as Error).message}`);
  }
}

async function encode(object: AnyObject, encoding: Encoding): Promise<Buffer> {
  switch (encoding) {
    case "json":
      return Buffer.from(`${JSON.stringify(object, undefined, 2)}\n`);
    case "yaml":
      return (await import("../../api/codec/yaml.ts")).encodeYaml(object);
    case "protobuf":
      return encodeProtobufObject(object);
    case "cbor":
      return (await import("../../api/codec/cbor.ts")).encodeCbor(object);
  }
}

/** The wire form needs canonical values, so the object goes through its schema first. */
async function encodeProtobufObject(object: AnyObject): Promise<Buffer> {
  const { encodeProtobuf } = await import("../../api/codec/protobuf.ts");
  const { conformObject } = await import("../../api/codec/json.ts");
  const { schemaFor } = await import("../../api/schema.ts");
  const { group, version } = parseApiVersion(object.apiVersion ?? "");
  const schema = schemaFor(group, version, object.kind ?? "");
  return encodeProtobuf(
    schema ? conformObject(structuredClone(object), schema).object : object,
  );
}

async function decodeCborObject(
  bytes: Buffer,
  source: string,
): Promise<unknown> {
  const { parseCbor } = await import("../../api/codec/cbor.ts");
  try {
    return parseCbor(bytes).value;
  } catch (error) {
    throw new UsageError(`${source}: ${(error as Error).message}`);
  }
}

export const convertCommand: CtlCommand = {
  usage: "convert -f FILE|- [-o json|yaml|protobuf|cbor]",
  about:
    "Change the encoding of objects, offline; the input's encoding is recognised.",
  options: [
    option("filename", "strings", "", "Files or URLs; - is standard input.", {
      short: "f",
    }),
    option("output", "string", "yaml", "Encoding of the output.", {
      short: "o",
      values: encodings,
    }),
  ],
  run: async ({ values, args }) => {
    const files = values.list("filename");
    if (files.length === 0 || args.length > 0)
      throw new UsageError("must specify the object with -f FILE or -f -");
    const encoding = values.text("output") as Encoding;
    const objects: AnyObject[] = [];
    for (const file of files) {
      for (const object of await decode(await readSource(file), file)) {
        if (
          object === null ||
          typeof object !== "object" ||
          Array.isArray(object)
        )
          throw new UsageError(`${file}: not an object`);
        objects.push(object as AnyObject);
      }
    }
    if (objects.length === 0) throw new UsageError("no objects passed");
    if (
      objects.length > 1 &&
      (encoding === "protobuf" || encoding === "cbor")
    ) {
      throw new UsageError(
        `several objects can't be written as ${encoding}; convert them one by one`,
      );
    }
    const out: Buffer[] = [];
    for (const object of objects) {
      if (out.length > 0 && encoding === "yaml") out.push(Buffer.from("---\n"));
      out.push(await encode(object, encoding));
    }
    await new Promise<void>((resolve) =>
      process.stdout.write(Buffer.concat(out), () => resolve()),
    );
  },
};

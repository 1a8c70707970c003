// YAML, protobuf and (behind its gate) CBOR for answers and bodies, by the codecs of api/codec.
import {
  cborListParts,
  decodeCbor,
  encodeCbor,
  encodeCborEvent,
  parseCbor,
} from "../../api/codec/cbor.ts";
import {
  decodeProtobuf,
  encodeProtobuf,
  encodeWatchFrame,
  listItem,
  protobufListParts,
  transcodeProtobuf,
} from "../../api/codec/protobuf.ts";
import {
  decodingYaml,
  encodeYaml,
  parseYamlBody,
  parsingYamlBody,
} from "../../api/codec/yaml.ts";
import {
  itemsPerLook,
  joined,
  type Format,
  type ListItems,
  type ListParts,
  type OtherFormats,
} from "./formats.ts";
import type { BodyDecoders } from "./bodies.ts";

type ListArguments = Parameters<Format["list"]>;

const documentEnd = Buffer.from("---\n");

const yamlFormat: Format = {
  name: "yaml",
  streamType: (contentType) => contentType,
  encode: (object) => encodeYaml(object),
  list: yamlList,
  frame: (type, object) =>
    Buffer.concat([
      documentEnd,
      encodeYaml({ type, object: parseYamlBody(object).value }),
    ]),
};

const protobufFormat: Format = {
  name: "protobuf",
  streamType: (contentType) => `${contentType};stream=watch`,
  encode: (object) => encodeProtobuf(object),
  transcode: transcodeProtobuf,
  list: protobufList,
  frame: (type, object) => encodeWatchFrame(type, object),
};

function* yamlList(...[head, field, items, pool]: ListArguments): ListParts {
  if (items.count === 0) return yield encodeYaml({ ...head, [field]: [] });
  // Keys are sorted, so that what follows the items in the alphabet follows them here.
  const fields = Object.entries(head);
  const part = (wanted: (key: string) => boolean): Buffer =>
    encodeYaml(Object.fromEntries(fields.filter(([key]) => wanted(key))));
  const before = part((key) => key < field);
  const behind = fields.some(([key]) => key > field)
    ? part((key) => key > field)
    : Buffer.alloc(0);
  yield* joined(yamlPieces(before, field, items, behind), pool);
}

function* protobufList(
  ...[{ kind, apiVersion, metadata }, , items, pool]: ListArguments
): ListParts {
  // The message begins with its length, so that of each item is needed first. All envelopes have as much around theirs.
  let around: number | undefined;
  let bytes = 0;
  for (let index = 0; index < items.count; index++) {
    const known = around === undefined ? undefined : items.length(index);
    if (known !== undefined) bytes += known - around!;
    else {
      const envelope = items.bytes(index);
      const item = listItem(envelope);
      around ??= envelope.length - item.length;
      bytes += item.length;
    }
    if (index % itemsPerLook === 0) yield undefined;
  }
  yield* joined(
    protobufListParts(apiVersion, kind, metadata, bytes, listItems(items)),
    pool,
  );
}

function* yamlPieces(
  before: Buffer,
  field: string,
  items: ListItems,
  behind: Buffer,
): Iterable<Buffer | undefined> {
  yield before;
  yield Buffer.from(`${field}:\n`);
  for (let index = 0; index < items.count; index++) {
    yield encodeYaml([items.object(index)]);
    yield undefined;
  }
  yield behind;
}

/** As a list in protobuf holds them. */
function* listItems(items: ListItems): Iterable<Buffer | undefined> {
  for (let index = 0; index < items.count; index++) {
    yield listItem(items.bytes(index));
    if (index % itemsPerLook === 0) yield undefined;
  }
}

/** Few read CBOR: what is made for them takes no room from what many read. */
function* freshItems(items: ListItems): Iterable<Buffer | undefined> {
  for (let index = 0; index < items.count; index++) {
    yield items.fresh?.(index) ?? items.bytes(index);
    yield undefined;
  }
}

export const otherFormats: OtherFormats = {
  yaml: yamlFormat,
  protobuf: protobufFormat,
};

export const bodyDecoders: BodyDecoders = {
  yaml: decodingYaml,
  yamlValue: parsingYamlBody,
  protobuf: (bytes, fallback) => decodeProtobuf(bytes, fallback),
};

/** With the gate CBORServingAndStorage. */
export const cborFormats: OtherFormats = {
  cbor: {
    name: "cbor",
    streamType: () => "application/cbor-seq",
    encode: (object) => encodeCbor(object),
    list: ({ kind, apiVersion, metadata }, _field, items, pool) => {
      const all = freshItems(items);
      return joined(
        cborListParts(apiVersion, kind, metadata, items.count, all),
        pool,
      );
    },
    frame: (type, object) => encodeCborEvent(type, object),
  },
};

export const cborDecoders: BodyDecoders = {
  cbor: decodeCbor,
  cborValue: (bytes) => parseCbor(bytes).value,
};

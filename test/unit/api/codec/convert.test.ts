// The four encodings of an object are the same object.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { encodeCbor, parseCbor } from "../../../../api/codec/cbor.ts";
import {
  decodeProtobuf,
  encodeProtobuf,
} from "../../../../api/codec/protobuf.ts";
import { encodeYaml } from "../../../../api/codec/yaml.ts";
import { parseYaml } from "../../../../api/codec/yaml-text.ts";

const golden = join(__dirname, "../fixtures/golden");

test.each(readdirSync(golden).filter((name) => name.endsWith(".pb")))(
  "%s",
  (name) => {
    const bytes = readFileSync(join(golden, name));
    const fromCbor = parseCbor(encodeCbor(decodeProtobuf(bytes))).value;
    const fromYaml = parseYaml(encodeYaml(fromCbor).toString())[0]!
      .value as object;
    expect(encodeProtobuf(fromYaml).equals(bytes)).toBe(true);
  },
);

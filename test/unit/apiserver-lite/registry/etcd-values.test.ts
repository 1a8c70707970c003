// Values a kube-apiserver 1.32.13 wrote into etcd for small objects of ours, with its own answers for them: we read them
// as it does and write the same bytes.
import type { AnyObject } from "../../../../api/object.ts";
import {
  decodeStored,
  encodeStored,
} from "../../../../api/codec/stored-form.ts";
import { plainForm } from "./plain-kind.ts";
import recorded from "./fixtures/etcd-values.json";

interface Recorded {
  /** base64 */
  value: string;
  /** What the reference answers for it. */
  object?: AnyObject;
}
const cases = Object.entries(recorded as unknown as Record<string, Recorded>);

/** Without what JSON may leave out. */
function present(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(present);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(
        ([, field]) =>
          field !== null && !(Array.isArray(field) && field.length === 0),
      )
      .map(([name, field]) => [name, present(field)]),
  );
}

test.each(cases)("the bytes of %s", (_, { value }) => {
  const bytes = Buffer.from(value, "base64");
  const object = decodeStored(bytes) as AnyObject;
  expect(Buffer.from(encodeStored(object, "protobuf")).toString("hex")).toBe(
    bytes.toString("hex"),
  );
});

test.each(cases.filter(([, { object }]) => object))(
  "the object of %s",
  (_, { value, object: answered }) => {
    const kind = plainForm(answered!.kind!, answered!.apiVersion!);
    const read = kind.decode(Buffer.from(value, "base64"));
    const { resourceVersion: _version, ...metadata } = answered!.metadata;
    expect(present(read)).toEqual(present({ ...answered, metadata }));
    for (const encoding of ["json", "yaml"] as const)
      expect(kind.decode(encodeStored(read, encoding))).toEqual(read);
  },
);

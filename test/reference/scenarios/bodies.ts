// Bodies that are no good object, in each encoding, and what is said of them. Left out is what differs on purpose: text
// that is no UTF-8 is refused here, and numbers are JavaScript's.
import type { Json } from "../normalise.ts";
import type { Scenario } from "../scenario.ts";

const magic = Buffer.from("k8s\0");

/** A field of a protobuf message with bytes in it. */
function field(number: number, bytes: Uint8Array | string): Buffer {
  const content = Buffer.from(bytes as string);
  return Buffer.concat([
    Buffer.from([(number << 3) | 2, content.length]),
    content,
  ]);
}

function envelope(apiVersion: string, kind: string, raw: Buffer): Buffer {
  const type = Buffer.concat([field(1, apiVersion), field(2, kind)]);
  return Buffer.concat([
    magic,
    field(1, type),
    field(2, raw),
    field(3, ""),
    field(4, ""),
  ]);
}

const metadata = field(1, field(1, "b"));
const data = field(2, Buffer.concat([field(1, "k"), field(2, "v")]));
const good = Buffer.concat([metadata, data]);

const json: Record<string, string | Buffer> = {
  nothing: "",
  space: " ",
  null: "null",
  true: "true",
  number: "1",
  text: '"a"',
  list: "[]",
  "an open brace": "{",
  "an open string": '{"metadata":{"name":"b',
  "no quotes": "{metadata:{}}",
  "single quotes": "{'metadata':{}}",
  "a comma too many": '{"metadata":{"name":"b"},}',
  "two objects": '{"metadata":{"name":"b"}}{}',
  "text behind": '{"metadata":{"name":"b"}} x',
  "a comment": '{"metadata":{"name":"b"}} // x',
  "an empty object": "{}",
  "another kind": '{"kind":"Secret","metadata":{"name":"b"}}',
  "another kind of this version":
    '{"kind":"Secret","apiVersion":"v1","metadata":{"name":"b"}}',
  "an unknown kind":
    '{"kind":"Nothing","apiVersion":"v1","metadata":{"name":"b"}}',
  "another version":
    '{"kind":"ConfigMap","apiVersion":"v2","metadata":{"name":"b"}}',
  "another group":
    '{"kind":"ConfigMap","apiVersion":"apps/v1","metadata":{"name":"b"}}',
  "a bad version":
    '{"kind":"ConfigMap","apiVersion":"a/b/c","metadata":{"name":"b"}}',
  "only a version": '{"apiVersion":"v1","metadata":{"name":"b"}}',
  "a kind that is no text": '{"kind":1,"metadata":{"name":"b"}}',
  "metadata that is text": '{"metadata":"b"}',
  "metadata that is a list": '{"metadata":[]}',
  "metadata that is null": '{"metadata":null}',
  "a name that is a number": '{"metadata":{"name":1}}',
  "labels that are numbers": '{"metadata":{"name":"b","labels":{"a":1}}}',
  "labels that are a list": '{"metadata":{"name":"b","labels":["a"]}}',
  "data that is text": '{"metadata":{"name":"b"},"data":"x"}',
  "a value that is true": '{"metadata":{"name":"b"},"data":{"a":true}}',
  "a value that is null": '{"metadata":{"name":"b"},"data":{"a":null}}',
  "bytes that are no base64":
    '{"metadata":{"name":"b"},"binaryData":{"a":"!"}}',
  "bytes of a wrong length":
    '{"metadata":{"name":"b"},"binaryData":{"a":"abc"}}',
  "bytes in lines": '{"metadata":{"name":"b"},"binaryData":{"a":"YW\\nI="}}',
  "a flag that is text": '{"metadata":{"name":"b"},"immutable":"true"}',
  "a flag that is a number": '{"metadata":{"name":"b"},"immutable":1}',
  "a time that is none":
    '{"metadata":{"name":"b","creationTimestamp":"yesterday"}}',
  "a time that is a number": '{"metadata":{"name":"b","creationTimestamp":1}}',
  "a number that is text": '{"metadata":{"name":"b","generation":"1"}}',
  "a number that is none": '{"metadata":{"name":"b","generation":1.5}}',
  "keys in another case": '{"METADATA":{"NAME":"b"},"Data":{"a":"b"}}',
  "a control character": '{"metadata":{"name":"b"},"data":{"a":"\u0001"}}',
  "an escaped surrogate": '{"metadata":{"name":"b"},"data":{"a":"\\ud800"}}',
};

const yaml: Record<string, string> = {
  nothing: "",
  "only dashes": "---\n",
  text: "just text",
  "a list": "- a\n",
  good: "metadata:\n  name: b\ndata:\n  k: v\n",
  "a tab": "metadata:\n\tname: b\n",
  "two documents": "metadata:\n  name: b\n---\nmetadata:\n  name: c\n",
  "an open quote": 'metadata:\n  name: "b\n',
  "an unknown alias": "metadata: *a\n",
  "a number as a name": "metadata:\n  name: 1\n",
  "a flag as a value": "metadata:\n  name: b\ndata:\n  a: yes\n",
  "null as a value": "metadata:\n  name: b\ndata:\n  a: ~\n",
  "a time as a value": "metadata:\n  name: b\ndata:\n  a: 2020-01-01\n",
  "a key twice": "metadata:\n  name: b\n  name: c\n",
  "another kind": "kind: Secret\napiVersion: v1\nmetadata:\n  name: b\n",
  "bad indentation": "metadata:\n  name: b\n data: {}\n",
  "a tag": "metadata: !!str b\n",
  "a custom tag": "metadata: !x {name: b}\n",
};

const protobuf: Record<string, Buffer> = {
  nothing: Buffer.alloc(0),
  "only the magic": magic,
  "half of the magic": magic.subarray(0, 2),
  JSON: Buffer.from("{}"),
  good: envelope("v1", "ConfigMap", good),
  "without a type": Buffer.concat([magic, field(2, good)]),
  "without an object": envelope("v1", "ConfigMap", Buffer.alloc(0)),
  "another kind": envelope("v1", "Secret", good),
  "an unknown kind": envelope("v1", "Nothing", good),
  "another version": envelope("v2", "ConfigMap", good),
  "cut short": envelope("v1", "ConfigMap", good).subarray(0, 25),
  "a length that lies": Buffer.concat([magic, Buffer.from([0x0a, 0x7f, 1, 2])]),
  "an object whose length lies": envelope(
    "v1",
    "ConfigMap",
    Buffer.from([0x0a, 0x7f, 1]),
  ),
  "a wrong wire type": envelope("v1", "ConfigMap", Buffer.from([0x08, 1])),
  "an unknown field": envelope(
    "v1",
    "ConfigMap",
    Buffer.concat([good, field(15, "x")]),
  ),
  "bytes behind": Buffer.concat([
    envelope("v1", "ConfigMap", good),
    Buffer.from([1, 2, 3]),
  ]),
  "a group that does not end": envelope("v1", "ConfigMap", Buffer.from([0x0b])),
  "a field without a number": envelope(
    "v1",
    "ConfigMap",
    Buffer.from([0x02, 0]),
  ),
};

const encodings = {
  "application/json": json,
  "application/yaml": yaml,
  "application/vnd.kubernetes.protobuf": protobuf,
} as const;

function brief(body: Json): Json {
  if (body?.status !== "Failure") return body?.kind as unknown;
  const { message, details } = body;
  return details ? { message, details } : (message as unknown);
}

export const bodies: Scenario = {
  name: "bodies",
  async run({ namespace, call }) {
    const all = `/api/v1/namespaces/${namespace}/configmaps`;
    await call("", "POST", all, {
      body: { metadata: { name: "b" } },
      silent: true,
    });
    const places: [string, string, string][] = [
      ["create", "POST", `${all}?dryRun=All`],
      ["update", "PUT", `${all}/b?dryRun=All`],
      ["delete", "DELETE", `${all}/none`],
    ];
    for (const [verb, method, path] of places)
      for (const [type, bodies] of Object.entries(encodings))
        for (const [what, body] of Object.entries(bodies))
          if (method !== "DELETE" || bodies !== protobuf || body.length < 5)
            await call(`${verb} ${type} with ${what}`, method, path, {
              body,
              headers: { "content-type": type },
              keep: brief,
            });
  },
};

import {
  decodeJson,
  strictDecodingError,
  strictError,
} from "../../../../api/codec/json.ts";
import { ApiError } from "../../../../api/errors.ts";
import { schemaFor } from "../../../../api/schema.ts";

const deployment = schemaFor("apps", "v1", "Deployment")!;
const pod = schemaFor("", "v1", "Pod")!;
const configMap = schemaFor("", "v1", "ConfigMap")!;

const decode = (
  text: string,
  schema = pod,
  fieldValidation?: "Ignore" | "Warn" | "Strict",
) =>
  decodeJson(
    Buffer.from(text),
    schema,
    fieldValidation ? { fieldValidation } : {},
  );
const failure = (text: string | Uint8Array, schema = pod): ApiError => {
  try {
    decodeJson(typeof text === "string" ? Buffer.from(text) : text, schema);
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error("decoded");
};

test("unknown and duplicate fields are reported in order and dropped", () => {
  const { object, problems } = decode(
    `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a","name":"b","nmae":1},
      "spec":{"foo":{"x":1,"x":2},"Replicas":3,"template":{"spec":{"containers":[{"name":"c","imag":"x"},{"name":"d","name":"e"}]}}}}`,
    deployment,
  );
  expect(problems).toEqual([
    'duplicate field "metadata.name"',
    'unknown field "metadata.nmae"',
    'unknown field "spec.foo"',
    'unknown field "spec.Replicas"',
    'unknown field "spec.template.spec.containers[0].imag"',
    'duplicate field "spec.template.spec.containers[1].name"',
  ]);
  expect(object).toMatchObject({ metadata: { name: "b" } });
  expect(JSON.stringify(object)).not.toContain("foo");
  expect(
    strictError({ kind: "Deployment", apiVersion: "apps/v1" }, deployment, [
      'unknown field "spec.foo"',
    ]).message,
  ).toBe(
    'Deployment in version "v1" cannot be handled as a Deployment: strict decoding error: unknown field "spec.foo"',
  );
  expect(strictDecodingError(["a", "b"])).toBe("strict decoding error: a, b");
  expect(decode(`{"foo":1,"foo":2}`, pod, "Ignore").problems).toEqual([]);
});

test.each([
  [
    deployment,
    `{"apiVersion":"apps/v1","kind":"Deployment","spec":{"replicas":"3"}}`,
    'Deployment in version "v1" cannot be handled as a Deployment: json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32',
  ],
  [
    deployment,
    `{"apiVersion":"apps/v1","kind":"Deployment","spec":{"template":{"spec":{"containers":[{"env":[{"name":"a","value":1}]}]}}}}`,
    'Deployment in version "v1" cannot be handled as a Deployment: json: cannot unmarshal number into Go struct field EnvVar.spec.template.spec.containers.env.value of type string',
  ],
  [
    pod,
    `{"apiVersion":"v1","kind":"Pod","metadata":{"labels":{"a":true}}}`,
    'Pod in version "v1" cannot be handled as a Pod: json: cannot unmarshal bool into Go struct field ObjectMeta.metadata.labels of type string',
  ],
  [
    deployment,
    `{"apiVersion":"apps/v1","kind":"Deployment","spec":{"replicas":3000000000}}`,
    'Deployment in version "v1" cannot be handled as a Deployment: json: cannot unmarshal number 3000000000 into Go struct field DeploymentSpec.spec.replicas of type int32',
  ],
  [
    pod,
    `{"apiVersion":"v1","kind":"Pod","spec":{"containers":[{"resources":{"limits":{"cpu":"1mm"}}}]}}`,
    'Pod in version "v1" cannot be handled as a Pod: unable to parse quantity\'s suffix',
  ],
  [
    pod,
    `{"apiVersion":"v1","kind":"Pod","spec":{"containers":[{"imagePullPolicy":true}]}}`,
    'Pod in version "v1" cannot be handled as a Pod: json: cannot unmarshal bool into Go struct field Container.spec.containers.imagePullPolicy of type v1.PullPolicy',
  ],
  [
    pod,
    `{"apiVersion":"v1","kind":"Pod","spec":{"containers":{}}}`,
    'Pod in version "v1" cannot be handled as a Pod: json: cannot unmarshal object into Go struct field PodSpec.spec.containers of type []v1.Container',
  ],
  [
    configMap,
    `{"kind":"ConfigMap","apiVersion":"v1","binaryData":{"a":"%%"}}`,
    'ConfigMap in version "v1" cannot be handled as a ConfigMap: illegal base64 data at input byte 0',
  ],
])("a value of a wrong type: %#", (schema, text, message) => {
  expect(failure(text, schema)).toMatchObject({
    code: 400,
    reason: "BadRequest",
    message,
  });
});

test("values become canonical; null and empty are unset", () => {
  const { object, problems } = decode(
    `{"metadata":{"creationTimestamp":null,"deletionTimestamp":"2024-01-02T03:04:05.5+01:00","labels":{},"annotations":null},
      "spec":{"hostNetwork":false,"nodeName":"","containers":[{"name":"a","resources":{"limits":{"cpu":0.5,"memory":"1024Mi"}},"securityContext":null}]}}`,
  );
  expect(problems).toEqual([]);
  expect(object).toEqual({
    metadata: { deletionTimestamp: "2024-01-02T02:04:05Z" },
    spec: {
      containers: [
        { name: "a", resources: { limits: { cpu: "500m", memory: "1Gi" } } },
      ],
    },
    status: {},
  });
});

test("keys that look like prototypes are data", () => {
  const { object } = decode(
    `{"data":{"__proto__":"x","constructor":"y"},"__proto__":{"polluted":true}}`,
    configMap,
  );
  expect(Object.keys(object["data"] as object)).toEqual([
    "__proto__",
    "constructor",
  ]);
  expect((object as { polluted?: boolean }).polluted).toBeUndefined();
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
});

test.each([
  ["", "unexpected end of JSON input (<empty>)"],
  ["{", "unexpected end of JSON input ({)"],
  ['{"a":}', "invalid character '}' looking for beginning of value ({\"a\":})"],
  ["[1,]", "invalid character ']' looking for beginning of value (5b312c5d)"],
  ['{"a" 1}', "invalid character '1' after object key ({\"a\" 1})"],
  [
    '{"a":1 "b":2}',
    'invalid character \'"\' after object key:value pair ({"a":1 "b":2})',
  ],
  ["{}x", "invalid character 'x' after top-level value ({}x)"],
  [
    '{"a":tru}',
    "invalid character '}' in literal true (expecting 'e') ({\"a\":tru})",
  ],
])("bad text %s", (text, message) => {
  expect(failure(text).message).toBe(
    `the object provided is unrecognized (must be of type Pod): couldn't get version/kind; json parse error: ${message}`,
  );
});

test("hostile input is refused quickly", () => {
  expect(failure("[".repeat(3_000_000)).message).toContain(
    "exceeded max depth",
  );
  expect(failure(`{"a":`.repeat(100_000)).message).toContain(
    "exceeded max depth",
  );
  expect(
    failure(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])).message,
  ).toContain("invalid UTF-8");
  expect(failure(`"x"`).code).toBe(400);
  expect(failure(`{"spec":{"priority":1e400}}`).code).toBe(400);
});

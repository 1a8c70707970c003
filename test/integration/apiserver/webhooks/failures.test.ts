// Webhooks that can't be asked, hang, lie or change what they may not: the failure policy's answer, in its time, with the
// texts a kube-apiserver 1.32 gave to the same answers; and what audit events and metrics say of it.
import type { ServerResponse } from "node:http";
import { systemClock } from "../../../../api/clock.ts";
import type { AuditEvent } from "../../../../apiserver-lite/audit/audit-event.ts";
import { Auditor } from "../../../../apiserver-lite/audit/auditor.ts";
import {
  patching,
  validating,
  type WebhookServer,
} from "../../../support/webhooks.ts";
import {
  configMap,
  configMaps,
  type Json,
  type TestServer,
} from "../support.ts";
import { useWebhooks } from "./support.ts";

const events: AuditEvent[] = [];
const sink = {
  write: (written: readonly AuditEvent[]) => (events.push(...written), true),
  close: () => undefined,
};
const policy = {
  rules: [{ level: "Request" }],
  omitStages: ["RequestReceived"],
};
const setup = useWebhooks({
  auditor: new Auditor(policy as never, sink, systemClock),
});
let hooks: WebhookServer;
let server: TestServer;
beforeAll(() => {
  ({ hooks, server } = setup);
});
afterEach(() => {
  events.length = 0;
});

const configure = (
  kind: "Mutating" | "Validating",
  more: object = {},
): Promise<void> => setup.configure(kind, { "/h": more });

const create = (
  name = "a",
  more: object = {},
): ReturnType<TestServer["call"]> =>
  server.call(
    "POST",
    configMaps,
    configMap(name, { data: { a: "1" }, ...more }),
  );

const failed =
  'Internal error occurred: failed calling webhook "h.example.com": ';
const invalid = `${failed}received invalid webhook response: `;
const called = `${failed}failed to call webhook: `;

/** Answers by itself. */
const raw =
  (status: number, body: unknown, type = "application/json") =>
  (_: Json, __: string, ___: unknown, response: ServerResponse): undefined => {
    response.writeHead(status, { "content-type": type });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
    return undefined;
  };
const review = (request: Json, response: object, top: object = {}): object => ({
  kind: "AdmissionReview",
  apiVersion: "admission.k8s.io/v1",
  response: { uid: request.uid, allowed: true, ...response },
  ...top,
});
const answering =
  (make: (request: Json) => unknown): WebhookServer["on"][string] =>
  (request, body, message, response) =>
    raw(200, make(request))(request, body, message, response);

test.each<[string, WebhookServer["on"][string], string | RegExp]>([
  [
    "another uid",
    answering((request) => review(request, { uid: "lie" })),
    /received invalid webhook response: expected response.uid="[0-9a-f-]{36}", got "lie"$/,
  ],
  [
    "no response",
    answering(() => ({
      kind: "AdmissionReview",
      apiVersion: "admission.k8s.io/v1",
    })),
    `${invalid}webhook response was absent`,
  ],
  ["null", raw(200, "null"), `${invalid}webhook response was absent`],
  [
    "no kind",
    answering((request) => review(request, {}, { kind: undefined })),
    `${invalid}expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got admission.k8s.io/v1, Kind=`,
  ],
  [
    "another version",
    answering((request) =>
      review(request, {}, { apiVersion: "admission.k8s.io/v1beta1" }),
    ),
    `${called}converting (v1beta1.AdmissionReview) to (v1.AdmissionReview): unknown conversion`,
  ],
  [
    "another kind",
    raw(200, { kind: "Pod", apiVersion: "v1" }),
    `${called}no kind "Pod" is registered for version "v1" in scheme "pkg/util/webhook/client.go:71"`,
  ],
  [
    "nothing",
    raw(200, ""),
    `${called}0-length response with status code: 200 and content type: application/json`,
  ],
  [
    "a wrong type",
    answering((request) => review(request, { allowed: "yes" })),
    `${called}json: cannot unmarshal string into Go struct field AdmissionResponse.response.allowed of type bool`,
  ],
  [
    "a patch",
    answering((request) =>
      review(request, patching({ op: "add", path: "/x", value: 1 })),
    ),
    `${invalid}validating webhook may not return response.patch`,
  ],
  [
    "500",
    raw(500, "oh no", "text/plain"),
    `${called}an error on the server ("oh no") has prevented the request from succeeding`,
  ],
  [
    "a redirect",
    (_, __, ___, response) =>
      void response.writeHead(307, { location: "/elsewhere" }).end(),
    `${called}the server responded with the status code 307 but did not return more information`,
  ],
  [
    "more than it may",
    answering(() => "x".repeat(9 * 1024 * 1024)),
    `${called}the answer is larger than 8388608 bytes`,
  ],
  [
    "nothing but brackets",
    answering(() => "[".repeat(2_000_000)),
    `${called}couldn't get version/kind; json parse error: exceeded max depth`,
  ],
  [
    "a broken connection",
    (_, __, message) => void message.socket.destroy(),
    /: EOF$/,
  ],
])(
  "a webhook that answers %s fails closed, or open",
  async (_, answer, message) => {
    hooks.on["/h"] = answer;
    await configure("Validating");
    const refused = await create();
    expect(refused.status).toBe(500);
    expect(refused.body.reason).toBe("InternalError");
    if (typeof message === "string") expect(refused.body.message).toBe(message);
    else expect(refused.body.message).toMatch(message);
    await server.call("DELETE", `${validating}/test`);
    await configure("Validating", { failurePolicy: "Ignore" });
    events.length = 0;
    expect((await create()).status).toBe(201);
    const created = events.find(
      ({ objectRef }) =>
        (objectRef as { resource?: string })?.resource === "configmaps",
    );
    expect(created!.annotations).toMatchObject({
      "failed-open.validating.webhook.admission.k8s.io/round_0_index_0":
        "h.example.com",
    });
  },
);

/** A byte at a time, so that the connection is never idle. */
function trickle(response: ServerResponse): undefined {
  response.writeHead(200, { "content-type": "application/json" });
  const timer = setInterval(() => response.write(" "), 20);
  response.on("close", () => clearInterval(timer));
  return undefined;
}

test.each<[string, WebhookServer["on"][string]]>([
  ["hangs", () => undefined],
  ["answers byte by byte", (_, __, ___, response) => trickle(response)],
])(
  "a webhook that %s is left at its time limit, and nothing else waits",
  async (_, answer) => {
    hooks.on["/h"] = answer;
    await configure("Validating", { timeoutSeconds: 1 });
    const hanging = create();
    const other = await server.call("GET", configMaps);
    expect(other.status).toBe(200);
    const refused = await hanging;
    expect(refused.body.message).toBe(
      `${called}Post "${hooks.https.url}/h?timeout=1s": context deadline exceeded`,
    );
  },
);

test("what can't be called", async () => {
  const { url, caBundle } = hooks.https;
  const textOf = async (clientConfig: object): Promise<string> => {
    await configure("Validating", { clientConfig });
    const { body } = await create();
    await server.call("DELETE", `${validating}/test`);
    return body.message as string;
  };
  expect(await textOf({ url: "https://127.0.0.1:1/x" })).toBe(
    `${called}Post "https://127.0.0.1:1/x?timeout=10s": dial tcp 127.0.0.1:1: connect: connection refused`,
  );
  expect(await textOf({ url: `${url}/h` })).toBe(
    `${called}Post "${url}/h?timeout=10s": tls: failed to verify certificate: x509: certificate signed by unknown authority`,
  );
  expect(
    await textOf({
      url: `${url}/h`,
      caBundle: Buffer.from("junk").toString("base64"),
    }),
  ).toBe(
    `${failed}could not get REST client: unable to load root certificates: unable to parse bytes as PEM block`,
  );
  expect(
    await textOf({
      service: { namespace: "ns", name: "gone", path: "/p" },
      caBundle,
    }),
  ).toBe(
    `${called}Post "https://gone.ns.svc:443/p?timeout=10s": service "gone" not found`,
  );
});

test.each<[string, object[], number, string | RegExp]>([
  [
    "a key that is not there",
    [{ op: "remove", path: "/data/z" }],
    500,
    "Internal error occurred: error in remove for path: '/data/z': Unable to remove nonexistent key: z: missing value",
  ],
  [
    "a parent that is not there",
    [{ op: "add", path: "/x/y/z", value: 1 }],
    500,
    'Internal error occurred: add operation does not apply: doc is missing path: "/x/y/z": missing value',
  ],
  [
    "a test that fails",
    [{ op: "test", path: "/data/a", value: "2" }],
    500,
    "Internal error occurred: testing value /data/a failed: test failed",
  ],
  [
    "no operation",
    [{ op: "frob", path: "/data/a" }],
    500,
    "Internal error occurred: Unexpected kind: frob",
  ],
  [
    "a wrong type",
    [{ op: "add", path: "/data/x", value: 5 }],
    500,
    /^Internal error occurred: json: cannot unmarshal number into Go struct field ConfigMap.data of type string$/,
  ],
  [
    "another kind",
    [{ op: "replace", path: "/kind", value: "Frob" }],
    500,
    'Internal error occurred: no kind "Frob" is registered for version "v1" in scheme "pkg/api/legacyscheme/scheme.go:30"',
  ],
  [
    "another namespace",
    [{ op: "replace", path: "/metadata/namespace", value: "other" }],
    400,
    "the namespace of the provided object does not match the namespace sent on the request",
  ],
  [
    "a version",
    [{ op: "add", path: "/metadata/resourceVersion", value: "7" }],
    500,
    "resourceVersion should not be set on objects to be created",
  ],
  [
    "an invalid label",
    [{ op: "add", path: "/metadata/labels", value: { "a b": "c" } }],
    422,
    /metadata.labels: Invalid value: "a b"/,
  ],
  [
    "deep nesting",
    [
      {
        op: "add",
        path: "/metadata/labels",
        value: JSON.parse("[".repeat(1500) + "]".repeat(1500)) as unknown,
      },
    ],
    500,
    "Internal error occurred: exceeded max depth",
  ],
])("a patch with %s", async (_, operations, status, message) => {
  hooks.on["/h"] = () => patching(...operations);
  // No failure policy covers what a webhook that answers makes of the object.
  await configure("Mutating", { failurePolicy: "Ignore" });
  const refused = await create();
  expect(refused.status).toBe(status);
  if (typeof message === "string") expect(refused.body.message).toBe(message);
  else expect(refused.body.message).toMatch(message);
});

test("patches of other types, and patches of nothing", async () => {
  await configure("Mutating");
  hooks.on["/h"] = () => ({
    ...patching({ op: "add", path: "/data/x", value: "y" }),
    patchType: "MergePatch",
  });
  expect((await create()).body.message).toBe(
    `${failed}unsupported patch type "MergePatch"`,
  );
  hooks.on["/h"] = () => ({ allowed: true, patchType: "JSONPatch" });
  expect((await create()).body.message).toBe(
    `${invalid}webhook returned response.patchType but not response.patch`,
  );
  hooks.on["/h"] = () => ({ allowed: true, patch: "W10=" });
  expect((await create()).body.message).toBe(
    `${invalid}webhook returned response.patch but not response.patchType`,
  );
  hooks.on["/h"] = () => patching();
  expect((await create()).status).toBe(201);
  hooks.on["/h"] = () => patching({ op: "add", path: "/data/x", value: "y" });
  const deleted = await server.call("DELETE", `${configMaps}/a`);
  expect(deleted.body.message).toBe(
    'Internal error occurred: admission webhook "h.example.com" attempted to modify the object, which is not supported for this operation',
  );
});

test("metadata that webhooks may not change stays, or is refused", async () => {
  hooks.on["/h"] = ({ operation }) =>
    operation === "CREATE"
      ? patching(
          { op: "add", path: "/metadata/uid", value: "mine" },
          {
            op: "add",
            path: "/metadata/deletionTimestamp",
            value: "2020-01-01T00:00:00Z",
          },
          {
            op: "replace",
            path: "/metadata/managedFields",
            value: [{ manager: "x", operation: "Frob" }],
          },
        )
      : patching({ op: "replace", path: "/metadata/uid", value: "mine" });
  await configure("Mutating");
  const made = await create();
  expect(made.status).toBe(201);
  expect(made.body.metadata.uid).toMatch(/^[0-9a-f-]{36}$/);
  expect(made.body.metadata).not.toHaveProperty("deletionTimestamp");
  expect(made.body.metadata.managedFields).toHaveLength(1);
  expect(made.headers.get("warning")).toMatch(
    /\.metadata\.managedFields was in an invalid state after admission/,
  );
  const changed = await server.call(
    "PATCH",
    `${configMaps}/a`,
    { data: { b: "1" } },
    { "content-type": "application/merge-patch+json" },
  );
  expect(changed.status).toBe(422);
  expect(changed.body.message).toMatch(
    /metadata\.uid: Invalid value: "mine": field is immutable/,
  );
});

test("audit events say what was called and what it changed", async () => {
  hooks.on["/h"] = () => ({
    ...patching({ op: "add", path: "/data/x", value: "y" }),
    auditAnnotations: { why: "because" },
  });
  await configure("Mutating");
  events.length = 0;
  await create();
  // The event of the configuration may come late.
  const { annotations = {} } = events.find(
    ({ objectRef }) =>
      (objectRef as { resource?: string })?.resource === "configmaps",
  )!;
  const at = "round_0_index_0";
  expect(annotations["h.example.com/why"]).toBe("because");
  expect(annotations[`mutation.webhook.admission.k8s.io/${at}`]).toBe(
    '{"configuration":"test","webhook":"h.example.com","mutated":true}',
  );
  expect(annotations[`patch.webhook.admission.k8s.io/${at}`]).toBe(
    '{"configuration":"test","webhook":"h.example.com","patch":[{"op":"add","path":"/data/x","value":"y"}],"patchType":"JSONPatch"}',
  );
});

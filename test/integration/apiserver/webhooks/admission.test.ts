// Admission webhooks over real HTTPS: what they are asked, in which order, and what comes of their answers. The texts are
// those a kube-apiserver 1.32 gave to the same answers.
import {
  configuration,
  mutating,
  patching,
  validating,
  type WebhookServer,
} from "../../../support/webhooks.ts";
import { eventually } from "../../../support/eventually.ts";
import {
  configMap,
  configMaps,
  type Json,
  type TestServer,
} from "../support.ts";
import { useWebhooks } from "./support.ts";

const setup = useWebhooks();
const { configure } = setup;
let hooks: WebhookServer;
let server: TestServer;
let metrics: typeof setup.metrics;
beforeAll(() => {
  ({ hooks, server, metrics } = setup);
});

const create = (
  name: string,
  more: object = {},
): ReturnType<TestServer["call"]> =>
  server.call("POST", configMaps, { ...configMap(name), ...more });
const requests = (): Json[] => hooks.seen.map(({ request }) => request);
const paths = (): string[] => hooks.seen.map(({ path }) => path);

test("a configuration is in effect for the next request, and no more once it is deleted", async () => {
  hooks.on["/v"] = () => ({ allowed: false });
  await configure("Validating", { "/v": {} });
  expect((await create("a")).status).toBe(400);
  await server.call("DELETE", `${validating}/test`);
  expect((await create("a")).status).toBe(201);
  expect(paths()).toEqual(["/v"]);
});

test("a create is shown as sent to mutating ones, and as it is stored to validating ones", async () => {
  await configure("Mutating", { "/m": {} });
  await configure("Validating", {
    "/v": { admissionReviewVersions: ["v2", "v1beta1", "v1"] },
  });
  await server.call("POST", `${configMaps}?fieldManager=me`, {
    metadata: {
      generateName: "g-",
      uid: "mine",
      creationTimestamp: "2020-01-01T00:00:00Z",
    },
    data: { a: "1" },
  });
  const [first, second] = hooks.seen.map(({ review }) => review);
  expect(first).toMatchObject({
    kind: "AdmissionReview",
    apiVersion: "admission.k8s.io/v1",
  });
  expect(first.request).toMatchObject({
    kind: { group: "", version: "v1", kind: "ConfigMap" },
    resource: { group: "", version: "v1", resource: "configmaps" },
    requestKind: { group: "", version: "v1", kind: "ConfigMap" },
    requestResource: { group: "", version: "v1", resource: "configmaps" },
    namespace: "default",
    operation: "CREATE",
    oldObject: null,
    dryRun: false,
    options: {
      kind: "CreateOptions",
      apiVersion: "meta.k8s.io/v1",
      fieldManager: "me",
    },
  });
  expect(first.request).not.toHaveProperty("name");
  expect(first.request).not.toHaveProperty("subResource");
  expect(first.request.userInfo.username).toBe("system:anonymous");
  expect(first.request.object.metadata).not.toHaveProperty("name");
  expect(first.request.object.metadata.managedFields[0].manager).toBe("me");
  expect(second.apiVersion).toBe("admission.k8s.io/v1beta1");
  const { name, uid } = second.request.object.metadata;
  expect(name).toMatch(/^g-[a-z0-9]{5}$/);
  expect(second.request.name).toBe(name);
  expect(uid).not.toBe("mine");
});

test("updates, patches, applies, deletes and deletes of collections", async () => {
  await configure("Validating", { "/v": {} });
  await create("a");
  hooks.seen.length = 0;
  await server.call("PUT", `${configMaps}/a`, {
    metadata: { name: "a" },
    data: { a: "2" },
  });
  await server.call(
    "PATCH",
    `${configMaps}/a?dryRun=All`,
    { data: { a: "3" } },
    { "content-type": "application/merge-patch+json" },
  );
  await server.call(
    "PATCH",
    `${configMaps}/b?fieldManager=me`,
    { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "b" } },
    { "content-type": "application/apply-patch+yaml" },
  );
  await server.call("DELETE", `${configMaps}/a`, {
    propagationPolicy: "Background",
  });
  await server.call("DELETE", configMaps);
  expect(
    requests().map(
      ({ operation, name, object, oldObject, dryRun, options }) => [
        operation,
        name,
        object?.data?.a ?? null,
        oldObject?.data?.a ?? null,
        dryRun,
        options.kind,
        options.propagationPolicy,
      ],
    ),
  ).toEqual([
    ["UPDATE", "a", "2", null, false, "UpdateOptions", undefined],
    ["UPDATE", "a", "3", "2", true, "UpdateOptions", undefined],
    ["CREATE", "b", null, null, false, "CreateOptions", undefined],
    ["DELETE", "a", null, "2", false, "DeleteOptions", "Background"],
    ["DELETE", undefined, null, null, false, "DeleteOptions", undefined],
  ]);
  expect(requests().at(-1).oldObject.metadata.name).toBe("b");
});

test("mutating ones are called by name, each with what the one before it left; all plug-ins' changes are validated", async () => {
  hooks.on["/one"] = () =>
    patching({ op: "add", path: "/data", value: { by: "one" } });
  hooks.on["/two"] = ({ object }) =>
    patching({
      op: "replace",
      path: "/data/by",
      value: `${object.data.by} two`,
    });
  await configure("Mutating", { "/two": {} }, "b");
  await configure("Mutating", { "/one": {} }, "a");
  await configure("Validating", { "/v": {} });
  const made = await create("a");
  expect(made.body.data).toEqual({ by: "one two" });
  expect(paths()).toEqual(["/one", "/two", "/v"]);
  expect(requests().at(-1).object.data).toEqual({ by: "one two" });
  // A label that no object may have.
  hooks.on["/two"] = () =>
    patching({ op: "add", path: "/metadata/labels", value: { "a b": "c" } });
  expect((await create("b")).status).toBe(422);
});

test("those that ask for it are called once more when another changed the object after them", async () => {
  hooks.on["/first"] = () => ({ allowed: true });
  hooks.on["/second"] = ({ object }) =>
    object.data?.n
      ? { allowed: true }
      : patching({ op: "add", path: "/data", value: { n: "1" } });
  await configure("Mutating", {
    "/first": { reinvocationPolicy: "IfNeeded" },
    "/never": {},
    "/second": { reinvocationPolicy: "IfNeeded" },
  });
  await create("a");
  // The second is not called again: nobody changed the object after it.
  expect(paths()).toEqual(["/first", "/never", "/second", "/first"]);
  hooks.seen.length = 0;
  hooks.on["/second"] = () => ({ allowed: true });
  await create("b");
  expect(paths()).toEqual(["/first", "/never", "/second"]);
});

test("validating ones are called at once, and the first refusal in time is the answer", async () => {
  let arrived = 0;
  const both = new Promise<void>((resolve) => {
    const meet = (): void => {
      if (++arrived === 2) resolve();
    };
    hooks.on["/slow"] = async () => {
      meet();
      await both;
      await eventually(() =>
        counted("quick").some((line) => line.includes("rejection_count")),
      );
      return { allowed: false, status: { message: "slow" } };
    };
    hooks.on["/quick"] = async () => {
      meet();
      await both;
      return { allowed: false, status: { message: "quick" } };
    };
  });
  await configure("Validating", { "/slow": {}, "/quick": {} });
  expect((await create("a")).body.message).toBe(
    'admission webhook "quick.example.com" denied the request: quick',
  );
});

test.each([
  [{}, 400, undefined, " without explanation"],
  [{ message: "no way" }, 400, undefined, ": no way"],
  [
    { reason: "Conflict", code: 409, details: { name: "x" } },
    409,
    "Conflict",
    ": Conflict",
  ],
  [{ status: "Success", code: 200, message: "hm" }, 400, undefined, ": hm"],
])("a refusal of %j", async (status, code, reason, text) => {
  hooks.on["/v"] = () => ({
    allowed: false,
    status,
    warnings: ["careful", ""],
  });
  await configure("Validating", { "/v": {} });
  const refused = await create("a");
  expect([refused.status, refused.body.code, refused.body.reason]).toEqual([
    code,
    code,
    reason,
  ]);
  expect(refused.body.status).toBe("Failure");
  expect(refused.body.message).toBe(
    `admission webhook "v.example.com" denied the request${text}`,
  );
  expect(refused.headers.get("warning")).toBe('299 - "careful"');
});

test("status, scale, bindings, evictions, reviews and connections", async () => {
  const all = {
    rules: [
      {
        apiGroups: ["*"],
        apiVersions: ["*"],
        operations: ["*"],
        resources: ["*/*"],
      },
    ],
  };
  await configure("Validating", { "/v": all });
  const at = "/api/v1/namespaces/default";
  await server.call("POST", `${at}/pods`, {
    metadata: { name: "p" },
    spec: { containers: [{ name: "c", image: "i" }] },
  });
  const apps = "/apis/apps/v1/namespaces/default/deployments";
  const labels = { a: "b" };
  await server.call("POST", apps, {
    metadata: { name: "d" },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers: [{ name: "c", image: "i" }] },
      },
    },
  });
  hooks.seen.length = 0;
  const merge = { "content-type": "application/merge-patch+json" };
  await server.call(
    "PATCH",
    `${at}/pods/p/status`,
    { status: { message: "m" } },
    merge,
  );
  await server.call(
    "PATCH",
    `${apps}/d/scale`,
    { spec: { replicas: 3 } },
    merge,
  );
  await server.call("POST", `${at}/pods/p/binding`, {
    metadata: { name: "p" },
    target: { name: "n" },
  });
  await server.call(
    "GET",
    `${at}/pods/p/exec?command=a&command=b&stdin=true&container=c`,
  );
  await server.call("GET", `${at}/pods/p:80/proxy/x/y?z=1`);
  await server.call("POST", `${at}/pods/p/eviction`, {
    apiVersion: "policy/v1",
    kind: "Eviction",
    metadata: { name: "p" },
  });
  await server.call(
    "PATCH",
    "/api/v1/namespaces/default",
    { metadata: { labels } },
    merge,
  );
  expect(
    requests().map(
      ({ operation, subResource = "", kind, name, namespace }) =>
        `${operation} ${subResource} ${kind.group}/${kind.version} ${kind.kind} ${namespace}/${name}`,
    ),
  ).toEqual([
    "UPDATE status /v1 Pod default/p",
    "UPDATE scale autoscaling/v1 Scale default/d",
    "CREATE binding /v1 Binding default/p",
    "CONNECT exec /v1 PodExecOptions default/p",
    "CONNECT proxy /v1 PodProxyOptions default/p:80",
    // The pod's delete is the eviction's, and no request of its own.
    "CREATE eviction policy/v1 Eviction default/p",
    "UPDATE  /v1 Namespace default/default",
  ]);
  const [, scale, , exec, proxy] = requests();
  expect([scale.object.spec.replicas, scale.oldObject.spec.replicas]).toEqual([
    3, 1,
  ]);
  expect(exec.object).toEqual({
    kind: "PodExecOptions",
    apiVersion: "v1",
    stdin: true,
    container: "c",
    command: ["a", "b"],
  });
  expect(exec.options).toBeNull();
  expect(proxy.object.path).toBe("/x/y");
});

test("a scale can be changed and refused", async () => {
  const rules = [
    {
      apiGroups: ["apps"],
      apiVersions: ["v1"],
      operations: ["UPDATE"],
      resources: ["replicasets/scale"],
    },
  ];
  hooks.on["/m"] = () =>
    patching({ op: "replace", path: "/spec/replicas", value: 7 });
  await configure("Mutating", { "/m": { rules } });
  const at = "/apis/apps/v1/namespaces/default/replicasets";
  const labels = { a: "b" };
  await server.call("POST", at, {
    metadata: { name: "r" },
    spec: {
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers: [{ name: "c", image: "i" }] },
      },
    },
  });
  const merge = { "content-type": "application/merge-patch+json" };
  const scaled = await server.call(
    "PATCH",
    `${at}/r/scale`,
    { spec: { replicas: 2 } },
    merge,
  );
  expect(scaled.body.spec.replicas).toBe(7);
  expect((await server.call("GET", `${at}/r`)).body.spec.replicas).toBe(7);
  await server.call("DELETE", `${at}/r`);
});

test("a rule for another version of the kind is shown the object in it, and its patch is taken in it", async () => {
  const rules = [
    {
      apiGroups: ["autoscaling"],
      apiVersions: ["v1"],
      operations: ["CREATE"],
      resources: ["horizontalpodautoscalers"],
    },
  ];
  hooks.on["/m"] = () =>
    patching({
      op: "add",
      path: "/spec/targetCPUUtilizationPercentage",
      value: 55,
    });
  await configure("Mutating", {
    "/m": { rules },
    "/exact": { rules, matchPolicy: "Exact" },
  });
  const made = await server.call(
    "POST",
    "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers",
    {
      metadata: { name: "h" },
      spec: {
        maxReplicas: 3,
        scaleTargetRef: {
          kind: "Deployment",
          name: "d",
          apiVersion: "apps/v1",
        },
      },
    },
  );
  expect(made.status).toBe(201);
  expect(paths()).toEqual(["/m"]);
  const [request] = requests();
  expect(request.kind).toEqual({
    group: "autoscaling",
    version: "v1",
    kind: "HorizontalPodAutoscaler",
  });
  expect(request.requestKind.version).toBe("v2");
  expect(request.requestResource.version).toBe("v2");
  expect(request.object.apiVersion).toBe("autoscaling/v1");
  expect(made.body.apiVersion).toBe("autoscaling/v2");
  expect(made.body.spec.metrics[0].resource).toEqual({
    name: "cpu",
    target: { type: "Utilization", averageUtilization: 55 },
  });
});

test("dry runs are refused where there may be side effects", async () => {
  await configure("Validating", { "/v": { sideEffects: "NoneOnDryRun" } });
  const dry = await server.call(
    "POST",
    `${configMaps}?dryRun=All`,
    configMap("a"),
  );
  expect(dry.status).toBe(201);
  expect(requests()[0].dryRun).toBe(true);
});

test("configurations themselves are never shown to a webhook", async () => {
  hooks.on["/v"] = () => ({ allowed: false });
  const rules = [
    {
      apiGroups: ["*"],
      apiVersions: ["*"],
      operations: ["*"],
      resources: ["*/*"],
    },
  ];
  await configure("Validating", { "/v": { rules } });
  await configure("Mutating", { "/v": { rules } });
  expect((await server.call("DELETE", `${mutating}/test`)).status).toBe(200);
  expect((await server.call("DELETE", `${validating}/test`)).status).toBe(200);
  expect(hooks.seen).toEqual([]);
});

test("both transports ask the webhooks", async () => {
  hooks.on["/v"] = () => ({ allowed: false, status: { message: "no" } });
  await configure("Validating", { "/v": {} });
  const transport = server.server.transport({
    name: "me",
    groups: [],
    extra: {},
  });
  await expect(
    transport.request({
      verb: "create",
      resource: { group: "", version: "v1", resource: "configmaps" },
      namespace: "default",
      body: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } },
    }),
  ).rejects.toThrow('admission webhook "v.example.com" denied the request: no');
});

/** Of a webhook, without buckets and sums. */
const counted = (webhook: string): string[] =>
  metrics.families().flatMap((family) =>
    [...family.samples()]
      .filter(
        ({ labels, suffix }) =>
          labels["name"] === `${webhook}.example.com` &&
          suffix !== "_bucket" &&
          suffix !== "_sum",
      )
      .map(({ suffix, labels, value }) => {
        const { name: _, ...others } = labels;
        return `${family.name}${suffix} ${Object.values(others).join(" ")} ${value}`;
      }),
  );

test("calls are counted", async () => {
  hooks.on["/counted"] = ({ name }) => ({ allowed: name !== "b" });
  await configure("Validating", { "/counted": {} });
  await create("a");
  await create("b");
  expect(counted("counted")).toEqual([
    "apiserver_admission_webhook_admission_duration_seconds_count validating CREATE false 1",
    "apiserver_admission_webhook_admission_duration_seconds_count validating CREATE true 1",
    "apiserver_admission_webhook_rejection_count validating CREATE no_error 400 1",
    "apiserver_admission_webhook_request_total validating CREATE 200 false 1",
    "apiserver_admission_webhook_request_total validating CREATE 400 true 1",
  ]);
});

describe("match conditions", () => {
  const conditions = (...expressions: string[]): object => ({
    matchConditions: expressions.map((expression, index) => ({
      name: `c${index}`,
      expression,
    })),
  });

  test("what they exclude and what fails in them is counted", async () => {
    const expressions = ["object.data.none == ''", "request.name != 'a'"];
    await configure("Mutating", { "/missed": conditions(...expressions) });
    expect((await create("a")).status).toBe(201);
    expect((await create("b")).status).toBe(403);
    const prefix = "apiserver_admission_match_condition";
    expect(counted("missed")).toEqual([
      `${prefix}_evaluation_errors_total webhook admit CREATE 2`,
      `${prefix}_evaluation_seconds_count webhook admit CREATE 2`,
      `${prefix}_exclusions_total webhook admit CREATE 1`,
    ]);
  });

  test("a webhook is called when all hold", async () => {
    hooks.on["/v"] = () => ({ allowed: false });
    await configure("Validating", {
      "/v": conditions(
        "request.operation == 'CREATE' && request.userInfo.username != ''",
        "object.metadata.name != 'skip-me'",
        "authorizer.group('').resource('configmaps').check('create').allowed()",
      ),
    });
    expect((await create("a")).status).toBe(400);
    expect((await create("skip-me")).status).toBe(201);
    expect(paths()).toEqual(["/v"]);
  });

  test("mutating ones see what those before them left", async () => {
    hooks.on["/one"] = () =>
      patching({ op: "add", path: "/data", value: { x: "1" } });
    await configure("Mutating", {
      "/one": {},
      "/two": conditions("has(object.data) && 'x' in object.data"),
      "/three": conditions("!has(object.data)"),
    });
    await create("a");
    expect(paths()).toEqual(["/one", "/two"]);
  });

  test("those that fail refuse the request or leave the webhook out, unless one is false", async () => {
    const failing = "object.nothing.here == 'x'";
    await configure("Validating", { "/v": conditions(failing) });
    const refused = await create("a");
    expect(refused.status).toBe(403);
    expect(refused.body.message).toBe(
      `configmaps "a" is forbidden: expression '${failing}' resulted in error: no such key: nothing`,
    );
    await server.call("DELETE", validating);
    await configure("Validating", {
      "/v": conditions(failing, "false"),
      "/open": { ...conditions(failing), failurePolicy: "Ignore" },
    });
    expect((await create("a")).status).toBe(201);
    expect(hooks.seen).toEqual([]);
  });

  test("wrong ones are refused with their configuration", async () => {
    const made = await server.call(
      "POST",
      validating,
      configuration("Validating", "test", hooks, {
        "/v": conditions("object.", "'text'", ""),
      }),
    );
    expect(made.status).toBe(422);
    const causes = made.body.details.causes as Json[];
    expect(causes.map(({ field }) => field as string)).toEqual([
      "webhooks[0].matchConditions[0].expression",
      "webhooks[0].matchConditions[1].expression",
      "webhooks[0].matchConditions[2].expression",
    ]);
    expect(causes[0].message).toMatch(/compilation failed: ERROR: <input>:1:8/);
    expect(causes[1].message).toMatch(/must evaluate to bool but got string$/);
  });
});

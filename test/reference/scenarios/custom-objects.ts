// Custom resources: a definition's status and discovery, its objects in every verb, body, patch and form, their validation
// by the schema, subresources, columns, selectable fields and versions.
import { plain } from "../cases.ts";
import type { Json } from "../normalise.ts";
import type { CallOptions, Scenario, Server } from "../scenario.ts";

const group = "ref.example.com";
const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const merge = { "content-type": "application/merge-patch+json" };
const apply = { "content-type": "application/apply-patch+yaml" };

const text = { type: "string" };
const widgetSchema = {
  type: "object",
  properties: {
    spec: {
      type: "object",
      required: ["size"],
      properties: {
        size: { type: "integer", minimum: 1, maximum: 10 },
        colour: { type: "string", enum: ["red", "blue"], default: "red" },
        note: { type: "string", nullable: true, maxLength: 5 },
        port: { "x-kubernetes-int-or-string": true },
        free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
        labels: { type: "object", additionalProperties: text },
        tags: { type: "array", items: text, "x-kubernetes-list-type": "set" },
        parts: {
          type: "array",
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["name"],
          items: {
            type: "object",
            required: ["name"],
            properties: { name: text, count: { type: "integer", default: 1 } },
          },
        },
        replicas: { type: "integer" },
        when: { type: "string", format: "date-time" },
      },
    },
    status: {
      type: "object",
      properties: {
        replicas: { type: "integer" },
        selector: text,
        phase: { type: "string", enum: ["A", "B"] },
      },
    },
  },
};

function definition(
  plural: string,
  kind: string,
  versions: readonly Json[],
  spec: Json = {},
  names: Json = {},
): Json {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { plural, kind, ...names },
      versions,
      ...spec,
    },
  };
}

const version = (name: string, schema: Json, rest: Json = {}): Json => ({
  name,
  served: true,
  storage: true,
  schema: { openAPIV3Schema: schema },
  ...rest,
});

/** Asks until the condition says so. The answer is not compared. */
async function until(
  { call }: Server,
  path: string,
  ready: (body: Json, status: number) => boolean,
): Promise<void> {
  const end = Date.now() + 20_000;
  while (Date.now() < end) {
    const { body, status } = await call("until", "GET", path, { silent: true });
    if (ready(body, status)) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`${path} is not ready`);
}

const established = (body: Json): boolean =>
  Boolean(
    body?.status?.conditions?.some(
      (one: Json) => one.type === "Established" && one.status === "True",
    ),
  );

async function define(server: Server, body: Json): Promise<void> {
  const { name } = body.metadata as { name: string };
  await server.call(`create ${name}`, "POST", definitions, { ...plain, body });
  await until(server, `${definitions}/${name}`, established);
  const { names, versions, scope } = body.spec;
  const served = versions.find((one: Json) => one.served);
  await until(
    server,
    `/apis/${group}/${served.name}/${names.plural}`,
    (_, status) => status === 200,
  );
  void scope;
}

const ofGroup = (body: Json): unknown =>
  (body.items as Json[]).filter(({ metadata }) => metadata.name === group);

export const customObjects: Scenario = {
  name: "custom-objects",
  async run(server) {
    await widgets(server);
    await invalidWidgets(server);
    await patches(server);
    await forms(server);
    await subresources(server);
    await names(server);
    await versions(server);
    await ends(server);
  },
};

const widget = (name: string, spec: Json = { size: 2 }): Json => ({
  apiVersion: `${group}/v1`,
  kind: "Widget",
  metadata: { name },
  spec,
});

async function widgets(server: Server): Promise<void> {
  const { call, namespace } = server;
  await define(
    server,
    definition(
      "widgets",
      "Widget",
      [
        version("v1", widgetSchema, {
          subresources: {
            status: {},
            scale: {
              specReplicasPath: ".spec.replicas",
              statusReplicasPath: ".status.replicas",
              labelSelectorPath: ".status.selector",
            },
          },
          selectableFields: [
            { jsonPath: ".spec.colour" },
            { jsonPath: ".spec.size" },
          ],
          additionalPrinterColumns: [
            { name: "Size", type: "integer", jsonPath: ".spec.size" },
            {
              name: "Colour",
              type: "string",
              jsonPath: ".spec.colour",
              description: "its colour",
              priority: 1,
            },
            { name: "When", type: "date", jsonPath: ".spec.when" },
            {
              name: "First",
              type: "string",
              jsonPath: '.spec.parts[?(@.name=="a")].count',
            },
            { name: "Tags", type: "string", jsonPath: ".spec.tags" },
            { name: "Number", type: "number", jsonPath: ".spec.size" },
            { name: "Bool", type: "boolean", jsonPath: ".spec.size" },
          ],
        }),
      ],
      {},
      { shortNames: ["wd"], categories: ["all", "things"] },
    ),
  );
  await call("definition", "GET", `${definitions}/widgets.${group}`, plain);
  await call("discovery group", "GET", `/apis/${group}`);
  await call("discovery version", "GET", `/apis/${group}/v1`);
  await call("discovery aggregated", "GET", "/apis", {
    headers: {
      accept:
        "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
    },
    lean: true,
    keep: ofGroup,
  });
  const base = `/apis/${group}/v1/namespaces/${namespace}/widgets`;
  await call("list nothing", "GET", base, { lean: true });
  await call("list everywhere", "GET", `/apis/${group}/v1/widgets`);
  await call("get nothing", "GET", `${base}/none`);
  await call("no such version", "GET", `/apis/${group}/v2/widgets`);
  await call("no such resource", "GET", `/apis/${group}/v1/gadgets`);
  await call("no such subresource", "GET", `${base}/none/log`);
  await call("create in no namespace", "POST", `/apis/${group}/v1/widgets`, {
    body: widget("x"),
  });
  await call("create", "POST", base, { ...plain, body: widget("a") });
  await call("create again", "POST", base, { body: widget("a") });
  await call("create with status", "POST", base, {
    ...plain,
    body: { ...widget("b"), status: { phase: "A" } },
  });
  await call("create by prefix", "POST", base, {
    ...plain,
    body: { ...widget("c"), metadata: { generateName: "gen-" } },
    keep: ({ metadata }: Json) =>
      Object.keys((metadata ?? {}) as object).sort(),
  });
  await call("create in another namespace", "POST", base, {
    body: {
      ...widget("d"),
      metadata: { name: "d", namespace: "elsewhere" },
    },
  });
  await call("get", "GET", `${base}/a`, plain);
  await call(
    "list by field",
    "GET",
    `${base}?fieldSelector=spec.colour%3Dred`,
    {
      lean: true,
      keep: ({ kind, items }: Json) => [
        kind,
        ((items ?? []) as Json[])
          .map((item) => [item.kind, item.apiVersion, item.metadata.name])
          .filter(([, , name]) => !(name as string).startsWith("gen-")),
      ],
    },
  );
  await call("list by number", "GET", `${base}?fieldSelector=spec.size%3D7`, {
    lean: true,
    keep: ({ items }: Json) => ((items ?? []) as Json[]).length,
  });
  await call("list by no field", "GET", `${base}?fieldSelector=spec.note%3Dx`);
  await call("put without version", "PUT", `${base}/a`, { body: widget("a") });
  await call("put of none", "PUT", `${base}/none`, { body: widget("none") });
  const { body: live } = await call("live", "GET", `${base}/a`, {
    silent: true,
  });
  await call("put", "PUT", `${base}/a`, {
    ...plain,
    body: { ...live, spec: { size: 3 }, status: { phase: "B" } },
  });
  await call("put stale", "PUT", `${base}/a`, {
    body: { ...live, spec: { size: 4 } },
  });
  await call("put of another name", "PUT", `${base}/a`, {
    body: { ...live, metadata: { ...live.metadata, name: "b" } },
  });
  await call("delete", "DELETE", `${base}/b`, plain);
  await call("delete collection", "DELETE", `${base}?labelSelector=none%3Dx`, {
    lean: true,
  });
}

/** Of an object all that was sent, as text: here null is not the same as absent. */
function withNulls(body: Json): unknown {
  if (!body?.metadata || body.kind === "Status") return plain.keep!(body);
  const { spec, metadata } = body;
  return {
    spec: JSON.stringify(sorted(spec)),
    metadata: Object.keys((metadata ?? {}) as object).sort(),
    fields: Object.keys(body as object).sort(),
  };
}

function sorted(value: Json): Json {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted) as Json;
  return Object.fromEntries(
    Object.keys(value as object)
      .sort()
      .map((key) => [key, sorted(value[key])]),
  );
}

async function invalidWidgets(server: Server): Promise<void> {
  const { call, namespace } = server;
  const base = `/apis/${group}/v1/namespaces/${namespace}/widgets`;
  const bodies: Record<string, Json> = {
    "another kind": { ...widget("x"), kind: "Gadget" },
    "no kind": { ...widget("x"), kind: undefined },
    "another version": { ...widget("x"), apiVersion: `${group}/v2` },
    "another group": { ...widget("x"), apiVersion: "other.example.com/v1" },
    "no apiVersion": { ...widget("x"), apiVersion: undefined },
    "no metadata": { ...widget("x"), metadata: undefined },
    "no name": { ...widget("x"), metadata: {} },
    "bad name": widget("A_b"),
    "bad label": {
      ...widget("x"),
      metadata: { name: "x", labels: { "a b": "c" } },
    },
    "label of a wrong type": {
      ...widget("x"),
      metadata: { name: "x", labels: { a: 1 } },
    },
    "plain finalizers": {
      ...widget("x"),
      metadata: {
        name: "x",
        finalizers: ["plain", "dotted.example.com", "a/b"],
      },
    },
    "unknown fields": {
      ...widget("x", { size: 1, more: 1, parts: [{ name: "a", less: 2 }] }),
      extra: true,
      metadata: { name: "x", unknown: 1 },
    },
    "not an object": "[]",
    "no JSON": "{",
    "a key twice": `{"apiVersion":"${group}/v1","kind":"Widget","metadata":{"name":"x"},"spec":{"size":1,"size":2}}`,
    "no spec": { ...widget("x"), spec: undefined },
    "null spec": { ...widget("x"), spec: null },
    "spec of a wrong type": { ...widget("x"), spec: "x" },
    "no size": widget("x", {}),
    "null size": widget("x", { size: null }),
    "size too small": widget("x", { size: 0 }),
    "size too large": widget("x", { size: 11 }),
    "size as text": widget("x", { size: "1" }),
    "size with a fraction": widget("x", { size: 1.5 }),
    "size as a whole double": `{"apiVersion":"${group}/v1","kind":"Widget","metadata":{"name":"x"},"spec":{"size":1.0}}`,
    "no such colour": widget("x", { size: 1, colour: "green" }),
    "null colour": widget("x", { size: 1, colour: null }),
    "null note": widget("x", { size: 1, note: null }),
    "long note": widget("x", { size: 1, note: "abcdef" }),
    "port as number": widget("x", { size: 1, port: 80 }),
    "port as text": widget("x", { size: 1, port: "http" }),
    "port as boolean": widget("x", { size: 1, port: true }),
    "free fields": widget("x", { size: 1, free: { a: { b: [1, null] } } }),
    labels: widget("x", { size: 1, labels: { a: "b", c: "d" } }),
    "labels of a wrong type": widget("x", { size: 1, labels: { a: 1 } }),
    "tags twice": widget("x", { size: 1, tags: ["a", "b", "a"] }),
    "parts twice": widget("x", {
      size: 1,
      parts: [{ name: "a" }, { name: "a", count: 2 }],
    }),
    "part without a name": widget("x", { size: 1, parts: [{ count: 1 }] }),
    "defaults in parts": widget("x", { size: 1, parts: [{ name: "a" }] }),
    "no date": widget("x", { size: 1, when: "yesterday" }),
    "negative replicas": widget("x", { size: 1, replicas: -1 }),
    "many replicas": widget("x", { size: 1, replicas: 3_000_000_000 }),
  };
  for (const [label, body] of Object.entries(bodies))
    for (const mode of ["Warn", "Strict", "Ignore"])
      await call(
        `${label} (${mode})`,
        "POST",
        `${base}?dryRun=All&fieldValidation=${mode}`,
        {
          body,
          headers: { "content-type": "application/json" },
          lean: true,
          keep: withNulls,
        },
      );
}

/** Without the object that a refusal shows: it has versions inside. */
const short: CallOptions = {
  lean: true,
  keep(body: Json) {
    const kept = plain.keep!(body) as { message?: string };
    return kept.message
      ? { ...kept, message: kept.message.replace(/: ".*": /s, ": <patch>: ") }
      : kept;
  },
};

async function patches(server: Server): Promise<void> {
  const { call, namespace } = server;
  const base = `/apis/${group}/v1/namespaces/${namespace}/widgets`;
  await call("make p", "POST", base, { silent: true, body: widget("p") });
  const at = `${base}/p`;
  const patch = (
    label: string,
    type: string,
    body: Json,
    query = "",
    path = at,
    options: CallOptions = short,
  ) =>
    call(label, "PATCH", `${path}${query}`, {
      ...options,
      body: typeof body === "string" ? body : JSON.stringify(body),
      headers: { "content-type": type },
    });
  const json = "application/json-patch+json";
  await patch("strategic", "application/strategic-merge-patch+json", {});
  await patch("json patch", json, [
    { op: "replace", path: "/spec/size", value: 4 },
  ]);
  await patch("json patch unknown", json, [
    { op: "add", path: "/spec/unknown", value: 4 },
  ]);
  await patch(
    "json patch strict",
    json,
    [{ op: "add", path: "/spec/unknown", value: 4 }],
    "?fieldValidation=Strict",
  );
  await patch("json patch invalid", json, [
    { op: "replace", path: "/spec/size", value: 40 },
  ]);
  await patch("json patch misses", json, [{ op: "remove", path: "/spec/x" }]);
  await patch("merge", merge["content-type"], {
    metadata: { labels: { a: "b" } },
    spec: { note: "n" },
  });
  await patch("merge null", merge["content-type"], { spec: { colour: null } });
  await patch("merge kind", merge["content-type"], { kind: "Other" });
  await patch("merge version", merge["content-type"], {
    apiVersion: `${group}/v2`,
  });
  await patch(
    "merge strict",
    merge["content-type"],
    {
      spec: { unknown: 1 },
      more: 1,
    },
    "?fieldValidation=Strict",
  );
  await patch("merge wrong type", merge["content-type"], { spec: 1 });
  await patch("merge finalizers", merge["content-type"], {
    metadata: { finalizers: ["plain"] },
  });
  await patch("merge no finalizers", merge["content-type"], {
    metadata: { finalizers: null },
  });
  const manager = "?fieldManager=m1";
  const applied = (spec: Json): Json => widget("p", spec);
  await patch(
    "apply",
    apply["content-type"],
    applied({
      size: 5,
      tags: ["a"],
      parts: [{ name: "a", count: 3 }],
      labels: { x: "y" },
    }),
    `${manager}&force=true`,
  );
  await patch(
    "apply by another",
    apply["content-type"],
    applied({ tags: ["b"], parts: [{ name: "b" }] }),
    "?fieldManager=m2",
  );
  await patch(
    "apply conflict",
    apply["content-type"],
    applied({ size: 6, parts: [{ name: "a", count: 9 }] }),
    "?fieldManager=m2",
  );
  await patch(
    "apply less",
    apply["content-type"],
    applied({ size: 5, tags: [] }),
    manager,
  );
  await patch(
    "apply unknown",
    apply["content-type"],
    applied({ size: 5, unknown: 1 }),
    manager,
  );
  await patch(
    "apply wrong type",
    apply["content-type"],
    applied({ size: "x" }),
    manager,
  );
  await patch(
    "apply twice",
    apply["content-type"],
    applied({ size: 5, tags: ["a", "a"] }),
    manager,
  );
  await patch(
    "apply creates",
    apply["content-type"],
    widget("q", { size: 1 }),
    manager,
    `${base}/q`,
  );
  await patch(
    "apply without kind",
    apply["content-type"],
    { metadata: { name: "p" }, spec: { size: 1 } },
    manager,
  );
  await call("managed fields", "GET", at, {
    lean: true,
    keep: ({ metadata }: Json) =>
      ((metadata?.managedFields ?? []) as Json[]).map(
        ({ time: _, ...rest }) => rest as Json,
      ),
  });
}

async function forms(server: Server): Promise<void> {
  const { call, namespace } = server;
  const base = `/apis/${group}/v1/namespaces/${namespace}/widgets`;
  await call("make t", "POST", base, {
    silent: true,
    body: widget("t", {
      size: 7,
      parts: [{ name: "a", count: 5 }],
      tags: ["x", "y"],
      when: "2020-01-02T03:04:05Z",
    }),
  });
  await call("make u", "POST", base, { silent: true, body: widget("u") });
  const noAges = ({ rows, columnDefinitions }: Json): unknown => ({
    columnDefinitions,
    rows: ((rows ?? []) as Json[]).map(({ cells }) =>
      (cells as Json[]).map((cell, index) =>
        index === 3 && cell !== null ? "" : (cell as Json),
      ),
    ),
  });
  const table = "application/json;as=Table;g=meta.k8s.io;v=v1";
  await call("table", "GET", `${base}/t`, {
    headers: { accept: table },
    lean: true,
    keep: noAges,
  });
  await call("table of less", "GET", `${base}/u`, {
    headers: { accept: table },
    lean: true,
    keep: noAges,
  });
  for (const [label, accept] of [
    ["partial", "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"],
    ["yaml", "application/yaml"],
    ["protobuf", "application/vnd.kubernetes.protobuf"],
    [
      "protobuf or json",
      "application/vnd.kubernetes.protobuf,application/json",
    ],
    [
      "partial protobuf",
      "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
    ],
    ["cbor", "application/cbor"],
  ] as const)
    await call(label, "GET", `${base}/u`, {
      headers: { accept },
      keep:
        label === "partial protobuf" || label === "yaml"
          ? () => ""
          : (plain.keep as (body: Json) => unknown),
    });
  await call("protobuf list", "GET", base, {
    headers: { accept: "application/vnd.kubernetes.protobuf" },
  });
  await call("protobuf watch", "GET", `${base}?watch=1&timeoutSeconds=1`, {
    headers: { accept: "application/vnd.kubernetes.protobuf" },
  });
  await call("yaml body", "POST", `${base}?dryRun=All`, {
    ...plain,
    body: `apiVersion: ${group}/v1\nkind: Widget\nmetadata: {name: y}\nspec: {size: 1, more: 2}\n`,
    headers: { "content-type": "application/yaml" },
  });
  // A body in protobuf ends the reference's connection: it has no strict reader for one.
  await call("strange body", "POST", base, {
    body: "x",
    headers: { "content-type": "text/plain" },
  });
}

async function subresources(server: Server): Promise<void> {
  const { call, namespace } = server;
  const base = `/apis/${group}/v1/namespaces/${namespace}/widgets`;
  await call("make s", "POST", base, { silent: true, body: widget("s") });
  const at = `${base}/s`;
  await call("status", "GET", `${at}/status`, plain);
  await call("status of none", "GET", `${base}/none/status`);
  await call("delete status", "DELETE", `${at}/status`);
  await call("create status", "POST", `${at}/status`, { body: widget("s") });
  await call("patch status", "PATCH", `${at}/status`, {
    ...plain,
    body: {
      metadata: { labels: { a: "b" } },
      spec: { size: 9 },
      status: { phase: "A", selector: "a=b", replicas: 1 },
    },
    headers: merge,
  });
  await call("patch status invalid", "PATCH", `${at}/status`, {
    body: { status: { phase: "C" } },
    headers: merge,
  });
  await call("patch status unknown", "PATCH", `${at}/status`, {
    ...plain,
    body: { status: { other: "C" } },
    headers: merge,
  });
  await call("apply status", "PATCH", `${at}/status?fieldManager=s`, {
    ...plain,
    body: { ...widget("s", undefined), status: { phase: "B" } },
    headers: apply,
  });
  await call("scale without replicas", "GET", `${at}/scale`);
  await call("set replicas", "PATCH", at, {
    silent: true,
    body: { spec: { replicas: 2 } },
    headers: merge,
  });
  await call("scale", "GET", `${at}/scale`, plain);
  await call("scale of none", "GET", `${base}/none/scale`);
  await call("patch scale", "PATCH", `${at}/scale`, {
    ...plain,
    body: { spec: { replicas: 3 } },
    headers: merge,
  });
  await call("patch scale invalid", "PATCH", `${at}/scale`, {
    body: { spec: { replicas: -3 } },
    headers: merge,
  });
  await call("put scale", "PUT", `${at}/scale`, {
    ...plain,
    body: {
      apiVersion: "autoscaling/v1",
      kind: "Scale",
      metadata: { name: "s", namespace },
      spec: { replicas: 4 },
    },
  });
  await call("put scale of another kind", "PUT", `${at}/scale`, {
    body: widget("s"),
  });
  await call(
    "apply scale",
    "PATCH",
    `${at}/scale?fieldManager=sc&force=true&dryRun=All`,
    {
      ...plain,
      body: {
        apiVersion: "autoscaling/v1",
        kind: "Scale",
        metadata: { name: "s" },
        spec: { replicas: 5 },
      },
      headers: apply,
    },
  );
  await call("strategic scale", "PATCH", `${at}/scale`, {
    ...plain,
    body: { spec: { replicas: 6 } },
    headers: { "content-type": "application/strategic-merge-patch+json" },
  });
  await call("scaled", "GET", at, plain);
  await call("scaled managed fields", "GET", at, {
    lean: true,
    keep: ({ metadata }: Json) =>
      ((metadata?.managedFields ?? []) as Json[]).map(
        ({ time: _, ...rest }) => rest as Json,
      ),
  });
}

/** Definitions that want the same names. */
async function names(server: Server): Promise<void> {
  const { call } = server;
  await call("same kind", "POST", definitions, {
    ...plain,
    body: definition(
      "wadgets",
      "Widget",
      [version("v1", { type: "object" })],
      {},
      { shortNames: ["wd", "wg"], singular: "widget" },
    ),
  });
  const at = `${definitions}/wadgets.${group}`;
  await until(server, at, ({ status }) => (status.conditions ?? []).length > 0);
  await call("same kind status", "GET", at, plain);
  await call("same kind served", "GET", `/apis/${group}/v1/wadgets`);
  await call("same kind discovery", "GET", `/apis/${group}/v1`);
  await call("delete same kind", "DELETE", at, { silent: true });
  await until(server, at, (_, status) => status === 404);
}

async function versions(server: Server): Promise<void> {
  const { call, namespace } = server;
  const shape = (fields: Json): Json => ({
    type: "object",
    properties: { spec: { type: "object", properties: fields } },
  });
  const both = (stored: string): Json[] => [
    version("v1alpha1", shape({ a: text, old: text }), {
      storage: stored === "v1alpha1",
      deprecated: true,
    }),
    version("v1", shape({ a: text, b: { type: "string", default: "b" } }), {
      storage: stored === "v1",
    }),
    version("v2", shape({ a: text }), {
      storage: false,
      deprecated: true,
      deprecationWarning: "do not",
    }),
  ];
  await define(server, definition("gadgets", "Gadget", both("v1alpha1")));
  const at = (name: string): string =>
    `/apis/${group}/${name}/namespaces/${namespace}/gadgets`;
  await call("versions group", "GET", `/apis/${group}`);
  const gadget = (name: string, spoken: string, spec: Json): Json => ({
    apiVersion: `${group}/${spoken}`,
    kind: "Gadget",
    metadata: { name },
    spec,
  });
  for (const spoken of ["v1alpha1", "v1", "v2"])
    await call(`create in ${spoken}`, "POST", at(spoken), {
      ...plain,
      body: gadget(spoken, spoken, { a: "a", b: "c", old: "o" }),
    });
  for (const spoken of ["v1alpha1", "v1", "v2"])
    for (const name of ["v1alpha1", "v1", "v2"])
      await call(
        `get ${name} in ${spoken}`,
        "GET",
        `${at(spoken)}/${name}`,
        plain,
      );
  const path = `${definitions}/gadgets.${group}`;
  await call("store v1", "PATCH", path, {
    ...plain,
    body: { spec: { versions: both("v1") } },
    headers: merge,
  });
  await new Promise((resolve) => setTimeout(resolve, 500));
  await until(server, at("v1"), (_, status) => status === 200);
  await call("get stored before", "GET", `${at("v1")}/v1alpha1`, plain);
  await call("touch", "PATCH", `${at("v1")}/v1alpha1`, {
    ...plain,
    body: { metadata: { labels: { a: "b" } } },
    headers: merge,
  });
  await call("get stored after", "GET", `${at("v1alpha1")}/v1alpha1`, plain);
  await call("merge in another version", "PATCH", `${at("v2")}/v1`, {
    ...plain,
    body: { spec: { a: "z" } },
    headers: merge,
  });
  await call("get merged", "GET", `${at("v1")}/v1`, plain);
  await call("drop v2", "PATCH", path, {
    ...plain,
    body: { spec: { versions: both("v1").slice(0, 2) } },
    headers: merge,
  });
  await until(server, at("v2"), (_, status) => status === 404);
  await call("v2 is gone", "GET", at("v2"));
  await call("v2 group", "GET", `/apis/${group}`);
  await call("delete gadgets", "DELETE", path, { silent: true });
  await until(server, path, (_, status) => status === 404);
}

async function ends(server: Server): Promise<void> {
  const { call, namespace } = server;
  const base = `/apis/${group}/v1/namespaces/${namespace}/widgets`;
  const path = `${definitions}/widgets.${group}`;
  await call("hold", "PATCH", `${base}/s`, {
    silent: true,
    body: { metadata: { finalizers: ["example.com/hold"] } },
    headers: merge,
  });
  await call("delete definition", "DELETE", path, plain);
  await until(server, base, ({ items }) => items.length === 1);
  await call("create while ending", "POST", base, { body: widget("late") });
  await call("patch while ending", "PATCH", `${base}/s`, {
    ...plain,
    body: { spec: { size: 1 } },
    headers: merge,
  });
  await call("discovery while ending", "GET", `/apis/${group}/v1`);
  await call("ending", "GET", path, plain);
  await call("let go", "PATCH", `${base}/s`, {
    silent: true,
    body: { metadata: { finalizers: null } },
    headers: merge,
  });
  await until(server, path, (_, status) => status === 404);
  await until(server, `/apis/${group}`, (_, status) => status === 404);
  await call("list after the end", "GET", base);
  await call("discovery after the end", "GET", `/apis/${group}/v1`);
}

// Server-side apply: who owns what after each step, conflicts with their texts, lists of every type, what is refused.
import type { Scenario } from "../scenario.ts";
import { container, keeping, managedFields, send } from "./patching.ts";

/** Applied to a new name each; the whole answer but for metadata's usual fields is compared. */
const refused: Record<string, unknown> = {
  nothing: "",
  "a text": '"x"',
  "a number": "1",
  "a list": [],
  null: "null",
  "two documents":
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: NAME}\n---\na: b\n",
  empty: {},
  "no kind": { apiVersion: "v1", metadata: { name: "NAME" } },
  "no apiVersion": { kind: "ConfigMap", metadata: { name: "NAME" } },
  "an empty kind": { apiVersion: "v1", kind: "", metadata: { name: "NAME" } },
  "another kind": {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "NAME" },
  },
  "a kind that is none": {
    apiVersion: "v1",
    kind: "Nothing",
    metadata: { name: "NAME" },
  },
  "a kind that is a number": {
    apiVersion: "v1",
    kind: 1,
    metadata: { name: "NAME" },
  },
  "another version": {
    apiVersion: "v2",
    kind: "ConfigMap",
    metadata: { name: "NAME" },
  },
  "another group": {
    apiVersion: "apps/v1",
    kind: "ConfigMap",
    metadata: { name: "NAME" },
  },
  "three parts of a version": {
    apiVersion: "a/b/c",
    kind: "ConfigMap",
    metadata: { name: "NAME" },
  },
  "no metadata": { apiVersion: "v1", kind: "ConfigMap" },
  "no name": { apiVersion: "v1", kind: "ConfigMap", metadata: {} },
  "an empty name": {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "" },
  },
  "another name": {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "other" },
  },
  "a generated name": {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { generateName: "gen-" },
  },
  "another namespace": {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "NAME", namespace: "other" },
  },
  "a uid": {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "NAME", uid: "x" },
  },
  "a resourceVersion": {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "NAME", resourceVersion: "1" },
  },
  managedFields: {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "NAME", managedFields: [{ manager: "x" }] },
  },
  "empty managedFields": {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "NAME", managedFields: [] },
  },
  "managedFields null": {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "NAME", managedFields: null },
  },
  "a status": {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "NAME" },
    status: {},
  },
  "unknown fields": {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "NAME", foo: 1 },
    data: { a: "b" },
  },
  "data is a list": {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "NAME" },
    data: ["a"],
  },
  "data is text": {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "NAME" },
    data: "a",
  },
  "data of a number": {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "NAME" },
    data: { a: 1 },
  },
  "data of a map": {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "NAME" },
    data: { a: { b: "c" } },
  },
  "immutable as text": {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "NAME" },
    immutable: "x",
  },
  "bad base64": {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "NAME" },
    binaryData: { a: "!" },
  },
  "a bad key": {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "NAME" },
    data: { "a b": "c" },
  },
  "a bad label": {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "NAME", labels: { "a b": "c" } },
  },
  "finalizers twice": {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "NAME", finalizers: ["example.com/a", "example.com/a"] },
  },
  "finalizers with null": {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "NAME", finalizers: [null] },
  },
  "owners without uid": {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: {
      name: "NAME",
      ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "p" }],
    },
  },
  "owners twice": {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: {
      name: "NAME",
      ownerReferences: [
        { apiVersion: "v1", kind: "Pod", name: "p", uid: "u" },
        { apiVersion: "v1", kind: "Pod", name: "q", uid: "u" },
      ],
    },
  },
  "keys twice":
    "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: NAME\ndata:\n  a: b\n  a: c\n",
  "keys twice in JSON":
    '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"NAME"},"data":{"a":"b","a":"c"}}',
  "an octal number for text":
    "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: NAME\ndata:\n  b: 014\n",
  anchors:
    "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: NAME\ndata: &d\n  a: b\nbinaryData: *d\n",
  "a null key": {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "NAME", labels: null, annotations: { a: null } },
    data: { a: null, b: "c" },
  },
  "empty maps": {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "NAME", labels: {}, annotations: {}, finalizers: [] },
    data: {},
  },
  "data null": {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "NAME" },
    data: null,
  },
};

/** The same for a Pod's template. */
const pods: Record<string, object> = {
  "two containers of a name": { containers: [container("a"), container("a")] },
  "a container without name": { containers: [{ image: "x" }] },
  "a container that is text": { containers: ["a"] },
  "a container that is null": { containers: [null] },
  "containers as a map": { containers: { name: "a" } },
  "containers as text": { containers: "a" },
  "containers empty": { containers: [] },
  "containers null": { containers: null },
  "an unknown field": { containers: [container("a", { imag: "x" })] },
  "ports twice": {
    containers: [
      container("a", { ports: [{ containerPort: 80 }, { containerPort: 80 }] }),
    ],
  },
  "ports of two protocols": {
    containers: [
      container("a", {
        ports: [{ containerPort: 80 }, { containerPort: 80, protocol: "UDP" }],
      }),
    ],
  },
  "a port without number": {
    containers: [container("a", { ports: [{ protocol: "TCP" }] })],
  },
  "a port of text": {
    containers: [container("a", { ports: [{ containerPort: "x" }] })],
  },
  "environment twice": {
    containers: [
      container("a", {
        env: [
          { name: "A", value: "1" },
          { name: "A", value: "2" },
        ],
      }),
    ],
  },
  "a quantity as a number": {
    containers: [
      container("a", { resources: { limits: { cpu: 1, memory: "1.5Gi" } } }),
    ],
  },
  "a bad quantity": {
    containers: [container("a", { resources: { limits: { cpu: "x" } } })],
  },
  "a fraction": { containers: [container("a")], priority: 1.5 },
  "text for a number": { containers: [container("a")], priority: "1" },
  "a huge number": {
    containers: [container("a")],
    // eslint-disable-next-line no-loss-of-precision -- one more than a double can count to
    terminationGracePeriodSeconds: 9007199254740993,
  },
  "topology constraints twice": {
    containers: [container("a")],
    topologySpreadConstraints: [1, 2].map((maxSkew) => ({
      maxSkew,
      topologyKey: "z",
      whenUnsatisfiable: "DoNotSchedule",
      labelSelector: { matchLabels: { a: "b" } },
    })),
  },
  "host aliases twice": {
    containers: [container("a")],
    hostAliases: [
      { ip: "10.0.0.1", hostnames: ["a"] },
      { ip: "10.0.0.1", hostnames: ["b"] },
    ],
  },
  "tolerations twice": {
    containers: [container("a")],
    tolerations: [{ operator: "Exists" }, { operator: "Exists" }],
  },
};

const configMap = (name: string, more: object = {}) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name },
  ...more,
});

export const apply: Scenario = {
  name: "apply",
  async run(server) {
    const { namespace, call } = server;
    const all = `/api/v1/namespaces/${namespace}/configmaps`;
    const whole = {
      keep: keeping(({ metadata, ...object }) => ({
        ...object,
        labels: metadata?.labels,
        annotations: metadata?.annotations,
        finalizers: metadata?.finalizers,
        managedFields: managedFields({ metadata }),
      })),
    };
    const owners = { keep: managedFields };
    let count = 0;
    for (const [label, content] of Object.entries(refused)) {
      const name = `new-${++count}`;
      const text = (
        typeof content === "string" ? content : JSON.stringify(content)
      ).replaceAll("NAME", name);
      for (const validation of /twice|unknown/.test(label)
        ? ["Warn", "Strict", "Ignore"]
        : ["Warn"])
        await send(
          server,
          `${label}${validation === "Warn" ? "" : `, ${validation}`}`,
          "apply",
          `${all}/${name}?fieldManager=m&dryRun=All&fieldValidation=${validation}`,
          text,
          whole,
        );
    }
    const apps = `/apis/apps/v1/namespaces/${namespace}/deployments`;
    const brief = {
      keep: keeping(({ metadata }) => managedFields({ metadata })),
    };
    for (const [label, spec] of Object.entries(pods)) {
      const name = `new-${++count}`;
      await send(
        server,
        `Deployment: ${label}`,
        "apply",
        `${apps}/${name}?fieldManager=m&dryRun=All`,
        {
          apiVersion: "apps/v1",
          kind: "Deployment",
          metadata: { name },
          spec: {
            selector: { matchLabels: { a: "b" } },
            template: { metadata: { labels: { a: "b" } }, spec },
          },
        },
        brief,
      );
    }

    const a = `${all}/a?fieldManager`;
    const one = (data: object, meta: object = {}) => ({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "a", ...meta },
      data,
    });
    const step = (
      label: string,
      manager: string,
      content: unknown,
      options = whole,
    ) => send(server, label, "apply", `${a}=${manager}`, content, options);
    await step("create", "m1", one({ x: "1", y: "1" }));
    await step("the same again", "m1", one({ x: "1", y: "1" }));
    await step("another manager, another key", "m2", one({ z: "1" }));
    await step("another manager, the same value", "m3", one({ x: "1" }));
    await step("a conflict", "m2", one({ x: "2", z: "1" }));
    await step("two conflicts", "m4", one({ x: "2", z: "2" }));
    await step("forced", "m4&force=true", one({ x: "2", z: "2" }));
    await step("what was lost is free to apply", "m4", one({ x: "3" }));
    await step("the first no more wants x", "m1", one({ y: "1" }));
    await step("nothing wanted", "m1", configMap("a"));
    await step("data wanted empty", "m1", one({}));
    await step("data wanted empty again", "m1", one({}));
    await step("labels of one", "m1", one({}, { labels: { l: "1" } }));
    await step("labels of two", "m2", one({}, { labels: { l: "1", k: "1" } }));
    await step("labels of one go", "m1", configMap("a"));
    await step("labels of two go", "m2", configMap("a"));
    await send(
      server,
      "changed by another",
      "merge",
      `${a}=editor`,
      { data: { x: "9", w: "9" } },
      whole,
    );
    await step("conflict with an editor", "m4", one({ x: "3" }));
    await step("sharing with an editor", "m5", one({ x: "9", w: "9" }));
    await send(
      server,
      "an editor takes away",
      "merge",
      `${a}=editor`,
      { data: { w: null } },
      whole,
    );
    await step("set null", "m5", one({ x: null, w: "9" } as object));
    await step(
      "finalizers of one",
      "m1",
      one({}, { finalizers: ["example.com/a"] }),
    );
    await step(
      "finalizers of two",
      "m2",
      one({}, { finalizers: ["example.com/b"] }),
    );
    await step(
      "finalizers of one in another order",
      "m1",
      one({}, { finalizers: ["example.com/c", "example.com/a"] }),
    );
    await step("finalizers of one go", "m1", configMap("a"));
    await step("finalizers of two go", "m2", configMap("a"));
    await step(
      "with a stale version",
      "m1",
      one({ q: "1" }, { resourceVersion: "1" }),
    );
    await step(
      "with a bad version",
      "m1",
      one({ q: "1" }, { resourceVersion: "x" }),
    );
    await step(
      "with version 0",
      "m1",
      one({ q: "1" }, { resourceVersion: "0" }),
    );
    await step("with another uid", "m1", one({ q: "1" }, { uid: "x" }));
    await step(
      "with a time of creation",
      "m1",
      one({ q: "1" }, { creationTimestamp: "2020-01-01T00:00:00Z" }),
    );
    await step("with a generation", "m1", one({ q: "1" }, { generation: 7 }));
    await step("dry run", "m1&dryRun=All", one({ q: "2" }));
    await call("after the dry run", "GET", `${all}/a`, whole);
    await step("no manager", "", one({ q: "2" }));
    await step("force is no bool", "m1&force=x", one({ q: "2" }));
    await step("a long manager", "x".repeat(129), one({ q: "2" }));
    await call("as JSON", "PATCH", `${a}=m1`, {
      body: one({ q: "2" }),
      headers: { "content-type": "application/apply-patch+json" },
    });

    const put = (label: string, object: object, query = "fieldManager=p") =>
      call(label, "PUT", `${all}/a?${query}`, { body: object, ...whole });
    await put("put without managedFields", one({ x: "1", q: "1" }));
    await put(
      "put with no managedFields at all",
      one({ x: "1" }, { managedFields: [] }),
    );
    await step("applied after a reset", "m1", one({ x: "2", y: "1" }));
    await step(
      "applied after a reset, forced",
      "m1&force=true",
      one({ x: "2", y: "1" }),
    );
    await put(
      "put with an empty entry",
      one({ x: "2", y: "1" }, { managedFields: [{}] }),
    );
    await put("put after the reset", one({ x: "3", y: "1" }));
    for (const [label, entries] of Object.entries({
      "two empty entries": [{}, {}],
      "no operation": [
        {
          manager: "x",
          apiVersion: "v1",
          fieldsType: "FieldsV1",
          fieldsV1: { "f:data": {} },
        },
      ],
      "a bad operation": [
        {
          manager: "x",
          operation: "Frob",
          apiVersion: "v1",
          fieldsType: "FieldsV1",
          fieldsV1: { "f:data": {} },
        },
      ],
      "no fieldsType": [
        {
          manager: "x",
          operation: "Update",
          apiVersion: "v1",
          fieldsV1: { "f:data": {} },
        },
      ],
      "a bad fieldsType": [
        {
          manager: "x",
          operation: "Update",
          apiVersion: "v1",
          fieldsType: "FieldsV2",
          fieldsV1: { "f:data": {} },
        },
      ],
      "no fields": [
        {
          manager: "x",
          operation: "Update",
          apiVersion: "v1",
          fieldsType: "FieldsV1",
        },
      ],
      "empty fields": [
        {
          manager: "x",
          operation: "Update",
          apiVersion: "v1",
          fieldsType: "FieldsV1",
          fieldsV1: {},
        },
      ],
      "bad fields": [
        {
          manager: "x",
          operation: "Update",
          apiVersion: "v1",
          fieldsType: "FieldsV1",
          fieldsV1: { data: {} },
        },
      ],
      "fields of a list": [
        {
          manager: "x",
          operation: "Update",
          apiVersion: "v1",
          fieldsType: "FieldsV1",
          fieldsV1: [],
        },
      ],
      "no version": [
        {
          manager: "x",
          operation: "Update",
          fieldsType: "FieldsV1",
          fieldsV1: { "f:data": {} },
        },
      ],
      "another version": [
        {
          manager: "x",
          operation: "Update",
          apiVersion: "apps/v9",
          fieldsType: "FieldsV1",
          fieldsV1: { "f:data": {} },
        },
      ],
      "a long manager": [
        {
          manager: "x".repeat(129),
          operation: "Update",
          apiVersion: "v1",
          fieldsType: "FieldsV1",
          fieldsV1: { "f:data": {} },
        },
      ],
      "a bad manager": [
        {
          manager: "a\nb",
          operation: "Update",
          apiVersion: "v1",
          fieldsType: "FieldsV1",
          fieldsV1: { "f:data": {} },
        },
      ],
      "a long subresource": [
        {
          manager: "x",
          operation: "Update",
          apiVersion: "v1",
          subresource: "x".repeat(257),
          fieldsType: "FieldsV1",
          fieldsV1: { "f:data": {} },
        },
      ],
      "of its own": [
        {
          manager: "own",
          operation: "Apply",
          apiVersion: "v1",
          time: "2020-01-01T00:00:00Z",
          fieldsType: "FieldsV1",
          fieldsV1: { "f:data": { "f:x": {} } },
        },
      ],
      "two of one manager": [1, 2].map((n) => ({
        manager: "own",
        operation: "Apply",
        apiVersion: "v1",
        fieldsType: "FieldsV1",
        fieldsV1: { "f:data": { [`f:${n}`]: {} } },
      })),
    }))
      await call(
        `managedFields with ${label}`,
        "PUT",
        `${all}/a?fieldManager=p&dryRun=All`,
        {
          body: one({ x: "3", y: "2" }, { managedFields: entries }),
          ...whole,
        },
      );

    await call(
      "client-side applied",
      "POST",
      `${all}?fieldManager=kubectl-client-side-apply`,
      {
        body: {
          metadata: {
            name: "c",
            annotations: {
              "kubectl.kubernetes.io/last-applied-configuration":
                JSON.stringify({
                  apiVersion: "v1",
                  kind: "ConfigMap",
                  metadata: { name: "c" },
                  data: { x: "1", y: "1" },
                }),
            },
          },
          data: { x: "1", y: "1", z: "1" },
        },
        ...owners,
      },
    );
    for (const [label, manager, data] of [
      ["the same by another", "other", { x: "1" }],
      ["changed by another", "other", { x: "2" }],
      ["changed by kubectl", "kubectl", { x: "2" }],
      ["what was not applied, by kubectl", "kubectl", { x: "2", z: "2" }],
    ] as const)
      await send(
        server,
        `client-side applied: ${label}`,
        "apply",
        `${all}/c?fieldManager=${manager}`,
        configMap("c", { data }),
        whole,
      );

    for (let n = 1; n <= 13; n++)
      await send(
        server,
        `updater ${n}`,
        "merge",
        `${all}/a?fieldManager=updater-${String(n).padStart(2, "0")}`,
        { data: { [`u${n}`]: "1" } },
        n < 10 ? { silent: true } : owners,
      );
  },
};

// Merge patches: nulls, lists, whole objects, bodies that are no objects, and the rules of all patches: what may not
// change, field managers, content types, subresources, patches that change nothing.
import type { Scenario } from "../scenario.ts";
import { deployment, keeping, mediaTypes, send } from "./patching.ts";

/** Against a ConfigMap with data a and b, two labels and two finalizers; each a dry run. */
const patches: Record<string, unknown> = {
  empty: {},
  "a key": { data: { n: "v" } },
  "a key goes": { data: { a: null } },
  "a key that is not there goes": { data: { none: null } },
  "all keys go": { data: { a: null, b: null } },
  "a map goes": { data: null },
  "an empty map": { data: {} },
  "a list": { metadata: { finalizers: ["example.com/c"] } },
  "an empty list": { metadata: { finalizers: [] } },
  "a list with null": { metadata: { finalizers: [null] } },
  "a list goes": { metadata: { finalizers: null } },
  "a list where a map belongs": { data: ["a"] },
  "a map where a list belongs": { metadata: { finalizers: { a: "b" } } },
  "text where a map belongs": { data: "a" },
  "a number where text belongs": { data: { a: 1 } },
  "true where text belongs": { data: { a: true } },
  "text where a bool belongs": { immutable: "true" },
  "bad base64": { binaryData: { a: "x" } },
  "nulls in a new map": { binaryData: { a: null, b: "dg==" } },
  "an unknown field": { foo: { bar: 1 } },
  "unknown fields in metadata": { metadata: { foo: 1, labels: { x: "y" } } },
  "another name": { metadata: { name: "b" } },
  "the same name": { metadata: { name: "a" } },
  "no name": { metadata: { name: null } },
  "another namespace": { metadata: { namespace: "b" } },
  "another uid": { metadata: { uid: "b" } },
  "no uid": { metadata: { uid: null } },
  "another version": { metadata: { resourceVersion: "1" } },
  "a version that is none": { metadata: { resourceVersion: "x" } },
  "version 0": { metadata: { resourceVersion: "0" } },
  "no version": { metadata: { resourceVersion: null } },
  "an empty version": { metadata: { resourceVersion: "" } },
  "a generation": { metadata: { generation: 7 } },
  "a selfLink": { metadata: { selfLink: "/x" } },
  "another kind": { kind: "Pod" },
  "a kind that is none": { kind: "Nothing" },
  "no kind": { kind: null },
  "another apiVersion": { apiVersion: "apps/v1" },
  "no apiVersion": { apiVersion: null },
  "no metadata": { metadata: null },
  "metadata is a list": { metadata: [] },
  "a bad label": { metadata: { labels: { "a b": "c" } } },
  "a bad owner": { metadata: { ownerReferences: [{ name: "x" }] } },
  "an owner twice": {
    metadata: {
      ownerReferences: [
        { apiVersion: "v1", kind: "Pod", name: "x", uid: "1" },
        { apiVersion: "v1", kind: "Pod", name: "x", uid: "1" },
      ],
    },
  },
  "a key in capitals": { Data: { n: "v" } },
  "a list of an object": [{ data: { n: "v" } }],
  "an empty list as the patch": [],
  "a text": '"a"',
  "a number": "1",
  true: "true",
  null: "null",
  nothing: "",
  "no JSON": "{",
  "an open text": '{"data":{"a":"b',
  "a bad escape": '{"data":{"a":"\\x"}}',
  "a control character": '{"data":{"a":"\t"}}',
  "a lone surrogate": '{"data":{"a":"\\ud800"}}',
  "a comma too many": '{"data":{"a":"b",}}',
  "two values": "{}{}",
  "a comment": "{/**/}",
  YAML: "data:\n  a: b\n",
  "keys twice": '{"data":{"a":"1","a":"2"},"data":{"b":"3"}}',
  "unknown and twice": '{"foo":1,"data":{"a":"1","a":"2"},"bar":1}',
};

export const mergePatch: Scenario = {
  name: "merge-patch",
  async run(server) {
    const { namespace, call } = server;
    const all = `/api/v1/namespaces/${namespace}/configmaps`;
    await call("the ConfigMap", "POST", all, {
      silent: true,
      body: {
        metadata: {
          name: "a",
          labels: { x: "1", y: "2" },
          finalizers: ["example.com/a", "example.com/b"],
        },
        data: { a: "1", b: "2" },
      },
    });
    const brief = keeping(({ kind, metadata, ...object }) => ({
      ...object,
      kind,
      labels: metadata.labels,
      finalizers: metadata.finalizers,
      owners: metadata.ownerReferences?.length,
      generation: metadata.generation,
      selfLink: metadata.selfLink,
    }));
    const keep = { keep: brief };
    for (const [label, patch] of Object.entries(patches))
      await send(server, label, "merge", `${all}/a?dryRun=All`, patch, keep);
    for (const validation of ["Strict", "Ignore"])
      for (const label of [
        "empty",
        "an unknown field",
        "no JSON",
        "a list of an object",
        "null",
        "keys twice",
        "unknown and twice",
        "a key in capitals",
        "a number where text belongs",
      ])
        await send(
          server,
          `${label}, ${validation}`,
          "merge",
          `${all}/a?dryRun=All&fieldValidation=${validation}`,
          patches[label],
          keep,
        );
    await send(server, "of what is not there", "merge", `${all}/none`, {});
    await send(
      server,
      "bad, of what is not there",
      "merge",
      `${all}/none`,
      "{",
    );

    for (const type of [
      "application/json",
      "application/merge-patch+json; charset=utf-8",
      "application/merge-patch+json;charset=utf-8",
      "application/merge-patch+json ;charset=utf-8",
      "Application/Merge-Patch+JSON",
      "application/merge-patch+json,application/json",
      "application/apply-patch+cbor",
      "application/merge-patch+yaml",
      "text/plain",
      ";",
      "",
    ])
      await call(`content type ${JSON.stringify(type)}`, "PATCH", `${all}/a`, {
        body: "{}",
        headers: { "content-type": type },
        ...keep,
      });
    await call("no content type", "PATCH", `${all}/a`, { body: "{}", ...keep });

    const options: Record<string, string> = {
      "force=true": "",
      "force=false": "",
      "force=": "",
      "force=x": "",
      "fieldManager=": "",
      "fieldManager=a%0Ab": "",
      "fieldManager=a%7Fb%C2%A0c": "",
      "fieldManager=%E2%82%AC": "",
      "fieldManager=%FF": "",
      [`fieldManager=${"x".repeat(128)}`]: "",
      [`fieldManager=${"x".repeat(129)}`]: "",
      "fieldManager=a&fieldManager=b": "",
      "fieldValidation=": "",
      "fieldValidation=strict": "",
      "fieldValidation=Other": "",
      "fieldValidation=Strict&fieldValidation=Ignore": "",
      "dryRun=Some": "",
      "dryRun=All&dryRun=All": "",
      "dryRun=All&dryRun=Some": "",
      "dryRun=true&fieldValidation=x&fieldManager=a%0Ab&force=true": "",
      "pretty=true": "",
      "unknown=1": "",
    };
    for (const query of Object.keys(options))
      for (const [verb, format] of [
        ["PATCH", "merge"],
        ["PATCH", "apply"],
        ["PUT", undefined],
        ["POST", undefined],
      ] as const)
        await call(
          `${verb} ${format ?? ""} with ${query.length > 100 ? query.length : query}`,
          verb,
          `${all}${verb === "POST" ? "" : "/a"}?${query}${/dryRun/.test(query) ? "" : "&dryRun=All"}`,
          {
            body: JSON.stringify({
              apiVersion: "v1",
              kind: "ConfigMap",
              metadata: { name: verb === "POST" ? "new" : "a" },
            }),
            headers: {
              "content-type": format ? mediaTypes[format] : "application/json",
            },
            keep: keeping(() => undefined),
          },
        );

    const managers = keeping(({ metadata }) =>
      (metadata?.managedFields as Record<string, string>[] | undefined)
        ?.map(({ manager, operation }) => `${manager} ${operation}`)
        .sort(),
    );
    for (const agent of [
      "kubectl/v1.32 (linux) x",
      "curl",
      "/x",
      "",
      "a b/c",
      "x".repeat(200),
      `${"é".repeat(100)}/1`,
      "tab\there",
    ])
      await send(
        server,
        `from ${JSON.stringify(agent.length > 100 ? `${agent.slice(0, 9)}…${agent.length}` : agent)}`,
        "merge",
        `${all}/a?dryRun=All`,
        { data: { z: "z" } },
        {
          headers: { "user-agent": Buffer.from(agent).toString("latin1") },
          keep: managers,
        },
      );

    const apps = `/apis/apps/v1/namespaces/${namespace}/deployments`;
    await call("the Deployment", "POST", apps, {
      silent: true,
      body: deployment("d"),
    });
    const shown = keeping(({ kind, metadata, spec, status }) => ({
      kind,
      generation: metadata.generation,
      labels: metadata.labels,
      replicas: spec?.replicas,
      paused: spec?.paused,
      status,
    }));
    for (const [sub, patch] of [
      ["", { spec: { paused: true }, status: { replicas: 9 } }],
      ["", { metadata: { labels: { app: "a" } } }],
      ["", { spec: { replicas: null } }],
      ["", { spec: { replicas: 2 } }],
      ["", { spec: { replicas: -1 } }],
      ["/status", { spec: { paused: false }, status: { replicas: 3 } }],
      ["/status", { status: null }],
      ["/status", { status: { replicas: "x" } }],
      ["/status", { metadata: { labels: { s: "t" }, finalizers: [] } }],
      ["/scale", { spec: { replicas: 5 } }],
      ["/scale", { spec: { replicas: -5 } }],
      ["/scale", { spec: { replicas: "x" } }],
      ["/scale", { spec: { replicas: null } }],
      ["/scale", { spec: null }],
      ["/scale", { spec: { foo: 1 } }],
      ["/scale", { status: { replicas: 99, selector: "x=y" } }],
      ["/scale", { metadata: { name: "x" } }],
      ["/scale", { metadata: { resourceVersion: "1" } }],
      ["/scale", { metadata: { uid: "x" } }],
      ["/scale", { metadata: { labels: { z: "z" } } }],
      ["/nothing", {}],
    ] as const)
      for (const format of ["merge", "strategic"] as const)
        await send(
          server,
          `${format} patch of ${sub || "the whole"} with ${JSON.stringify(patch)}`,
          format,
          `${apps}/d${sub}`,
          patch,
          { keep: shown },
        );
    await send(
      server,
      "scale of what is not there",
      "merge",
      `${apps}/none/scale`,
      {},
    );
    await send(
      server,
      "scale by JSON patch",
      "json",
      `${apps}/d/scale`,
      [{ op: "replace", path: "/spec/replicas", value: 4 }],
      { keep: shown },
    );
    await send(
      server,
      "scale by a JSON patch that does not fit",
      "json",
      `${apps}/d/scale`,
      [{ op: "test", path: "/spec/replicas", value: 0 }],
      { keep: shown },
    );
  },
};

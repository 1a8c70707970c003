// JSON patches: each operation, pointers of every shape, what does not fit, what is no patch.
import type { Scenario } from "../scenario.ts";
import { deployment, keeping, send } from "./patching.ts";

const data = {
  a: "1",
  "a.b": "2",
  "-": "dash",
  "0": "zero",
};

/** Against a ConfigMap with that data and two finalizers; each a dry run. */
const patches: Record<string, unknown> = {
  empty: [],
  "add a key": [{ op: "add", path: "/data/n", value: "v" }],
  "add over a key": [{ op: "add", path: "/data/a", value: "v" }],
  "add below what is missing": [
    { op: "add", path: "/binaryData/n", value: "dg==" },
  ],
  "add an object": [{ op: "add", path: "/binaryData", value: { n: "dg==" } }],
  "add without value": [{ op: "add", path: "/data/n" }],
  "add null": [{ op: "add", path: "/data/n", value: null }],
  "add a number where text belongs": [{ op: "add", path: "/data/n", value: 1 }],
  "add an unknown field": [{ op: "add", path: "/foo", value: 1 }],
  "add the whole": [
    { op: "add", path: "", value: { metadata: { name: "a" }, data: {} } },
  ],
  "replace the whole": [
    { op: "replace", path: "", value: { metadata: { name: "a" } } },
  ],
  "remove the whole": [{ op: "remove", path: "" }],
  "test the whole": [{ op: "test", path: "", value: {} }],
  "replace the whole by a list": [{ op: "replace", path: "", value: [] }],
  "replace the whole by null": [{ op: "replace", path: "", value: null }],
  "remove a key": [{ op: "remove", path: "/data/a" }],
  "remove what is missing": [{ op: "remove", path: "/data/none" }],
  "remove below what is missing": [{ op: "remove", path: "/none/none" }],
  "remove a key with escapes": [{ op: "remove", path: "/data/a.b" }],
  "replace a key": [{ op: "replace", path: "/data/a", value: "v" }],
  "replace what is missing": [
    { op: "replace", path: "/data/none", value: "v" },
  ],
  "replace without value": [{ op: "replace", path: "/data/a" }],
  "move a key": [{ op: "move", from: "/data/a", path: "/data/b" }],
  "move what is missing": [{ op: "move", from: "/data/no", path: "/data/b" }],
  "move to itself": [{ op: "move", from: "/data/a", path: "/data/a" }],
  "move into itself": [{ op: "move", from: "/data", path: "/data/a" }],
  "move without from": [{ op: "move", path: "/data/a" }],
  "copy a key": [{ op: "copy", from: "/data/a", path: "/data/b" }],
  "copy what is missing": [{ op: "copy", from: "/data/no", path: "/data/b" }],
  "copy without from": [{ op: "copy", path: "/data/b" }],
  "copy into itself": [{ op: "copy", from: "/data", path: "/data/a" }],
  "test what is so": [{ op: "test", path: "/data/a", value: "1" }],
  "test what is not so": [{ op: "test", path: "/data/a", value: "2" }],
  "test another type": [{ op: "test", path: "/data/a", value: 1 }],
  "test an object in another order": [
    {
      op: "test",
      path: "/data",
      value: { "a.b": "2", a: "1", "0": "zero", "-": "dash" },
    },
  ],
  "test null of what is missing": [
    { op: "test", path: "/data/none", value: null },
  ],
  "test null below what is missing": [
    { op: "test", path: "/none/none", value: null },
  ],
  "test a value of what is missing": [
    { op: "test", path: "/data/none", value: "" },
  ],
  "test null of what is there": [{ op: "test", path: "/data/a", value: null }],
  "test a list": [
    {
      op: "test",
      path: "/metadata/finalizers",
      value: ["example.com/a", "example.com/b"],
    },
  ],
  "test a list in another order": [
    {
      op: "test",
      path: "/metadata/finalizers",
      value: ["example.com/b", "example.com/a"],
    },
  ],
  "test an item": [
    { op: "test", path: "/metadata/finalizers/1", value: "example.com/b" },
  ],
  "test past the end": [
    { op: "test", path: "/metadata/finalizers/2", value: "example.com/b" },
  ],
  "add at an index": [
    { op: "add", path: "/metadata/finalizers/1", value: "example.com/c" },
  ],
  "add at the length": [
    { op: "add", path: "/metadata/finalizers/2", value: "example.com/c" },
  ],
  "add past the length": [
    { op: "add", path: "/metadata/finalizers/3", value: "example.com/c" },
  ],
  "add at the end": [
    { op: "add", path: "/metadata/finalizers/-", value: "example.com/c" },
  ],
  "add at -1": [
    { op: "add", path: "/metadata/finalizers/-1", value: "example.com/c" },
  ],
  "add at -2": [
    { op: "add", path: "/metadata/finalizers/-2", value: "example.com/c" },
  ],
  "add at -3": [
    { op: "add", path: "/metadata/finalizers/-3", value: "example.com/c" },
  ],
  "add at -4": [
    { op: "add", path: "/metadata/finalizers/-4", value: "example.com/c" },
  ],
  "add at 01": [
    { op: "add", path: "/metadata/finalizers/01", value: "example.com/c" },
  ],
  "add at +1": [
    { op: "add", path: "/metadata/finalizers/+1", value: "example.com/c" },
  ],
  "add at a name": [
    { op: "add", path: "/metadata/finalizers/x", value: "example.com/c" },
  ],
  "add at nothing": [
    { op: "add", path: "/metadata/finalizers/", value: "example.com/c" },
  ],
  "replace an index": [
    { op: "replace", path: "/metadata/finalizers/0", value: "example.com/c" },
  ],
  "replace past the end": [
    { op: "replace", path: "/metadata/finalizers/2", value: "example.com/c" },
  ],
  "replace the end": [
    { op: "replace", path: "/metadata/finalizers/-", value: "example.com/c" },
  ],
  "replace -1": [
    { op: "replace", path: "/metadata/finalizers/-1", value: "example.com/c" },
  ],
  "replace 00": [
    { op: "replace", path: "/metadata/finalizers/00", value: "example.com/c" },
  ],
  "remove an index": [{ op: "remove", path: "/metadata/finalizers/0" }],
  "remove past the end": [{ op: "remove", path: "/metadata/finalizers/2" }],
  "remove the end": [{ op: "remove", path: "/metadata/finalizers/-" }],
  "remove -1": [{ op: "remove", path: "/metadata/finalizers/-1" }],
  "remove -3": [{ op: "remove", path: "/metadata/finalizers/-3" }],
  "move an item": [
    {
      op: "move",
      from: "/metadata/finalizers/0",
      path: "/metadata/finalizers/1",
    },
  ],
  "move an item to the end": [
    {
      op: "move",
      from: "/metadata/finalizers/0",
      path: "/metadata/finalizers/-",
    },
  ],
  "copy an item of text into data": [
    { op: "copy", from: "/metadata/finalizers/0", path: "/data/f" },
  ],
  "escaped keys": [
    {
      op: "add",
      path: "/metadata/annotations",
      value: { "a/b": "1", "c~d": "2" },
    },
    { op: "replace", path: "/metadata/annotations/a~1b", value: "slash" },
    { op: "add", path: "/metadata/annotations/x~0y", value: "tilde" },
    { op: "remove", path: "/metadata/annotations/c~0d" },
  ],
  "an escaped escape": [
    { op: "add", path: "/metadata/annotations", value: { "x~1y": "1" } },
    { op: "test", path: "/metadata/annotations/x~01y", value: "1" },
  ],
  "a wrong escape": [{ op: "add", path: "/data/a~2b", value: "v" }],
  "a path without slash": [{ op: "add", path: "data/n", value: "v" }],
  "a path ending in a slash": [{ op: "add", path: "/data/", value: "v" }],
  "a path of one slash": [{ op: "add", path: "/", value: "v" }],
  "a path with two slashes": [{ op: "add", path: "//data", value: "v" }],
  "no path": [{ op: "add", value: "v" }],
  "no path to remove": [{ op: "remove" }],
  "no op": [{ path: "/data/a", value: "v" }],
  "an unknown op": [{ op: "spam", path: "/data/a", value: "v" }],
  "an op in capitals": [{ op: "ADD", path: "/data/a", value: "v" }],
  "an op that is a number": [{ op: 1, path: "/data/a", value: "v" }],
  "an op that is null": [{ op: null, path: "/data/a", value: "v" }],
  "a path that is a number": [{ op: "add", path: 1, value: "v" }],
  "a path that is null": [{ op: "add", path: null, value: "v" }],
  "a from that is null": [{ op: "move", from: null, path: "/data/n" }],
  "below text": [{ op: "add", path: "/data/a/b", value: "v" }],
  "remove below text": [{ op: "remove", path: "/data/a/b" }],
  "two of which the second fails": [
    { op: "add", path: "/data/n", value: "v" },
    { op: "test", path: "/data/n", value: "w" },
  ],
  "unknown members": [
    { op: "add", path: "/data/n", value: "v", foo: 1, bar: 2 },
    { op: "test", path: "/data/n", value: "v", baz: 1 },
  ],
  "an object": { op: "add", path: "/data/n", value: "v" },
  "a text": '"a"',
  "a number": "1",
  null: "null",
  "a list of a text": ["a"],
  "a list of a number": [1],
  "a list of null": [null],
  "a list of a list": [[]],
  "no JSON": "{",
  "not closed": '[{"op":"add"',
  nothing: "",
  "two values": "[][]",
  "a comma too many": '[{"op":"remove","path":"/data/a"},]',
  "a member twice":
    '[{"op":"add","path":"/data/x","path":"/data/n","value":"v"}]',
  "a member twice in a value":
    '[{"op":"add","path":"/binaryData","value":{"a":"dg==","a":"dm0="}}]',
  "another name": [{ op: "replace", path: "/metadata/name", value: "b" }],
  "no name": [{ op: "remove", path: "/metadata/name" }],
  "another namespace": [
    { op: "replace", path: "/metadata/namespace", value: "b" },
  ],
  "no namespace": [{ op: "remove", path: "/metadata/namespace" }],
  "another uid": [{ op: "replace", path: "/metadata/uid", value: "b" }],
  "no uid": [{ op: "remove", path: "/metadata/uid" }],
  "another version": [
    { op: "replace", path: "/metadata/resourceVersion", value: "1" },
  ],
  "a version that is none": [
    { op: "replace", path: "/metadata/resourceVersion", value: "x" },
  ],
  "version 0": [
    { op: "replace", path: "/metadata/resourceVersion", value: "0" },
  ],
  "no version": [{ op: "remove", path: "/metadata/resourceVersion" }],
  "another kind": [{ op: "replace", path: "/kind", value: "Secret" }],
  "no kind": [{ op: "remove", path: "/kind" }],
  "another apiVersion": [{ op: "replace", path: "/apiVersion", value: "v2" }],
  "no apiVersion": [{ op: "remove", path: "/apiVersion" }],
  "no metadata": [{ op: "remove", path: "/metadata" }],
  "metadata is null": [{ op: "replace", path: "/metadata", value: null }],
  "metadata is text": [{ op: "replace", path: "/metadata", value: "x" }],
  "another time of creation": [
    {
      op: "replace",
      path: "/metadata/creationTimestamp",
      value: "2020-01-01T00:00:00Z",
    },
  ],
  "a time of deletion": [
    {
      op: "add",
      path: "/metadata/deletionTimestamp",
      value: "2020-01-01T00:00:00Z",
    },
  ],
  "a bad key": [{ op: "add", path: "/data/a b", value: "v" }],
  "a bad label": [{ op: "add", path: "/metadata/labels", value: { a: "b c" } }],
};

/** Against a Deployment. */
const deeper: Record<string, unknown> = {
  "a container's image": [
    {
      op: "replace",
      path: "/spec/template/spec/containers/0/image",
      value: "x",
    },
  ],
  "a container at the end": [
    {
      op: "add",
      path: "/spec/template/spec/containers/-",
      value: { name: "three", image: "x" },
    },
  ],
  "an unknown field of a container": [
    { op: "add", path: "/spec/template/spec/containers/1/imag", value: "x" },
  ],
  "text for a number": [{ op: "replace", path: "/spec/replicas", value: "x" }],
  "a fraction for a number": [
    { op: "replace", path: "/spec/replicas", value: 1.5 },
  ],
  "a fraction that is whole":
    '[{"op":"replace","path":"/spec/replicas","value":3.0}]',
  "test a number as a fraction":
    '[{"op":"test","path":"/spec/replicas","value":2.0}]',
  "an object for a list": [
    { op: "replace", path: "/spec/template/spec/containers", value: {} },
  ],
  "no containers": [
    { op: "replace", path: "/spec/template/spec/containers", value: [] },
  ],
  "move a container": [
    {
      op: "move",
      from: "/spec/template/spec/containers/0",
      path: "/spec/template/spec/containers/1",
    },
  ],
  "remove replicas": [{ op: "remove", path: "/spec/replicas" }],
  "the status": [{ op: "add", path: "/status/replicas", value: 5 }],
};

export const jsonPatch: Scenario = {
  name: "json-patch",
  async run(server) {
    const { namespace, call } = server;
    const all = `/api/v1/namespaces/${namespace}/configmaps`;
    await call("the ConfigMap", "POST", all, {
      silent: true,
      body: {
        metadata: {
          name: "a",
          finalizers: ["example.com/a", "example.com/b"],
        },
        data,
      },
    });
    const brief = keeping(({ metadata, data, binaryData }) => ({
      finalizers: metadata?.finalizers,
      annotations: metadata?.annotations,
      data,
      binaryData,
    }));
    for (const [label, patch] of Object.entries(patches))
      await send(server, label, "json", `${all}/a?dryRun=All`, patch, {
        keep: brief,
      });
    for (const validation of ["Strict", "Ignore"])
      for (const label of [
        "unknown members",
        "a member twice",
        "a member twice in a value",
        "add an unknown field",
      ])
        await send(
          server,
          `${label}, ${validation}`,
          "json",
          `${all}/a?dryRun=All&fieldValidation=${validation}`,
          patches[label],
          { keep: brief },
        );
    const many = (count: number) =>
      Array.from({ length: count }, () => ({
        op: "test",
        path: "/data/a",
        value: "1",
      }));
    for (const count of [10_000, 10_001])
      await send(
        server,
        `${count} operations`,
        "json",
        `${all}/a?dryRun=All`,
        many(count),
        { keep: brief },
      );
    await send(
      server,
      "copies that grow without end",
      "json",
      `${all}/a?dryRun=All`,
      [
        { op: "add", path: "/data/x", value: "x".repeat(1_000_000) },
        ...["b", "c", "d", "e"].map((key) => ({
          op: "copy",
          from: "/data/x",
          path: `/data/${key}`,
        })),
      ],
      { keep: brief },
    );
    await send(server, "of what is not there", "json", `${all}/none`, []);
    await send(
      server,
      "a bad patch of what is not there",
      "json",
      `${all}/none`,
      "{",
    );
    const apps = `/apis/apps/v1/namespaces/${namespace}/deployments`;
    await call("the Deployment", "POST", apps, {
      silent: true,
      body: deployment("d"),
    });
    for (const [label, patch] of Object.entries(deeper))
      await send(
        server,
        `Deployment: ${label}`,
        "json",
        `${apps}/d?dryRun=All`,
        patch,
        {
          keep: keeping(({ metadata, spec, status }) => ({
            generation: metadata.generation,
            replicas: spec.replicas,
            containers: spec.template.spec.containers.map(
              ({ name, image }: { name: string; image: string }) =>
                `${name} ${image}`,
            ),
            status,
          })),
        },
      );
  },
};

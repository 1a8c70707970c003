// JSON patches.
import { each, gadget, pod, type Case } from "./case.ts";

const one = (fields: string): string => `[JSONPatch{${fields}}]`;
const add = (path: string, value: string): string =>
  one(`op: "add", path: "${path}", value: ${value}`);
const data = {
  metadata: { annotations: { "a/b-c": "1" } },
  data: { a: "1", b: "2" },
};

export const patches: Readonly<Record<string, Case>> = {
  ...each(
    "patch",
    {
      none: 'false ? [JSONPatch{op: "add"}] : []',
      "a label": add("/metadata/labels/x", '"y"'),
      "an escaped key":
        '[JSONPatch{op: "replace", path: "/metadata/annotations/" + jsonpatch.escapeKey("a/b-c"), value: "2"}, JSONPatch{op: "add", path: "/data/c", value: jsonpatch.escapeKey("a~1/~b")}]',
      "a test that holds":
        '[JSONPatch{op: "test", path: "/data/a", value: "1"}, JSONPatch{op: "replace", path: "/data/a", value: "3"}]',
      "a test that fails":
        '[JSONPatch{op: "replace", path: "/data/a", value: "3"}, JSONPatch{op: "test", path: "/data/a", value: "1"}]',
      "a test of nothing": one('op: "test", path: "/data/none", value: "1"'),
      "a test of null": one('op: "test", path: "/data/none", value: null'),
      "a removal": one('op: "remove", path: "/data/a"'),
      "a removal of nothing": one('op: "remove", path: "/data/none"'),
      "a replacement of nothing": one(
        'op: "replace", path: "/data/none", value: "1"',
      ),
      "a replacement far away": one(
        'op: "replace", path: "/x/y/z", value: "1"',
      ),
      "a copy": one('op: "copy", from: "/data/a", path: "/data/c"'),
      "a move": one('op: "move", from: "/data/a", path: "/data/c"'),
      "a move from nowhere": one('op: "move", path: "/data/c"'),
      "a move from nothing": one(
        'op: "move", from: "/data/n", path: "/data/c"',
      ),
      "no operation": one('path: "/data/c", value: "1"'),
      "another operation": one('op: "put", path: "/data/c", value: "1"'),
      "no path": one('op: "add", value: "1"'),
      "no value": one('op: "add", path: "/data/c"'),
      "a path without a slash": add("data/c", '"1"'),
      "a path with a tilde": add("/data/~2", '"1"'),
      "a path with signs": add('/data/\\"\\u00e9\\n', '"1"'),
      "the root": add("", '{"data": {"a": "9"}}'),
      "the root as text": add("", '"x"'),
      "the root removed": one('op: "remove", path: ""'),
      "a map": add("/data", '{"x": "y"}'),
      "an object": add("/data", 'Object.data{x: "y"}'),
      "an object of a wrong type": add("/data", "Object.data{x: Object.y{}}"),
      "an object of another place": add("/data", 'Object.spec{x: "y"}'),
      "an unknown field": add("/none", "1"),
      "an unknown inner field": add("/metadata/none", '{"a": 1}'),
      "a wrong type": add("/data/a", "1"),
      "a wrong shape": add("/data", '["a"]'),
      "another version": add("/apiVersion", '"a/v1"'),
      "another name": add("/metadata/name", '"other"'),
      "another namespace": add("/metadata/namespace", '"other"'),
      null: add("/data", "null"),
      "a null value": add("/data/x", "null"),
      time: add("/data/x", "timestamp('2020-01-01T00:00:00Z')"),
      duration: add("/data/x", "duration('90s')"),
      bytes: add("/data/x", "b'abc'"),
      "binary data": add("/binaryData", "{'x': b'abc'}"),
      quantity: add("/data/x", "quantity('1')"),
      "a type": add("/data/x", "int"),
      "an optional": add("/data/x", "optional.of('1')"),
      "an empty optional": one(
        'op: "add", path: "/data/x", ?value: optional.none()',
      ),
      "a given optional": one(
        'op: "add", path: "/data/x", ?value: optional.of("1")',
      ),
      "keys of numbers": add("/data", "{1: '1', 2: '2'}"),
      "text of any": one('op: "add", path: "/data/x", value: object.data.a'),
      "an operation of any": one(
        'op: object.data.op, path: "/data/x", value: "1"',
      ),
      "a path of a number": one("op: 'add', path: dyn(1), value: '1'"),
      "an unknown field of any": one(
        "op: 'add', path: '/data/x', value: '1', more: dyn(1)",
      ),
      "operations of any":
        "object.data.map(k, JSONPatch{op: 'replace', path: '/data/' + k, value: 'x' + k})",
      "fields of an operation":
        "[JSONPatch{op: 'add', path: '/data/x', value: string(has(JSONPatch{op: 'a'}.op)) + string(has(JSONPatch{op: ''}.op)) + JSONPatch{path: 'p'}.path + string(JSONPatch{op: 'a'} == JSONPatch{op: 'a'})}]",
      "a field without a value":
        "[JSONPatch{op: 'add', path: '/data/x', value: JSONPatch{op: 'a'}.value}]",
      "a missing key": add("/data/x", "object.data.none"),
    },
    data,
  ),
  ...each(
    "patch",
    {
      "a container": add(
        "/spec/containers/-",
        "Object.spec.containers{name: 'c', image: 'c:1'}",
      ),
      "a container before others": add(
        "/spec/containers/0",
        "{'name': 'c', 'image': 'c:1'}",
      ),
      "a container behind all": add("/spec/containers/5", "{'name': 'c'}"),
      "a container of a negative index": add(
        "/spec/containers/-1",
        "Object.spec.containers{name: 'c', image: 'c:1'}",
      ),
      "no containers": one("op: 'remove', path: '/spec/containers'"),
      "a second": add("/spec/activeDeadlineSeconds", "5"),
      "half a second": add("/spec/activeDeadlineSeconds", "0.5"),
      "a whole second": add("/spec/activeDeadlineSeconds", "5.0"),
      "large seconds": add("/spec/activeDeadlineSeconds", "9007199254740993"),
      "large seconds in an object": add(
        "/spec/securityContext",
        "Object.spec.securityContext{runAsUser: 9007199254740993}",
      ),
      "lists in lists": add("/spec/containers/1/args", "['a', 'b']"),
      "maps in objects": add(
        "/spec",
        "Object.spec{containers: [Object.spec.containers{name: 'z', image: 'z', env: [{'name': 'A'}]}]}",
      ),
    },
    pod(),
  ),
  ...each(
    "patch",
    {
      "a custom size": add("/spec/size", "object.spec.size + 1"),
      "half a custom size": add("/spec/size", "1.5"),
      "a custom unknown field": add("/spec/none", "1"),
      "a custom unknown root field": add("/none", "{'a': 1}"),
      "a custom type": add("/spec/names", "'a'"),
      "a custom atomic list": add("/spec/names/-", "'a'"),
      "another custom kind": add("/kind", "'Other'"),
      "no custom spec": one("op: 'remove', path: '/spec'"),
      "custom null": add("/spec/mode", "null"),
    },
    gadget({ size: 2, names: ["x"] }),
  ),
};

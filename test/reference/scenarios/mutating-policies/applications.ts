// Apply configurations.
import { deployment, each, gadget, pod, type Case } from "./case.ts";

const spec = (fields: string): string => `Object{spec: Object.spec{${fields}}}`;
const data = { data: { a: "1", b: "2" } };

export const applications: Readonly<Record<string, Case>> = {
  ...each(
    "apply",
    {
      nothing: "Object{}",
      null: "false ? Object{} : null",
      labels:
        'Object{metadata: Object.metadata{labels: {"x": "y", "case": "z"}}}',
      "labels of names":
        'Object{metadata: Object.metadata{labels: Object.metadata.labels{x: "y"}}}',
      "what it sees":
        'Object{data: {"a": string(object.data.a) + "!", "n": string(size(object.data)), "old": string(oldObject == null), "ns": namespaceObject.metadata.name, "op": request.operation + request.name + request.resource.resource, "user": request.userInfo.username}}',
      "what may be done":
        'Object{data: {"may": string(authorizer.group("").resource("pods").check("create").allowed()), "own": string(authorizer.requestResource.check("update").allowed())}}',
      name: 'Object{metadata: Object.metadata{name: "other"}}',
      namespace: 'Object{metadata: Object.metadata{namespace: "other"}}',
      "its kind": 'Object{kind: "Other", apiVersion: "a/b"}',
      "unknown fields": "Object{nope: 1}",
      "a wrong type": 'Object{data: {"a": 1}}',
      "a wrong shape": 'Object{data: ["a"]}',
      "text for metadata": 'Object{metadata: "b"}',
      "wrong values": "Object{immutable: 1, kind: 2}",
      nulls: "Object{data: null}",
      "a null value": 'Object{data: {"a": null}}',
      "an object of null": "Object{data: Object.data{a: null, b: '3'}}",
      "wrong type names": 'Object{metadata: Object.spec{labels: {"a": "b"}}}',
      "wrong inner type names":
        "Object{metadata: Object.metadata{labels: Object.metadata.annotations{a: 'b'}}}",
      "an invalid value": 'Object{data: {"a b": "1"}}',
      "an invalid label":
        'Object{metadata: Object.metadata{labels: {"x": "a b"}}}',
      "a missing key": 'Object{data: {"a": string(object.data.none)}}',
      "an optional value":
        "Object{?data: optional.none(), ?immutable: optional.of(true)}",
      "a wrong optional value": "Object{?data: dyn(1)}",
      "a field of an object": 'Object{data: Object{data: {"x": "y"}}.data}',
      "a field that is there": "Object{immutable: has(Object{data: 1}.data)}",
      "an equal object":
        "Object{immutable: dyn(Object{data: 1}) == dyn(Object{data: 1})}",
      "another object":
        "Object{immutable: dyn(Object{data: 1}) == dyn(Object.data{})}",
      bytes: "Object{binaryData: {'a': b'abc'}}",
      "text of bytes": "Object{binaryData: {'a': 'YWJj'}}",
      time: "Object{metadata: Object.metadata{creationTimestamp: timestamp('2020-01-01T00:00:00Z')}}",
      duration: "Object{data: {'a': duration('1s')}}",
      unsigned: "Object{metadata: Object.metadata{generation: 5u}}",
      "a type": "Object{data: {'a': int}}",
      "a quantity": "Object{data: {'a': quantity('1')}}",
      "wrong keys": "Object{data: {1: 'a'}}",
      "owner references":
        "Object{metadata: Object.metadata{ownerReferences: [Object.metadata.ownerReferences{apiVersion: 'v1', kind: 'A', name: 'a', uid: 'u'}]}}",
      finalizers:
        "Object{metadata: Object.metadata{finalizers: ['a/b', 'a/b', 'a/c']}}",
      "managed fields": "Object{metadata: Object.metadata{managedFields: []}}",
      "too much": `Object{data: {"n": string([${"1,".repeat(50)}].map(a, [${"1,".repeat(50)}].map(b, [${"1,".repeat(50)}].map(c, [${"1,".repeat(50)}].map(d, a))))[0][0][0][0])}}`,
    },
    data,
  ),
  ...each(
    "apply",
    {
      "a container": spec(
        'containers: [Object.spec.containers{name: "a", image: "a:2"}]',
      ),
      "a new container": spec(
        'containers: [Object.spec.containers{name: "c", image: "c:2"}], restartPolicy: "Never"',
      ),
      "containers of maps": spec('containers: [{"name": "a", "image": "a:2"}]'),
      "every container": spec(
        "containers: object.spec.containers.map(c, Object.spec.containers{name: c.name, env: [Object.spec.containers.env{name: 'B', value: 'x'}]})",
      ),
      "its containers": spec("containers: object.spec.containers"),
      "a container without a name": spec(
        'containers: [Object.spec.containers{image: "a:2"}]',
      ),
      "a container twice": spec(
        'containers: [Object.spec.containers{name: "a"}, Object.spec.containers{name: "a"}]',
      ),
      arguments: spec(
        'containers: [Object.spec.containers{name: "b", args: ["y"]}]',
      ),
      resources: spec(
        'containers: [Object.spec.containers{name: "b", resources: Object.spec.containers.resources{limits: {"memory": "5"}}}]',
      ),
      "node selector": spec('nodeSelector: {"a": "b"}'),
      tolerations: spec(
        "tolerations: [Object.spec.tolerations{key: 'a', operator: 'Exists'}]",
      ),
      "seconds of another type": spec("activeDeadlineSeconds: 1.5"),
      "seconds that are too many": spec("activeDeadlineSeconds: 99999999999"),
      "a volume": spec(
        "volumes: [Object.spec.volumes{name: 'v', emptyDir: Object.spec.volumes.emptyDir{}}]",
      ),
      "host aliases": spec(
        "hostAliases: [Object.spec.hostAliases{ip: '1.1.1.1', hostnames: ['a']}]",
      ),
      "an init container before the others": spec(
        "initContainers: [Object.spec.initContainers{name: 'i', image: 'i'}]",
      ),
    },
    pod(),
    "apply" as never,
  ),
  ...each(
    "apply",
    {
      selector: spec(
        "selector: Object.spec.selector{matchLabels: {'a': 'b'}, matchExpressions: []}",
      ),
      replicas: spec("replicas: 3"),
      "replicas too many": spec("replicas: 3000000000"),
      "replicas as text": spec("replicas: '3'"),
      "template labels": spec(
        "template: Object.spec.template{metadata: Object.spec.template.metadata{labels: {'x': 'y'}}}",
      ),
      surge: spec(
        "strategy: Object.spec.strategy{rollingUpdate: Object.spec.strategy.rollingUpdate{maxSurge: 1, maxUnavailable: '50%'}}",
      ),
    },
    deployment,
  ),
  ...each(
    "apply",
    {
      "a custom size": spec("size: object.spec.size + 1, ratio: 2"),
      "a custom ratio": spec("ratio: 1.5, size: 1.0"),
      "a custom size of another type": spec("size: 1.5"),
      "a custom size as text": spec("size: '1'"),
      "a custom port": spec("port: 80"),
      "custom booleans": spec("on: true, mode: 'fast'"),
      "a custom enumeration": spec("level: 'none'"),
      "a custom unknown field": spec("none: 1"),
      "a custom unknown root field": "Object{none: 1}",
      "anything custom": spec("any: Object.spec.any{a: 1, b: 'c'}"),
      "anything custom in lists": spec(
        "any: Object.spec.any{a: [1], b: {'c': 'd'}}",
      ),
      "a custom atomic list": spec("names: ['a']"),
      "a custom set": spec("set: ['b', 'c']"),
      "a custom set with doubles": spec("set: ['b', 'b']"),
      "custom items": spec(
        "items: [Object.spec.items{key: 'b', value: '3'}, Object.spec.items{key: 'c', a__dash__b: '4'}]",
      ),
      "a custom atomic map": spec("whole: Object.spec.whole{a: 'b'}"),
      "a custom map": spec("map: {'a': 'b'}"),
      "a custom null": spec("mode: null"),
      "a custom null number": spec("size: null"),
      "a custom label":
        "Object{metadata: Object.metadata{labels: {'x': object.metadata.name}}}",
    },
    gadget({
      size: 2,
      names: ["x"],
      set: ["a", "b"],
      items: [
        { key: "a", value: "1" },
        { key: "b", value: "2" },
      ],
      whole: { b: "c" },
      map: { c: "d" },
      any: { x: { y: 1 } },
    }),
  ),
};

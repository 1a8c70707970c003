// Strategic merge patches: lists by key and of values, every directive, malformed ones, many kinds.
import type { Scenario } from "../scenario.ts";
import { container, deployment, keeping, send } from "./patching.ts";

const pod = (spec: object) => ({ spec: { template: { spec } } });

/** Against the Deployment of patching.ts; each a dry run. */
const patches: Record<string, unknown> = {
  empty: {},
  null: "null",
  "a container's image": pod({ containers: [{ name: "one", image: "x" }] }),
  "a new container": pod({ containers: [container("three")] }),
  "a new container in the middle": pod({
    containers: [{ name: "one" }, container("three"), { name: "two" }],
  }),
  "containers in another order": pod({
    containers: [{ name: "two" }, { name: "one" }],
  }),
  "containers in an order": pod({
    "$setElementOrder/containers": [{ name: "two" }, { name: "one" }],
  }),
  "a new container and an order": pod({
    "$setElementOrder/containers": [
      { name: "three" },
      { name: "two" },
      { name: "one" },
    ],
    containers: [container("three")],
  }),
  "an order that leaves one out": pod({
    "$setElementOrder/containers": [{ name: "two" }],
    containers: [{ name: "two", image: "x" }],
  }),
  "an order against the list": pod({
    "$setElementOrder/containers": [{ name: "one" }, { name: "two" }],
    containers: [{ name: "two" }, { name: "one" }],
  }),
  "a list that the order lacks": pod({
    "$setElementOrder/containers": [{ name: "one" }],
    containers: [container("three")],
  }),
  "an order with a stranger": pod({
    "$setElementOrder/containers": [{ name: "nine" }, { name: "two" }],
  }),
  "an order that is a map": pod({ "$setElementOrder/containers": {} }),
  "an order that is null": pod({ "$setElementOrder/containers": null }),
  "an order of texts": pod({ "$setElementOrder/containers": ["one"] }),
  "an order without keys": pod({
    "$setElementOrder/containers": [{ image: "x" }],
  }),
  "an order of what has none": pod({
    "$setElementOrder/dnsPolicy": ["x"],
  }),
  "a container goes": pod({ containers: [{ name: "one", $patch: "delete" }] }),
  "a container goes that is not there": pod({
    containers: [{ name: "nine", $patch: "delete" }],
  }),
  "a container goes without key": pod({ containers: [{ $patch: "delete" }] }),
  "all containers replaced": pod({
    containers: [container("new"), { $patch: "replace" }],
  }),
  "all replaced by none": pod({ containers: [{ $patch: "replace" }] }),
  "a container replaced": pod({
    containers: [{ name: "one", image: "x", $patch: "replace" }],
  }),
  "a container merged": pod({
    containers: [{ name: "one", image: "x", $patch: "merge" }],
  }),
  "an unknown directive": pod({
    containers: [{ name: "one", $patch: "frob" }],
  }),
  "a directive that is a number": pod({
    containers: [{ name: "one", $patch: 1 }],
  }),
  "an empty directive": pod({ containers: [{ name: "one", $patch: "" }] }),
  "no key": pod({ containers: [{ image: "x" }] }),
  "a key that is null": pod({ containers: [{ name: null, image: "x" }] }),
  "a key that is a number": pod({ containers: [{ name: 1, image: "x" }] }),
  "the same key twice": pod({
    containers: [
      { name: "one", image: "x" },
      { name: "one", image: "y" },
    ],
  }),
  "a list of texts": pod({ containers: ["one"] }),
  "a list of null": pod({ containers: [null] }),
  "a list of lists": pod({ containers: [[]] }),
  "an empty list": pod({ containers: [] }),
  "a list that is null": pod({ containers: null }),
  "a list that is a map": pod({ containers: { name: "one" } }),
  "a list that is text": pod({ containers: "one" }),
  "arguments (no merge)": pod({ containers: [{ name: "one", args: ["z"] }] }),
  environment: pod({
    containers: [
      {
        name: "one",
        env: [
          { name: "B", value: "3" },
          { name: "C", value: "4" },
        ],
      },
    ],
  }),
  "environment with an order": pod({
    containers: [
      {
        name: "one",
        "$setElementOrder/env": [{ name: "B" }, { name: "C" }, { name: "A" }],
        env: [
          { name: "B", value: "3" },
          { name: "C", value: "4" },
        ],
      },
    ],
  }),
  "a value to a source": pod({
    containers: [
      {
        name: "one",
        env: [
          {
            name: "A",
            value: null,
            valueFrom: { fieldRef: { fieldPath: "metadata.name" } },
          },
        ],
      },
    ],
  }),
  "ports by number": pod({
    containers: [{ name: "one", ports: [{ containerPort: 80, name: "web" }] }],
  }),
  "a port goes": pod({
    containers: [
      { name: "one", ports: [{ containerPort: 80, $patch: "delete" }] },
    ],
  }),
  "a port as text": pod({
    containers: [{ name: "one", ports: [{ containerPort: "80" }] }],
  }),
  "mounts by path": pod({
    containers: [
      {
        name: "one",
        volumeMounts: [
          { mountPath: "/one", readOnly: true },
          { mountPath: "/two", name: "v2" },
        ],
      },
    ],
  }),
  "a volume that retains": pod({
    volumes: [
      {
        name: "v1",
        $retainKeys: ["name", "configMap"],
        configMap: { name: "d" },
      },
    ],
  }),
  "what retainKeys lacks": pod({
    volumes: [{ name: "v1", $retainKeys: ["name"], configMap: { name: "d" } }],
  }),
  "retainKeys that is text": pod({
    volumes: [{ name: "v1", $retainKeys: "name" }],
  }),
  "retainKeys of numbers": pod({ volumes: [{ name: "v1", $retainKeys: [1] }] }),
  "retainKeys of nothing": pod({ volumes: [{ name: "v1", $retainKeys: [] }] }),
  "retainKeys that is null": pod({
    volumes: [{ name: "v1", $retainKeys: null }],
  }),
  "the strategy recreates": {
    spec: { strategy: { $retainKeys: ["type"], type: "Recreate" } },
  },
  "the strategy without retaining": {
    spec: { strategy: { type: "Recreate" } },
  },
  "tolerations (no merge)": pod({ tolerations: [{ operator: "Exists" }] }),
  "host aliases by ip": pod({
    hostAliases: [
      { ip: "10.0.0.1", hostnames: ["i"] },
      { ip: "10.0.0.2", hostnames: ["j"] },
    ],
  }),
  "pull secrets by name": pod({ imagePullSecrets: [{ name: "t" }] }),
  "constraints by two keys": pod({
    topologySpreadConstraints: [
      {
        topologyKey: "zone",
        maxSkew: 1,
        whenUnsatisfiable: "DoNotSchedule",
        labelSelector: {},
      },
    ],
  }),
  "finalizers merge": {
    metadata: { finalizers: ["example.com/c", "example.com/a"] },
  },
  "a finalizer goes": {
    metadata: { "$deleteFromPrimitiveList/finalizers": ["example.com/a"] },
  },
  "a finalizer goes and one comes": {
    metadata: {
      "$deleteFromPrimitiveList/finalizers": ["example.com/a"],
      finalizers: ["example.com/c"],
      "$setElementOrder/finalizers": ["example.com/c", "example.com/b"],
    },
  },
  "finalizers in an order": {
    metadata: {
      "$setElementOrder/finalizers": ["example.com/b", "example.com/a"],
    },
  },
  "finalizers replaced": {
    metadata: { finalizers: ["example.com/c", { $patch: "replace" }] },
  },
  "finalizers with a number": { metadata: { finalizers: [1] } },
  "finalizers with null": { metadata: { finalizers: [null] } },
  "finalizers with a map": { metadata: { finalizers: [{ a: "b" }] } },
  "what goes is text": {
    metadata: { "$deleteFromPrimitiveList/finalizers": "example.com/a" },
  },
  "what goes is null": {
    metadata: { "$deleteFromPrimitiveList/finalizers": null },
  },
  "what goes is a list of maps": {
    metadata: { "$deleteFromPrimitiveList/finalizers": [{ a: "b" }] },
  },
  "going from no list": {
    metadata: { "$deleteFromPrimitiveList/labels": ["app"] },
  },
  "going from what is not there": {
    metadata: { "$deleteFromPrimitiveList/nothing": ["app"] },
  },
  "labels merge": { metadata: { labels: { new: "x", tier: null } } },
  "labels replaced": { metadata: { labels: { new: "x", $patch: "replace" } } },
  "labels deleted": { metadata: { labels: { $patch: "delete" } } },
  "labels merged by word": {
    metadata: { labels: { new: "x", $patch: "merge" } },
  },
  "labels frobbed": { metadata: { labels: { new: "x", $patch: "frob" } } },
  "annotations from nothing": {
    metadata: { annotations: { a: "1", b: null } },
  },
  "annotations from nothing, replaced": {
    metadata: { annotations: { a: "1", $patch: "replace" } },
  },
  "annotations from nothing, deleted": {
    metadata: { annotations: { a: "1", $patch: "delete" } },
  },
  "owners by uid": {
    metadata: {
      ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "p", uid: "u" }],
    },
  },
  "the whole replaced": { $patch: "replace", metadata: { name: "d" } },
  "the whole deleted": { $patch: "delete" },
  "the whole merged": { $patch: "merge", spec: { replicas: 3 } },
  "the whole frobbed": { $patch: "frob" },
  "the spec replaced": {
    spec: {
      $patch: "replace",
      selector: { matchLabels: { app: "a" } },
      template: {
        metadata: { labels: { app: "a" } },
        spec: { containers: [container("new")] },
      },
    },
  },
  "the spec deleted": { spec: { $patch: "delete" } },
  "the spec is text": { spec: "x" },
  "the spec is a list": { spec: [] },
  "the spec is a number": { spec: 1 },
  "replicas as text": { spec: { replicas: "3" } },
  "replicas as a fraction": { spec: { replicas: 1.5 } },
  "replicas as a whole fraction": '{"spec":{"replicas":3.0}}',
  "replicas with an exponent": '{"spec":{"replicas":3e0}}',
  "replicas as a list": { spec: { replicas: [] } },
  "replicas as true": { spec: { replicas: true } },
  "paused as text": { spec: { paused: "true" } },
  "paused as a number": { spec: { paused: 1 } },
  "a label as a number": { metadata: { labels: { a: 1 } } },
  "a label as true": { metadata: { labels: { a: true } } },
  "a label as a fraction": { metadata: { labels: { a: 1.5 } } },
  "labels as text": { metadata: { labels: "x" } },
  "labels as a list": { metadata: { labels: [] } },
  "dnsPolicy as a number": pod({ dnsPolicy: 1 }),
  "surge as true": {
    spec: { strategy: { rollingUpdate: { maxSurge: true } } },
  },
  "surge as text": {
    spec: { strategy: { rollingUpdate: { maxSurge: "50%" } } },
  },
  "a bad time": { metadata: { creationTimestamp: "x" } },
  "a bad quantity": pod({
    containers: [{ name: "one", resources: { limits: { cpu: "x" } } }],
  }),
  "a quantity as a number": pod({
    containers: [{ name: "one", resources: { limits: { cpu: 0.5 } } }],
  }),
  "unknown fields": {
    foo: 1,
    spec: { bar: 2, template: { spec: { baz: 3 } } },
    metadata: { qux: 4 },
  },
  "unknown fields in lists": pod({
    containers: [
      { name: "one", zzz: 1, aaa: { b: 1 } },
      { name: "two", mmm: 1 },
    ],
  }),
  "an unknown list of maps": { spec: { foo: [{ a: 1 }] } },
  "keys twice":
    '{"spec":{"replicas":3,"replicas":4},"metadata":{"labels":{"a":"1","a":"2"}}}',
  "a stranger's directive": { $frob: 1 },
  "a list": [],
  "a text": '"x"',
  "a number": "1",
  true: "true",
  "no JSON": "{",
  nothing: "",
  "another name": { metadata: { name: "x" } },
  "no name": { metadata: { name: null } },
  "another namespace": { metadata: { namespace: "x" } },
  "another uid": { metadata: { uid: "x" } },
  "another version": { metadata: { resourceVersion: "1" } },
  "no version": { metadata: { resourceVersion: null } },
  "another kind": { kind: "Pod" },
  "no apiVersion": { apiVersion: null },
  "no metadata": { metadata: null },
};

/** Objects of other kinds and what is done to them. */
const others: readonly (readonly [
  path: string,
  object: Record<string, unknown>,
  patches: readonly unknown[],
])[] = [
  [
    "/api/v1/namespaces/NS/services",
    {
      metadata: { name: "s" },
      spec: {
        type: "ClusterIP",
        selector: { x: "y" },
        ports: [
          { name: "a", port: 80, protocol: "TCP" },
          { name: "b", port: 80, protocol: "UDP" },
        ],
        externalIPs: ["10.0.0.1"],
      },
    },
    [
      { spec: { ports: [{ port: 80, targetPort: 8080 }] } },
      { spec: { ports: [{ port: 82, protocol: "UDP", name: "d" }] } },
      { spec: { ports: [{ port: 81, name: "c" }] } },
      { spec: { externalIPs: ["10.0.0.2"] } },
      { spec: { selector: { a: "b" } } },
      {
        status: { conditions: [{ type: "A", status: "True" }] },
      },
    ],
  ],
  [
    "/api/v1/namespaces/NS/serviceaccounts",
    {
      metadata: { name: "a" },
      secrets: [{ name: "x" }],
      imagePullSecrets: [{ name: "p" }],
    },
    [
      { secrets: [{ name: "y" }] },
      { imagePullSecrets: [{ name: "q" }] },
      { secrets: [{ name: "x", $patch: "delete" }] },
    ],
  ],
  [
    "/api/v1/namespaces/NS/pods",
    {
      metadata: { name: "p" },
      spec: { containers: [container("one")] },
    },
    [
      { spec: { containers: [{ name: "one", image: "x" }] } },
      { spec: { tolerations: [{ key: "a", operator: "Exists" }] } },
      { spec: { activeDeadlineSeconds: 5 } },
      { metadata: { labels: { a: "b" } } },
    ],
  ],
  [
    "/api/v1/namespaces/NS/secrets",
    { metadata: { name: "s" }, data: { a: "YQ==" } },
    [
      { data: { b: "Yg==" } },
      { data: { a: null } },
      { stringData: { c: "c" } },
      { data: { a: "!" } },
      { data: { a: 1 } },
    ],
  ],
  [
    "/api/v1/namespaces/NS/configmaps",
    { metadata: { name: "c" }, data: { a: "1" } },
    [
      { data: { $patch: "x" } },
      { data: { $patch: "replace", b: "2" } },
      { data: { $retainKeys: "a" } },
      { data: { a: { b: "c" } } },
      { data: ["a"] },
      { binaryData: { a: "YQ==", b: null } },
    ],
  ],
  [
    "/apis/rbac.authorization.k8s.io/v1/namespaces/NS/roles",
    {
      metadata: { name: "r" },
      rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }],
    },
    [{ rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["list"] }] }],
  ],
  [
    "/apis/networking.k8s.io/v1/namespaces/NS/ingresses",
    {
      metadata: { name: "i" },
      spec: {
        rules: [
          {
            host: "a.example.com",
            http: {
              paths: [
                {
                  path: "/",
                  pathType: "Prefix",
                  backend: { service: { name: "s", port: { number: 80 } } },
                },
              ],
            },
          },
        ],
      },
    },
    [{ spec: { rules: [{ host: "b.example.com" }] } }],
  ],
  [
    "/apis/batch/v1/namespaces/NS/cronjobs",
    {
      metadata: { name: "c" },
      spec: {
        schedule: "* * * * *",
        jobTemplate: {
          spec: {
            template: {
              spec: { restartPolicy: "Never", containers: [container("one")] },
            },
          },
        },
      },
    },
    [
      {
        spec: {
          suspend: true,
          jobTemplate: {
            spec: {
              template: { spec: { containers: [{ name: "one", image: "x" }] } },
            },
          },
        },
      },
    ],
  ],
  [
    "/api/v1/persistentvolumes",
    {
      metadata: { name: "ref-strategic-pv" },
      spec: {
        capacity: { storage: "1Gi" },
        accessModes: ["ReadWriteOnce"],
        hostPath: { path: "/x" },
      },
    },
    [
      { spec: { accessModes: ["ReadOnlyMany"] } },
      { spec: { capacity: { storage: "2Gi" } } },
    ],
  ],
  [
    "/api/v1/nodes",
    {
      metadata: { name: "ref-strategic-node" },
      spec: {
        taints: [{ key: "a", effect: "NoSchedule" }],
        podCIDR: "10.0.0.0/24",
      },
    },
    [
      { spec: { taints: [{ key: "b", effect: "NoSchedule" }] } },
      { spec: { podCIDRs: ["10.0.0.0/24", "fd00::/64"] } },
      { spec: { unschedulable: true } },
    ],
  ],
  [
    "/api/v1/namespaces/NS/endpoints",
    {
      metadata: { name: "e" },
      subsets: [{ addresses: [{ ip: "10.0.0.1" }], ports: [{ port: 80 }] }],
    },
    [
      { subsets: [{ addresses: [{ ip: "10.0.0.2" }], ports: [{ port: 80 }] }] },
      { subsets: null },
    ],
  ],
  [
    "/apis/autoscaling/v2/namespaces/NS/horizontalpodautoscalers",
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
    [{ spec: { minReplicas: 2 } }, { spec: { metrics: [] } }],
  ],
];

export const strategicPatch: Scenario = {
  name: "strategic-patch",
  async run(server) {
    const { namespace, call } = server;
    const all = `/apis/apps/v1/namespaces/${namespace}/deployments`;
    await call("the Deployment", "POST", all, {
      silent: true,
      body: deployment("d"),
    });
    const shown = (value: unknown): unknown => JSON.stringify(value);
    const keep = {
      keep: keeping(({ metadata, spec, status }) => ({
        generation: metadata.generation,
        finalizers: shown(metadata.finalizers),
        labels: metadata.labels,
        annotations: metadata.annotations,
        owners: metadata.ownerReferences?.length,
        replicas: spec.replicas,
        strategy: spec.strategy,
        containers: spec.template.spec.containers.map(
          (one: {
            name: string;
            image: string;
            args?: unknown;
            env?: unknown;
            ports?: unknown;
            volumeMounts?: unknown;
            resources?: unknown;
          }) => ({
            name: `${one.name} ${one.image}`,
            args: one.args,
            env: one.env,
            ports: one.ports,
            mounts: one.volumeMounts,
            limits: one.resources,
          }),
        ),
        volumes: spec.template.spec.volumes,
        tolerations: spec.template.spec.tolerations,
        aliases: spec.template.spec.hostAliases,
        secrets: spec.template.spec.imagePullSecrets,
        spread: spec.template.spec.topologySpreadConstraints,
        status,
      })),
    };
    for (const [label, patch] of Object.entries(patches))
      await send(
        server,
        label,
        "strategic",
        `${all}/d?dryRun=All`,
        patch,
        keep,
      );
    for (const validation of ["Strict", "Ignore"])
      for (const label of [
        "unknown fields",
        "unknown fields in lists",
        "keys twice",
        "no JSON",
        "a list",
        "a stranger's directive",
        "replicas as text",
      ])
        await send(
          server,
          `${label}, ${validation}`,
          "strategic",
          `${all}/d?dryRun=All&fieldValidation=${validation}`,
          patches[label],
          keep,
        );
    for (const [path, object, changes] of others) {
      const collection = path.replace("NS", namespace);
      const kind = collection.split("/").at(-1)!;
      const { name } = object["metadata"] as { name: string };
      await call(`the ${kind}`, "POST", collection, {
        silent: true,
        body: object,
      });
      for (const change of changes)
        await send(
          server,
          `${kind}: ${JSON.stringify(change)}`,
          "strategic",
          `${collection}/${name}?dryRun=All`,
          change,
          {
            keep: keeping(({ metadata, status, ...rest }) => ({
              labels: metadata.labels,
              conditions: status?.conditions,
              // Times that are null are left out here.
              ...JSON.parse(
                JSON.stringify(rest, (key, value: unknown) =>
                  key === "creationTimestamp" || /^clusterIP/.test(key)
                    ? undefined
                    : value,
                ),
              ),
            })),
          },
        );
      if (path.includes("NS")) continue;
      // Other scenarios list what is in no namespace.
      const own = `${collection}/${name}`;
      const released = { metadata: { finalizers: null } };
      await send(server, "", "merge", own, released, { silent: true });
      await call("", "DELETE", own, { silent: true });
    }
  },
};

// The same objects in every encoding: YAML's text, pretty JSON's, protobuf's bytes, and requests in each.
import { decodeProtobuf, encodeProtobuf } from "../../../api/codec/protobuf.ts";
import type { Json } from "../normalise.ts";
import type { Scenario } from "../scenario.ts";
import { WatchFrameDecoder } from "../../support/stream-decoders.ts";

const protobuf = "application/vnd.kubernetes.protobuf";

const awkward = {
  plain: "text",
  empty: "",
  number: "12",
  octal: "014",
  float: "1.5",
  exponent: "1e3",
  hexadecimal: "0x1f",
  yes: "yes",
  No: "No",
  on: "on",
  true: "true",
  null: "null",
  tilde: "~",
  date: "2020-01-01",
  time: "2020-01-01T00:00:00Z",
  sexagesimal: "1:20",
  colon: "a: b",
  "colon-end": "a:",
  hash: "a #b",
  "hash-first": "#a",
  dash: "- a",
  "dash-only": "-",
  question: "? a",
  star: "*a",
  ampersand: "&a",
  exclamation: "!a",
  pipe: "|a",
  greater: ">a",
  percent: "%a",
  at: "@a",
  backtick: "`a",
  brace: "{a}",
  bracket: "[a]",
  comma: ",a",
  quote: "it's",
  "quote-first": "'a",
  double: '"a"',
  backslash: "a\\b",
  space: " ",
  "leading-space": " a",
  "trailing-space": "a ",
  newline: "a\n",
  "only-newline": "\n",
  "newline-first": "\na",
  lines: "a\nb\nc",
  "lines-end": "a\nb\n",
  "lines-more": "a\nb\n\n",
  "lines-indented": "  a\nb\n",
  "lines-trailing": "a \nb\n",
  tab: "a\tb",
  "tab-line": "a\n\tb\n",
  carriage: "a\r\nb",
  control: "a\u0001b",
  unicode: "ä€😀",
  nbsp: "a\u00a0b",
  html: '<a href="b">&</a>',
  long: "word ".repeat(40).trim(),
  "long-word": "w".repeat(200),
  document: "---",
  dots: "...",
  equals: "=",
  merge: "<<",
  infinity: ".inf",
  nan: ".NaN",
  underscore: "1_000",
  binary: "0b11",
  plus: "+1",
  minus: "-1",
  dot: ".",
  "dot-five": ".5",
  json: '{"a": [1, 2]}',
};

/** Kinds with unusual fields: quantities, int-or-string, times, bytes, raw objects, maps, empty lists. */
const objects: Record<string, object> = {
  "/api/v1/namespaces/NS/pods": {
    metadata: { name: "a", labels: { a: "b" }, finalizers: ["x/y"] },
    spec: {
      containers: [
        {
          name: "c",
          image: "i",
          args: ["", "a"],
          ports: [{ containerPort: 80 }],
          resources: {
            limits: { cpu: "1500m", memory: "1Gi" },
            requests: { cpu: "0.1" },
          },
          livenessProbe: {
            httpGet: { port: "http", path: "/" },
            timeoutSeconds: 3,
          },
          readinessProbe: { tcpSocket: { port: 80 } },
          env: [
            {
              name: "A",
              valueFrom: { fieldRef: { fieldPath: "metadata.name" } },
            },
          ],
          securityContext: {
            runAsUser: 0,
            privileged: false,
            capabilities: { add: ["A"] },
          },
        },
      ],
      tolerations: [{ key: "a", operator: "Exists", tolerationSeconds: 0 }],
      volumes: [
        { name: "v", emptyDir: { sizeLimit: "1Gi" } },
        {
          name: "p",
          projected: { sources: [{ serviceAccountToken: { path: "t" } }] },
        },
      ],
      overhead: {},
    },
  },
  "/api/v1/namespaces/NS/secrets": {
    metadata: { name: "a" },
    data: { a: "AAECAw==", b: "" },
    stringData: { c: "d" },
  },
  "/api/v1/namespaces/NS/services": {
    metadata: { name: "a" },
    spec: { clusterIP: "10.96.2.2", ports: [{ port: 80, targetPort: "http" }] },
  },
  "/apis/apps/v1/namespaces/NS/deployments": {
    metadata: { name: "a" },
    spec: {
      replicas: 0,
      strategy: { rollingUpdate: { maxSurge: "25%", maxUnavailable: 0 } },
      selector: { matchLabels: { a: "b" } },
      template: {
        metadata: { labels: { a: "b" }, creationTimestamp: null },
        spec: { containers: [{ name: "c", image: "i" }] },
      },
    },
  },
  "/apis/apps/v1/namespaces/NS/controllerrevisions": {
    metadata: { name: "a" },
    revision: 1,
    data: { a: { b: [1, null, true] } },
  },
  "/apis/coordination.k8s.io/v1/namespaces/NS/leases": {
    metadata: { name: "a" },
    spec: { renewTime: "2020-01-01T00:00:00.123456Z", leaseTransitions: 0 },
  },
  "/apis/autoscaling/v2/namespaces/NS/horizontalpodautoscalers": {
    metadata: { name: "a" },
    spec: {
      maxReplicas: 3,
      scaleTargetRef: { kind: "Deployment", name: "d" },
      metrics: [
        {
          type: "Resource",
          resource: {
            name: "cpu",
            target: { type: "AverageValue", averageValue: "100m" },
          },
        },
      ],
      behavior: {
        scaleDown: {
          policies: [{ type: "Pods", value: 1, periodSeconds: 15 }],
        },
      },
    },
  },
  "/apis/batch/v1/namespaces/NS/cronjobs": {
    metadata: { name: "a" },
    spec: {
      schedule: "@daily",
      jobTemplate: {
        spec: {
          template: {
            spec: {
              restartPolicy: "Never",
              containers: [{ name: "c", image: "i" }],
            },
          },
        },
      },
    },
  },
  "/apis/networking.k8s.io/v1/namespaces/NS/networkpolicies": {
    metadata: { name: "a" },
    spec: {
      podSelector: {},
      ingress: [{}],
      egress: [{ ports: [{ port: "http" }, { port: 80, endPort: 81 }] }],
    },
  },
  "/apis/policy/v1/namespaces/NS/poddisruptionbudgets": {
    metadata: { name: "a" },
    spec: { minAvailable: "50%", selector: {} },
  },
  "/apis/discovery.k8s.io/v1/namespaces/NS/endpointslices": {
    metadata: { name: "a" },
    addressType: "IPv4",
    endpoints: [{ addresses: ["1.1.1.1"], conditions: { ready: false } }],
  },
  "/apis/rbac.authorization.k8s.io/v1/namespaces/NS/roles": {
    metadata: { name: "a" },
    rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }],
  },
  "/api/v1/namespaces/NS/resourcequotas": {
    metadata: { name: "a" },
    spec: { hard: { pods: "3", "requests.cpu": "1.5" } },
  },
  "/api/v1/namespaces/NS/persistentvolumeclaims": {
    metadata: { name: "a" },
    spec: {
      accessModes: ["ReadWriteOnce"],
      resources: { requests: { storage: "1.5Gi" } },
    },
  },
  "/apis/apiextensions.k8s.io/v1/customresourcedefinitions": {
    metadata: { name: "things.encodings.example" },
    spec: {
      group: "encodings.example",
      scope: "Namespaced",
      names: { plural: "things", kind: "Thing" },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: {
              type: "object",
              properties: {
                spec: {
                  type: "object",
                  default: { a: "a" },
                  additionalProperties: { type: "string", enum: ["a", "b"] },
                },
                n: {
                  type: "number",
                  minimum: 0,
                  maximum: 1.5,
                  multipleOf: 0.5,
                },
              },
            },
          },
        },
      ],
    },
  },
};

/** What the bytes say, and whether they are those that we would write; JSON as it is. */
function decoded(body: Json): Json {
  const { base64 } = body as { base64?: string };
  if (base64 === undefined) return body as unknown;
  const bytes = Buffer.from(base64, "base64");
  const object = decodeProtobuf(bytes);
  const exact = encodeProtobuf(object).equals(bytes);
  return { ...withoutManaged(object), "our bytes": exact };
}

/** The same, only what kind it is. */
function kindOf(body: Json): Json {
  const { kind, apiVersion, message, ...rest } = decoded(body);
  return [kind, apiVersion, message ?? "", rest["our bytes"] ?? "JSON"];
}

function withoutManaged(object: Json): Json {
  delete object.metadata?.managedFields;
  for (const item of object.items ?? []) delete item.metadata?.managedFields;
  return object as unknown;
}

/** A text without what servers choose. */
const masked = (text: Json): Json =>
  typeof text === "string"
    ? text.replace(/resourceVersion"?: "\d+"/g, "resourceVersion")
    : (text as unknown);

export const encodings: Scenario = {
  name: "encodings",
  async run({ namespace, call }) {
    const configMaps = `/api/v1/namespaces/${namespace}/configmaps`;
    await call("", "POST", `${configMaps}?fieldManager=m`, {
      silent: true,
      body: {
        metadata: { name: "awkward" },
        data: awkward,
        binaryData: { bin: "AAEC" },
      },
    });
    await call("awkward texts in YAML", "GET", `${configMaps}/awkward`, {
      headers: { accept: "application/yaml" },
      keep: masked,
    });
    await call("a list in YAML", "GET", configMaps, {
      headers: { accept: "application/yaml" },
      keep: masked,
    });
    await call("an error in YAML", "GET", `${configMaps}/none`, {
      headers: { accept: "application/yaml" },
    });
    for (const [what, path, headers] of [
      ["asked for", "?pretty=true", {}],
      ["asked for with T", "?pretty=T", {}],
      ["asked for with yes", "?pretty=yes", {}],
      ["asked for with nothing", "?pretty=", {}],
      ["asked for in the type", "", { accept: "application/json;pretty=1" }],
      ["not asked for", "", {}],
      ["for curl", "", { "user-agent": "curl/8" }],
      ["not for curl", "?pretty=false", { "user-agent": "curl/8" }],
      ["for Wget", "", { "user-agent": "Wget/1" }],
      ["for a browser", "", { "user-agent": "Mozilla/5.0 (X11)" }],
      ["for an old browser", "", { "user-agent": "Mozilla/4.0" }],
      ["for kubectl", "", { "user-agent": "kubectl/1.32" }],
    ] as const)
      for (const name of ["", "/none"]) {
        const { text } = await call("", "GET", `${configMaps}${name}${path}`, {
          silent: true,
          headers,
        });
        await call(
          `pretty ${what} ${name}`,
          "GET",
          `${configMaps}${name}${path}`,
          {
            headers,
            keep: () => [text.slice(0, 2), text.slice(-2)],
          },
        );
      }
    for (const [place, object] of Object.entries(objects)) {
      const all = place.replace("NS", namespace);
      const { metadata } = object as { metadata: { name: string } };
      const at = `${all}/${metadata.name}`;
      await call(`create ${place}`, "POST", all, {
        body: object,
        headers: { accept: protobuf },
        // A controller is quick to change these.
        keep: all.includes("custom") ? kindOf : decoded,
      });
      const got = await call("", "GET", at, {
        silent: true,
        headers: { accept: protobuf },
      });
      await call(`list ${place}`, "GET", `${all}?limit=1`, {
        headers: { accept: protobuf },
        keep: kindOf,
      });
      if (!all.includes("custom"))
        await call(`update ${place} in protobuf`, "PUT", at, {
          body: got.bytes,
          headers: { "content-type": protobuf },
          keep: kindOf,
        });
      await call(`metadata of ${place} in protobuf`, "GET", at, {
        headers: {
          accept: `${protobuf};as=PartialObjectMetadata;v=v1;g=meta.k8s.io`,
        },
        keep: kindOf,
      });
    }
    await call("an error in protobuf", "GET", `${configMaps}/none`, {
      headers: { accept: protobuf },
      keep: decoded,
    });
    await call("an invalid object in protobuf", "POST", configMaps, {
      body: { metadata: { name: "_" } },
      headers: { accept: protobuf },
      keep: decoded,
    });
    const watched = await call(
      "",
      "GET",
      `${configMaps}?watch=1&resourceVersion=0&timeoutSeconds=1&fieldSelector=metadata.name=awkward`,
      {
        silent: true,
        headers: { accept: protobuf },
      },
    );
    await call("watch in protobuf", "GET", `${configMaps}/awkward`, {
      keep: () =>
        new WatchFrameDecoder()
          .push(watched.bytes)
          .map(({ type, object }) => [
            type,
            object["kind"],
            watched.headers["content-type"],
          ]),
    });
    await call(
      "",
      "DELETE",
      "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.encodings.example",
      { silent: true },
    );
  },
};

// Rules of built-in kinds that were found by sending random changes of objects to a stock API server, too: what each says of
// a bad object, and what it takes.
import { createPrivateKeyPem } from "../../../api/pki/keys.ts";
import { decodePem, encodePem } from "../../../api/pki/pem.ts";
import { createCsr } from "../../../api/pki/signing-request.ts";
import { startTestServer, type Json, type TestServer } from "./support.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  await server.call("POST", "/api/v1/namespaces", {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: "n" },
  });
});
afterAll(() => server.stop());

/** The causes of a refusal; none when it was made. */
async function problems(
  method: string,
  path: string,
  object: object,
): Promise<string[]> {
  const { status, body } = await server.call(method, path, object);
  if (status < 300) return [];
  const { details, message } = body as Json;
  return details?.causes
    ? details.causes.map(
        ({ field, message: text }: Json) => `${field}: ${text}`,
      )
    : [message];
}

interface Kind {
  readonly path: string;
  readonly object: Json;
}

const kind = (
  apiVersion: string,
  name: string,
  plural: string,
  object: object,
  namespace = "",
): Kind => ({
  path: `${apiVersion === "v1" ? "/api/v1" : `/apis/${apiVersion}`}${namespace && `/namespaces/${namespace}`}/${plural}`,
  object: { apiVersion, kind: name, metadata: { name: "x" }, ...object },
});

const kinds = {
  flowSchema: kind(
    "flowcontrol.apiserver.k8s.io/v1",
    "FlowSchema",
    "flowschemas",
    {
      spec: {
        priorityLevelConfiguration: { name: "p" },
        rules: [
          {
            subjects: [{ kind: "User", user: { name: "u" } }],
            nonResourceRules: [{ verbs: ["get"], nonResourceURLs: ["/x/*"] }],
          },
        ],
      },
    },
  ),
  runtimeClass: kind("node.k8s.io/v1", "RuntimeClass", "runtimeclasses", {
    handler: "h",
    overhead: { podFixed: { cpu: "1m" } },
  }),
  attachment: kind(
    "storage.k8s.io/v1",
    "VolumeAttachment",
    "volumeattachments",
    {
      spec: {
        attacher: "a.b",
        nodeName: "node",
        source: {
          inlineVolumeSpec: {
            accessModes: ["ReadWriteOnce"],
            csi: { driver: "a.b", volumeHandle: "h" },
          },
        },
      },
    },
  ),
  volume: kind("v1", "PersistentVolume", "persistentvolumes", {
    spec: {
      capacity: { storage: "1Gi" },
      accessModes: ["ReadWriteOnce"],
      hostPath: { path: "/x" },
    },
  }),
  slice: kind(
    "discovery.k8s.io/v1",
    "EndpointSlice",
    "endpointslices",
    {
      addressType: "IPv4",
      endpoints: [{ addresses: ["10.0.0.1"] }],
      ports: [{ port: 80 }],
    },
    "n",
  ),
  ingressClass: kind("networking.k8s.io/v1", "IngressClass", "ingressclasses", {
    spec: {
      controller: "a.b/c",
      parameters: { apiGroup: "a.b", kind: "K", name: "p" },
    },
  }),
  node: kind("v1", "Node", "nodes", {
    spec: { podCIDR: "10.0.0.0/24", podCIDRs: ["10.0.0.0/24"] },
  }),
  autoscaler: kind(
    "autoscaling/v2",
    "HorizontalPodAutoscaler",
    "horizontalpodautoscalers",
    {
      spec: {
        maxReplicas: 3,
        scaleTargetRef: { kind: "Deployment", name: "d" },
        metrics: [
          {
            type: "ContainerResource",
            containerResource: {
              name: "cpu",
              container: "c",
              target: { type: "Utilization", averageUtilization: 5 },
            },
          },
        ],
      },
    },
    "n",
  ),
  claim: kind(
    "v1",
    "PersistentVolumeClaim",
    "persistentvolumeclaims",
    {
      spec: {
        accessModes: ["ReadWriteOnce"],
        resources: { requests: { storage: " 1Gi" } },
      },
    },
    "n",
  ),
  quota: kind(
    "v1",
    "ResourceQuota",
    "resourcequotas",
    {
      spec: {
        hard: { "requests.cpu": "1", pods: "2" },
        scopeSelector: {
          matchExpressions: [
            { scopeName: "PriorityClass", operator: "In", values: ["p"] },
          ],
        },
      },
    },
    "n",
  ),
} as const satisfies Record<string, Kind>;

test.each(Object.keys(kinds) as (keyof typeof kinds)[])(
  "a good %s",
  async (name) => {
    const { path, object } = kinds[name];
    expect(await problems("POST", `${path}?dryRun=All`, object)).toEqual([]);
  },
);

type Change = (object: Json) => void;
const badMetric = (change: Change): Change => {
  return ({ spec }) => change(spec.metrics[0]);
};

test.each<[keyof typeof kinds, Change, string[]]>([
  ...(
    [
      ["", "must not be empty"],
      ["x", "must start with slash"],
      ["/a b", "must not contain white-space"],
      ["/a//b", "must not contain double slash"],
      ["/a*", "wildcard can only do suffix matching"],
      ["/*/a", "wildcard can only do suffix matching"],
    ] as const
  ).map(([url, problem]): [keyof typeof kinds, Change, string[]] => [
    "flowSchema",
    ({ spec }) => (spec.rules[0].nonResourceRules[0].nonResourceURLs = [url]),
    [
      `spec.rules[0].nonResourceRules[0].nonResourceURLs[0]: Invalid value: ${JSON.stringify(url)}: ${problem}`,
    ],
  ]),
  [
    "runtimeClass",
    (o) => (o.overhead.podFixed = { a: "1" }),
    [
      "overhead.limits[a]: Invalid value: a: must be a standard resource type or fully qualified",
      "overhead.limits[a]: Invalid value: a: must be a standard resource for containers",
    ],
  ],
  [
    "attachment",
    ({ spec }) => (spec.source.inlineVolumeSpec = { claimRef: {} }),
    [
      "spec.source.inlineVolumeSpec.claimRef: Forbidden: may not be specified in the context of inline volumes",
      "spec.source.inlineVolumeSpec.csi: Required value: has to be specified in the context of inline volumes",
      "spec.source.inlineVolumeSpec.accessModes: Required value",
      "spec.source.inlineVolumeSpec: Required value: must specify a volume type",
    ],
  ],
  [
    "attachment",
    ({ spec }) =>
      Object.assign(spec.source.inlineVolumeSpec, {
        persistentVolumeReclaimPolicy: "Delete",
        storageClassName: "c",
        volumeMode: "Block",
      }),
    [
      "spec.source.inlineVolumeSpec.persistentVolumeReclaimPolicy: Forbidden: may only be Retain in the context of inline volumes",
      "spec.source.inlineVolumeSpec.storageClassName: Forbidden: may not be specified in the context of inline volumes",
      "spec.source.inlineVolumeSpec.volumeMode: Forbidden: may not specify volumeMode other than Filesystem in the context of inline volumes",
    ],
  ],
  [
    "volume",
    ({ spec }) =>
      Object.assign(spec, {
        volumeMode: "",
        cephfs: { monitors: ["m"] },
        flexVolume: {},
      }),
    [
      "spec.cephFS: Forbidden: may not specify more than 1 volume type",
      "spec.flexVolume.driver: Required value",
      'spec.volumeMode: Unsupported value: "": supported values: "Block", "Filesystem"',
    ],
  ],
  [
    "claim",
    ({ spec }) => (spec.volumeMode = ""),
    [
      'spec.volumeMode: Unsupported value: "": supported values: "Block", "Filesystem"',
    ],
  ],
  [
    "node",
    ({ spec }) => spec.podCIDRs.push("10.0.0.0/24"),
    [
      'spec.podCIDRs: Invalid value: []string{"10.0.0.0/24", "10.0.0.0/24"}: may specify no more than one CIDR for each IP family',
      'spec.podCIDRs[1]: Duplicate value: "10.0.0.0/24"',
    ],
  ],
  [
    "ingressClass",
    ({ spec }) =>
      Object.assign(spec, {
        controller: "",
        parameters: { kind: "a/b", name: "p" },
      }),
    [
      "spec.controller: Required value",
      `spec.parameters.kind: Invalid value: "a/b": may not contain '/'`,
    ],
  ],
  [
    "autoscaler",
    badMetric(({ containerResource }) =>
      Object.assign(containerResource, { name: "a.b", container: "C" }),
    ),
    [
      "spec.metrics[0].containerResource.name: Invalid value: a.b: must be a standard resource type or fully qualified",
      "spec.metrics[0].containerResource.name: Invalid value: a.b: must be a standard resource for containers",
      expect.stringContaining(
        'spec.metrics[0].containerResource.container: Invalid value: "C": a lowercase RFC 1123 label must',
      ),
    ],
  ],
  [
    "quota",
    ({ spec }) => (spec.hard = { storage: "1Gi" }),
    [
      "spec.hard[storage]: Invalid value: storage: must be a standard resource for quota",
    ],
  ],
  [
    "quota",
    ({ spec }) => {
      spec.hard = { "requests.cpu": "1" };
      spec.scopeSelector.matchExpressions = [
        { scopeName: "BestEffort", operator: "Exists" },
        { scopeName: "NotBestEffort", operator: "Exists" },
      ];
    },
    [
      expect.stringMatching(
        /^spec\.scopeSelector\.matchExpressions: .*unsupported scope applied to resource$/,
      ),
      expect.stringMatching(
        /^spec\.scopeSelector\.matchExpressions: .*conflicting scopes$/,
      ),
    ],
  ],
  [
    // Of several sources the first alone is looked into.
    "autoscaler",
    badMetric((metric) => (metric.pods = { metric: {}, target: {} })),
    [
      "spec.metrics[0].pods.metric.name: Required value: must specify a metric name",
      "spec.metrics[0].pods.target.type: Required value: must specify a metric target type",
      'spec.metrics[0].pods.target.type: Invalid value: "": must be either Utilization, Value, or AverageValue',
      "spec.metrics[0].pods.target.averageValue: Required value: must specify a positive target averageValue",
      "spec.metrics[0].pods: Forbidden: must populate the given metric source only",
    ],
  ],
])("a bad %s (%#)", async (name, change, wanted) => {
  const { path, object } = kinds[name];
  const changed = structuredClone(object) as Json;
  change(changed);
  expect(await problems("POST", `${path}?dryRun=All`, changed)).toEqual(wanted);
});

test.each(["nodeName", "hostname"])(
  "an endpoint's empty %s is none",
  async (name) => {
    const { path, object } = kinds.slice;
    const changed = structuredClone(object) as Json;
    changed.endpoints[0][name] = "";
    const [first] = await problems("POST", `${path}?dryRun=All`, changed);
    expect(first).toMatch(`endpoints[0].${name}: Invalid value: ""`);
  },
);

test("a port's empty appProtocol is none", async () => {
  const { path, object } = kinds.slice;
  const changed = structuredClone(object) as Json;
  changed.ports[0].appProtocol = "";
  const [first] = await problems("POST", `${path}?dryRun=All`, changed);
  expect(first).toMatch('ports[0].appProtocol: Invalid value: ""');
});

const signingRequest = createCsr(createPrivateKeyPem(), { commonName: "c" });

/** With another last byte, which is the signature's. */
function damaged(pem: string): string {
  const [{ label, der }] = decodePem(pem) as [{ label: string; der: Buffer }];
  der[der.length - 1]! ^= 1;
  return encodePem(label, der);
}

test.each([
  ["no request", "x", "PEM block type must be CERTIFICATE REQUEST"],
  [
    "one that never ends",
    signingRequest.replace(/-----END.*/, ""),
    "PEM block type must be CERTIFICATE REQUEST",
  ],
  [
    "one whose signature is another's",
    damaged(signingRequest),
    "the request's signature does not match its key",
  ],
])(
  "a signing request needs a sound request, not %s",
  async (_what, pem, text) => {
    const [first] = await problems(
      "POST",
      "/apis/certificates.k8s.io/v1/certificatesigningrequests",
      {
        apiVersion: "certificates.k8s.io/v1",
        kind: "CertificateSigningRequest",
        metadata: { name: "bad" },
        spec: {
          request: Buffer.from(pem).toString("base64"),
          signerName: "a.b/c",
          usages: ["client auth"],
        },
      },
    );
    expect(first).toMatch(text);
  },
);

test("what a signing request says of its user is not believed", async () => {
  const path = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
  const { body } = await server.call("POST", path, {
    apiVersion: "certificates.k8s.io/v1",
    kind: "CertificateSigningRequest",
    metadata: { name: "r" },
    spec: {
      request: Buffer.from(signingRequest).toString("base64"),
      signerName: "a.b/c",
      usages: ["client auth"],
      username: "forged",
      uid: "forged",
      groups: ["forged"],
      extra: { forged: ["yes"] },
    },
  });
  expect(body.spec.usages).toEqual(["client auth"]);
  expect(JSON.stringify(body.spec)).not.toContain("forged");
  // No manager owns it either: it can't be changed.
  expect(body.metadata.managedFields).toBeUndefined();
});

test("a node keeps its external id", async () => {
  const { path, object } = kinds.node;
  expect(await problems("POST", path, object)).toEqual([]);
  expect(
    await problems("PUT", `${path}/x`, {
      ...object,
      spec: { ...object.spec, externalID: "i" },
    }),
  ).toEqual(["spec.externalID: Forbidden: may not be updated"]);
});

test.each(["runtimeClass", "lease", "event"] as const)(
  "a %s may have finalizers without a domain",
  async (name) => {
    const { path, object } = {
      runtimeClass: kinds.runtimeClass,
      lease: kind("coordination.k8s.io/v1", "Lease", "leases", {}, "n"),
      event: kind(
        "v1",
        "Event",
        "events",
        { involvedObject: { namespace: "n" } },
        "n",
      ),
    }[name];
    const changed = structuredClone(object) as Json;
    changed.metadata.finalizers = ["plain"];
    expect(await problems("POST", `${path}?dryRun=All`, changed)).toEqual([]);
  },
);

describe("events", () => {
  const old = kind(
    "v1",
    "Event",
    "events",
    {
      involvedObject: { kind: "Pod", name: "p", namespace: "n" },
      reason: "R",
      message: "M",
      type: "Normal",
    },
    "n",
  );
  const fresh = kind(
    "events.k8s.io/v1",
    "Event",
    "events",
    {
      metadata: { name: "y" },
      regarding: { kind: "Pod", name: "p", namespace: "n" },
      reason: "R",
      note: "M",
      type: "Normal",
      eventTime: "2026-01-01T00:00:00.000000Z",
      action: "A",
      reportingController: "a.b/c",
      reportingInstance: "i",
    },
    "n",
  );

  test("of the core say anything; those of the newer group are complete and have nothing old", async () => {
    const loose = { ...old.object, type: "Odd", count: 3 };
    expect(await problems("POST", `${old.path}?dryRun=All`, loose)).toEqual([]);
    expect(
      await problems("POST", `${fresh.path}?dryRun=All`, fresh.object),
    ).toEqual([]);
    expect(
      await problems("POST", `${fresh.path}?dryRun=All`, {
        ...fresh.object,
        type: "Odd",
        eventTime: null,
        series: { count: 1, lastObservedTime: null },
        deprecatedCount: 3,
        deprecatedFirstTimestamp: "2026-01-01T00:00:00Z",
        deprecatedLastTimestamp: "2026-01-01T00:00:00Z",
        deprecatedSource: { component: "c" },
      }),
    ).toEqual([
      'series.count: Invalid value: "": should be at least 2',
      "series.lastObservedTime: Required value",
      "eventTime: Required value",
      'type: Invalid value: "": has invalid value: Odd',
      'firstTimestamp: Invalid value: "": needs to be unset',
      'lastTimestamp: Invalid value: "": needs to be unset',
      'count: Invalid value: "": needs to be unset',
      'source: Invalid value: "": needs to be unset',
    ]);
  });

  test("with a time of their own say who reports what, and may be about another namespace", async () => {
    const elsewhere = {
      ...fresh.object,
      regarding: { namespace: "other" },
    };
    expect(
      await problems("POST", `${fresh.path}?dryRun=All`, elsewhere),
    ).toEqual([]);
    expect(
      await problems("POST", `${old.path}?dryRun=All`, {
        ...old.object,
        involvedObject: { namespace: "other" },
      }),
    ).toEqual([
      'involvedObject.namespace: Invalid value: "other": does not match event.namespace',
    ]);
    const [first, second] = await problems("POST", `${fresh.path}?dryRun=All`, {
      ...fresh.object,
      reportingController: "",
      note: "n".repeat(1025),
    });
    expect(first).toBe("reportingController: Required value");
    expect(second).toMatch('reportingController: Invalid value: ""');
  });

  test("of the newer group change in their series alone", async () => {
    expect(await problems("POST", fresh.path, fresh.object)).toEqual([]);
    const one = `${fresh.path}/y`;
    const series = {
      count: 2,
      lastObservedTime: "2026-01-01T00:00:01.000000Z",
    };
    expect(await problems("PUT", one, { ...fresh.object, series })).toEqual([]);
    expect(
      await problems("PUT", one, { ...fresh.object, series, note: "other" }),
    ).toEqual(['message: Invalid value: "other": field is immutable']);
    // The core's clients may change what they like.
    const core = (await server.call("GET", `${old.path}/y`)).body;
    expect(
      await problems("PUT", `${old.path}/y`, { ...core, message: "other" }),
    ).toEqual([]);
  });
});

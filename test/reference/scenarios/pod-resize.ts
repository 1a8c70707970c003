// pods/resize behind its gate: what may change, what is refused, who owns it, what quotas and limit ranges say to it.
import { brief, plain, updateEach } from "../cases.ts";
import type { Json } from "../normalise.ts";
import type { Scenario, Server } from "../scenario.ts";

const apply = { "content-type": "application/apply-patch+yaml" };
const merge = { "content-type": "application/merge-patch+json" };

const resources = (cpu: string, memory: string): object => ({
  requests: { cpu, memory },
  limits: { cpu: "1", memory: "1Gi" },
});
const container = (more: object = {}): object => ({
  name: "c",
  image: "i",
  resources: resources("100m", "100Mi"),
  ...more,
});
const pod = (name: string, spec: object = {}, more: object = {}): object => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, ...more },
  spec: { containers: [container()], ...spec },
});

async function discovery({ call }: Server): Promise<void> {
  await call("what the group has", "GET", "/api/v1", {
    keep: (body: Json) =>
      body.resources.find(({ name }: Json) => name === "pods/resize"),
  });
  await call("OpenAPI", "GET", "/openapi/v3/api/v1", {
    keep: (body: Json) => {
      const path = "/api/v1/namespaces/{namespace}/pods/{name}/resize";
      const found = body.paths[path];
      return Object.fromEntries(
        ["get", "put", "patch"].map((verb) => [
          verb,
          {
            operationId: found[verb].operationId,
            kind: found[verb]["x-kubernetes-group-version-kind"],
            action: found[verb]["x-kubernetes-action"],
          },
        ]),
      );
    },
  });
}

async function defaults(server: Server, all: string): Promise<void> {
  const create = async (name: string, spec: object): Promise<void> => {
    await server.call(`create ${name}`, "POST", all, {
      body: pod(name, spec),
      ...plain,
      keep: (body: Json) =>
        body.kind === "Status"
          ? brief(body)
          : [...body.spec.containers, ...(body.spec.initContainers ?? [])].map(
              ({ resources: has, resizePolicy }: Json) => [
                has,
                resizePolicy ?? null,
              ],
            ),
    });
  };
  const policy = (resourceName?: string, restartPolicy?: string): object => ({
    resourceName,
    restartPolicy,
  });
  const policies = (...list: object[]): object => ({
    containers: [container({ resizePolicy: list })],
  });
  await create("plain", {});
  await create("nothing", { containers: [{ name: "c", image: "i" }] });
  await create("limits", {
    containers: [
      container({ resources: { limits: { memory: "1Gi" } } }),
      container({ name: "d", resources: { limits: { cpu: "1" } } }),
    ],
    initContainers: [container({ name: "e" })],
  });
  await create("one", policies(policy("memory", "RestartContainer")));
  await create(
    "both",
    policies(
      policy("memory", "NotRequired"),
      policy("cpu", "RestartContainer"),
    ),
  );
  await create(
    "twice",
    policies(policy("cpu", "NotRequired"), policy("cpu", "NotRequired")),
  );
  await create("other", policies(policy("storage", "NotRequired")));
  await create("odd", policies(policy("cpu", "Sometimes")));
  await create("empty", policies(policy()));
  await create("never", {
    restartPolicy: "Never",
    ...policies(policy("cpu", "RestartContainer")),
  });
  await create("on-init", {
    initContainers: [
      container({ name: "e", resizePolicy: [policy("cpu", "NotRequired")] }),
      container({
        name: "f",
        restartPolicy: "Always",
        resizePolicy: [policy("cpu", "NotRequired")],
      }),
    ],
  });
}

const at = "spec.containers.0.resources";
const changes = [
  {},
  { [`${at}.requests.cpu`]: "200m" },
  { [`${at}.requests.cpu`]: "0.1" },
  { [`${at}.requests.memory`]: "200Mi", [`${at}.limits.cpu`]: "2" },
  { [`${at}.requests.cpu`]: "2" },
  { [`${at}.requests.cpu`]: "x" },
  { [`${at}.requests.cpu`]: "-1" },
  { [`${at}.requests.cpu`]: undefined },
  { [`${at}.requests`]: undefined },
  { [`${at}.limits`]: undefined },
  { [`${at}.limits.memory`]: undefined },
  { [`${at}.requests`]: { cpu: "1", memory: "1Gi" } },
  { [at]: undefined },
  { [`${at}.requests.ephemeral-storage`]: "1Gi" },
  { [`${at}.requests.example`]: "1" },
  { "spec.containers.0.resizePolicy": [] },
  {
    "spec.containers.0.resizePolicy": [
      { resourceName: "cpu", restartPolicy: "RestartContainer" },
      { resourceName: "memory", restartPolicy: "NotRequired" },
    ],
  },
  { "spec.containers.0.image": "j", "metadata.labels": { a: "b" } },
  { "spec.containers.0.name": "d" },
  { "spec.containers": [] },
  { "spec.nodeName": "n", "spec.tolerations": [] },
  { "status.phase": "Running", "metadata.annotations": { a: "b" } },
  { spec: undefined },
];

/** One whose containers run on a node, which may report resources or not. */
async function running(
  { call }: Server,
  all: string,
  name: string,
  status: object,
): Promise<void> {
  await call("", "POST", all, { body: pod(name), silent: true });
  await call(`status of ${name}`, "PATCH", `${all}/${name}/status`, {
    body: {
      status: {
        phase: "Running",
        containerStatuses: [
          {
            name: "c",
            image: "i",
            imageID: "",
            ready: true,
            restartCount: 0,
            state: { running: {} },
            ...status,
          },
        ],
      },
    },
    headers: merge,
    ...plain,
  });
  await call(`resize ${name}`, "PATCH", `${all}/${name}/resize`, {
    body: {
      spec: {
        containers: [container({ resources: resources("300m", "300Mi") })],
      },
    },
    headers: merge,
    ...plain,
  });
}

async function kinds(server: Server, all: string): Promise<void> {
  await updateEach(server, "pod", all, pod("p"), changes, "resize");
  const some = [{ [`${at}.requests.cpu`]: "200m" }];
  await updateEach(
    server,
    "best effort",
    all,
    pod("best", { containers: [{ name: "c", image: "i" }] }),
    [
      { [at]: { requests: { cpu: "1" } } },
      {
        [at]: { requests: { cpu: "1", memory: "1Mi" }, limits: { cpu: "1" } },
      },
      {
        "spec.containers.0.resizePolicy": [
          { resourceName: "cpu", restartPolicy: "RestartContainer" },
        ],
      },
    ],
    "resize",
  );
  await updateEach(
    server,
    "guaranteed",
    all,
    pod("sure", {
      containers: [
        container({ resources: { limits: { cpu: "1", memory: "1Gi" } } }),
      ],
    }),
    [
      ...some,
      { [`${at}.requests.cpu`]: "2", [`${at}.limits.cpu`]: "2" },
      { [`${at}.requests.cpu`]: "2" },
    ],
    "resize",
  );
  await updateEach(
    server,
    "mirror",
    all,
    pod(
      "mirror",
      { nodeName: "n" },
      { annotations: { "kubernetes.io/config.mirror": "x" } },
    ),
    [{}, ...some],
    "resize",
  );
  await updateEach(
    server,
    "windows",
    all,
    pod("windows", { os: { name: "windows" } }),
    [{}, ...some],
    "resize",
  );
  await updateEach(
    server,
    "with sidecar",
    all,
    pod("side", {
      initContainers: [
        container({ name: "e" }),
        container({ name: "f", restartPolicy: "Always" }),
      ],
    }),
    [
      ...some,
      { "spec.initContainers.0.resources.requests.cpu": "200m" },
      { "spec.initContainers.1.resources": undefined },
      { "spec.initContainers": [] },
    ],
    "resize",
  );
  await updateEach(server, "pod", all, pod("p"), [
    { [`${at}.requests.cpu`]: "200m" },
    { "spec.containers.0.resizePolicy": [] },
  ]);
  await running(server, all, "unable", {});
  await running(server, all, "able", {
    resources: resources("100m", "100Mi"),
    allocatedResources: { cpu: "100m", memory: "100Mi" },
  });
}

async function owners({ call }: Server, all: string): Promise<void> {
  await call("create owned", "POST", `${all}?fieldManager=maker`, {
    body: pod("owned"),
  });
  const path = `${all}/owned/resize`;
  await call("get resize", "GET", path);
  await call("resize nothing there", "GET", `${all}/none/resize`);
  await call("put nothing there", "PUT", `${all}/none/resize`, {
    body: pod("none"),
  });
  await call("post", "POST", path, { body: pod("owned") });
  await call("delete", "DELETE", path);
  await call("other name", "PUT", path, { body: pod("else") });
  await call("stale", "PUT", path, {
    body: pod("owned", {}, { resourceVersion: "1" }),
  });
  await call("other uid", "PUT", path, {
    body: pod("owned", {}, { uid: "u" }),
    keep: brief,
  });
  await call("put", "PUT", `${path}?fieldManager=putter`, {
    body: pod("owned", {
      containers: [container({ resources: resources("200m", "200Mi") })],
    }),
  });
  await call("strategic", "PATCH", `${path}?fieldManager=patcher`, {
    body: {
      metadata: { labels: { a: "b" } },
      spec: {
        containers: [{ name: "c", resources: { requests: { cpu: "300m" } } }],
      },
    },
    headers: { "content-type": "application/strategic-merge-patch+json" },
  });
  await call("json patch", "PATCH", path, {
    body: [
      {
        op: "replace",
        path: "/spec/containers/0/resources/limits/cpu",
        value: "2",
      },
    ],
    headers: { "content-type": "application/json-patch+json" },
  });
  const applied = (cpu: string): object => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "owned", labels: { c: "d" } },
    spec: {
      containers: [{ name: "c", image: "j", resources: { requests: { cpu } } }],
    },
  });
  await call("apply", "PATCH", `${path}?fieldManager=applier`, {
    body: applied("400m"),
    headers: apply,
  });
  await call(
    "apply by force",
    "PATCH",
    `${path}?fieldManager=applier&force=true`,
    {
      body: applied("400m"),
      headers: apply,
    },
  );
  await call("apply again", "PATCH", `${path}?fieldManager=second`, {
    body: applied("500m"),
    headers: apply,
  });
  await call("apply to none", "PATCH", `${all}/none/resize?fieldManager=a`, {
    body: { ...applied("1"), metadata: { name: "none" } },
    headers: apply,
  });
  await call("dry run", "PATCH", `${path}?dryRun=All`, {
    body: { spec: { containers: [container()] } },
    headers: merge,
  });
  await call("at the end", "GET", `${all}/owned`);
}

async function limits({ call, namespace }: Server, all: string): Promise<void> {
  const at = `/api/v1/namespaces/${namespace}`;
  const range = async (name: string, limit: object): Promise<void> => {
    await call("", "POST", `${at}/limitranges`, {
      body: {
        metadata: { name },
        spec: { limits: [{ type: "Container", ...limit }] },
      },
      silent: true,
    });
  };
  const resize = async (
    label: string,
    name: string,
    has: object,
  ): Promise<void> => {
    await call(label, "PATCH", `${all}/${name}/resize`, {
      body: { spec: { containers: [{ name: "c", resources: has }] } },
      headers: { "content-type": "application/strategic-merge-patch+json" },
      ...plain,
    });
  };
  // A server reads quotas and limits by informers: the dry runs wait for them.
  const seen = async (status: number, body: object): Promise<void> => {
    for (let tries = 0; tries < 100; tries++) {
      const answer = await call("", "POST", `${all}?dryRun=All`, {
        body,
        silent: true,
      });
      if (answer.status === status) return;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  };
  const big = { requests: { cpu: "3" }, limits: { cpu: "3", memory: "1Gi" } };
  await call("", "POST", all, { body: pod("bound"), silent: true });
  await range("bounds", {
    min: { cpu: "50m" },
    max: { cpu: "2", memory: "2Gi" },
    defaultRequest: { memory: "70Mi" },
  });
  await seen(403, pod("seen", { containers: [container({ resources: big })] }));
  await resize("below the minimum", "bound", { requests: { cpu: "10m" } });
  await resize("above the maximum", "bound", { limits: { cpu: "3" } });
  await resize("within", "bound", { requests: { cpu: "200m" } });
  await resize("defaulted", "bound", { requests: { memory: null } });
  await range("others", { default: { "ephemeral-storage": "1Gi" } });
  await seen(201, pod("seen"));
  await resize("given another resource", "bound", { requests: { cpu: "1" } });
  for (const name of ["bounds", "others"])
    await call("", "DELETE", `${at}/limitranges/${name}`, { silent: true });
  await seen(201, pod("seen", { containers: [container({ resources: big })] }));
  await quotas({ call, namespace } as Server, all, resize, seen);
}

/** Usage is charged by admission; there is no controller. */
async function quotas(
  { call, namespace }: Server,
  all: string,
  resize: (label: string, name: string, has: object) => Promise<void>,
  seen: (status: number, body: object) => Promise<void>,
): Promise<void> {
  const at = `/api/v1/namespaces/${namespace}`;
  await call("", "DELETE", all, {
    body: { gracePeriodSeconds: 0 },
    silent: true,
  });
  const hard = { "requests.cpu": "1", "limits.memory": "3Gi" };
  const { body } = await call("", "POST", `${at}/resourcequotas`, {
    body: { metadata: { name: "quota" }, spec: { hard } },
    silent: true,
  });
  body.status = { hard, used: { "requests.cpu": "0", "limits.memory": "0" } };
  await call("", "PUT", `${at}/resourcequotas/quota/status`, {
    body,
    silent: true,
  });
  const big = { requests: { cpu: "2" }, limits: { cpu: "2", memory: "1Gi" } };
  await seen(403, pod("seen", { containers: [container({ resources: big })] }));
  for (const name of ["first", "second"])
    await call("", "POST", all, { body: pod(name), silent: true });
  await resize("all that is left", "first", { requests: { cpu: "900m" } });
  await resize("more than that", "second", { requests: { cpu: "101m" } });
  await resize("less", "first", { requests: { cpu: "500m" } });
  await resize("more memory than there is", "first", {
    limits: { memory: "2500Mi", cpu: "2" },
  });
  await resize("nothing said", "first", { limits: { memory: null } });
}

export const podResize: Scenario = {
  name: "pod-resize",
  options: [
    "--feature-gates=InPlacePodVerticalScaling=true,InPlacePodVerticalScalingAllocatedStatus=true",
  ],
  async run(server) {
    const all = `/api/v1/namespaces/${server.namespace}/pods`;
    await discovery(server);
    await defaults(server, all);
    await kinds(server, all);
    await owners(server, all);
    await limits(server, all);
  },
};

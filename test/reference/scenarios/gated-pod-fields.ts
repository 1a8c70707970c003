// Fields of pods behind gates that are off by default: what a pod asks for as a whole, /proc unmasked, volumes of images,
// user namespaces.
import { brief, plain, unlike } from "../cases.ts";
import type { Json } from "../normalise.ts";
import type { Scenario, Server } from "../scenario.ts";

const container = (name: string, more: object = {}): object => ({
  name,
  image: "i",
  ...more,
});
const has = (requests?: object, limits?: object): object => ({
  resources: {
    ...(requests ? { requests } : {}),
    ...(limits ? { limits } : {}),
  },
});
const pod = (spec: object): object => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "p" },
  spec: { containers: [container("c")], ...spec },
});

type Try = (label: string, spec: object) => Promise<void>;

async function wholePods(attempt: Try): Promise<void> {
  const both = { cpu: "1", memory: "1Gi" };
  await attempt("empty", { resources: {} });
  await attempt("requests", has({ cpu: "500m", memory: "100Mi" }));
  await attempt("requests of nothing", has({ cpu: "0", memory: "0" }));
  await attempt("limits", has(undefined, both));
  await attempt("limits of cpu alone", has(undefined, { cpu: "1" }));
  await attempt("limits beside a request", has({ cpu: "500m" }, both));
  await attempt("limits above containers", {
    ...has(undefined, both),
    containers: [
      container("c", has({ cpu: "100m" }, { cpu: "200m" })),
      container("d", has({ cpu: "100m", memory: "10Mi" })),
    ],
    initContainers: [
      container("i", has({ cpu: "700m" })),
      container("s", { restartPolicy: "Always", ...has({ memory: "5Mi" }) }),
    ],
  });
  await attempt("guaranteed as a whole", {
    ...has(both, both),
    containers: [container("c", has({ cpu: "100m" }))],
  });
  await attempt(
    "other resources",
    has({ cpu: "1", "ephemeral-storage": "1Gi" }),
  );
  await attempt("unknown resources", has(undefined, { "example.com/x": "1" }));
  await attempt("bad resources", has({ "a b": "1", storage: "1" }));
  await attempt("huge pages", has(undefined, { "hugepages-2Mi": "4Mi" }));
  await attempt("claims", { resources: { claims: [{ name: "x" }] } });
  await attempt("negative", has({ cpu: "-1" }));
  await attempt("requests above limits", has({ cpu: "2" }, { cpu: "1" }));
  await attempt("less than containers ask for", {
    ...has({ cpu: "100m" }),
    containers: [container("c", has({ cpu: "150m", memory: "10Mi" }))],
  });
  await attempt("containers with other resources", {
    ...has({ cpu: "1", memory: "1Gi" }),
    containers: [container("c", has({ "ephemeral-storage": "1Gi" }))],
  });
  await attempt("limits below containers'", {
    ...has(undefined, { cpu: "1" }),
    containers: [
      container("c", has(undefined, { cpu: "1" })),
      container("d", has(undefined, { cpu: "2", memory: "1Gi" })),
    ],
  });
}

async function others(attempt: Try): Promise<void> {
  const proc = (procMount: string, more: object = {}): object => ({
    containers: [container("c", { securityContext: { procMount } })],
    ...more,
  });
  await attempt("default /proc", proc("Default"));
  await attempt("unmasked /proc", proc("Unmasked"));
  await attempt(
    "unmasked /proc with users",
    proc("Unmasked", { hostUsers: false }),
  );
  await attempt("another /proc", proc("Masked"));
  await attempt("no /proc", proc(""));
  await attempt("users and the host's network", {
    hostUsers: false,
    hostNetwork: true,
  });
  const image = (source: object, mount: object = {}): object => ({
    volumes: [{ name: "v", image: source }],
    containers: [
      container("c", {
        volumeMounts: [{ name: "v", mountPath: "/v", ...mount }],
      }),
    ],
  });
  await attempt("an image's volume", image({ reference: "a:1" }));
  await attempt("an image's volume, latest", image({ reference: "a" }));
  await attempt("no image", image({}));
  await attempt(
    "an odd pull policy",
    image({ reference: "a", pullPolicy: "Sometimes" }),
  );
  await attempt("a part of it", image({ reference: "a" }, { subPath: "b" }));
  await attempt(
    "a part by expression",
    image({ reference: "a" }, { subPathExpr: "b" }),
  );
  await attempt("two types", {
    volumes: [{ name: "v", emptyDir: {}, image: { reference: "a" } }],
  });
  const recursive = (mount: object): object => ({
    volumes: [{ name: "v", emptyDir: {} }],
    containers: [
      container("c", {
        volumeMounts: [{ name: "v", mountPath: "/v", ...mount }],
      }),
    ],
  });
  for (const recursiveReadOnly of ["Enabled", "IfPossible", "Disabled", "Odd"])
    for (const readOnly of [true, false])
      await attempt(
        `${recursiveReadOnly} ${readOnly ? "of a read-only mount" : "of a mount"}`,
        recursive({ recursiveReadOnly, readOnly }),
      );
}

async function templates({ call, namespace }: Server): Promise<void> {
  const all = `/apis/apps/v1/namespaces/${namespace}/deployments`;
  const deployment = (spec: object): object => ({
    metadata: { name: "d" },
    spec: {
      selector: { matchLabels: { a: "b" } },
      template: {
        metadata: { labels: { a: "b" } },
        spec: { containers: [container("c")], ...spec },
      },
    },
  });
  for (const [label, spec] of Object.entries({
    "limits of a template": has(undefined, { cpu: "1" }),
    "bad limits of a template": has({ cpu: "2" }, { cpu: "1" }),
    "a template without its image": { volumes: [{ name: "v", image: {} }] },
  }))
    await call(label, "POST", `${all}?dryRun=All`, {
      body: deployment(spec),
      ...plain,
      keep: (body: Json) =>
        body.kind === "Status" ? brief(body) : body.spec.template.spec,
    });
}

/** A quota wants containers to say what they ask for, unless the pod does. */
async function quotas({ call, namespace }: Server): Promise<void> {
  const at = `/api/v1/namespaces/${namespace}`;
  const hard = { "requests.cpu": "1", "limits.memory": "2Gi" };
  const { body } = await call("", "POST", `${at}/resourcequotas`, {
    body: { metadata: { name: "quota" }, spec: { hard } },
    silent: true,
  });
  body.status = { hard, used: { "requests.cpu": "0", "limits.memory": "0" } };
  await call("", "PUT", `${at}/resourcequotas/quota/status`, {
    body,
    silent: true,
  });
  const attempt = async (label: string, spec: object): Promise<void> => {
    await call(label, "POST", `${at}/pods?dryRun=All`, {
      body: pod(spec),
      ...plain,
      keep: (found: Json) =>
        found.kind === "Status" ? brief(found) : found.spec.resources,
    });
  };
  await attempt("a quota and nothing said", {});
  await attempt("a quota and the whole", has({ cpu: "1" }, { cpu: "1" }));
  await attempt("more than the quota", has({ cpu: "2" }));
  await call("", "DELETE", `${at}/resourcequotas/quota`, { silent: true });
  await call("", "POST", `${at}/limitranges`, {
    body: {
      metadata: { name: "range" },
      spec: {
        limits: [{ type: "Pod", max: { cpu: "1" }, min: { cpu: "200m" } }],
      },
    },
    silent: true,
  });
  const eachWay = has({ cpu: "500m" }, { cpu: "500m" });
  await attempt("within a range", eachWay);
  await attempt("above a range", has({ cpu: "2" }, { cpu: "2" }));
  await attempt("below a range", has({ cpu: "100m" }, { cpu: "1" }));
  await call("", "DELETE", `${at}/limitranges/range`, { silent: true });
}

/** What can't be changed later, and that such a pod is not resized. */
async function later({ call, namespace }: Server): Promise<void> {
  const all = `/api/v1/namespaces/${namespace}/pods`;
  const merge = { "content-type": "application/merge-patch+json" };
  await call("", "POST", all, {
    body: pod(has({ cpu: "100m" })),
    silent: true,
  });
  await call("another request", "PATCH", `${all}/p`, {
    headers: merge,
    body: { spec: has({ cpu: "200m" }) },
    ...plain,
    keep: brief,
  });
}

export const gatedPodFields: Scenario = {
  name: "gated-pod-fields",
  options: [
    "--feature-gates=PodLevelResources=true,ProcMountType=true,UserNamespacesSupport=true,ImageVolume=true",
  ],
  async run(server) {
    const { call, namespace } = server;
    const all = `/api/v1/namespaces/${namespace}/pods?dryRun=All`;
    const { body: base } = await call("", "POST", all, {
      body: pod({}),
      silent: true,
    });
    const attempt: Try = async (label, spec) => {
      await call(label, "POST", all, {
        body: pod(spec),
        ...plain,
        keep: (body: Json) =>
          body.kind === "Status" ? brief(body) : unlike(body, base as Json),
      });
    };
    await wholePods(attempt);
    await others(attempt);
    await templates(server);
    await quotas(server);
    await later(server);
  },
};

// One set of rules for both transports: each request of the table is made over HTTP to one server and in process to
// another one with the same past, and what they answer – object, list, Status or refusal – is the same, down to
// versions and owners of fields. What is random (uids, generated names, tokens) is masked.
import * as fs from "node:fs";
import pino from "pino";
import { ApiError } from "../../../api/errors.ts";
import type { GroupVersionResource } from "../../../api/object.ts";
import {
  loadClusterPki,
  type ClusterPki,
} from "../../../apiserver-lite/bootstrap/cluster-pki.ts";
import type { InProcessTransport } from "../../../apiserver-lite/in-process/transport.ts";
import { parseOptions } from "../../../cli/options/parse.ts";
import { serverOptions } from "../../../cli/options/server.ts";
import { startApiPart } from "../../../cli/parts/api/apiserver.ts";
import type { WatchOptions } from "../../../client/client.ts";
import { createHttpTransport } from "../../../client/http-transport.ts";
import type { ApiRequest, Transport } from "../../../client/transport.ts";
import { createMemoryStore } from "../../../storage/memory/memory-store.ts";
import { eventually } from "../../support/eventually.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";
import type { Json } from "./support.ts";

interface Side {
  readonly transport: Transport;
  readonly clock: FakeClock;
  stop(): Promise<void>;
}

const directory = useTempDirectories();
let http: Side;
let inProcess: Side;

/** An API server as `orbit server` has it, without the parts that would write by themselves. */
async function start(
  overHttp: boolean,
  startMs: number,
  pki: ClusterPki,
): Promise<Side> {
  const clock = new FakeClock(startMs);
  const logger = pino({ level: "silent" });
  const api = await startApiPart({
    values: parseOptions(serverOptions, []),
    store: createMemoryStore({ clock }),
    serving: pki.serving,
    pki,
    clock,
    logger,
    bindAddress: "127.0.0.1",
    port: 0,
  });
  const component = "tester/1";
  const transport = overHttp
    ? createHttpTransport({
        server: `https://127.0.0.1:${api.server.port}`,
        tls: {
          ca: pki.clusterCa.certificate,
          cert: pki.admin.certificate,
          key: pki.admin.key,
        },
        userAgent: component,
      })
    : api.server.transport(
        {
          name: "kubernetes-admin",
          groups: ["system:masters", "system:authenticated"],
          extra: {},
        },
        component,
      );
  return {
    transport,
    clock,
    stop: async () => {
      await transport.close();
      await api.stop();
    },
  };
}

beforeAll(async () => {
  const startMs = Date.now();
  // One set of certificates: they are published as objects.
  const pki = loadClusterPki({
    directory: fs.mkdtempSync(`${directory()}/`),
    hosts: [],
    serviceAddresses: [],
    nowMs: startMs,
  });
  http = await start(true, startMs, pki);
  inProcess = await start(false, startMs, pki);
});
afterAll(async () => {
  await http.stop();
  await inProcess.stop();
});

const random =
  /\b[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}\b|(?<=\b(?:gen|kube-api-access)-)[a-z\d]{5}\b|eyJ[\w.-]+/g;

/** Who is known by a certificate has its name in `extra`; a stream that is not bytes needs no blueprint of its lists. */
const unlike = new Set([
  "extra",
  "kubernetes.io/initial-events-list-blueprint",
]);

/** What a client sees of an answer, without what is random. */
function masked(answer: unknown): Json {
  const text = JSON.stringify(answer, (key, value: unknown) =>
    unlike.has(key) ? undefined : value,
  );
  return JSON.parse(text.replace(random, "<random>"));
}

async function outcome(run: () => Promise<unknown>): Promise<Json> {
  try {
    return masked({ answer: await run() });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { code, reason, message, details, metadata } = error.status;
    return masked({ code, reason, message, details, metadata });
  }
}

const core = (resource: string): GroupVersionResource => ({
  group: "",
  version: "v1",
  resource,
});
const of = (
  group: string,
  resource: string,
  version = "v1",
): GroupVersionResource => ({ group, version, resource });
const configMaps = core("configmaps");
const pods = core("pods");
const deployments = of("apps", "deployments");
const namespace = "default";
const named = (name: string, more: object = {}): object => ({
  metadata: { name, namespace },
  ...more,
});
const map = (name: string, data: object = { a: "1" }): object =>
  named(name, { data });
const podSpec = { containers: [{ name: "c", image: "i" }] };
const deployment = (name: string, spec: object = {}): object =>
  named(name, {
    spec: {
      selector: { matchLabels: { app: name } },
      template: { metadata: { labels: { app: name } }, spec: podSpec },
      ...spec,
    },
  });
const put = (name: string, body: object, more: Partial<ApiRequest> = {}) =>
  ({
    verb: "update",
    resource: configMaps,
    namespace,
    name,
    body,
    ...more,
  }) as const;
const post = (
  resource: GroupVersionResource,
  body: object | undefined,
  more: Partial<ApiRequest> = {},
): ApiRequest => ({
  verb: "create",
  resource,
  namespace,
  ...(body ? { body } : {}),
  ...more,
});
const get = (
  resource: GroupVersionResource,
  name: string,
  more: Partial<ApiRequest> = {},
): ApiRequest => ({ verb: "get", resource, namespace, name, ...more });
const list = (
  resource: GroupVersionResource,
  query: Record<string, string> = {},
  more: Partial<ApiRequest> = {},
): ApiRequest => ({ verb: "list", resource, namespace, query, ...more });
const remove = (
  resource: GroupVersionResource,
  name: string,
  body?: object,
  more: Partial<ApiRequest> = {},
): ApiRequest => ({
  verb: "delete",
  resource,
  namespace,
  name,
  ...(body ? { body } : {}),
  ...more,
});
const patch = (
  resource: GroupVersionResource,
  name: string,
  type: "json" | "merge" | "strategic" | "apply",
  body: unknown,
  query: Record<string, string> = {},
  more: Partial<ApiRequest> = {},
): ApiRequest => ({
  verb: "patch",
  resource,
  namespace,
  name,
  patch: { type, body } as NonNullable<ApiRequest["patch"]>,
  query,
  ...more,
});
const clusterWide = { namespace: "" };
const dryRun = { dryRun: "All" };
const strict = { fieldValidation: "Strict" };
const applied = (name: string, data: object): object => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name },
  data,
});

/** In order: later requests meet what earlier ones made. `want`: the kind that is answered, or the code. */
const table: [name: string, request: ApiRequest, want: string | number][] = [
  ["create", post(configMaps, map("a")), "ConfigMap"],
  ["create again", post(configMaps, map("a")), 409],
  [
    "create with a label",
    post(configMaps, {
      metadata: { name: "b", namespace, labels: { l: "x" } },
    }),
    "ConfigMap",
  ],
  ["create without a body", post(configMaps, undefined), 400],
  ["create an array", post(configMaps, []), 400],
  ["create with a number as kind", post(configMaps, { kind: 5 }), 400],
  [
    "create what says another kind",
    post(configMaps, { kind: "Secret", ...map("k") }),
    400,
  ],
  [
    "create what says an unknown kind",
    post(configMaps, { kind: "Nothing", apiVersion: "a/b/c", ...map("k") }),
    400,
  ],
  [
    "create what says another version",
    post(deployments, { apiVersion: "apps/v2", ...deployment("k") }),
    400,
  ],
  ["create with a bad name", post(configMaps, map("Not_A_Name")), 422],
  ["create without a name", post(configMaps, { data: {} }), 422],
  [
    "create with a generated name",
    post(configMaps, { metadata: { generateName: "gen-" } }),
    "ConfigMap",
  ],
  [
    "create in another namespace than its own",
    post(configMaps, { metadata: { name: "n", namespace: "other" } }),
    400,
  ],
  [
    "create in a namespace that is not there",
    post(configMaps, { metadata: { name: "n" } }, { namespace: "nowhere" }),
    404,
  ],
  ["create without a namespace", post(configMaps, map("n"), clusterWide), 405],
  [
    "create what has no namespace in one",
    post(core("nodes"), { metadata: { name: "n" } }),
    404,
  ],
  ["create under a name", post(configMaps, map("n"), { name: "n" }), 405],
  [
    "create with an unknown field, which is dropped",
    post(configMaps, { ...map("unknown"), nothing: 1 }),
    "ConfigMap",
  ],
  [
    "create with an unknown field, ignored",
    post(
      configMaps,
      { ...map("ignored"), nothing: 1 },
      {
        query: { fieldValidation: "Ignore" },
      },
    ),
    "ConfigMap",
  ],
  [
    "create with an unknown field, strictly",
    post(configMaps, { ...map("strict"), nothing: 1 }, { query: strict }),
    400,
  ],
  [
    "create with unknown fields deep within, strictly",
    post(
      deployments,
      deployment("strict", { replica: 1, strategy: { kind: "x" } }),
      { query: strict },
    ),
    400,
  ],
  [
    "create with a validation nobody knows",
    post(configMaps, map("v"), { query: { fieldValidation: "Loose" } }),
    422,
  ],
  [
    "create with a wrong type",
    post(deployments, deployment("wrong", { replicas: "three" })),
    400,
  ],
  [
    "create with a map that is a list",
    post(configMaps, named("wrong", { data: ["a"] })),
    400,
  ],
  [
    "create with a value that is a number",
    post(configMaps, map("wrong", { a: 5 })),
    400,
  ],
  [
    "create with values text has none of",
    post(
      deployments,
      deployment("odd", {
        replicas: Number.NaN,
        paused: undefined,
        minReadySeconds: null,
      }),
    ),
    "Deployment",
  ],
  [
    "create with a date",
    post(core("events"), {
      ...named("dated"),
      involvedObject: { namespace },
      firstTimestamp: new Date(Date.UTC(2025, 0, 1)),
    }),
    "Event",
  ],
  [
    "create in the specification's dialect",
    post(
      of("rbac.authorization.k8s.io", "clusterroles"),
      {
        apiVersion: "rbac.authorization.orbit.io/v1",
        metadata: { name: "dialect" },
        rules: [
          {
            apiGroups: ["storage.orbit.io"],
            resources: ["storageclasses"],
            verbs: ["get"],
          },
        ],
      },
      clusterWide,
    ),
    "ClusterRole",
  ],
  [
    "create, dry run",
    post(configMaps, map("dry"), { query: dryRun }),
    "ConfigMap",
  ],
  ["a dry run made nothing", get(configMaps, "dry"), 404],
  [
    "create, dry run of what is there",
    post(configMaps, map("a"), { query: dryRun }),
    409,
  ],
  [
    "create with a bad dry run",
    post(configMaps, map("dry"), { query: { dryRun: "Some" } }),
    422,
  ],
  [
    "create with a manager that is too long",
    post(configMaps, map("m"), { query: { fieldManager: "x".repeat(200) } }),
    422,
  ],
  [
    "create invalid, all problems at once",
    post(
      deployments,
      deployment("bad", {
        replicas: -1,
        template: { metadata: {}, spec: { containers: [] } },
      }),
    ),
    422,
  ],
  [
    "create an account for pods",
    post(core("serviceaccounts"), named("default")),
    "ServiceAccount",
  ],
  ["create a deployment", post(deployments, deployment("d")), "Deployment"],
  ["create a pod", post(pods, named("p", { spec: podSpec })), "Pod"],
  [
    "create a pod with a port of the wrong type",
    post(
      pods,
      named("q", {
        spec: {
          containers: [
            { name: "c", image: "i", ports: [{ containerPort: "x" }] },
          ],
        },
      }),
    ),
    400,
  ],

  ["get", get(configMaps, "a"), "ConfigMap"],
  ["get what is not there", get(configMaps, "none"), 404],
  ["get without a name", get(configMaps, ""), 400],
  ["get a name with a slash", get(configMaps, "a/b"), 400],
  ["get a name that is a path", get(configMaps, ".."), 400],
  ["get a name with a percent sign", get(configMaps, "a%41"), 400],
  [
    "get of a bad version",
    get(configMaps, "a", { query: { resourceVersion: "x" } }),
    400,
  ],
  ["get of an unknown resource", get(core("nothings"), "a"), 404],
  ["get of an unknown group", get(of("nowhere", "things"), "a"), 404],
  ["get of an unknown version", get(of("apps", "deployments", "v7"), "d"), 404],
  [
    "get an unknown subresource",
    get(configMaps, "a", { subresource: "status" }),
    404,
  ],
  [
    "get status",
    get(deployments, "d", { subresource: "status" }),
    "Deployment",
  ],
  ["get scale", get(deployments, "d", { subresource: "scale" }), "Scale"],
  [
    "get scale of what is not there",
    get(deployments, "x", { subresource: "scale" }),
    404,
  ],
  [
    "get a subresource that is only written",
    get(pods, "p", { subresource: "eviction" }),
    405,
  ],
  [
    "get what is computed",
    get(core("componentstatuses"), "none", clusterWide),
    404,
  ],

  ["list", list(configMaps), "ConfigMapList"],
  ["list all namespaces", list(configMaps, {}, clusterWide), "ConfigMapList"],
  [
    "list by label",
    list(configMaps, { labelSelector: "l=x" }),
    "ConfigMapList",
  ],
  [
    "list by name",
    list(configMaps, { fieldSelector: "metadata.name=a" }),
    "ConfigMapList",
  ],
  [
    "list by a bad label selector",
    list(configMaps, { labelSelector: "l in" }),
    400,
  ],
  [
    "list by an unknown field",
    list(configMaps, { fieldSelector: "spec.x=1" }),
    400,
  ],
  ["list a page", list(configMaps, { limit: "1" }), "ConfigMapList"],
  ["list with a bad limit", list(configMaps, { limit: "x" }), 400],
  ["list with a bad token", list(configMaps, { continue: "abc" }), 400],
  [
    "list continued exactly at a version",
    list(configMaps, { continue: "abc", resourceVersion: "5" }),
    400,
  ],
  [
    "list a bad match",
    list(configMaps, { resourceVersionMatch: "Exact" }),
    422,
  ],
  [
    "list a past version",
    list(configMaps, { resourceVersionMatch: "Exact", resourceVersion: "1" }),
    "ConfigMapList",
  ],
  [
    "list what is computed",
    list(core("componentstatuses"), {}, clusterWide),
    "ComponentStatusList",
  ],
  [
    "list what is only created",
    list(of("authorization.k8s.io", "subjectaccessreviews"), {}, clusterWide),
    405,
  ],

  ["update", put("a", map("a", { a: "2" })), "ConfigMap"],
  ["update what changes nothing", put("a", map("a", { a: "2" })), "ConfigMap"],
  ["update what is not there", put("none", map("none")), 404],
  ["update under another name", put("a", map("b")), 400],
  ["update without a name in the body", put("a", { data: {} }), 400],
  [
    "update an old version",
    put("a", { metadata: { name: "a", resourceVersion: "1" }, data: {} }),
    409,
  ],
  [
    "update a version that is none",
    put("a", { metadata: { name: "a", resourceVersion: "x" }, data: {} }),
    400,
  ],
  [
    "update another object of the name",
    put("a", { metadata: { name: "a", uid: "other" }, data: {} }),
    409,
  ],
  [
    "update, dry run",
    put("a", map("a", { dry: "1" }), { query: dryRun }),
    "ConfigMap",
  ],
  ["update with a wrong type", put("a", map("a", { a: true })), 400],
  ["update, strictly", put("a", { ...map("a"), x: 1 }, { query: strict }), 400],
  [
    "update what creates",
    put("made", named("made", { spec: { holderIdentity: "h" } }), {
      resource: of("coordination.k8s.io", "leases"),
    }),
    "Lease",
  ],
  [
    "update an immutable field",
    put("d", deployment("d", { selector: { matchLabels: { app: "e" } } }), {
      resource: deployments,
    }),
    422,
  ],
  [
    "update status",
    put("d", deployment("d", { replicas: 9 }), {
      resource: deployments,
      subresource: "status",
    }),
    "Deployment",
  ],
  [
    "update scale",
    put(
      "d",
      {
        kind: "Scale",
        apiVersion: "autoscaling/v1",
        ...named("d"),
        spec: { replicas: 2 },
      },
      { resource: deployments, subresource: "scale" },
    ),
    "Scale",
  ],
  [
    "update scale with the deployment",
    put(
      "d",
      { kind: "Deployment", apiVersion: "apps/v1", ...deployment("d") },
      {
        resource: deployments,
        subresource: "scale",
      },
    ),
    400,
  ],
  [
    "update scale below zero",
    put(
      "d",
      { ...named("d"), spec: { replicas: -1 } },
      {
        resource: deployments,
        subresource: "scale",
      },
    ),
    422,
  ],

  [
    "merge patch",
    patch(configMaps, "a", "merge", { data: { m: "1" } }),
    "ConfigMap",
  ],
  [
    "merge patch, dry run",
    patch(configMaps, "a", "merge", { data: { n: "1" } }, dryRun),
    "ConfigMap",
  ],
  ["merge patch of nothing there", patch(configMaps, "none", "merge", {}), 404],
  ["merge patch that is an array", patch(configMaps, "a", "merge", []), 400],
  [
    "merge patch with a wrong type",
    patch(configMaps, "a", "merge", { data: { m: 1 } }),
    422,
  ],
  [
    "merge patch, strictly",
    patch(configMaps, "a", "merge", { nothing: 1 }, strict),
    422,
  ],
  [
    "merge patch of the name",
    patch(configMaps, "a", "merge", { metadata: { name: "z" } }),
    400,
  ],
  [
    "merge patch of an old version",
    patch(configMaps, "a", "merge", { metadata: { resourceVersion: "1" } }),
    409,
  ],
  [
    "merge patch with force",
    patch(configMaps, "a", "merge", {}, { force: "true" }),
    422,
  ],
  [
    "JSON patch",
    patch(configMaps, "a", "json", [
      { op: "add", path: "/data/j", value: "1" },
    ]),
    "ConfigMap",
  ],
  [
    "JSON patch whose test fails",
    patch(configMaps, "a", "json", [
      { op: "test", path: "/data/j", value: "2" },
    ]),
    422,
  ],
  ["JSON patch that is an object", patch(configMaps, "a", "json", {}), 400],
  [
    "JSON patch of a missing path",
    patch(configMaps, "a", "json", [{ op: "remove", path: "/x/y" }]),
    422,
  ],
  [
    "strategic patch",
    patch(deployments, "d", "strategic", {
      spec: { template: { spec: { containers: [{ name: "c", image: "j" }] } } },
    }),
    "Deployment",
  ],
  [
    "strategic patch with a wrong type",
    patch(deployments, "d", "strategic", { spec: { replicas: "x" } }),
    422,
  ],
  [
    "strategic patch with an unknown directive",
    patch(deployments, "d", "strategic", { spec: { $patch: "explode" } }),
    400,
  ],
  [
    "patch status",
    patch(
      deployments,
      "d",
      "merge",
      { status: { replicas: 1 } },
      {},
      {
        subresource: "status",
      },
    ),
    "Deployment",
  ],
  [
    "patch scale",
    patch(
      deployments,
      "d",
      "merge",
      { spec: { replicas: 3 } },
      {},
      {
        subresource: "scale",
      },
    ),
    "Scale",
  ],
  [
    "patch scale with a wrong type",
    patch(
      deployments,
      "d",
      "merge",
      { spec: { replicas: "x" } },
      {},
      {
        subresource: "scale",
      },
    ),
    422,
  ],
  [
    "apply without a manager",
    patch(configMaps, "ap", "apply", applied("ap", {})),
    422,
  ],
  [
    "apply what is new",
    patch(configMaps, "ap", "apply", applied("ap", { x: "1" }), {
      fieldManager: "one",
    }),
    "ConfigMap",
  ],
  [
    "apply against another's field",
    patch(configMaps, "ap", "apply", applied("ap", { x: "2" }), {
      fieldManager: "two",
    }),
    409,
  ],
  [
    "apply with force",
    patch(configMaps, "ap", "apply", applied("ap", { x: "2" }), {
      fieldManager: "two",
      force: "true",
    }),
    "ConfigMap",
  ],
  [
    "apply, dry run",
    patch(configMaps, "ap", "apply", applied("ap", { y: "2" }), {
      fieldManager: "two",
      ...dryRun,
    }),
    "ConfigMap",
  ],
  [
    "apply an array",
    patch(configMaps, "ap", "apply", [], { fieldManager: "one" }),
    400,
  ],
  [
    "apply another kind",
    patch(
      configMaps,
      "ap",
      "apply",
      { apiVersion: "v1", kind: "Secret", metadata: { name: "ap" } },
      { fieldManager: "one" },
    ),
    400,
  ],
  [
    "apply an undeclared field",
    patch(
      configMaps,
      "ap",
      "apply",
      { ...applied("ap", {}), nothing: 1 },
      { fieldManager: "one" },
    ),
    400,
  ],

  [
    "a review of access",
    post(
      of("authorization.k8s.io", "subjectaccessreviews"),
      {
        spec: {
          user: "somebody",
          resourceAttributes: { verb: "get", resource: "pods", namespace },
        },
      },
      clusterWide,
    ),
    "SubjectAccessReview",
  ],
  [
    "a review in a namespace",
    post(of("authorization.k8s.io", "localsubjectaccessreviews"), {
      spec: {
        user: "somebody",
        resourceAttributes: { verb: "get", resource: "pods", namespace },
      },
    }),
    "LocalSubjectAccessReview",
  ],
  [
    "a review of nobody",
    post(
      of("authorization.k8s.io", "subjectaccessreviews"),
      { spec: {} },
      clusterWide,
    ),
    422,
  ],
  [
    "a review of oneself",
    post(of("authentication.k8s.io", "selfsubjectreviews"), {}, clusterWide),
    "SelfSubjectReview",
  ],
  [
    "a review of a token",
    post(
      of("authentication.k8s.io", "tokenreviews"),
      { spec: { token: "x" } },
      clusterWide,
    ),
    "TokenReview",
  ],
  [
    "a service account",
    post(core("serviceaccounts"), named("sa")),
    "ServiceAccount",
  ],
  [
    "a token",
    post(
      core("serviceaccounts"),
      { spec: { expirationSeconds: 3600 } },
      {
        name: "sa",
        subresource: "token",
      },
    ),
    "TokenRequest",
  ],
  [
    "a token for too short a time",
    post(
      core("serviceaccounts"),
      { spec: { expirationSeconds: 1 } },
      {
        name: "sa",
        subresource: "token",
      },
    ),
    422,
  ],
  [
    "a subresource of nothing",
    post(pods, {}, { name: "", subresource: "binding" }),
    400,
  ],
  [
    "a node for the pod",
    post(core("nodes"), { metadata: { name: "n1" } }, clusterWide),
    "Node",
  ],
  [
    "a binding",
    post(
      core("bindings"),
      named("p", { target: { kind: "Node", name: "n1" } }),
    ),
    "Status",
  ],
  [
    "a second binding",
    post(pods, named("p", { target: { kind: "Node", name: "n2" } }), {
      name: "p",
      subresource: "binding",
    }),
    409,
  ],
  [
    "a binding to no node",
    post(pods, named("p", { target: { kind: "Pod", name: "x" } }), {
      name: "p",
      subresource: "binding",
    }),
    400,
  ],
  [
    "an eviction, dry run",
    post(pods, named("p", { deleteOptions: { dryRun: ["All"] } }), {
      name: "p",
      subresource: "eviction",
    }),
    "Status",
  ],
  ["an eviction's dry run evicted nothing", get(pods, "p"), "Pod"],
  [
    "an eviction of nothing there",
    post(pods, named("none"), { name: "none", subresource: "eviction" }),
    404,
  ],

  [
    "delete, dry run in the body",
    remove(configMaps, "a", { dryRun: ["All"] }),
    "Status",
  ],
  [
    "delete, dry run in the query",
    remove(configMaps, "a", undefined, { query: dryRun }),
    "Status",
  ],
  [
    "delete, dry run beside a body",
    remove(configMaps, "a", {}, { query: dryRun }),
    "Status",
  ],
  ["a dry run deleted nothing", get(configMaps, "a"), "ConfigMap"],
  [
    "delete with a bad dry run",
    remove(configMaps, "a", { dryRun: ["Some"] }),
    422,
  ],
  [
    "delete with another uid",
    remove(configMaps, "a", { preconditions: { uid: "other" } }),
    409,
  ],
  [
    "delete with an old version",
    remove(configMaps, "a", { preconditions: { resourceVersion: "1" } }),
    409,
  ],
  [
    "delete with two policies",
    remove(configMaps, "a", {
      propagationPolicy: "Orphan",
      orphanDependents: true,
    }),
    422,
  ],
  [
    "delete with an unknown policy",
    remove(configMaps, "a", { propagationPolicy: "No" }),
    422,
  ],
  [
    "delete with options of a wrong type",
    remove(configMaps, "a", { gracePeriodSeconds: "x" }),
    400,
  ],
  [
    "delete with options of another kind",
    remove(configMaps, "a", { kind: "Pod" }),
    400,
  ],
  ["delete", remove(configMaps, "a"), "Status"],
  ["delete again", remove(configMaps, "a"), 404],
  ["delete without a name", remove(configMaps, ""), 400],
  [
    "delete a pod with grace",
    remove(pods, "p", { gracePeriodSeconds: 30 }),
    "Pod",
  ],
  ["delete a pod at once", remove(pods, "p", { gracePeriodSeconds: 0 }), "Pod"],
  [
    "delete in the foreground",
    remove(deployments, "d", { propagationPolicy: "Foreground" }),
    "Deployment",
  ],
  [
    "delete a subresource",
    remove(deployments, "d", undefined, { subresource: "scale" }),
    405,
  ],
  [
    "delete a collection, dry run",
    {
      verb: "deletecollection",
      resource: configMaps,
      namespace,
      body: { dryRun: ["All"] },
    },
    "ConfigMapList",
  ],
  [
    "delete a collection by label",
    {
      verb: "deletecollection",
      resource: configMaps,
      namespace,
      query: { labelSelector: "l=x" },
    },
    "ConfigMapList",
  ],
  [
    "delete a collection by a bad selector",
    {
      verb: "deletecollection",
      resource: configMaps,
      namespace,
      query: { labelSelector: "l in" },
    },
    400,
  ],
  [
    "delete a collection with an unknown policy",
    {
      verb: "deletecollection",
      resource: configMaps,
      namespace,
      body: { propagationPolicy: "No" },
    },
    422,
  ],
  [
    "delete a collection across namespaces",
    { verb: "deletecollection", resource: configMaps },
    405,
  ],
  ["what is left", list(configMaps, {}), "ConfigMapList"],
  ["what is left of the pods", list(pods, {}), "PodList"],
];

test.each(table)("%s", async (_name, request, want) => {
  const over = await outcome(() => http.transport.request(request));
  const within = await outcome(() => inProcess.transport.request(request));
  expect(over.answer?.kind ?? over.code).toBe(want);
  expect(within).toEqual(over);
});

test("pages go on alike", async () => {
  const pages = async ({ transport }: Side): Promise<Json> => {
    const seen: Json[] = [];
    for (let token = ""; ;) {
      const query = { limit: "2", ...(token ? { continue: token } : {}) };
      const page: Json = await transport.request(
        list(
          of("rbac.authorization.k8s.io", "clusterroles"),
          query,
          clusterWide,
        ),
      );
      seen.push(masked(page));
      token = page.metadata.continue;
      if (!token) return seen;
    }
  };
  const over = await pages(http);
  expect(over.length).toBeGreaterThan(3);
  expect(await pages(inProcess)).toEqual(over);
});

const watches: [
  name: string,
  options: WatchOptions,
  resource: GroupVersionResource,
  want: "events" | number,
][] = [
  [
    "from now, ended in time",
    { namespace, timeoutSeconds: 1 },
    configMaps,
    "events",
  ],
  [
    "from the start, with bookmarks",
    {
      namespace,
      sendInitialEvents: true,
      resourceVersionMatch: "NotOlderThan",
      allowWatchBookmarks: true,
      timeoutSeconds: 1,
    },
    configMaps,
    "events",
  ],
  [
    "from a past version",
    { namespace, resourceVersion: "1", timeoutSeconds: 1 },
    configMaps,
    "events",
  ],
  [
    "of some labels, from a past version",
    {
      namespace,
      resourceVersion: "1",
      labelSelector: "l=x",
      timeoutSeconds: 1,
    },
    configMaps,
    "events",
  ],
  [
    "from the future",
    { namespace, resourceVersion: "999999999", timeoutSeconds: 1 },
    configMaps,
    "events",
  ],
  ["from no version", { namespace, resourceVersion: "x" }, configMaps, 400],
  ["of a bad selector", { namespace, labelSelector: "l in" }, configMaps, 400],
  [
    "of an unknown field",
    { namespace, fieldSelector: "spec.x=1" },
    configMaps,
    400,
  ],
  ["of an unknown resource", { namespace }, core("nothings"), 404],
  ["of what can't be watched", {}, core("componentstatuses"), 405],
  [
    "of what can't be listed",
    {},
    of("authorization.k8s.io", "subjectaccessreviews"),
    405,
  ],
  [
    "with a match and no initial events",
    { namespace, resourceVersionMatch: "NotOlderThan", resourceVersion: "1" },
    configMaps,
    422,
  ],
];

/** The events of a watch until its server ends it; time passes meanwhile. */
async function eventsOf(
  { transport, clock }: Side,
  resource: GroupVersionResource,
  options: WatchOptions,
): Promise<Json> {
  let over = false;
  const reading = outcome(async () => {
    const events: unknown[] = [];
    for await (const { type, object } of transport.watch(resource, options)) {
      // Of a bookmark only the version and the end of the initial state count.
      if (type === "BOOKMARK") delete object.metadata.creationTimestamp;
      events.push({ type, object });
    }
    return events;
  }).finally(() => (over = true));
  await eventually(
    async () => {
      await clock.advanceAsync(250);
      return over;
    },
    { what: "the end of the watch" },
  );
  return reading;
}

test.each(watches)("a watch %s", async (_name, options, resource, want) => {
  const over = await eventsOf(http, resource, options);
  const within = await eventsOf(inProcess, resource, options);
  expect(over.answer ? "events" : over.code).toBe(want);
  expect(within).toEqual(over);
});

test("a watch of this process leaves nothing behind", async () => {
  const stops = (): number =>
    (inProcess.transport as InProcessTransport).openStreams;
  const before = stops();
  for (let round = 0; round < 50; round++) {
    const stream = inProcess.transport.watch(configMaps, { namespace });
    if (round % 2 === 0) stream.close();
    else for await (const _ of stream) break;
  }
  expect(stops()).toBe(before);
});

test("what is answered in process is frozen, and what was sent is not kept", async () => {
  const body = map("kept", { a: "1" }) as { data: Record<string, string> };
  const { transport } = inProcess;
  const made: Json = await transport.request(post(configMaps, body));
  expect(Object.isFrozen(made.data)).toBe(true);
  body.data["a"] = "2";
  const read: Json = await transport.request(get(configMaps, "kept"));
  expect(read.data).toEqual({ a: "1" });
  expect(Object.isFrozen(body.data)).toBe(false);
});

test("an object that holds itself is refused", async () => {
  const body: Record<string, unknown> = { metadata: { name: "x" } };
  body["data"] = body;
  const refused = await outcome(() =>
    inProcess.transport.request(post(configMaps, body)),
  );
  expect(refused.code).toBe(400);
});

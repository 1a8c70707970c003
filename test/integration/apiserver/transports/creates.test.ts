// Creates over both transports: good ones, and what is refused, with all that is wrong with it.
import {
  core,
  of,
  configMaps,
  pods,
  deployments,
  namespace,
  named,
  map,
  podSpec,
  deployment,
  post,
  get,
  clusterWide,
  dryRun,
  strict,
} from "../../../support/transports/requests.ts";
import {
  useTransportPair,
  type RequestTable,
} from "../../../support/transports/pair.ts";

const pair = useTransportPair();

const table: RequestTable = [
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
];

test.each(table)("%s", async (_name, request, want) => {
  await pair.answersAlike(request, want);
});

// Deletes of objects and of collections over both transports.
import type { ApiRequest } from "../../../../client/transport.ts";
import {
  core,
  configMaps,
  pods,
  deployments,
  namespace,
  named,
  podSpec,
  post,
  get,
  list,
  remove,
  clusterWide,
  dryRun,
  someObjects,
} from "../../../support/transports/requests.ts";
import {
  useTransportPair,
  type RequestTable,
} from "../../../support/transports/pair.ts";

const past: readonly ApiRequest[] = [
  ...someObjects,
  post(core("serviceaccounts"), named("default")),
  post(pods, named("p", { spec: podSpec })),
  post(core("nodes"), { metadata: { name: "n1" } }, clusterWide),
  post(core("bindings"), named("p", { target: { kind: "Node", name: "n1" } })),
];
const pair = useTransportPair(past);

const table: RequestTable = [
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
  await pair.answersAlike(request, want);
});

// Gets, lists and pages over both transports.
import type { Json } from "../support.ts";
import type { ApiRequest } from "../../../../client/transport.ts";
import {
  core,
  of,
  configMaps,
  pods,
  deployments,
  map,
  post,
  get,
  list,
  clusterWide,
  someObjects,
} from "../../../support/transports/requests.ts";
import {
  masked,
  useTransportPair,
  type RequestTable,
  type Side,
} from "../../../support/transports/pair.ts";

const past: readonly ApiRequest[] = [
  ...someObjects,
  post(configMaps, map("c")),
];
const pair = useTransportPair(past);

const table: RequestTable = [
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
];

test.each(table)("%s", async (_name, request, want) => {
  await pair.answersAlike(request, want);
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
  const over = await pages(pair.http);
  expect(over.length).toBeGreaterThan(3);
  expect(await pages(pair.inProcess)).toEqual(over);
});

// Updates over both transports: of objects, of their status and their scale.
import {
  of,
  deployments,
  named,
  map,
  deployment,
  put,
  dryRun,
  strict,
  someObjects,
} from "../../../support/transports/requests.ts";
import {
  useTransportPair,
  type RequestTable,
} from "../../../support/transports/pair.ts";

const pair = useTransportPair(someObjects);

const table: RequestTable = [
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
];

test.each(table)("%s", async (_name, request, want) => {
  await pair.answersAlike(request, want);
});

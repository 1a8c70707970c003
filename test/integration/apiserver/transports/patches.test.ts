// Patches of all four formats over both transports.
import {
  configMaps,
  deployments,
  patch,
  dryRun,
  strict,
  applied,
  someObjects,
} from "../../../support/transports/requests.ts";
import {
  useTransportPair,
  type RequestTable,
} from "../../../support/transports/pair.ts";

const pair = useTransportPair(someObjects);

const table: RequestTable = [
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
];

test.each(table)("%s", async (_name, request, want) => {
  await pair.answersAlike(request, want);
});

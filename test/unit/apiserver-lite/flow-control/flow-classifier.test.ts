// Which flow a request belongs to: the first schema that matches, whatever is kept of earlier requests.
import facts from "../../../../api/facts/flowcontrol-bootstrap.json";
import type { FlowSchema } from "../../../../api/types/flowcontrol-v1.ts";
import type { Flow } from "../../../../apiserver-lite/flow-control/flow-claim.ts";
import { FlowClassifier } from "../../../../apiserver-lite/flow-control/flow-classifier.ts";
import {
  concernsUser,
  inMatchingOrder,
  matchesRequest,
} from "../../../../apiserver-lite/flow-control/flow-rules.ts";
import { parseRequest } from "../../../../apiserver-lite/request/request-info.ts";

const suggested = facts.flowSchemas as unknown as FlowSchema[];
const byNamespace: FlowSchema = {
  metadata: { name: "by-namespace" },
  spec: {
    priorityLevelConfiguration: { name: "workload-low" },
    matchingPrecedence: 500,
    distinguisherMethod: { type: "ByNamespace" },
    rules: [
      {
        subjects: [{ kind: "User", user: { name: "tenant" } }],
        resourceRules: [
          {
            verbs: ["*"],
            apiGroups: [""],
            resources: ["pods"],
            namespaces: ["*"],
          },
        ],
      },
    ],
  },
} as FlowSchema;
const schemas = inMatchingOrder([...suggested, byNamespace]);

const user = (name: string, ...groups: string[]) => ({
  name,
  groups,
  extra: {},
});
const infoOf = (method: string, target: string) => {
  const [path, query] = target.split("?");
  return parseRequest(method, path!, new URLSearchParams(query));
};

let made: number;
let classifier: FlowClassifier;
beforeEach(() => {
  made = 0;
  classifier = new FlowClassifier(
    schemas,
    ({ spec }, { name }, { namespace }) => {
      const method = spec.distinguisherMethod?.type;
      return method === "ByUser"
        ? name
        : method === "ByNamespace"
          ? namespace
          : "";
    },
    ({ metadata }, distinguisher) => {
      made++;
      return { schema: metadata.name!, distinguisher } as Flow;
    },
  );
});
const classified = (
  ...[who, info]: Parameters<FlowClassifier["classify"]>
): string => {
  const { schema, distinguisher } = classifier.classify(who, info);
  return `${schema}/${distinguisher}`;
};

const users = [
  user("admin", "system:masters", "system:authenticated"),
  user("system:node:a", "system:nodes", "system:authenticated"),
  user("system:kube-scheduler", "system:authenticated"),
  user("system:kube-controller-manager", "system:authenticated"),
  user(
    "system:serviceaccount:kube-system:endpoint-controller",
    "system:serviceaccounts",
    "system:serviceaccounts:kube-system",
    "system:authenticated",
  ),
  user(
    "system:serviceaccount:a:default",
    "system:serviceaccounts",
    "system:serviceaccounts:a",
    "system:authenticated",
  ),
  user("system:anonymous", "system:unauthenticated"),
  user("tenant", "system:authenticated"),
  user("nobody"),
];
const infos = [
  infoOf("GET", "/healthz"),
  infoOf("GET", "/metrics"),
  infoOf("GET", "/api/v1/namespaces/a/pods/x"),
  infoOf("GET", "/api/v1/namespaces/b/pods/x"),
  infoOf("GET", "/api/v1/pods"),
  infoOf("POST", "/api/v1/namespaces/a/events"),
  infoOf("PUT", "/api/v1/nodes/a/status"),
  infoOf(
    "PUT",
    "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler",
  ),
  infoOf(
    "PUT",
    "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/a",
  ),
  infoOf("POST", "/apis/authentication.k8s.io/v1/tokenreviews"),
];

test("the first schema that matches is found, at first and from what is kept", () => {
  const seen = new Set<string>();
  for (let round = 0; round < 3; round++)
    for (const who of users)
      for (const info of infos) {
        const wanted =
          schemas.find(({ spec }) =>
            spec.rules?.some(
              (rule) => concernsUser(rule, who) && matchesRequest(rule, info),
            ),
          )?.metadata.name ?? "catch-all";
        const { schema } = classifier.classify(who, info);
        expect([who.name, info.path, schema]).toEqual([
          who.name,
          info.path,
          wanted,
        ]);
        seen.add(schema);
      }
  expect(seen.size).toBeGreaterThan(8);
});

test("a flow is the same object for the requests of one distinguisher", () => {
  const [, , a, b] = infos;
  const tenant = user("tenant", "system:authenticated");
  expect(classified(tenant, a!)).toBe("by-namespace/a");
  expect(classified(tenant, b!)).toBe("by-namespace/b");
  const first = classifier.classify(tenant, a!);
  const again = user("tenant", "system:authenticated");
  expect(classifier.classify(again, a!)).toBe(first);
  expect(made).toBe(2);
});

test("a user of the same name with other groups is another", () => {
  const [, , info] = infos;
  const plain = () => classified(user("eve", "system:authenticated"), info!);
  expect(plain()).toBe("global-default/eve");
  const master = user("eve", "system:masters", "system:authenticated");
  expect(classified(master, info!)).toBe("exempt/");
  expect(plain()).toBe("global-default/eve");
  expect(classified(user("eve"), info!)).toBe("catch-all/eve");
});

test("names of the client's choice do not fill the memory", () => {
  const [, , info] = infos;
  const long = user("x".repeat(10_000), "system:authenticated");
  for (let at = 0; at < 3; at++)
    expect(classifier.classify(long, info!).schema).toBe("global-default");
  // Nothing of it was kept.
  expect(made).toBe(3);
  const first = user("first", "system:authenticated");
  classifier.classify(first, info!);
  for (let at = 0; at < 3000; at++)
    classifier.classify(user(`u${at}`, "system:authenticated"), info!);
  made = 0;
  classifier.classify(first, info!);
  // Others took its room.
  expect(made).toBe(1);
});

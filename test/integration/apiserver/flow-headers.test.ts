// The flow schema and priority level of each request, in its answer's headers.
import { startTestServer, type TestServer } from "./support.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

const group = "/apis/flowcontrol.apiserver.k8s.io/v1";

async function flowOf(
  method: string,
  path: string,
  user: string,
  groups: string[] = [],
): Promise<[string | undefined, string | undefined]> {
  const answer = await server.call(method, path, undefined, {
    "impersonate-user": user,
    // One header a group.
    ...(groups.length > 0 ? { "impersonate-group": groups.join(",") } : {}),
  });
  const nameOf = async (kind: string, header: string) => {
    const uid = answer.headers.get(header);
    const { body } = await server.call("GET", `${group}/${kind}`);
    return (body.items as { metadata: { uid: string; name: string } }[]).find(
      ({ metadata }) => metadata.uid === uid,
    )?.metadata.name;
  };
  return [
    await nameOf("flowschemas", "x-kubernetes-pf-flowschema-uid"),
    await nameOf(
      "prioritylevelconfigurations",
      "x-kubernetes-pf-prioritylevel-uid",
    ),
  ];
}

it.each<[string, string, string, string[], string, string]>([
  ["GET", "/api/v1/pods", "root", ["system:masters"], "exempt", "exempt"],
  ["GET", "/healthz", "someone", [], "probes", "exempt"],
  ["GET", "/api/v1/pods", "someone", [], "global-default", "global-default"],
  [
    "GET",
    "/api/v1/nodes",
    "system:node:n",
    ["system:nodes"],
    "system-node-high",
    "node-high",
  ],
  [
    "GET",
    "/api/v1/pods",
    "system:serviceaccount:default:a",
    ["system:serviceaccounts"],
    "service-accounts",
    "workload-low",
  ],
])("%s %s by %s %j: %s", async (method, path, user, groups, schema, level) => {
  expect(await flowOf(method, path, user, groups)).toEqual([schema, level]);
});

it("follows changes of the schemas", async () => {
  const schema = {
    kind: "FlowSchema",
    apiVersion: "flowcontrol.apiserver.k8s.io/v1",
    metadata: { name: "mine" },
    spec: {
      matchingPrecedence: 5,
      priorityLevelConfiguration: { name: "workload-high" },
      rules: [
        {
          subjects: [{ kind: "User", user: { name: "me" } }],
          resourceRules: [
            {
              verbs: ["list"],
              apiGroups: ["*"],
              resources: ["secrets"],
              clusterScope: true,
            },
          ],
        },
      ],
    },
  };
  const made = await server.call("POST", `${group}/flowschemas`, schema);
  expect(made.status).toBe(201);
  expect(await flowOf("GET", "/api/v1/secrets", "me")).toEqual([
    "mine",
    "workload-high",
  ]);
  expect((await flowOf("GET", "/api/v1/pods", "me"))[0]).toBe("global-default");
  await server.call("DELETE", `${group}/flowschemas/mine`);
  expect((await flowOf("GET", "/api/v1/secrets", "me"))[0]).toBe(
    "global-default",
  );
});

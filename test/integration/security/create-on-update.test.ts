// Who may only update or patch does not create: apply and PUT ask the authorizer for `create` before they do.
import { startTester, type Json, type Tester } from "../conformance/support.ts";

const rbac = "/apis/rbac.authorization.k8s.io/v1";
const apply = { "content-type": "application/apply-patch+yaml" };
const as = (name: string) => ({ "impersonate-user": name });

let tester: Tester;
beforeAll(async () => {
  tester = await startTester();
  await tester.namespace("s3");
  for (const [name, verbs] of [
    ["changer", ["get", "update", "patch"]],
    ["maker", ["get", "update", "patch", "create"]],
  ] as const) {
    await tester.ok("POST", `${rbac}/namespaces/s3/roles`, {
      metadata: { name },
      rules: [
        {
          apiGroups: ["", "coordination.k8s.io"],
          resources: ["pods", "configmaps", "services", "leases"],
          verbs,
        },
      ],
    });
    await tester.ok("POST", `${rbac}/namespaces/s3/rolebindings`, {
      metadata: { name },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name },
      subjects: [{ kind: "User", name }],
    });
  }
});
afterAll(() => tester.stop());

const core = "/api/v1/namespaces/s3";
const leases = "/apis/coordination.k8s.io/v1/namespaces/s3/leases";
interface Way {
  readonly method: "PATCH" | "PUT";
  readonly path: string;
  readonly group?: string;
  readonly resource: string;
  readonly body: Json;
}
const ways: readonly Way[] = [
  {
    method: "PATCH",
    path: `${core}/pods/x?fieldManager=m`,
    resource: "pods",
    body: {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "x" },
      spec: {
        containers: [
          { name: "c", image: "i", securityContext: { privileged: true } },
        ],
      },
    },
  },
  {
    method: "PATCH",
    path: `${core}/configmaps/x?fieldManager=m`,
    resource: "configmaps",
    body: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "x" } },
  },
  {
    method: "PUT",
    path: `${leases}/x`,
    group: "coordination.k8s.io",
    resource: "leases",
    body: { metadata: { name: "x" }, spec: { holderIdentity: "me" } },
  },
  {
    method: "PUT",
    path: `${core}/services/x`,
    resource: "services",
    body: { metadata: { name: "x" }, spec: { ports: [{ port: 80 }] } },
  },
];

describe.each(ways)("$method of $resource", (way) => {
  const { method, path, group = "", resource, body } = way;
  const send = (user: string, query = "", sent = body) =>
    tester.call(
      method,
      query ? path + (path.includes("?") ? "&" : "?") + query : path,
      sent,
      { ...(method === "PATCH" ? apply : {}), ...as(user) },
    );
  const stored = async () =>
    (await tester.call("GET", path.replace(/\?.*/, ""))).status;

  it.each(["", "dryRun=All"])(
    "refuses without create, and makes nothing (%s)",
    async (query) => {
      const { status, body: answer } = await send("changer", query);
      expect([status, answer.message]).toEqual([
        403,
        `${resource}${group ? `.${group}` : ""} "x" is forbidden: User "changer" cannot create resource "${resource}" in API group "${group}" in the namespace "s3"`,
      ]);
      expect(answer.details).toEqual({
        name: "x",
        kind: resource,
        ...(group ? { group } : {}),
      });
      expect(await stored()).toBe(404);
    },
  );

  it("creates with create, and changes without", async () => {
    const made = await send("maker");
    expect(made.status).toBe(201);
    const again = method === "PUT" ? made.body : body;
    expect((await send("changer", "", again)).status).toBe(200);
  });
});

it("takes back a service's address when the create is refused", async () => {
  const { spec } = await tester.ok(
    "GET",
    "/api/v1/namespaces/default/services/kubernetes",
  );
  const clusterIP = spec.clusterIP.replace(/[.]\d+$/, ".77");
  const address = async (name: string): Promise<Json> => {
    const { status, body } = await tester.call(
      "PUT",
      `${core}/services/${name}`,
      {
        metadata: { name },
        spec: { ports: [{ port: 80 }], clusterIP },
      },
      as(name),
    );
    return [status, body.spec?.clusterIP];
  };
  expect((await address("changer"))[0]).toBe(403);
  expect(await address("maker")).toEqual([201, clusterIP]);
});

// Writing roles and bindings gives nobody more than he has, by whatever verb, field and transport.
import type { UserInfo } from "../../../api/contracts.ts";
import { createEscalationCheck } from "../../../apiserver-lite/admission/plugins/escalation-check.ts";
import { RbacAuthorizer } from "../../../apiserver-lite/authorization/rbac-authorizer.ts";
import {
  superuserAuthorizer,
  UnionAuthorizer,
} from "../../../apiserver-lite/authorization/union-authorizer.ts";
import { startTestServer } from "../apiserver/support.ts";
import {
  patchHeader,
  startTester,
  type Json,
  type Tester,
} from "../conformance/support.ts";

const group = "rbac.authorization.k8s.io";
const rbac = `/apis/${group}/v1`;
const mallory = { "impersonate-user": "mallory" };
const pods = { apiGroups: [""], resources: ["pods"], verbs: ["get", "list"] };
const secrets = {
  apiGroups: [""],
  resources: ["secrets"],
  verbs: ["get", "list"],
};
const aggregationRule = {
  clusterRoleSelectors: [{ matchLabels: { a: "b" } }],
};

let tester: Tester;
beforeAll(async () => {
  tester = await startTester();
  await tester.namespace("s1");
  const role = (name: string, rules: object[], more: object = {}) =>
    tester.ok("POST", `${rbac}/clusterroles`, {
      metadata: { name },
      rules,
      ...more,
    });
  await role("manages-roles", [
    {
      apiGroups: [group],
      resources: [
        "clusterroles",
        "clusterrolebindings",
        "roles",
        "rolebindings",
      ],
      verbs: [
        "get",
        "list",
        "create",
        "update",
        "patch",
        "delete",
        "deletecollection",
      ],
    },
  ]);
  await role("strong", [secrets]);
  await role("weak", [pods]);
  await role("gathers", [], { aggregationRule });
  for (const [name, to] of [
    ["manages-roles", "mallory"],
    ["view", "mallory"],
    ["strong", "somebody"],
    ["weak", "somebody"],
  ] as const)
    await tester.ok("POST", `${rbac}/clusterrolebindings`, {
      metadata: { name: `${name}-to-${to}` },
      roleRef: { apiGroup: group, kind: "ClusterRole", name },
      subjects: [{ apiGroup: group, kind: "User", name: to }],
    });
});
afterAll(() => tester.stop());

/** An update of a live object by PUT. */
async function put(path: string, change: (object: Json) => void) {
  const object = await tester.ok("GET", path);
  change(object);
  return tester.call("PUT", path, object, mallory);
}
const patch = (path: string, type: string, body: Json) =>
  tester.call("PATCH", path, body, { ...patchHeader(type), ...mallory });
const apply = (path: string, body: Json) =>
  tester.call("PATCH", `${path}?fieldManager=m&force=true`, body, {
    "content-type": "application/apply-patch+yaml",
    ...mallory,
  });

describe("labels that make a role part of another", () => {
  const path = `${rbac}/clusterroles/strong`;
  const labels = { "rbac.authorization.k8s.io/aggregate-to-view": "true" };
  it.each([
    ["merge", () => patch(path, "merge", { metadata: { labels } })],
    ["strategic", () => patch(path, "strategic", { metadata: { labels } })],
    [
      "json",
      () =>
        patch(path, "json", [
          { op: "add", path: "/metadata/labels", value: labels },
        ]),
    ],
    [
      "apply",
      () =>
        apply(path, {
          apiVersion: `${group}/v1`,
          kind: "ClusterRole",
          metadata: { name: "strong", labels },
        }),
    ],
    ["PUT", () => put(path, (role) => (role.metadata.labels = labels))],
    [
      "dry run",
      () => patch(`${path}?dryRun=All`, "merge", { metadata: { labels } }),
    ],
    [
      "an annotation alone",
      () => patch(path, "merge", { metadata: { annotations: { a: "b" } } }),
    ],
  ])("are refused by %s", async (_, send) => {
    const { status, body } = await send();
    expect([status, body.message]).toEqual([
      403,
      `clusterroles.${group} "strong" is forbidden: user "mallory" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list"]}`,
    ]);
    expect((await tester.ok("GET", path)).metadata.labels).toBeUndefined();
  });

  it("are accepted on a role whose rules are held", async () => {
    const { status } = await patch(`${rbac}/clusterroles/weak`, "merge", {
      metadata: { labels: { a: "b" } },
    });
    expect(status).toBe(200);
  });

  it("do not make cluster-admin part of view", async () => {
    const { status } = await patch(
      `${rbac}/clusterroles/cluster-admin`,
      "merge",
      { metadata: { labels } },
    );
    expect(status).toBe(403);
  });
});

describe("roles that aggregate", () => {
  const path = `${rbac}/clusterroles/gathers`;
  const refused = (name: string) => [
    403,
    `clusterroles.${group} "${name}" is forbidden: must have cluster-admin privileges to use the aggregationRule`,
  ];
  it.each<[string, string, () => Promise<{ status: number; body: Json }>]>([
    [
      "created",
      "new",
      () =>
        tester.call(
          "POST",
          `${rbac}/clusterroles`,
          { metadata: { name: "new" }, aggregationRule },
          mallory,
        ),
    ],
    [
      "labelled",
      "gathers",
      () => patch(path, "merge", { metadata: { labels: { a: "c" } } }),
    ],
    [
      "left without the rule",
      "gathers",
      () => patch(path, "merge", { aggregationRule: null }),
    ],
    [
      "made from another",
      "weak",
      () => patch(`${rbac}/clusterroles/weak`, "merge", { aggregationRule }),
    ],
  ])("are refused when %s", async (_, name, send) => {
    const { status, body } = await send();
    expect([status, body.message]).toEqual(refused(name));
  });
});

describe("bindings", () => {
  const path = `${rbac}/clusterrolebindings/strong-to-somebody`;
  const more = {
    subjects: [{ apiGroup: group, kind: "User", name: "mallory" }],
  };
  it.each<[string, () => Promise<{ status: number; body: Json }>]>([
    ["subjects", () => patch(path, "merge", more)],
    [
      "labels",
      () => patch(path, "merge", { metadata: { labels: { a: "b" } } }),
    ],
    [
      "a PUT that creates",
      () =>
        tester.call(
          "PUT",
          `${rbac}/namespaces/s1/rolebindings/x`,
          {
            metadata: { name: "x" },
            roleRef: { apiGroup: group, kind: "ClusterRole", name: "strong" },
            ...more,
          },
          mallory,
        ),
    ],
  ])("of a role that is not held are refused: %s", async (_, send) => {
    const { status, body } = await send();
    expect([status, body.reason]).toEqual([403, "Forbidden"]);
    expect(body.message).toMatch(/not currently held/);
  });

  it("of a role that is held may change", async () => {
    const { status } = await patch(
      `${rbac}/clusterrolebindings/weak-to-somebody`,
      "merge",
      more,
    );
    expect(status).toBe(200);
  });

  it("may be written by who may bind the role, where he may", async () => {
    await tester.ok("POST", `${rbac}/namespaces/s1/roles`, {
      metadata: { name: "binder" },
      rules: [
        {
          apiGroups: [group],
          resources: ["clusterroles"],
          verbs: ["bind"],
          resourceNames: ["strong"],
        },
      ],
    });
    await tester.ok("POST", `${rbac}/namespaces/s1/rolebindings`, {
      metadata: { name: "binder" },
      roleRef: { apiGroup: group, kind: "Role", name: "binder" },
      subjects: [{ apiGroup: group, kind: "User", name: "mallory" }],
    });
    const create = async (name: string, where: string) => {
      const { status } = await tester.call(
        "POST",
        `${rbac}/${where}`,
        {
          metadata: { name: `bound-${name}` },
          roleRef: { apiGroup: group, kind: "ClusterRole", name },
          ...more,
        },
        mallory,
      );
      return status;
    };
    expect(await create("strong", "namespaces/s1/rolebindings")).toBe(201);
    expect(await create("strong", "clusterrolebindings")).toBe(403);
    expect(await create("cluster-admin", "namespaces/s1/rolebindings")).toBe(
      403,
    );
  });
});

describe("what gives nothing away", () => {
  it("passes: finalizers and owner references, and a patch of nothing", async () => {
    const path = `${rbac}/clusterroles/strong`;
    const owner = await tester.ok("GET", "/api/v1/namespaces/s1");
    const ownerReferences = [
      {
        apiVersion: "v1",
        kind: "Namespace",
        name: "s1",
        uid: owner.metadata.uid,
      },
    ];
    for (const metadata of [
      { finalizers: ["example.com/held"], ownerReferences },
      { finalizers: null, ownerReferences: null },
      {},
    ])
      expect((await patch(path, "merge", { metadata })).status).toBe(200);
  });

  it("passes: deleting, one and many", async () => {
    const { status } = await tester.call(
      "DELETE",
      `${rbac}/clusterrolebindings/strong-to-somebody`,
      undefined,
      mallory,
    );
    expect(status).toBe(200);
    const many = await tester.call(
      "DELETE",
      `${rbac}/namespaces/s1/rolebindings?labelSelector=no=ne`,
      undefined,
      mallory,
    );
    expect(many.status).toBe(200);
  });

  it("passes for who may escalate", async () => {
    await tester.ok("POST", `${rbac}/clusterroles`, {
      metadata: { name: "escalates" },
      rules: [
        {
          apiGroups: [group],
          resources: ["clusterroles"],
          verbs: ["escalate"],
          resourceNames: ["strong"],
        },
      ],
    });
    await tester.ok("POST", `${rbac}/clusterrolebindings`, {
      metadata: { name: "escalates" },
      roleRef: { apiGroup: group, kind: "ClusterRole", name: "escalates" },
      subjects: [{ apiGroup: group, kind: "User", name: "mallory" }],
    });
    const labels = { a: "b" };
    const send = async (name: string) =>
      (
        await patch(`${rbac}/clusterroles/${name}`, "merge", {
          metadata: { labels },
        })
      ).status;
    expect(await send("strong")).toBe(200);
    expect(await send("cluster-admin")).toBe(403);
  });
});

it("refuses more combinations than can be compared, at once", async () => {
  const many = (letter: string): string[] =>
    Array.from({ length: 1000 }, (_, index) => `${letter}${index}`);
  const startedMs = performance.now();
  const { status, body } = await tester.call(
    "POST",
    `${rbac}/clusterroles`,
    {
      metadata: { name: "product" },
      rules: [{ verbs: many("v"), apiGroups: many("g"), resources: many("r") }],
    },
    mallory,
  );
  expect([status, body.message]).toEqual([
    403,
    expect.stringContaining("1000000000 combinations"),
  ]);
  expect(performance.now() - startedMs).toBeLessThan(10_000);
});

it("holds in process as well", async () => {
  const check = await startTestServer({
    parts(state) {
      const roles = new RbacAuthorizer(state);
      const authorizer = new UnionAuthorizer([superuserAuthorizer, roles]);
      return {
        authorizer,
        admission: [createEscalationCheck(roles, authorizer)],
        start: () => roles.start(),
        stop: () => roles.stop(),
      };
    },
  });
  try {
    const resource = { group, version: "v1", resource: "clusterroles" };
    const root = check.server.transport({
      name: "root",
      groups: ["system:masters"],
      extra: {},
    } satisfies UserInfo);
    await root.request({
      verb: "create",
      resource,
      body: {
        apiVersion: `${group}/v1`,
        kind: "ClusterRole",
        metadata: { name: "strong" },
        rules: [secrets],
      } as never,
    });
    const transport = check.server.transport({
      name: "mallory",
      groups: [],
      extra: {},
    });
    await expect(
      transport.request({
        verb: "patch",
        resource,
        name: "strong",
        patch: { type: "merge", body: { metadata: { labels: { a: "b" } } } },
      }),
    ).rejects.toThrow(/not currently held/);
  } finally {
    await check.stop();
  }
});

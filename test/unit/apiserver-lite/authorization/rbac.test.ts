import pino from "pino";
import type { AccessAttributes, UserInfo } from "../../../../api/contracts.ts";
import type { AnyObject } from "../../../../api/object.ts";
import type { PolicyRule } from "../../../../api/types/rbac-v1.ts";
import {
  bootstrapPolicy,
  reconcileBootstrapPolicy,
} from "../../../../apiserver-lite/authorization/bootstrap-policy.ts";
import { createEscalationCheck } from "../../../../apiserver-lite/admission/plugins/escalation-check.ts";
import { NodeAuthorizer } from "../../../../apiserver-lite/authorization/node-authorizer.ts";
import { RbacAuthorizer } from "../../../../apiserver-lite/authorization/rbac-authorizer.ts";
import { forbiddenError } from "../../../../apiserver-lite/authorization/refusal.ts";
import { aggregatedRules } from "../../../../apiserver-lite/authorization/role-aggregation.ts";
import {
  superuserAuthorizer,
  UnionAuthorizer,
} from "../../../../apiserver-lite/authorization/union-authorizer.ts";
import type { StrategyContext } from "../../../../apiserver-lite/resources/strategy.ts";
import { FakeState } from "../fake-state.ts";
import { firstRound } from "../../../support/admission-attributes.ts";
import { cpuMsOf } from "../../../support/cpu-time.ts";

const RBAC = "rbac.authorization.k8s.io";

function user(name: string, ...groups: string[]): UserInfo {
  return { name, groups, extra: {} };
}

function ask(
  who: UserInfo,
  verb: string,
  resource: string,
  namespace = "",
  name = "",
): AccessAttributes {
  const [full = "", group = ""] = resource.split(/\.(.*)/);
  const [plural = "", subresource = ""] = full.split("/");
  return {
    user: who,
    verb,
    path: "",
    resourceRequest: true,
    group,
    version: "v1",
    resource: plural,
    subresource,
    namespace,
    name,
  };
}

function askPath(who: UserInfo, verb: string, path: string): AccessAttributes {
  return { ...ask(who, verb, ""), resourceRequest: false, path };
}

function role(
  state: FakeState,
  name: string,
  rules: PolicyRule[],
  namespace?: string,
): void {
  const kind = namespace ? "roles" : "clusterroles";
  state.put(RBAC, kind, {
    metadata: { name, ...(namespace ? { namespace } : {}) },
    rules,
  } as AnyObject);
}

function bind(
  state: FakeState,
  roleRef: string,
  subject: object,
  namespace?: string,
): void {
  const [kind, name] = roleRef.split("/");
  state.put(RBAC, namespace ? "rolebindings" : "clusterrolebindings", {
    metadata: { name: `b-${name}`, ...(namespace ? { namespace } : {}) },
    roleRef: { apiGroup: RBAC, kind, name },
    subjects: [subject],
  } as unknown as AnyObject);
}

describe("RBAC", () => {
  const state = new FakeState();
  const rbac = new RbacAuthorizer(state);
  beforeAll(() => {
    rbac.start();
    role(state, "reader", [
      { verbs: ["get", "list"], apiGroups: [""], resources: ["pods", "*/log"] },
      { verbs: ["get"], nonResourceURLs: ["/healthz/*", "/version"] },
    ]);
    role(
      state,
      "one-secret",
      [
        {
          verbs: ["get"],
          apiGroups: [""],
          resources: ["secrets"],
          resourceNames: ["s"],
        },
      ],
      "ns",
    );
    bind(state, "ClusterRole/reader", { kind: "Group", name: "readers" });
    bind(
      state,
      "Role/one-secret",
      { kind: "ServiceAccount", name: "sa", namespace: "ns" },
      "ns",
    );
  });
  const reader = user("r", "readers");
  const account = user("system:serviceaccount:ns:sa");

  it.each<[string, AccessAttributes, boolean]>([
    [
      "a group's cluster role in any namespace",
      ask(reader, "list", "pods", "x"),
      true,
    ],
    ["another verb", ask(reader, "delete", "pods", "x"), false],
    [
      "a subresource that is not listed",
      ask(reader, "get", "pods/exec", "x"),
      false,
    ],
    ["a subresource of anything", ask(reader, "get", "pods/log", "x"), true],
    [
      "another API group",
      ask(reader, "get", "pods.metrics.k8s.io", "x"),
      false,
    ],
    ["a path below a prefix", askPath(reader, "get", "/healthz/ping"), true],
    ["a path outside", askPath(reader, "get", "/metrics"), false],
    ["another user", ask(user("z", "reader"), "get", "pods", "x"), false],
    ["a named object", ask(account, "get", "secrets", "ns", "s"), true],
    ["another name", ask(account, "get", "secrets", "ns", "t"), false],
    ["no name, as in a list", ask(account, "list", "secrets", "ns"), false],
    ["another namespace", ask(account, "get", "secrets", "other", "s"), false],
  ])("decides on %s", (_, attributes, allowed) => {
    expect(rbac.authorize(attributes).decision).toBe(
      allowed ? "allow" : "no-opinion",
    );
  });

  it("follows changes and names missing roles", () => {
    const late = user("late");
    bind(state, "ClusterRole/later", { kind: "User", name: "late" });
    expect(rbac.authorize(ask(late, "get", "pods"))).toEqual({
      decision: "no-opinion",
      reason: 'RBAC: clusterrole.rbac.authorization.k8s.io "later" not found',
    });
    role(state, "later", [
      { verbs: ["*"], apiGroups: ["*"], resources: ["*"] },
    ]);
    expect(rbac.authorize(ask(late, "get", "pods")).decision).toBe("allow");
    state.remove(RBAC, "clusterrolebindings", "", "b-later");
    expect(rbac.authorize(ask(late, "get", "pods")).decision).toBe(
      "no-opinion",
    );
  });

  it("speaks as the reference does", () => {
    expect(
      forbiddenError(ask(user("x"), "list", "pods", "default"), "").status,
    ).toMatchObject({
      code: 403,
      reason: "Forbidden",
      message:
        'pods is forbidden: User "x" cannot list resource "pods" in API group "" in the namespace "default"',
      details: { kind: "pods" },
    });
    expect(
      forbiddenError(
        ask(user("x"), "get", "deployments/scale.apps", "", "d"),
        "",
      ).message,
    ).toBe(
      'deployments.apps "d" is forbidden: User "x" cannot get resource "deployments/scale" in API group "apps" at the cluster scope',
    );
    expect(
      forbiddenError(askPath(user("x"), "get", "/metrics"), "").message,
    ).toBe('forbidden: User "x" cannot get path "/metrics"');
  });

  it("lets superusers through, and nobody else", async () => {
    const union = new UnionAuthorizer([superuserAuthorizer, rbac]);
    expect(
      (
        await union.authorize(
          ask(user("a", "system:masters"), "delete", "nodes"),
        )
      ).decision,
    ).toBe("allow");
    expect(
      (await union.authorize(ask(user("system:masters"), "delete", "nodes")))
        .decision,
    ).toBe("no-opinion");
  });

  it("takes microseconds", () => {
    const attributes = ask(reader, "list", "pods", "x");
    const cpuMs = cpuMsOf(() => {
      for (let i = 0; i < 20_000; i++) rbac.authorize(attributes);
    });
    expect(cpuMs / 20_000).toBeLessThan(0.05);
  });
});

describe("escalation", () => {
  const state = new FakeState();
  const rbac = new RbacAuthorizer(state);
  const check = createEscalationCheck(
    rbac,
    new UnionAuthorizer([superuserAuthorizer, rbac]),
  );
  rbac.start();
  role(state, "manager", [
    {
      verbs: ["create", "update"],
      apiGroups: [RBAC],
      resources: ["roles", "rolebindings"],
    },
    { verbs: ["get", "list"], apiGroups: [""], resources: ["pods"] },
  ]);
  role(state, "strong", [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }]);
  role(state, "binder", [
    {
      verbs: ["bind"],
      apiGroups: [RBAC],
      resources: ["clusterroles"],
      resourceNames: ["strong"],
    },
  ]);
  bind(state, "ClusterRole/manager", { kind: "User", name: "m" });
  bind(state, "ClusterRole/binder", { kind: "User", name: "b" });

  const write = (
    who: UserInfo,
    resource: string,
    object: object,
  ): Promise<void> =>
    Promise.resolve(
      check.validate!(
        {
          operation: "CREATE",
          resource: { group: RBAC, version: "v1", resource },
          kind: { group: RBAC, version: "v1", kind: "Role" },
          subresource: "",
          namespace: "ns",
          name: "r",
          user: who,
          dryRun: false,
          options: {},
          object: { metadata: { name: "r", namespace: "ns" }, ...object },
          oldObject: undefined,
          ...firstRound(),
        },
        {} as StrategyContext,
      ),
    );
  const strong = {
    roleRef: { apiGroup: RBAC, kind: "ClusterRole", name: "strong" },
    subjects: [],
  };

  it("allows what is held and refuses what is not", async () => {
    const held = {
      rules: [
        {
          verbs: ["get"],
          apiGroups: [""],
          resources: ["pods"],
          resourceNames: ["a"],
        },
      ],
    };
    await write(user("m"), "roles", held);
    const more = {
      rules: [
        { verbs: ["get", "delete"], apiGroups: [""], resources: ["pods"] },
      ],
    };
    await expect(write(user("m", "g"), "roles", more)).rejects.toThrow(
      'roles.rbac.authorization.k8s.io "r" is forbidden: user "m" (groups=["g"]) is attempting to grant RBAC permissions not currently held:\n{APIGroups:[""], Resources:["pods"], Verbs:["delete"]}',
    );
    await expect(write(user("m"), "rolebindings", strong)).rejects.toThrow(
      /not currently held/,
    );
    await write(user("b"), "rolebindings", strong);
    await write(user("root", "system:masters"), "roles", more);
  });
});

describe("the Node authorizer", () => {
  let state: FakeState;
  let node: NodeAuthorizer;
  const n1 = user("system:node:n1", "system:nodes");
  const pod = (name: string, nodeName: string, secret: string): AnyObject =>
    ({
      metadata: { name, namespace: "ns" },
      spec: {
        nodeName,
        serviceAccountName: "sa",
        containers: [],
        volumes: [{ name: "v", secret: { secretName: secret } }],
      },
    }) as unknown as AnyObject;
  beforeEach(async () => {
    state = new FakeState();
    state.put("", "pods", pod("a", "n1", "mine"));
    state.put("", "pods", pod("b", "n2", "theirs"));
    node = new NodeAuthorizer(state);
    await node.start();
  });

  it("without selectors lets it read all nodes, pods and slices, as before 1.32", () => {
    const earlier = new NodeAuthorizer(state, false);
    const slices = "resourceslices.resource.k8s.io";
    const asked = (authorizer: NodeAuthorizer): string[] =>
      [
        ask(n1, "list", "nodes", ""),
        ask(n1, "get", "nodes", "", "n2"),
        ask(n1, "list", "pods", ""),
        ask(n1, "get", "pods", "ns", "b"),
        ask(n1, "list", slices, ""),
        ask(n1, "delete", "nodes", "", "n2"),
        ask(n1, "list", "secrets", "ns"),
      ].map((attributes) => authorizer.authorize(attributes).decision);
    const [yes, no] = ["allow", "no-opinion"];
    expect(asked(earlier)).toEqual([yes, yes, yes, yes, yes, no, no]);
    expect(asked(node)).toEqual([no, no, no, no, no, no, no]);
  });

  it.each<[string, AccessAttributes, boolean]>([
    ["a secret of its pod", ask(n1, "get", "secrets", "ns", "mine"), true],
    [
      "a secret of another node's pod",
      ask(n1, "get", "secrets", "ns", "theirs"),
      false,
    ],
    ["all secrets", ask(n1, "list", "secrets", "ns"), false],
    [
      "a secret of the same name elsewhere",
      ask(n1, "get", "secrets", "other", "mine"),
      false,
    ],
    [
      "a token of its pod's account",
      ask(n1, "create", "serviceaccounts/token", "ns", "sa"),
      true,
    ],
    [
      "a token of another account",
      ask(n1, "create", "serviceaccounts/token", "ns", "admin"),
      false,
    ],
    [
      "its lease",
      ask(n1, "update", "leases.coordination.k8s.io", "kube-node-lease", "n1"),
      true,
    ],
    [
      "another's lease",
      ask(n1, "update", "leases.coordination.k8s.io", "kube-node-lease", "n2"),
      false,
    ],
    ["node status", ask(n1, "patch", "nodes/status", "", "n1"), true],
    [
      "deleting deployments",
      ask(n1, "delete", "deployments.apps", "ns", "d"),
      false,
    ],
    [
      "a user of the group without the name",
      ask(user("x", "system:nodes"), "get", "secrets", "ns", "mine"),
      false,
    ],
    [
      "the name without the group",
      ask(user("system:node:n1"), "get", "secrets", "ns", "mine"),
      false,
    ],
  ])("decides on %s", (_, attributes, allowed) => {
    expect(node.authorize(attributes).decision).toBe(
      allowed ? "allow" : "no-opinion",
    );
  });

  it("forgets what pods that are gone referred to", () => {
    state.remove("", "pods", "ns", "a");
    expect(
      node.authorize(ask(n1, "get", "secrets", "ns", "mine")).decision,
    ).toBe("no-opinion");
  });
});

describe("the bootstrap policy", () => {
  async function run(
    state: FakeState,
    featureGates: Record<string, boolean> = {},
  ): Promise<string[]> {
    const writes: string[] = [];
    await reconcileBootstrapPolicy({
      state,
      featureGates,
      logger: pino({ level: "silent" }),
      transport: {
        request: ({ verb, resource, body }) => {
          const object = body as AnyObject;
          writes.push(`${verb} ${resource.resource} ${object.metadata.name}`);
          state.put(RBAC, resource.resource, object);
          return Promise.resolve(object);
        },
      },
    });
    return writes;
  }

  it("has more while a gate is on", async () => {
    const state = new FakeState();
    await run(state);
    const name = "system:controller:resource-claim-controller";
    expect(await run(state, { DynamicResourceAllocation: true })).toEqual([
      "update clusterroles system:kube-scheduler",
      `create clusterroles ${name}`,
      `create clusterrolebindings ${name}`,
    ]);
    const scheduler = state.read(
      RBAC,
      "clusterroles",
      "",
      "system:kube-scheduler",
    );
    expect(JSON.stringify(scheduler!["rules"])).toContain("resourceslices");
  });

  it("lets monitoring and the agents' administrators do what gates add", async () => {
    const state = new FakeState();
    await run(state);
    expect(
      await run(state, {
        ComponentFlagz: true,
        ComponentStatusz: true,
        KubeletFineGrainedAuthz: true,
      }),
    ).toEqual([
      "update clusterroles system:kubelet-api-admin",
      "update clusterroles system:monitoring",
    ]);
    const rules = JSON.stringify(
      state.read(RBAC, "clusterroles", "", "system:monitoring")!["rules"],
    );
    expect(rules).toContain("/flagz");
    expect(rules).toContain("/statusz");
  });

  it("is made once, and only mended later", async () => {
    const state = new FakeState();
    expect(await run(state)).toHaveLength(bootstrapPolicy().length);
    expect(await run(state)).toEqual([]);
    const view = state.read(RBAC, "clusterroles", "", "view")!;
    expect((view["rules"] as unknown[]).length).toBeGreaterThan(5);
    expect(view["rules"]).toEqual(
      aggregatedRules(view, state.list(RBAC, "clusterroles")),
    );
    const discovery = state.read(RBAC, "clusterroles", "", "system:discovery")!;
    state.put(RBAC, "clusterroles", { ...discovery, rules: [] });
    const basic = state.read(RBAC, "clusterroles", "", "system:basic-user")!;
    state.put(RBAC, "clusterroles", {
      ...basic,
      rules: [],
      metadata: { name: basic.metadata.name },
    });
    expect(await run(state)).toEqual(["update clusterroles system:discovery"]);
  });

  it("does what it is for", async () => {
    const state = new FakeState();
    await run(state);
    const rbac = new RbacAuthorizer(state);
    rbac.start();
    const known = user("x", "system:authenticated");
    expect(
      rbac.authorize(
        askPath(
          user("system:anonymous", "system:unauthenticated"),
          "get",
          "/version",
        ),
      ).decision,
    ).toBe("allow");
    expect(
      rbac.authorize(
        ask(known, "create", "selfsubjectaccessreviews.authorization.k8s.io"),
      ).decision,
    ).toBe("allow");
    expect(rbac.authorize(ask(known, "list", "pods", "default")).decision).toBe(
      "no-opinion",
    );
    expect(
      rbac.authorize(
        ask(user("system:kube-scheduler"), "create", "pods/binding", "default"),
      ).decision,
    ).toBe("allow");
  });
});

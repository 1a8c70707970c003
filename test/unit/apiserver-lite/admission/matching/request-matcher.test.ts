import type {
  AdmissionAttributes,
  ServedResource,
} from "../../../../../apiserver-lite/admission/plugin.ts";
import {
  configuresAdmission,
  RequestMatcher,
} from "../../../../../apiserver-lite/admission/matching/request-matcher.ts";
import { firstRound } from "../../../../support/admission-attributes.ts";
import { FakeState } from "../../fake-state.ts";

type Criteria = ConstructorParameters<typeof RequestMatcher>[0];
type Rule = Criteria["rules"][number];

const rule = (more: Rule = {}): Rule => ({
  apiGroups: ["apps"],
  apiVersions: ["v1"],
  operations: ["CREATE"],
  resources: ["deployments"],
  ...more,
});

const place = (
  group: string,
  version: string,
  resource: string,
  kind: string,
): ServedResource => ({
  resource: { group, version, resource },
  kind: { group, version, kind },
});
const deployments = place("apps", "v1", "deployments", "Deployment");

function request(
  more: Partial<AdmissionAttributes> = {},
  served: ServedResource = deployments,
  others: readonly ServedResource[] = [],
): AdmissionAttributes {
  const round = firstRound();
  return {
    ...round,
    ...served,
    versions: { ...round.versions, equivalents: [served, ...others] },
    operation: "CREATE",
    subresource: "",
    namespace: "ns",
    name: "d",
    user: { name: "u", groups: [], extra: {} },
    dryRun: false,
    options: {},
    object: { metadata: { name: "d", namespace: "ns" } },
    oldObject: undefined,
    ...more,
  };
}

let state: FakeState;
beforeEach(() => {
  state = new FakeState();
  state.put("", "namespaces", { metadata: { name: "ns", labels: { a: "1" } } });
});

const matches = (
  criteria: Partial<Criteria>,
  attributes: AdmissionAttributes,
): string | undefined => {
  const matcher = new RequestMatcher({ rules: [rule()], ...criteria });
  const found = matcher.match(attributes, state);
  return (
    found &&
    `${found.resource.group}/${found.resource.version} ${found.kind.kind}`
  );
};
const own = "apps/v1 Deployment";

describe("rules", () => {
  test.each<[string, Rule, Partial<AdmissionAttributes>, boolean]>([
    ["all", rule(), {}, true],
    [
      "wildcards",
      {
        apiGroups: ["*"],
        apiVersions: ["*"],
        operations: ["*"],
        resources: ["*"],
      },
      {},
      true,
    ],
    [
      "another operation",
      rule({ operations: ["UPDATE", "DELETE"] }),
      {},
      false,
    ],
    ["another group", rule({ apiGroups: ["batch", ""] }), {}, false],
    ["another resource", rule({ resources: ["pods"] }), {}, false],
    ["nothing", {}, {}, false],
    [
      "a resource is not its subresources",
      rule(),
      { subresource: "scale" },
      false,
    ],
    [
      "all resources are not their subresources",
      rule({ resources: ["*"] }),
      { subresource: "scale" },
      false,
    ],
    [
      "the subresource",
      rule({ resources: ["deployments/scale"] }),
      { subresource: "scale" },
      true,
    ],
    [
      "another subresource",
      rule({ resources: ["deployments/status"] }),
      { subresource: "scale" },
      false,
    ],
    [
      "all subresources",
      rule({ resources: ["deployments/*"] }),
      { subresource: "scale" },
      true,
    ],
    [
      "all subresources and the resource",
      rule({ resources: ["deployments/*"] }),
      {},
      true,
    ],
    [
      "a subresource of all",
      rule({ resources: ["*/scale"] }),
      { subresource: "scale" },
      true,
    ],
    [
      "everything",
      rule({ resources: ["*/*"] }),
      { subresource: "scale" },
      true,
    ],
    ["namespaced", rule({ scope: "Namespaced" }), {}, true],
    ["not cluster", rule({ scope: "Cluster" }), {}, false],
    ["cluster", rule({ scope: "Cluster" }), { namespace: "" }, true],
    ["not namespaced", rule({ scope: "Namespaced" }), { namespace: "" }, false],
    ["any scope", rule({ scope: "*" }), { namespace: "" }, true],
    ["the name", rule({ resourceNames: ["c", "d"] }), {}, true],
    ["another name", rule({ resourceNames: ["c"] }), {}, false],
  ])("%s", (_, given, more, expected) => {
    expect(matches({ rules: [given] }, request(more))).toBe(
      expected ? own : undefined,
    );
  });

  test("a namespace itself is a cluster-scoped object", () => {
    const itself = request(
      { name: "ns", namespace: "" },
      place("", "v1", "namespaces", "Namespace"),
    );
    const all = { apiGroups: [""], resources: ["namespaces"] };
    expect(
      matches({ rules: [rule({ ...all, scope: "Cluster" })] }, itself),
    ).toBe("/v1 Namespace");
    expect(
      matches({ rules: [rule({ ...all, scope: "Namespaced" })] }, itself),
    ).toBeUndefined();
  });

  test("no rules: nothing for webhooks, everything for policies", () => {
    expect(matches({ rules: [] }, request())).toBeUndefined();
    expect(matches({ rules: [], withoutRules: "all" }, request())).toBe(own);
  });

  test("excluded requests", () => {
    expect(matches({ excludeRules: [rule()] }, request())).toBeUndefined();
    expect(
      matches({ excludeRules: [rule({ resourceNames: ["x"] })] }, request()),
    ).toBe(own);
  });
});

describe("equivalent resources", () => {
  const beta = place("extensions", "v1beta1", "deployments", "Deployment");
  const older = place("apps", "v1beta1", "deployments", "Deployment");
  const asked = request({}, deployments, [older, beta]);
  const forBeta = rule({ apiGroups: ["extensions"], apiVersions: ["v1beta1"] });
  const forOlder = rule({ apiVersions: ["v1beta1"] });

  test("are matched unless the policy is Exact", () => {
    expect(matches({ rules: [forBeta] }, asked)).toBe(
      "extensions/v1beta1 Deployment",
    );
    expect(
      matches({ rules: [forBeta], matchPolicy: "Exact" }, asked),
    ).toBeUndefined();
  });

  test("come after the request's own resource, whatever the order of the rules, and earlier rules first", () => {
    expect(matches({ rules: [forBeta, rule()] }, asked)).toBe(own);
    expect(matches({ rules: [forBeta, forOlder] }, asked)).toBe(
      "extensions/v1beta1 Deployment",
    );
  });

  test("exclude too", () => {
    expect(matches({ excludeRules: [forOlder] }, asked)).toBeUndefined();
  });
});

describe("selectors", () => {
  const some = { matchLabels: { a: "1" } };
  const others = { matchLabels: { a: "2" } };

  test("of namespaces", () => {
    expect(matches({ namespaceSelector: some }, request())).toBe(own);
    expect(matches({ namespaceSelector: others }, request())).toBeUndefined();
    expect(
      matches(
        {
          namespaceSelector: {
            matchExpressions: [{ key: "a", operator: "NotIn", values: ["1"] }],
          },
        },
        request(),
      ),
    ).toBeUndefined();
  });

  test("cluster-scoped objects are not exempted", () => {
    expect(
      matches({ namespaceSelector: others }, request({ namespace: "" })),
    ).toBe(own);
  });

  test("a namespace that is created or changed is taken as it is going to be, one that is deleted as it is", () => {
    const rules = [
      rule({ apiGroups: [""], resources: ["namespaces"], operations: ["*"] }),
    ];
    const itself = (
      operation: AdmissionAttributes["operation"],
      labels: Record<string, string>,
    ): AdmissionAttributes =>
      request(
        {
          operation,
          namespace: "",
          name: "ns",
          object:
            operation === "DELETE"
              ? undefined
              : { metadata: { name: "ns", labels } },
        },
        place("", "v1", "namespaces", "Namespace"),
      );
    for (const operation of ["CREATE", "UPDATE"] as const) {
      expect(
        matches(
          { rules, namespaceSelector: others },
          itself(operation, { a: "2" }),
        ),
      ).toBe("/v1 Namespace");
      expect(
        matches(
          { rules, namespaceSelector: some },
          itself(operation, { a: "2" }),
        ),
      ).toBeUndefined();
    }
    expect(
      matches({ rules, namespaceSelector: some }, itself("DELETE", {})),
    ).toBe("/v1 Namespace");
  });

  test("a namespace that is gone refuses only what the rules are for", () => {
    const gone = request({ namespace: "gone" });
    expect(() => matches({ namespaceSelector: some }, gone)).toThrow(
      'namespaces "gone" not found',
    );
    expect(
      matches(
        { namespaceSelector: some, rules: [rule({ resources: ["pods"] })] },
        gone,
      ),
    ).toBeUndefined();
  });

  test("of objects, new or old", () => {
    const labelled = { metadata: { name: "d", labels: { a: "1" } } };
    const bare = { metadata: { name: "d" } };
    expect(
      matches({ objectSelector: some }, request({ object: labelled })),
    ).toBe(own);
    expect(
      matches(
        { objectSelector: some },
        request({ object: bare, oldObject: labelled }),
      ),
    ).toBe(own);
    expect(
      matches(
        { objectSelector: some },
        request({ object: bare, oldObject: bare }),
      ),
    ).toBeUndefined();
    // What has no labels at all: options of a CONNECT, the object of a DELETE.
    expect(
      matches(
        {
          objectSelector: {
            matchExpressions: [{ key: "x", operator: "DoesNotExist" }],
          },
        },
        request({ object: undefined }),
      ),
    ).toBeUndefined();
    expect(
      matches(
        { objectSelector: some },
        request({
          object: { stdin: true } as unknown as AdmissionAttributes["object"],
        }),
      ),
    ).toBeUndefined();
  });
});

test("what configures admission is exempt", () => {
  const group = "admissionregistration.k8s.io";
  const kind = (name: string, of = group) => ({
    kind: { group: of, version: "v1", kind: name },
  });
  for (const name of [
    "MutatingWebhookConfiguration",
    "ValidatingWebhookConfiguration",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
    "MutatingAdmissionPolicy",
    "MutatingAdmissionPolicyBinding",
  ])
    expect(configuresAdmission(kind(name))).toBe(true);
  expect(configuresAdmission(kind("Pod"))).toBe(false);
  expect(
    configuresAdmission(kind("ValidatingWebhookConfiguration", "example.com")),
  ).toBe(false);
});

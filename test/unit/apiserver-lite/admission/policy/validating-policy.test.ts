// ValidatingAdmissionPolicy: which requests a policy is evaluated for, with what, and what follows.
import type {
  AccessAttributes,
  AccessDecision,
  UserInfo,
} from "../../../../../api/contracts.ts";
import type { ApiError } from "../../../../../api/errors.ts";
import { metricsText } from "../../../../../api/metrics/family.ts";
import type { AnyObject } from "../../../../../api/object.ts";
import type { AdmissionAttributes } from "../../../../../apiserver-lite/admission/plugin.ts";
import type { ParamLookup } from "../../../../../apiserver-lite/admission/policy/params.ts";
import { PolicyMetrics } from "../../../../../apiserver-lite/admission/policy/policy-metrics.ts";
import { createValidatingAdmissionPolicy } from "../../../../../apiserver-lite/admission/policy/validating-policy.ts";
import { alwaysDeny } from "../../../../../apiserver-lite/authorization/union-authorizer.ts";
import { TimeSlices } from "../../../../../apiserver-lite/loop/time-slices.ts";
import type { StrategyContext } from "../../../../../apiserver-lite/resources/strategy.ts";
import { FakeClock } from "../../../../support/fake-clock.ts";
import { FakeState } from "../../fake-state.ts";

const group = "admissionregistration.k8s.io";
const user: UserInfo = { name: "u", groups: ["g"], extra: { a: ["b"] } };
let metrics: PolicyMetrics;
let slices = new TimeSlices();
let state: FakeState;
let plugin: ReturnType<typeof createValidatingAdmissionPolicy>;
let warnings: string[];
let annotations: Record<string, string>;

/** ConfigMaps, and Nodes as a kind without a namespace. */
const params: ParamLookup = (apiGroup, version, kind) => {
  if (apiGroup !== "" || version !== "v1") return undefined;
  const resource = kind === "ConfigMap" ? "configmaps" : "nodes";
  return {
    namespaced: kind === "ConfigMap",
    get: (namespace, name) => state.read("", resource, namespace, name),
    list: (namespace) => state.list("", resource, namespace),
  };
};

beforeEach(() => {
  state = new FakeState();
  metrics = new PolicyMetrics();
  warnings = [];
  annotations = {};
  plugin = createValidatingAdmissionPolicy({
    state,
    params,
    metrics,
    authorizer: alwaysDeny,
  });
  state.put("", "namespaces", { metadata: { name: "ns", labels: { a: "b" } } });
});

const rules = {
  resourceRules: [
    {
      apiGroups: [""],
      apiVersions: ["v1"],
      operations: ["*"],
      resources: ["*"],
    },
  ],
};

function policy(spec: object, name = "p"): void {
  state.put(group, "validatingadmissionpolicies", {
    metadata: { name },
    spec: { matchConstraints: rules, ...spec },
  });
}

function binding(spec: object = {}, name = "b"): void {
  state.put(group, "validatingadmissionpolicybindings", {
    metadata: { name },
    spec: { policyName: "p", validationActions: ["Deny"], ...spec },
  });
}

const configMap = (data: object = {}): AnyObject => ({
  metadata: { name: "c", namespace: "ns" },
  data,
});

async function ask(
  object: AnyObject | undefined = configMap(),
  extra: Partial<AdmissionAttributes> = {},
): Promise<void> {
  const place = {
    resource: { group: "", version: "v1", resource: "configmaps" },
    kind: { group: "", version: "v1", kind: "ConfigMap" },
  };
  const attributes: AdmissionAttributes = {
    operation: "CREATE",
    ...place,
    subresource: "",
    namespace: "ns",
    name: "c",
    user,
    dryRun: false,
    options: { kind: "CreateOptions" },
    object,
    oldObject: undefined,
    versions: {
      equivalents: [place],
      to: (given) => given,
      from: (given) => Promise.resolve(given),
      schemaOf: () => undefined,
    },
    round: 0,
    reinvoke: false,
    ...extra,
  };
  const context = {
    user,
    dryRun: false,
    clock: new FakeClock(),
    pauses: () => slices.pauses(),
    read: state.read.bind(state),
    list: state.list.bind(state),
    warn: (text: string) => warnings.push(text),
    annotate: (key: string, value: string) => (annotations[key] = value),
  } as unknown as StrategyContext;
  await plugin.validate!(attributes, context);
}

/** Nearly all that one evaluation may cost is a look through it. */
const big = "a".repeat(9_000_000);

const validations = (expression: string, more: object = {}): object => ({
  validations: [{ expression, ...more }],
});
const denied = (message: string): string =>
  `configmaps "c" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: ${message}`;

it("costs one look without a binding", () => {
  policy(validations("false"));
  const attributes = {} as AdmissionAttributes;
  expect(plugin.validate!(attributes, {} as StrategyContext)).toBeUndefined();
});

it("denies with the policy's message and reason", async () => {
  policy(
    validations("object.data.a == 'x'", { message: "no", reason: "Forbidden" }),
  );
  binding();
  await ask(configMap({ a: "x" }));
  const refused = await ask(configMap({ a: "y" })).catch(
    (error: unknown) => error,
  );
  expect((refused as ApiError).status).toMatchObject({
    code: 403,
    reason: "Forbidden",
    message: denied("no"),
    details: {
      name: "c",
      kind: "configmaps",
      causes: [
        {
          message:
            "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no",
        },
      ],
    },
  });
});

it("is in effect for the next request after each change", async () => {
  policy(validations("false"));
  await ask();
  binding();
  await expect(ask()).rejects.toThrow(denied("failed expression: false"));
  policy(validations("true"));
  await ask();
  policy(validations("false", { message: " second " }));
  await expect(ask()).rejects.toThrow(denied("second"));
  state.remove(group, "validatingadmissionpolicybindings", "", "b");
  await ask();
});

it.each([
  [
    "object.data.none == 1",
    "expression 'object.data.none == 1' resulted in error: no such key: none",
  ],
  ["'a'", "compilation error: must evaluate to bool but got string"],
  ["object.", "compilation error: compilation failed: ERROR: <input>:1:8"],
  [
    "object.data.big.contains('b') || object.data.big.contains('c')",
    "operation cancelled: actual cost limit exceeded",
  ],
])("fails by the failure policy: %s", async (expression, message) => {
  policy(validations(expression));
  binding();
  await expect(ask(configMap({ big }))).rejects.toThrow(message);
  policy({ ...validations(expression), failurePolicy: "Ignore" });
  await ask(configMap({ big }));
});

it("ends with its budget", async () => {
  policy({
    validations: Array.from({ length: 12 }, () => ({
      expression: "!object.data.big.contains('b')",
    })),
  });
  binding();
  await expect(ask(configMap({ big }))).rejects.toThrow(
    denied(
      "validation failed due to running out of cost budget, no further validation rules will be run",
    ),
  );
});

describe("lets others have the loop", () => {
  // Short, so that a fast machine too takes many.
  beforeAll(() => {
    slices = new TimeSlices(undefined, 0.1);
  });
  afterAll(() => {
    slices = new TimeSlices();
  });

  // 50 * 50 * 50 elements: an evaluation of its own whole limit.
  const costly =
    "object.data.l.all(x, object.data.l.all(y, object.data.l.all(z, x + y + z >= 0)))";
  const cheap = "object.data.l.all(x, x >= 0)";
  const list = configMap({ l: Array.from({ length: 50 }, (_, i) => i) });

  /** Counts the turns of the loop that others get until the answer is there. */
  async function turnsOf(
    answer: Promise<unknown>,
  ): Promise<{ turns: number; message: string }> {
    let turns = 0;
    let over = false;
    const count = (): void => {
      turns++;
      if (!over) setImmediate(count);
    };
    setImmediate(count);
    const message = await answer.then(() => "", String);
    over = true;
    return { turns, message };
  }

  it.each<[string, object, number, string]>([
    [
      "an expression",
      validations(costly),
      40,
      `expression '${costly}' resulted in error: operation cancelled: actual cost limit exceeded`,
    ],
    [
      "a whole policy",
      {
        validations: Array.from({ length: 11 }, () => ({ expression: costly })),
      },
      400,
      "validation failed due to running out of cost budget, no further validation rules will be run",
    ],
    [
      "a variable of a variable",
      {
        variables: [
          { name: "inner", expression: costly },
          { name: "outer", expression: `${cheap} && variables.inner` },
        ],
        ...validations(
          `object.data.l.all(x, ${cheap}) && object.data.l.all(x, variables.outer)`,
        ),
      },
      40,
      'resulted in error: composited variable "outer" fails to evaluate: composited variable "inner" fails to evaluate: operation cancelled: actual cost limit exceeded',
    ],
    [
      "match conditions",
      {
        ...validations("true"),
        matchConditions: [1, 2, 3].map((each) => ({
          name: `c${each}`,
          expression: costly,
        })),
      },
      80,
      "validation failed due to running out of cost budget, no further validation rules will be run",
    ],
    [
      "many that are not costly",
      {
        validations: Array.from({ length: 300 }, () => ({
          expression: `object.data.l.exists(x, ${cheap} && x > 30)`,
        })),
      },
      5,
      "",
    ],
  ])("while %s spends its budget", async (_, spec, least, message) => {
    policy(spec);
    binding();
    const { turns, message: refused } = await turnsOf(ask(list));
    expect(turns).toBeGreaterThan(least);
    if (message === "") expect(refused).toBe("");
    else expect(refused).toContain(message);
  });

  it("but for cheap ones", async () => {
    policy({
      variables: [{ name: "v", expression: cheap }],
      ...validations("variables.v"),
    });
    binding();
    // On a busy machine a cheap one may take a millisecond: no slice is that short here.
    const short = slices;
    slices = new TimeSlices(undefined, 60_000);
    const next = jest.spyOn(slices, "next");
    await ask(list);
    expect(next).not.toHaveBeenCalled();
    slices = short;
  });
});

it("shows the request, the objects and the namespace", async () => {
  binding();
  for (const expression of [
    "request.operation == 'UPDATE' && request.name == 'c' && request.namespace == 'ns'",
    "request.kind.kind == 'ConfigMap' && request.resource.resource == 'configmaps'",
    "request.userInfo.username == 'u' && request.userInfo.groups == ['g'] && request.userInfo.extra.a == ['b']",
    "!has(request.subResource) && request.dryRun == false && request.options.kind == 'CreateOptions'",
    "object.data.a == 'x' && oldObject.data.a == 'y'",
    "namespaceObject.metadata.labels.a == 'b'",
  ]) {
    policy(validations(expression));
    await ask(configMap({ a: "x" }), {
      operation: "UPDATE",
      oldObject: configMap({ a: "y" }),
    });
  }
  policy(validations("object == null && oldObject != null"));
  await ask(configMap(), {
    ...{ operation: "DELETE", object: undefined },
    oldObject: configMap(),
  });
});

it("computes variables once, when they are used", async () => {
  policy({
    variables: [
      { name: "bad", expression: "object.none" },
      { name: "two", expression: "1 + 1" },
      { name: "four", expression: "variables.two * 2" },
    ],
    ...validations("variables.four == 4"),
  });
  binding();
  await ask();
  policy({
    variables: [{ name: "bad", expression: "object.none" }],
    ...validations("variables.bad == 4"),
  });
  await expect(ask()).rejects.toThrow(
    denied(
      "expression 'variables.bad == 4' resulted in error: composited variable \"bad\" fails to evaluate: no such key: none",
    ),
  );
});

it.each([
  ["'made ' + object.metadata.name", "made c"],
  ["' '", "fixed"],
  ["'two\\nlines'", "fixed"],
  ["object.none", "fixed"],
])("makes messages: %s", async (messageExpression, message) => {
  policy(validations("false", { messageExpression, message: "fixed" }));
  binding();
  await expect(ask()).rejects.toThrow(denied(message));
});

it("warns and audits as the binding says", async () => {
  policy({
    ...validations("false", { message: "<no>" }),
    auditAnnotations: [
      { key: "k", valueExpression: "'v' + object.metadata.name" },
      { key: "none", valueExpression: "null" },
    ],
  });
  binding({ validationActions: ["Warn", "Audit"] });
  await ask();
  expect(warnings).toEqual([
    "Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': <no>",
  ]);
  expect(annotations).toEqual({
    "p/k": "vc",
    "validation.policy.admission.k8s.io/validation_failure":
      '[{"message":"\\u003cno\\u003e","policy":"p","binding":"b","expressionIndex":0,"validationActions":["Warn","Audit"]}]',
  });
});

it("denies when an audit annotation fails", async () => {
  policy({
    auditAnnotations: [{ key: "k", valueExpression: "string(object.x)" }],
  });
  binding({ validationActions: ["Audit"] });
  await expect(ask()).rejects.toThrow(
    denied("expression 'string(object.x)' resulted in error: no such key: x"),
  );
});

describe("match conditions", () => {
  const conditioned = (...expressions: string[]): object => ({
    ...validations("false"),
    matchConditions: expressions.map((expression, index) => ({
      name: `c${index}`,
      expression,
    })),
  });
  it("let a policy apply when all hold", async () => {
    binding();
    policy(conditioned("true", "request.name == 'other'"));
    await ask();
    policy(conditioned("true", "request.name == 'c'"));
    await expect(ask()).rejects.toThrow("failed expression");
  });
  it("fail by the failure policy, unless one is false", async () => {
    binding();
    policy(conditioned("object.x", "false"));
    await ask();
    policy(conditioned("object.x == 1", "object.y == 1", "true"));
    await expect(ask()).rejects.toThrow(
      denied(
        "[expression 'object.x == 1' resulted in error: no such key: x, expression 'object.y == 1' resulted in error: no such key: y]",
      ),
    );
    policy({ ...conditioned("object.x == 1"), failurePolicy: "Ignore" });
    await ask();
  });
});

describe("parameters", () => {
  const withParams = (kind = "ConfigMap", apiVersion = "v1"): void =>
    policy({
      paramKind: { apiVersion, kind },
      ...validations("params.data.max == object.data.max", {
        messageExpression: "string(params.metadata.name)",
      }),
    });
  const param = (name: string, max: string, namespace = "ns"): void =>
    state.put("", "configmaps", {
      metadata: { name, namespace, labels: { max } },
      data: { max },
    });
  const reference = (paramRef: object, action = "Deny"): void =>
    binding({ paramRef: { parameterNotFoundAction: action, ...paramRef } });

  it("are found in the request's namespace or in that of the binding", async () => {
    withParams();
    param("m", "1");
    param("m", "2", "other");
    reference({ name: "m" });
    await ask(configMap({ max: "1" }));
    await expect(ask(configMap({ max: "2" }))).rejects.toThrow(denied("m"));
    reference({ name: "m", namespace: "other" });
    await ask(configMap({ max: "2" }));
  });
  it("by a selector are all evaluated", async () => {
    withParams();
    param("m1", "1");
    param("m2", "2");
    reference({ selector: { matchLabels: { max: "1" } } });
    await ask(configMap({ max: "1" }));
    reference({ selector: {} });
    await expect(ask(configMap({ max: "1" }))).rejects.toThrow(denied("m2"));
  });
  it("that are missing deny or let pass", async () => {
    withParams();
    reference({ name: "none" });
    await expect(ask()).rejects.toThrow(
      denied(
        "failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction",
      ),
    );
    reference({ name: "none" }, "Allow");
    await ask();
  });
  it.each([
    [
      "x.io/v1",
      "Foo",
      {},
      "ValidatingAdmissionPolicy 'p' denied request: failed to configure policy: failed to find resource referenced by paramKind: 'x.io/v1, Kind=Foo'",
    ],
    [
      "v1",
      "Node",
      { namespace: "ns" },
      "failed to configure binding: paramRef.namespace must not be provided for a cluster-scoped `paramKind`",
    ],
  ])("of %s %s can't be used", async (apiVersion, kind, ref, message) => {
    withParams(kind, apiVersion);
    reference({ name: "m", ...ref });
    await expect(ask()).rejects.toThrow(message);
  });
  it("in a namespace can't be used for a request in none", async () => {
    withParams();
    reference({ name: "m" });
    await expect(ask(configMap(), { namespace: "" })).rejects.toThrow(
      "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources",
    );
  });
  it("are null where the binding names none", async () => {
    policy({
      paramKind: { apiVersion: "v1", kind: "ConfigMap" },
      ...validations("params == null"),
    });
    binding();
    await ask();
  });
});

it("looks at the binding's own rules too", async () => {
  policy(validations("false"));
  binding({
    matchResources: { namespaceSelector: { matchLabels: { a: "c" } } },
  });
  await ask();
  binding({
    matchResources: { namespaceSelector: { matchLabels: { a: "b" } } },
  });
  await expect(ask()).rejects.toThrow("failed expression");
});

it.each(["at once", "later"])(
  "asks the authorizer, which answers %s",
  async (when) => {
    const asked: AccessAttributes[] = [];
    plugin = createValidatingAdmissionPolicy({
      state,
      params,
      metrics,
      authorizer: {
        authorize(access) {
          asked.push(access);
          const decision = access.verb === "get" ? "allow" : "deny";
          const answer: AccessDecision = { decision, reason: "why" };
          return when === "later" ? Promise.resolve(answer) : answer;
        },
      },
    });
    policy({
      variables: [
        {
          name: "get",
          expression: "authorizer.requestResource.check('get').allowed()",
        },
      ],
      validations: [
        { expression: "variables.get && variables.get" },
        {
          expression:
            "authorizer.group('apps').resource('deployments').namespace('n').name('x').check('get').allowed()",
        },
        {
          expression: "authorizer.requestResource.check('delete').allowed()",
          message: "may not",
        },
      ],
    });
    binding();
    await expect(ask()).rejects.toThrow(denied("may not"));
    expect(
      asked.map(({ verb, group: of, resource, namespace, name }) =>
        [verb, of, resource, namespace, name].join(" "),
      ),
    ).toEqual([
      "get  configmaps ns c",
      "get apps deployments n x",
      "delete  configmaps ns c",
    ]);
  },
);

it.each([
  [group, "validatingadmissionpolicies"],
  [group, "mutatingadmissionpolicybindings"],
  ["authorization.k8s.io", "subjectaccessreviews"],
  ["authentication.k8s.io", "tokenreviews"],
])("leaves %s/%s alone", async (apiGroup, resource) => {
  policy({
    ...validations("false"),
    matchConstraints: {
      resourceRules: [
        {
          apiGroups: ["*"],
          apiVersions: ["*"],
          operations: ["*"],
          resources: ["*/*"],
        },
      ],
    },
  });
  binding();
  const of = (name: string): Partial<AdmissionAttributes> => ({
    resource: { group: apiGroup, version: "v1", resource: name },
  });
  await ask(configMap(), of(resource));
  await expect(ask(configMap(), of("others"))).rejects.toThrow("denied");
});

it("counts what it decided", async () => {
  policy(validations("'a'"));
  binding();
  await expect(ask()).rejects.toThrow("must evaluate to bool");
  expect(metricsText(metrics.families())).toContain(
    'apiserver_validating_admission_policy_check_total{enforcement_action="deny",error_type="compile_error",policy="p",policy_binding="b"} 1\n',
  );
});

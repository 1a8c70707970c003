// AuthorizationConfiguration: which authorizers a file becomes, and what is refused, with the place in the file.
import * as fs from "node:fs";
import * as path from "node:path";
import { readAuthorizationConfig } from "../../../cli/parts/api/authorization/authorization-config.ts";
import { UsageError } from "../../../cli/options/table.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const directories = useTempDirectories();
let kubeconfigFile = "";
beforeEach(() => {
  kubeconfigFile = path.join(directories(), "webhook.yaml");
  fs.writeFileSync(kubeconfigFile, "");
});

const read = (
  body: object,
  required: readonly ("Node" | "RBAC" | "Webhook")[] = [],
  apiVersion = "apiserver.config.k8s.io/v1",
) =>
  readAuthorizationConfig(
    JSON.stringify(
      { apiVersion, kind: "AuthorizationConfiguration", ...body },
      null,
      1,
    ),
    "authz.yaml",
    required,
  );
const problemsOf = async (
  body: object,
  required: readonly ("Node" | "RBAC" | "Webhook")[] = [],
): Promise<string> => {
  try {
    await read(body, required);
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
  return "";
};
/** @param change of the webhook's section */
const hook = (change: object = {}, name = "first"): object => ({
  type: "Webhook",
  name,
  webhook: {
    timeout: "3s",
    subjectAccessReviewVersion: "v1",
    failurePolicy: "Deny",
    connectionInfo: { type: "KubeConfigFile", kubeConfigFile: kubeconfigFile },
    ...change,
  },
});
const conditions = (...expressions: string[]): object => ({
  matchConditionSubjectAccessReviewVersion: "v1",
  matchConditions: expressions.map((expression) => ({ expression })),
});

test.each([
  "apiserver.config.k8s.io/v1",
  "apiserver.config.k8s.io/v1beta1",
  "apiserver.config.k8s.io/v1alpha1",
  "apiserver.config.orbit.io/v1",
  "apiserver.orbit.io/v1beta1",
])("%s: authorizers in their order, with the defaults", async (apiVersion) => {
  const body = {
    authorizers: [
      { type: "Node", name: "node" },
      hook({ unauthorizedTTL: "7s", ...conditions("request.user == 'a'") }),
      hook({ failurePolicy: "NoOpinion", authorizedTTL: "1h" }, "b.example"),
      { type: "RBAC", name: "rbac" },
    ],
  };
  expect(await read(body, ["Node", "RBAC", "Webhook"], apiVersion)).toEqual([
    { type: "Node", name: "node" },
    {
      type: "Webhook",
      name: "first",
      webhook: {
        kubeconfigFile,
        timeoutMs: 3000,
        authorizedTtlMs: 300_000,
        unauthorizedTtlMs: 7000,
        version: "v1",
        onFailure: "deny",
        conditions: [expect.objectContaining({ text: "request.user == 'a'" })],
      },
    },
    {
      type: "Webhook",
      name: "b.example",
      webhook: expect.objectContaining({
        authorizedTtlMs: 3_600_000,
        unauthorizedTtlMs: 30_000,
        onFailure: "no-opinion",
        conditions: [],
      }),
    },
    { type: "RBAC", name: "rbac" },
  ]);
});

const one = (change: object): object => ({ authorizers: [hook(change)] });
const at = "authorizers[0]";
test.each<[string, () => object, string]>([
  [
    "another kind",
    () => ({ kind: "AuthenticationConfiguration" }),
    'kind: must be AuthorizationConfiguration, not "AuthenticationConfiguration"',
  ],
  [
    "another version",
    () => ({ apiVersion: "apiserver.config.k8s.io/v2" }),
    "apiVersion: must be ",
  ],
  [
    "no authorizer",
    () => ({}),
    "authorizers: Required value: at least one authorization mode must be defined",
  ],
  ["an unknown field", () => ({ modes: [] }), "modes: unknown field"],
  [
    "an unknown field of a webhook",
    () => one({ ttl: "1s" }),
    `${at}.webhook.ttl: unknown field`,
  ],
  [
    "no type",
    () => ({ authorizers: [{ name: "a" }] }),
    `${at}.type: Required value`,
  ],
  [
    "an unknown type",
    () => ({ authorizers: [{ type: "rbac", name: "rbac" }] }),
    `${at}.type: Unsupported value: "rbac": supported values: "ABAC", "AlwaysAllow", "AlwaysDeny", "Node", "RBAC", "Webhook"`,
  ],
  [
    "a type twice",
    () => ({
      authorizers: [
        { type: "RBAC", name: "rbac" },
        { type: "RBAC", name: "rbac" },
      ],
    }),
    'authorizers[1].type: Duplicate value: "RBAC"',
  ],
  [
    "no name",
    () => ({ authorizers: [{ type: "RBAC" }] }),
    `${at}.name: Required value`,
  ],
  [
    "a name of its own for RBAC",
    () => ({ authorizers: [{ type: "RBAC", name: "mine" }] }),
    `${at}.name: expected name rbac for authorizer RBAC instead of mine`,
  ],
  [
    "a name twice",
    () => ({ authorizers: [hook(), hook()] }),
    'authorizers[1].name: Duplicate value: "first"',
  ],
  [
    "a name that is none",
    () => ({ authorizers: [hook({}, "A_b")] }),
    `${at}.name: Invalid value: "A_b": authorizer name is invalid: a lowercase RFC 1123 subdomain`,
  ],
  [
    "a webhook's section for RBAC",
    () => ({
      authorizers: [{ type: "RBAC", name: "rbac", webhook: {} }],
    }),
    `${at}.webhook: Invalid value: "non-null": may only be specified when type=Webhook`,
  ],
  [
    "no webhook's section",
    () => ({ authorizers: [{ type: "Webhook", name: "a" }] }),
    `${at}.webhook: Required value: required when type=Webhook`,
  ],
  [
    "no timeout",
    () => one({ timeout: "0s" }),
    `${at}.webhook.timeout: Required value`,
  ],
  [
    "a timeout too long",
    () => one({ timeout: "31s" }),
    `${at}.webhook.timeout: Invalid value: "31s": must be > 0s and <= 30s`,
  ],
  [
    "a timeout that is none",
    () => one({ timeout: "soon" }),
    `${at}.webhook.timeout: time: invalid duration "soon"`,
  ],
  [
    "a TTL below 0",
    () => one({ authorizedTTL: "-1s" }),
    `${at}.webhook.authorizedTTL: Invalid value: "-1s": must be > 0s`,
  ],
  [
    "no version",
    () => one({ subjectAccessReviewVersion: "" }),
    `${at}.webhook.subjectAccessReviewVersion: Required value`,
  ],
  [
    "an unknown version",
    () => one({ subjectAccessReviewVersion: "v2" }),
    `${at}.webhook.subjectAccessReviewVersion: Unsupported value: "v2": supported values: "v1", "v1beta1"`,
  ],
  [
    "no failure policy",
    () => one({ failurePolicy: null }),
    `${at}.webhook.failurePolicy: Required value`,
  ],
  [
    "an unknown failure policy",
    () => one({ failurePolicy: "Allow" }),
    `${at}.webhook.failurePolicy: Unsupported value: "Allow": supported values: "NoOpinion", "Deny"`,
  ],
  [
    "no connection",
    () => one({ connectionInfo: {} }),
    `${at}.webhook.connectionInfo.type: Required value`,
  ],
  [
    "the server itself",
    () => one({ connectionInfo: { type: "InClusterConfig" } }),
    `${at}.webhook.connectionInfo.type: InClusterConfig is not allowed for an API server`,
  ],
  [
    "no kubeconfig",
    () => one({ connectionInfo: { type: "KubeConfigFile" } }),
    `${at}.webhook.connectionInfo.kubeConfigFile: Required value`,
  ],
  [
    "a relative kubeconfig",
    () =>
      one({
        connectionInfo: { type: "KubeConfigFile", kubeConfigFile: "a/b" },
      }),
    `${at}.webhook.connectionInfo.kubeConfigFile: Invalid value: "a/b": must be an absolute path`,
  ],
  [
    "a kubeconfig that is not there",
    () =>
      one({
        connectionInfo: { type: "KubeConfigFile", kubeConfigFile: "/absent" },
      }),
    'kubeConfigFile: Invalid value: "/absent": error loading file: ENOENT',
  ],
  [
    "a directory",
    () =>
      one({ connectionInfo: { type: "KubeConfigFile", kubeConfigFile: "/" } }),
    'kubeConfigFile: Invalid value: "/": must be a regular file',
  ],
  [
    "conditions without a version",
    () => one({ matchConditions: [{ expression: "true" }] }),
    `${at}.webhook.matchConditionSubjectAccessReviewVersion: Required value: required if match conditions are specified`,
  ],
  [
    "conditions in another version",
    () => one({ matchConditionSubjectAccessReviewVersion: "v1beta1" }),
    `${at}.webhook.matchConditionSubjectAccessReviewVersion: Unsupported value: "v1beta1": supported values: "v1"`,
  ],
  [
    "an empty condition",
    () => one(conditions(" ")),
    `${at}.webhook.matchConditions[0].expression: Required value`,
  ],
  [
    "a condition twice",
    () => one(conditions("true", "true")),
    `${at}.webhook.matchConditions[1].expression: Duplicate value: "true"`,
  ],
  [
    "a condition that is no expression",
    () => one(conditions("request.")),
    'matchConditions[0].expression: Invalid value: "request.": compilation failed: ',
  ],
  [
    "a condition over an unknown field",
    () => one(conditions("request.name == ''")),
    "undefined field 'name'",
  ],
  [
    "a condition that is no boolean",
    () => one(conditions("request.user")),
    'matchConditions[0].expression: Invalid value: "request.user": must evaluate to bool but got string',
  ],
  [
    "too many conditions",
    () => one(conditions(...Array.from({ length: 65 }, (_, i) => `${i} > 0`))),
    `${at}.webhook.matchConditions: Too many: 65: must have at most 64 items`,
  ],
])("%s is refused", async (_, body, problem) => {
  expect(await problemsOf(body())).toContain(problem);
});

test("every problem is named with its line", async () => {
  const text = await problemsOf({
    authorizers: [{ type: "RBAC", name: "x" }, hook({ timeout: "1h" }), {}],
  });
  expect(text.split("\n")).toEqual([
    expect.stringMatching(/^authz\.yaml:7: authorizers\[0\]\.name: /),
    expect.stringMatching(/^authz\.yaml:13: .*webhook\.timeout: /),
    expect.stringMatching(/^authz\.yaml:\d+: authorizers\[2\]\.type: /),
  ]);
});

test("what was there at the start has to stay", async () => {
  expect(
    await problemsOf({ authorizers: [hook()] }, ["RBAC", "Node", "Webhook"]),
  ).toContain("missing required types: [Node RBAC]");
});

// EncryptionConfiguration: which rules a file becomes, and what is refused, with the place in the file and never a secret.
import { readEncryptionConfig } from "../../../cli/parts/api/encryption/encryption-config.ts";
import { UsageError } from "../../../cli/options/table.ts";

const base64 = (bytes: number): string =>
  Buffer.alloc(bytes, "k").toString("base64");
const key = (name: string, secret = base64(32)): object => ({ name, secret });
const cbc = (...keys: object[]): object => ({ aescbc: { keys } });
const rule = (resources: unknown, ...providers: object[]): object => ({
  resources,
  providers,
});

const read = (
  resources: readonly object[],
  apiVersion = "apiserver.config.k8s.io/v1",
  kind = "EncryptionConfiguration",
) =>
  readEncryptionConfig(
    JSON.stringify({ apiVersion, kind, resources }, null, 1),
    "enc.yaml",
  );

async function problemsOf(...rules: object[]): Promise<string> {
  try {
    await read(rules);
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
  return "";
}

test.each([
  ["apiserver.config.k8s.io/v1", "EncryptionConfiguration"],
  ["v1", "EncryptionConfig"],
])("%s %s: rules, providers and keys in their order", async (version, kind) => {
  const rules = await read(
    [
      rule(
        ["secrets", "widgets.example.com"],
        { aesgcm: { keys: [key("b", base64(16)), key("a", base64(24))] } },
        { identity: {} },
      ),
      rule(["*."], { secretbox: { keys: [key("s")] } }),
    ],
    version,
    kind,
  );
  expect(rules).toEqual([
    {
      resources: ["secrets", "widgets.example.com"],
      providers: [
        {
          type: "aesgcm",
          keys: [
            { name: "b", secret: Buffer.alloc(16, "k") },
            { name: "a", secret: Buffer.alloc(24, "k") },
          ],
        },
        { type: "identity" },
      ],
    },
    {
      resources: ["*."],
      providers: [
        {
          type: "secretbox",
          keys: [{ name: "s", secret: Buffer.alloc(32, "k") }],
        },
      ],
    },
  ]);
});

const good = cbc(key("a"));
const kms = (change: object = {}): object => ({
  kms: { apiVersion: "v2", name: "a", endpoint: "unix:///run/a", ...change },
});

test.each([
  [{}, "/run/a", 3000],
  [{ timeout: "1m0.5s" }, "/run/a", 60_500],
  [{ endpoint: "unix:///@a/b" }, "\0a/b", 3000],
  [{ endpoint: "unix://host/run/a%20b?x" }, "/run/a b", 3000],
  [{ endpoint: "UNIX:/run/a" }, "/run/a", 3000],
])("the KMS provider %j", async (change, socketPath, timeoutMs) => {
  expect(await read([rule(["*.*"], kms(change))])).toEqual([
    {
      resources: ["*.*"],
      providers: [
        { type: "kms", endpoint: { name: "a", socketPath, timeoutMs } },
      ],
    },
  ]);
});

test("version 1 with its gate is refused as not built, and its names are unique in a followed file", async () => {
  const v1 = { kms: { name: "a", endpoint: "unix:///a" } };
  const text = JSON.stringify({
    ...{ apiVersion: "apiserver.config.k8s.io/v1" },
    kind: "EncryptionConfiguration",
    resources: [rule(["secrets"], v1, v1)],
  });
  const problemsWith = (reload: boolean): Promise<string> =>
    readEncryptionConfig(text, "enc.yaml", { gate: true, reload }).then(
      () => "",
      (error: Error) => error.message,
    );
  expect(await problemsWith(false)).toBe(
    "enc.yaml:1: resources[0].providers[0].kms: KMS v1 providers are not implemented\nenc.yaml:1: resources[0].providers[1].kms: KMS v1 providers are not implemented",
  );
  expect(await problemsWith(true)).toContain(
    "duplicate KMS provider name a, names must be unique",
  );
});

test.each<[string, object[], RegExp]>([
  ["no rules", [], /resources: Required value: at least one resources is/],
  [
    "no resources",
    [rule([], good)],
    /resources\[0\]\.resources: Required value: at least one resources\[0\]\.resources is required/,
  ],
  [
    "no providers",
    [rule(["secrets"])],
    /resources\[0\]\.providers: Required value: at least one resources\[0\]\.providers is required/,
  ],
  [
    "a resource given twice",
    [rule(["secrets", "pods", "secrets"], good)],
    /Invalid value: \[\]string\{"secrets", "pods", "secrets"\}: the same resource cannot be specified multiple times/,
  ],
  ...[
    ["secrets", "*."],
    ["*.apps", "deployments.apps"],
    ["secrets", "*.*"],
  ].map((resources): [string, object[], RegExp] => [
    `${resources.join()} overlap`,
    [rule(resources, good)],
    /: using overlapping resources such as 'secrets' and '\*\.' in the same resource list is not allowed as they will be masked/,
  ]),
  ...(
    [
      ["Secrets", /resource name should not contain capital letters/],
      ["*", /use '\*\.' to encrypt all the resources from core API group or/],
      ["apiserveripinfo", /which do not have REST API\/s cannot be encrypted/],
      ["events.events.k8s.io", /'\*\.events\.k8s\.io' objects are stored/],
      ["pods.extensions", /'extensions' group has been removed/],
      ["pods.*", /encrypting the same resource across groups is not supported/],
    ] as const
  ).map(([name, text]): [string, object[], RegExp] => [
    name,
    [rule([name], good)],
    new RegExp(
      `enc\\.yaml:\\d+: resources\\[0\\]\\.resources\\[0\\]: Invalid value: "${name.replaceAll(/[.*]/g, "\\$&")}": .*${text.source}`,
    ),
  ]),
  [
    "a provider of no kind",
    [rule(["secrets"], {})],
    /providers\[0\]: Invalid value: provider does not contain any of the expected/,
  ],
  [
    "two providers in one",
    [rule(["secrets"], { ...good, identity: {} })],
    /providers\[0\]: Invalid value: more than one provider specified in a single/,
  ],
  [
    "no keys",
    [rule(["secrets"], cbc())],
    /aescbc\.keys: Required value: at least one keys is required/,
  ],
  [
    "a key without a name or a secret",
    [rule(["secrets"], cbc({}))],
    /keys\[0\]\.name: Required value: name is a mandatory field for a key\n.*keys\[0\]\.secret: Required value: secret is a mandatory field for a key/,
  ],
  [
    "no base64",
    [rule(["secrets"], cbc(key("a", "not=base64")))],
    /secret: Invalid value: "REDACTED": secrets must be base64 encoded/,
  ],
  [
    "a key of 15 bytes",
    [rule(["secrets"], cbc(key("a", base64(15))))],
    /"REDACTED": secret is not of the expected length, got 15, expected one of \[16 24 32\]/,
  ],
  [
    "a secretbox of 16 bytes",
    [rule(["secrets"], { secretbox: { keys: [key("a", base64(16))] } })],
    /"REDACTED": secret is not of the expected length, got 16, expected one of \[32\]/,
  ],
  [
    "KMS v1",
    [rule(["secrets"], { kms: { name: "a", endpoint: "unix:///a" } })],
    /providers\[0\]\.kms: KMSv1 is deprecated and will only receive security updates going forward\. Use KMSv2 instead\.  Set --feature-gates=KMSv1=true to use the deprecated KMSv1 feature\.$/,
  ],
  [
    "a KMS provider without a name and an endpoint",
    [rule(["secrets"], kms({ name: "", endpoint: "" }))],
    /kms\.name: Required value: name is a mandatory field for a provider\n.*kms\.endpoint: Required value: endpoint is a mandatory field for a kms$/,
  ],
  [
    "a KMS provider with a colon in its name",
    [rule(["secrets"], kms({ name: "a:b" }))],
    /kms\.name: Invalid value: "a:b": invalid KMS provider name a:b, must not contain ':'/,
  ],
  [
    "a KMS provider's name given twice",
    [rule(["secrets"], kms()), rule(["configmaps"], good, kms())],
    /resources\[1\]\.providers\[1\]\.kms\.name: Invalid value: "a": duplicate KMS provider name a, names must be unique/,
  ],
  ...(
    [
      ["0s", /kms\.timeout: Invalid value: "0s": timeout should be a positive/],
      [
        "-1s",
        /kms\.timeout: Invalid value: "-1s": timeout should be a positive/,
      ],
      ["3", /kms\.timeout: time: missing unit in duration "3"/],
    ] as const
  ).map(([timeout, text]): [string, object[], RegExp] => [
    `a timeout of ${timeout}`,
    [rule(["secrets"], kms({ timeout }))],
    text,
  ]),
  ...(
    [
      ["tcp://localhost:1", /unsupported scheme "tcp" for KMS provider, only/],
      ["/run/kms.sock", /unsupported scheme "" for KMS provider, only unix is/],
      [":a", /invalid endpoint for kms provider, error: parse ":a": missing/],
      ["unix:///a%zz", /parse "unix:\/\/\/a%zz": invalid URL escape/],
      ["unix://a", /it names no socket/],
    ] as const
  ).map(([endpoint, text]): [string, object[], RegExp] => [
    `the endpoint ${endpoint}`,
    [rule(["secrets"], kms({ endpoint }))],
    new RegExp(`kms\\.endpoint: Invalid value: .*${text.source}`),
  ]),
  [
    "a cache of a KMS v2 provider",
    [rule(["secrets"], kms({ cachesize: 10 }))],
    /kms\.cachesize: Invalid value: 10: cachesize is not supported in v2/,
  ],
  [
    "a KMS provider of another version",
    [rule(["secrets"], kms({ apiVersion: "v3" }))],
    /kms\.apiVersion: Invalid value: "v3": unsupported apiVersion apiVersion for KMS provider, only v1 and v2 are supported/,
  ],
  ["a field too many", [{ ...rule(["secrets"], good), x: 1 }], /unknown field/],
  ["resources that are no list", [rule("secrets", good)], /must be a list/],
])("%s is refused", async (_, rules, text) => {
  const problems = await problemsOf(...rules);
  expect(problems).toMatch(text);
  expect(problems).not.toContain(base64(15).slice(0, 12));
});

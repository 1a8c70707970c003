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
    /providers\[0\]\.kms: KMSv1 is deprecated, and not implemented/,
  ],
  [
    "KMS v2",
    [rule(["secrets"], { kms: { apiVersion: "v2", name: "a" } })],
    /providers\[0\]\.kms: KMS providers are not implemented yet/,
  ],
  ["a field too many", [{ ...rule(["secrets"], good), x: 1 }], /unknown field/],
  ["resources that are no list", [rule("secrets", good)], /must be a list/],
])("%s is refused", async (_, rules, text) => {
  const problems = await problemsOf(...rules);
  expect(problems).toMatch(text);
  expect(problems).not.toContain(base64(15).slice(0, 12));
});

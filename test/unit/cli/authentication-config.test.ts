// AuthenticationConfiguration: what is refused, with the place in the file, and which users claims become.
import { readAuthenticationConfig } from "../../../cli/parts/api/authentication/authentication-config.ts";
import { UsageError } from "../../../cli/options/table.ts";

const issuer = { url: "https://idp.example/a", audiences: ["orbit"] };
const claimMappings = { username: { claim: "sub", prefix: "" } };

const read = (body: object, own: readonly string[] = ["https://own"]) =>
  readAuthenticationConfig(
    JSON.stringify(
      {
        apiVersion: "apiserver.config.k8s.io/v1beta1",
        kind: "AuthenticationConfiguration",
        ...body,
      },
      null,
      1,
    ),
    "auth.yaml",
    own,
  );
const problemsOf = async (body: object): Promise<string> => {
  try {
    await read(body);
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
  return "";
};
const jwt = (change: object = {}): object => ({
  jwt: [{ issuer, claimMappings, ...change }],
});
const mapped = (mappings: object): object =>
  jwt({ claimMappings: { ...claimMappings, ...mappings } });

test("a file may name no issuer, and both versions are read", async () => {
  expect(await read({})).toEqual({ issuers: [], anonymous: undefined });
  expect(
    await read({ apiVersion: "apiserver.config.k8s.io/v1alpha1", ...jwt() }),
  ).toMatchObject({
    issuers: [
      {
        url: issuer.url,
        audiences: ["orbit"],
        discoveryUrl: undefined,
        authority: undefined,
      },
    ],
  });
});

test.each([
  [{ enabled: true }, true],
  [{ enabled: false }, false],
  [
    { enabled: true, conditions: [{ path: "/livez" }, { path: "/readyz" }] },
    ["/livez", "/readyz"],
  ],
])("anonymous %j", async (anonymous, expected) => {
  expect((await read({ anonymous })).anonymous).toEqual(expected);
});

const atOne = "jwt[0]";
test.each<[string, object, string]>([
  [
    "another kind",
    { kind: "AuthorizationConfiguration" },
    "kind: must be AuthenticationConfiguration",
  ],
  [
    "another version",
    { apiVersion: "apiserver.config.k8s.io/v1" },
    "apiVersion: must be ",
  ],
  ["an unknown field", { jwts: [] }, "jwts: unknown field"],
  [
    "an unknown field of an issuer",
    jwt({ issuer: { ...issuer, uri: "x" } }),
    `${atOne}.issuer.uri: unknown field`,
  ],
  [
    "no URL",
    jwt({ issuer: { audiences: ["a"] } }),
    `${atOne}.issuer.url: URL is required`,
  ],
  [
    "plain http",
    jwt({ issuer: { ...issuer, url: "http://x" } }),
    `${atOne}.issuer.url: URL scheme must be https`,
  ],
  [
    "a user in the URL",
    jwt({ issuer: { ...issuer, url: "https://a:b@x" } }),
    "URL must not contain a username or password",
  ],
  [
    "a query",
    jwt({ issuer: { ...issuer, url: "https://x?y=1" } }),
    "URL must not contain a query",
  ],
  [
    "no URL at all",
    jwt({ issuer: { ...issuer, url: "://" } }),
    `${atOne}.issuer.url: is no URL`,
  ],
  [
    "the server's own issuer",
    jwt({ issuer: { ...issuer, url: "https://own" } }),
    "URL must not overlap with disallowed issuers: https://own",
  ],
  [
    "a discovery URL that is the issuer's",
    jwt({ issuer: { ...issuer, discoveryURL: `${issuer.url}/` } }),
    "discoveryURL must be different from URL",
  ],
  [
    "an authority that is none",
    jwt({ issuer: { ...issuer, certificateAuthority: "junk" } }),
    `${atOne}.issuer.certificateAuthority: data does not contain`,
  ],
  [
    "no audience",
    jwt({ issuer: { url: issuer.url } }),
    `${atOne}.issuer.audiences: at least one`,
  ],
  [
    "an empty audience",
    jwt({ issuer: { ...issuer, audiences: [""] } }),
    `${atOne}.issuer.audiences[0]: audience can't be empty`,
  ],
  [
    "two audiences without a policy",
    jwt({ issuer: { ...issuer, audiences: ["a", "b"] } }),
    "audienceMatchPolicy must be MatchAny for multiple audiences",
  ],
  [
    "an unknown policy",
    jwt({ issuer: { ...issuer, audienceMatchPolicy: "All" } }),
    "audienceMatchPolicy must be empty or MatchAny",
  ],
  [
    "an issuer twice",
    {
      jwt: [
        { issuer, claimMappings },
        { issuer, claimMappings },
      ],
    },
    "jwt[1].issuer.url: duplicate value",
  ],
  [
    "65 issuers",
    {
      jwt: Array.from({ length: 65 }, (_, n) => ({
        issuer: { ...issuer, url: `https://x/${n}` },
        claimMappings,
      })),
    },
    "jwt: must have at most 64 items",
  ],
  [
    "no user name",
    jwt({ claimMappings: {} }),
    `${atOne}.claimMappings.username: claim or expression is required`,
  ],
  [
    "a claim and an expression",
    mapped({ groups: { claim: "g", prefix: "", expression: "claims.g" } }),
    `${atOne}.claimMappings.groups: claim and expression can't both be set`,
  ],
  [
    "a claim without a prefix",
    mapped({ groups: { claim: "g" } }),
    `${atOne}.claimMappings.groups.prefix: prefix is required`,
  ],
  [
    "an expression with a prefix",
    mapped({ groups: { expression: "claims.g", prefix: "p" } }),
    "prefix can't be set when expression is set",
  ],
  [
    "an expression that is none",
    mapped({ uid: { expression: "claims." } }),
    `${atOne}.claimMappings.uid.expression: compilation failed: ERROR: <input>:1:8`,
  ],
  [
    "an unknown variable",
    mapped({ uid: { expression: "user.name" } }),
    "undeclared reference to 'user'",
  ],
  [
    "a key without a domain",
    mapped({ extra: [{ key: "a", valueExpression: "'b'" }] }),
    `${atOne}.claimMappings.extra[0].key: must be a domain-prefixed path`,
  ],
  [
    "a key in upper case",
    mapped({ extra: [{ key: "a.io/B", valueExpression: "'b'" }] }),
    "key must be lowercase",
  ],
  [
    "a reserved key",
    mapped({ extra: [{ key: "x.kubernetes.io/b", valueExpression: "'b'" }] }),
    "reserved for Kubernetes use",
  ],
  [
    "a key twice",
    mapped({
      extra: [1, 2].map(() => ({ key: "a.io/b", valueExpression: "'b'" })),
    }),
    "extra[1].key: duplicate value",
  ],
  [
    "a key without a value",
    mapped({ extra: [{ key: "a.io/b" }] }),
    "extra[0].valueExpression: valueExpression is required",
  ],
  [
    "a rule that is no condition",
    jwt({ claimValidationRules: [{ expression: "claims.a" }] }),
    "claimValidationRules[0].expression: must evaluate to bool",
  ],
  [
    "an empty rule",
    jwt({ claimValidationRules: [{}] }),
    "claimValidationRules[0]: claim or expression is required",
  ],
  [
    "a claim's rule with a message",
    jwt({ claimValidationRules: [{ claim: "a", message: "m" }] }),
    "message can't be set when claim is set",
  ],
  [
    "an expression with a value",
    jwt({ claimValidationRules: [{ expression: "true", requiredValue: "m" }] }),
    "requiredValue can't be set when expression is set",
  ],
  [
    "a rule twice",
    jwt({
      userValidationRules: [{ expression: "true" }, { expression: "true" }],
    }),
    "userValidationRules[1].expression: duplicate value",
  ],
  [
    "a user's rule without an expression",
    jwt({ userValidationRules: [{ message: "m" }] }),
    "userValidationRules[0].expression: expression is required",
  ],
  [
    "a field that users have not",
    jwt({ userValidationRules: [{ expression: "user.name == 'a'" }] }),
    "undefined field 'name'",
  ],
  [
    "an address that nothing verifies",
    mapped({ username: { expression: "claims.email" } }),
    `${atOne}.claimMappings.username.expression: claims.email_verified must be used`,
  ],
  [
    "conditions of what is off",
    { anonymous: { enabled: false, conditions: [{ path: "/livez" }] } },
    "anonymous.conditions: enabled should be set to true",
  ],
])("%s is refused", async (_, body, problem) => {
  const found = await problemsOf(body);
  expect(found).toContain(problem);
  expect(found).toMatch(/^auth\.yaml:\d+: /);
});

test.each([
  [{ expression: "claims.email_verified ? claims.email : 'x'" }, {}],
  [
    { expression: "claims.email" },
    {
      claimValidationRules: [
        { expression: "claims.?email_verified.orValue(true) == true" },
      ],
    },
  ],
])("a verified address is taken: %j", async (username, more) => {
  expect(await problemsOf(jwt({ claimMappings: { username }, ...more }))).toBe(
    "",
  );
});

describe("users", () => {
  const userOf = async (body: object, claims: object) =>
    (await read(body)).issuers[0]!.mapping.userOf(
      claims as Record<string, unknown>,
    );

  test("of claims", async () => {
    expect(
      await userOf(
        jwt({
          claimMappings: {
            username: { claim: "sub", prefix: "o:" },
            groups: { claim: "roles", prefix: "r:" },
            uid: { claim: "oid" },
          },
        }),
        { sub: "jane", roles: "dev", oid: "7", jti: "t1" },
      ),
    ).toEqual({
      name: "o:jane",
      groups: ["r:dev"],
      uid: "7",
      extra: { "authentication.kubernetes.io/credential-id": ["JTI=t1"] },
    });
  });

  const expressions = jwt({
    claimMappings: {
      username: { expression: "claims.sub + '@' + claims.org.name" },
      groups: { expression: "claims.?roles.orValue([])" },
      uid: { expression: "claims.oid" },
      extra: [
        { key: "a.io/team", valueExpression: "claims.?team.orValue('')" },
        { key: "a.io/all", valueExpression: "['x', '', string(claims.sub)]" },
      ],
    },
    claimValidationRules: [
      { claim: "hd", requiredValue: "example.com" },
      {
        expression: "claims.exp - claims.iat <= 3600",
        message: "it lives too long",
      },
    ],
    userValidationRules: [
      {
        expression: "!user.username.startsWith('system:')",
        message: "that is the system's",
      },
      { expression: "user.groups.all(g, g != 'system:masters')" },
    ],
  });
  const good = {
    ...{ sub: "jane", oid: "7", hd: "example.com", iat: 10, exp: 20 },
    org: { name: "x" },
    roles: ["dev", "", "ops"],
  };

  test("of expressions", async () => {
    expect(await userOf(expressions, good)).toEqual({
      name: "jane@x",
      groups: ["dev", "ops"],
      uid: "7",
      extra: { "a.io/all": ["x", "jane"] },
    });
  });

  test("a required claim may have the name of a prototype", async () => {
    const named = jwt({
      claimMappings: { username: { claim: "sub", prefix: "" } },
      claimValidationRules: [{ claim: "__proto__", requiredValue: "v" }],
    });
    await expect(userOf(named, { sub: "jane" })).rejects.toThrow(
      /required claim __proto__ is missing/,
    );
  });

  test.each<[string, object, RegExp]>([
    [
      "a missing claim",
      { sub: undefined },
      /error evaluating username claim expression: .*no such key: sub/,
    ],
    [
      "a claim of another type",
      { sub: 1, org: { name: 2 } },
      /username claim expression: .*no such overload/,
    ],
    [
      "groups that are no texts",
      { roles: [1] },
      /group claim expression: expression must return a string or a list of strings/,
    ],
    [
      "groups that are a map",
      { roles: {} },
      /must return a string or a list of strings/,
    ],
    [
      "a uid that is no text",
      { oid: 7 },
      /uid claim expression must return a string/,
    ],
    [
      "a required claim with another value",
      { hd: "evil.com" },
      /required claim hd is missing or has another value/,
    ],
    [
      "a rule that is false",
      { exp: 99_999 },
      /validation expression 'claims\.exp - claims\.iat <= 3600' failed: it lives too long/,
    ],
    [
      "a rule that fails",
      { exp: undefined },
      /error evaluating claim validation expression: .*no such key: exp/,
    ],
    [
      "a system's name",
      { sub: "system:admin" },
      /user info validation rule: .*failed: that is the system's/,
    ],
    [
      "the masters' group",
      { roles: "system:masters" },
      /user\.groups\.all\(g, g != 'system:masters'\)' failed/,
    ],
  ])("%s is refused", async (_, change, problem) => {
    const claims = JSON.parse(JSON.stringify({ ...good, ...change })) as object;
    await expect(userOf(expressions, claims)).rejects.toThrow(problem);
  });

  test("an empty name, and an address that is not verified", async () => {
    await expect(
      userOf(mapped({ username: { expression: "claims.sub" } }), { sub: "" }),
    ).rejects.toThrow("oidc: empty username via CEL expression is not allowed");
    const email = mapped({ username: { claim: "email", prefix: "" } });
    await expect(
      userOf(email, { email: "a@b", email_verified: false }),
    ).rejects.toThrow("email not verified");
    expect((await userOf(email, { email: "a@b" })).name).toBe("a@b");
  });

  test("an expression that costs too much", async () => {
    const list = Array.from({ length: 2000 }, (_, n) => n);
    await expect(
      userOf(
        jwt({
          claimValidationRules: [
            { expression: "claims.l.all(a, claims.l.all(b, a + b >= 0))" },
          ],
        }),
        { sub: "a", l: list },
      ),
    ).rejects.toThrow(/error evaluating claim validation expression/);
  });
});

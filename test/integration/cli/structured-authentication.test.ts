// --authentication-config at the API server's real port: two issuers with rules of their own, anonymous paths, what is
// refused at the start, and a file that changes while the server runs. The issuers are HTTPS servers of this process.
import { generateKeyPairSync, sign } from "node:crypto";
import * as fs from "node:fs";
import * as https from "node:https";
import pino from "pino";
import { apiServerOptions } from "../../../cli/options/apiserver.ts";
import { parseOptions } from "../../../cli/options/parse.ts";
import { structuredAuthentication } from "../../../cli/parts/api/authentication/structured-authentication.ts";
import { eventually } from "../../support/eventually.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";
import { openPort } from "./part-ports.ts";
import {
  askPort,
  serveOnLoopback,
  authorityNamed,
  certificateOf,
  fileIn,
  useStopped,
} from "./support.ts";

const directories = useTempDirectories();
const open = useStopped();
const file = fileIn(directories);
const authority = authorityNamed("issuers-ca");
const serving = certificateOf(authority, "issuer", [], {
  ipAddresses: ["127.0.0.1"],
});
const { publicKey, privateKey } = generateKeyPairSync("ec", {
  namedCurve: "P-256",
});

interface TestIssuer {
  readonly url: string;
  /** A token of these claims beside those of every good one. */
  token(claims?: object): string;
}

/** @param discovery path of the discovery document */
async function issuer(
  discovery = "/.well-known/openid-configuration",
): Promise<TestIssuer> {
  const place = { url: "" };
  const server = https.createServer(
    { cert: serving.certificate, key: serving.key },
    ({ url }, response) => {
      const key = publicKey.export({ format: "jwk" });
      const body =
        url === discovery
          ? { issuer: place.url, jwks_uri: `${place.url}/keys` }
          : url === "/keys"
            ? { keys: [{ ...key, kid: "k", use: "sig" }] }
            : undefined;
      response.writeHead(body ? 200 : 404).end(JSON.stringify(body ?? {}));
    },
  );
  const port = await serveOnLoopback(server, open);
  place.url = `https://127.0.0.1:${port}`;
  const encode = (value: object): string =>
    Buffer.from(JSON.stringify(value)).toString("base64url");
  return {
    url: place.url,
    token(claims = {}) {
      const nowSeconds = Math.floor(Date.now() / 1000);
      const content = `${encode({ alg: "ES256", kid: "k" })}.${encode({
        iss: place.url,
        aud: "orbit",
        sub: "jane",
        // The clock of a test may run ahead by hours.
        exp: nowSeconds + 100_000_000,
        ...claims,
      })}`;
      const signature = sign("sha256", Buffer.from(content), {
        key: privateKey,
        dsaEncoding: "ieee-p1363",
      });
      return `${content}.${signature.toString("base64url")}`;
    },
  };
}

const configuration = (body: object): string =>
  JSON.stringify({
    apiVersion: "apiserver.config.k8s.io/v1beta1",
    kind: "AuthenticationConfiguration",
    ...body,
  });
const issuerOf = (
  { url }: TestIssuer,
  prefix: string,
  more: object = {},
  place: object = {},
): object => ({
  issuer: {
    url,
    audiences: ["orbit", "other"],
    audienceMatchPolicy: "MatchAny",
    certificateAuthority: authority.certificate,
    ...place,
  },
  claimMappings: { username: { claim: "sub", prefix } },
  ...more,
});

test("each issuer by its own rules, others and anonymous requests not at all", async () => {
  const first = await issuer();
  const second = await issuer("/elsewhere");
  const port = await openPort("apiserver", directories(), [
    `--authentication-config=${file(
      configuration({
        jwt: [
          issuerOf(first, "one:", {
            claimValidationRules: [
              { expression: "claims.sub != 'mallory'", message: "not her" },
            ],
          }),
          issuerOf(
            second,
            "two:",
            {
              claimMappings: {
                username: { expression: "'two:' + string(claims.sub)" },
                groups: { expression: "claims.?roles.orValue([])" },
                uid: { claim: "oid" },
                extra: [{ key: "a.io/x", valueExpression: "claims.oid" }],
              },
              userValidationRules: [
                { expression: "!('system:masters' in user.groups)" },
              ],
            },
            { discoveryURL: `${second.url}/elsewhere` },
          ),
        ],
        anonymous: { enabled: true, conditions: [{ path: "/livez" }] },
      }),
    )}`,
  ]);
  open.push(port);
  const whoIs = async (token: string): Promise<unknown> => {
    const { code, body } = await askPort(
      port.port,
      "POST",
      "/apis/authentication.k8s.io/v1/selfsubjectreviews",
      { token, body: {} },
    );
    return code === 201 ? body.status.userInfo : code;
  };
  await eventually(async () => (await whoIs(first.token())) !== 401);
  const roles = { oid: "7", roles: ["dev"] };
  await eventually(async () => (await whoIs(second.token(roles))) !== 401);
  expect(await whoIs(first.token())).toMatchObject({ username: "one:jane" });
  expect(await whoIs(second.token({ ...roles, aud: "other" }))).toEqual({
    username: "two:jane",
    uid: "7",
    groups: ["dev", "system:authenticated"],
    extra: { "a.io/x": ["7"] },
  });
  for (const [what, token] of [
    ["a rule", first.token({ sub: "mallory" })],
    ["a missing claim", second.token()],
    ["a rule of users", second.token({ ...roles, roles: ["system:masters"] })],
    ["another audience", first.token({ aud: "x" })],
    ["an expired token", first.token({ exp: 1 })],
    ["another issuer's name", first.token({ iss: "https://127.0.0.1:1" })],
  ] as const)
    expect([what, await whoIs(token)]).toEqual([what, 401]);
  const anonymous = async (path: string): Promise<number> =>
    (await askPort(port.port, "GET", path, {})).code;
  expect(await anonymous("/livez")).toBe(200);
  expect(await anonymous("/version")).toBe(401);
});

test.each<[string, string[], RegExp]>([
  [
    "an issuer by options too",
    ["--oidc-issuer-url=https://x", "--oidc-client-id=a"],
    /--authentication-config and --oidc-issuer-url exclude each other/,
  ],
  [
    "--anonymous-auth beside the section",
    ["--anonymous-auth=true"],
    /--anonymous-auth flag cannot be set when anonymous field is configured/,
  ],
  [
    "without the gate",
    ["--feature-gates=StructuredAuthenticationConfiguration=false"],
    /needs the feature gate/,
  ],
  [
    "the section without its gate",
    ["--feature-gates=AnonymousAuthConfigurableEndpoints=false"],
    /anonymous: Forbidden: anonymous is not supported/,
  ],
  [
    "the section as 1.31",
    ["--emulated-version=1.31"],
    /anonymous: Forbidden: anonymous is not supported/,
  ],
])("%s is refused", async (_, argv, problem) => {
  const text = configuration({ anonymous: { enabled: false } });
  await expect(
    openPort("apiserver", directories(), [
      `--authentication-config=${file(text)}`,
      ...argv,
    ]),
  ).rejects.toThrow(problem);
});

test("a file with a problem is refused with its place", async () => {
  await expect(
    openPort("apiserver", directories(), [
      `--authentication-config=${file(configuration({ jwt: [{}] }))}`,
    ]),
  ).rejects.toThrow(/jwt\[0\]\.issuer\.url: URL is required/);
});

test("a changed file takes effect within a minute; a bad one does not", async () => {
  const first = await issuer();
  const second = await issuer();
  const clock = new FakeClock(Date.now());
  const path = file(configuration({ jwt: [issuerOf(first, "one:")] }));
  const found = (await structuredAuthentication({
    values: parseOptions(apiServerOptions, [`--authentication-config=${path}`]),
    audiences: ["api"],
    ownIssuers: ["https://own"],
    anonymousPaths: true,
    clock,
    logger: pino({ level: "silent" }),
  }))!;
  open.push({ stop: () => found.close() });
  found.start();
  const nameOf = (token: string): Promise<string | undefined> =>
    found.authenticateToken(token).then(
      (user) => user?.name,
      () => "refused",
    );
  await eventually(async () => (await nameOf(first.token())) === "one:jane");
  expect(await nameOf(second.token())).toBeUndefined();
  const look = async (text: string): Promise<void> => {
    fs.writeFileSync(path, text);
    await clock.advanceAsync(60_000);
  };
  await look(configuration({ jwt: "junk" }));
  await look("{");
  await look(configuration({ anonymous: { enabled: true } }));
  // Reads of files end outside of the clock.
  expect(await nameOf(first.token())).toBe("one:jane");
  fs.writeFileSync(
    path,
    configuration({ jwt: [issuerOf(first, "uno:"), issuerOf(second, "due:")] }),
  );
  await eventually(async () => {
    await clock.advanceAsync(60_000);
    return (await nameOf(second.token())) === "due:jane";
  });
  expect(await nameOf(first.token())).toBe("uno:jane");
  fs.writeFileSync(path, configuration({}));
  await eventually(async () => {
    await clock.advanceAsync(60_000);
    return (await nameOf(first.token())) === undefined;
  });
  expect(await nameOf(second.token())).toBeUndefined();
});

// Who else decides at the API server, through its real port: the token webhook, an OpenID Connect issuer, the authorization
// webhook, the ABAC policy. The other ends are real HTTPS servers of this process.
import {
  generateKeyPairSync,
  sign,
  constants,
  type KeyObject,
} from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import * as https from "node:https";
import { eventually } from "../../support/eventually.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";
import { openPort } from "./part-ports.ts";
import {
  useStopped,
  fileIn,
  authorityNamed,
  certificateOf,
  askPort,
  serveOnLoopback,
} from "./support.ts";

const directories = useTempDirectories();
const open = useStopped();

const authority = authorityNamed("remote-ca");
const serving = certificateOf(authority, "remote", [], {
  ipAddresses: ["127.0.0.1"],
});
const file = fileIn(directories);

/** An HTTPS server of JSON answers; `answer` gets the path, the posted object and the headers. */
async function remote(
  answer: (path: string, body: never, headers: IncomingHttpHeaders) => unknown,
): Promise<{ url: string; seen: unknown[] }> {
  const seen: unknown[] = [];
  const server = https.createServer(
    { cert: serving.certificate, key: serving.key },
    (request, response) => {
      let text = "";
      request.on("data", (chunk: Buffer) => (text += chunk.toString()));
      request.on("end", () => {
        const body: unknown = text === "" ? undefined : JSON.parse(text);
        if (body) seen.push(body);
        const found = answer(request.url!, body as never, request.headers);
        response.writeHead(found === undefined ? 500 : 200, {
          "content-type": "application/json",
        });
        response.end(
          typeof found === "string" ? found : JSON.stringify(found ?? {}),
        );
      });
    },
  );
  const port = await serveOnLoopback(server, open);
  return { url: `https://127.0.0.1:${port}`, seen };
}

const kubeconfig = (server: string, ca = authority.certificate): string =>
  file(
    JSON.stringify({
      apiVersion: "v1",
      kind: "Config",
      clusters: [
        {
          name: "c",
          cluster: {
            server,
            "certificate-authority-data": Buffer.from(ca).toString("base64"),
          },
        },
      ],
      users: [{ name: "u", user: {} }],
      contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
      "current-context": "c",
    }),
  );

interface Answer {
  code: number;
  // Of whatever form the path has: the tests say what they expect of it.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  body: any;
}
type Ask = (
  method: string,
  target: string,
  token?: string,
  body?: object,
) => Promise<Answer>;

async function start(...argv: string[]): Promise<Ask> {
  const port = await openPort("apiserver", directories(), argv);
  open.push(port);
  return (method, target, token, body) =>
    askPort(port.port, method, target, {
      ...(token ? { token } : {}),
      ...(body ? { body } : {}),
    });
}

/** Who a token is: code, name and groups. */
async function whoIs(
  ask: Ask,
  token: string,
): Promise<number | [string, string[]]> {
  const { code, body } = await ask(
    "POST",
    "/apis/authentication.k8s.io/v1/selfsubjectreviews",
    token,
    {},
  );
  if (code !== 201) return code;
  const { username, groups } = body.status.userInfo;
  return [
    username,
    groups.filter((group: string) => group !== "system:authenticated"),
  ];
}

describe("--authentication-token-webhook-config-file", () => {
  interface TokenReview {
    apiVersion: string;
    spec: { token: string; audiences?: string[] };
  }
  const reviewer = () =>
    remote((_path, { spec }: TokenReview) => {
      if (spec.token === "broken") return undefined;
      if (spec.token === "junk") return "{";
      return {
        status:
          spec.token === "other-audience"
            ? {
                authenticated: true,
                user: { username: "jane" },
                audiences: ["elsewhere"],
              }
            : spec.token === "good"
              ? {
                  authenticated: true,
                  user: { username: "jane", uid: "7", groups: ["staff"] },
                }
              : { authenticated: false },
      };
    });

  test.each(["v1beta1", "v1"])(
    "%s: its answers decide, and are kept",
    async (version) => {
      const { url, seen } = await reviewer();
      const ask = await start(
        `--authentication-token-webhook-config-file=${kubeconfig(url)}`,
        `--authentication-token-webhook-version=${version}`,
      );
      expect(await whoIs(ask, "good")).toEqual(["jane", ["staff"]]);
      expect(await whoIs(ask, "good")).toEqual(["jane", ["staff"]]);
      for (const token of ["bad", "bad", "broken", "junk", "other-audience"])
        expect([token, await whoIs(ask, token)]).toEqual([token, 401]);
      const reviews = seen as TokenReview[];
      expect(reviews.map(({ spec }) => spec.token)).toEqual([
        "good",
        "bad",
        // It may pass: asked again.
        ...Array<string>(5).fill("broken"),
        "junk",
        "other-audience",
      ]);
      expect(reviews[0]).toMatchObject({
        kind: "TokenReview",
        apiVersion: `authentication.k8s.io/${version}`,
        spec: { audiences: ["https://kubernetes.default.svc.cluster.local"] },
      });
    },
  );

  test("--authentication-token-webhook-cache-ttl=0: asked each time", async () => {
    const { url, seen } = await reviewer();
    const ask = await start(
      `--authentication-token-webhook-config-file=${kubeconfig(url)}`,
      "--authentication-token-webhook-cache-ttl=0s",
    );
    await whoIs(ask, "good");
    await whoIs(ask, "good");
    expect(seen).toHaveLength(2);
  });

  test("a server of another authority is not believed", async () => {
    const { url, seen } = await reviewer();
    const other = authorityNamed("other");
    const ask = await start(
      `--authentication-token-webhook-config-file=${kubeconfig(url, other.certificate)}`,
    );
    expect(await whoIs(ask, "good")).toBe(401);
    expect(seen).toEqual([]);
  });
});

describe("authorization", () => {
  const tokens = file('j,jane,7,"staff"\nr,root,1,"system:masters"\n');
  const pods = "/api/v1/namespaces/default/pods";

  interface AccessReview {
    apiVersion: string;
    spec: {
      user: string;
      group?: string[];
      groups?: string[];
      resourceAttributes?: { verb: string; resource: string };
      nonResourceAttributes?: { path: string };
    };
  }
  const decider = () =>
    remote((_path, { spec }: AccessReview) => {
      const { resource, verb } = spec.resourceAttributes ?? {};
      if (resource === "secrets") return undefined;
      return {
        status: {
          allowed: resource === "pods" && verb === "list",
          reason: "because",
        },
      };
    });

  test.each([
    ["v1beta1", "group"],
    ["v1", "groups"],
  ] as const)("Webhook %s: its answers decide", async (version, groups) => {
    const { url, seen } = await decider();
    const ask = await start(
      `--token-auth-file=${tokens}`,
      "--authorization-mode=Webhook",
      `--authorization-webhook-config-file=${kubeconfig(url)}`,
      `--authorization-webhook-version=${version}`,
    );
    expect((await ask("GET", pods, "j")).code).toBe(200);
    const refused = await ask("DELETE", `${pods}/p`, "j");
    expect([refused.code, refused.body.message]).toEqual([
      403,
      expect.stringContaining("because"),
    ]);
    // When it can't answer the answer is no.
    expect(
      (await ask("GET", "/api/v1/namespaces/default/secrets", "j")).code,
    ).toBe(500);
    // Anonymous requests are asked about too.
    expect((await ask("GET", "/metrics")).code).toBe(403);
    const asked = seen.length;
    expect((await ask("GET", pods, "j")).code).toBe(200);
    expect((await ask("DELETE", `${pods}/p`, "j")).code).toBe(403);
    expect((await ask("DELETE", `${pods}/p`, "r")).code).toBe(404);
    expect(seen).toHaveLength(asked);
    expect((seen as AccessReview[])[0]).toMatchObject({
      apiVersion: `authorization.k8s.io/${version}`,
      spec: {
        user: "jane",
        [groups]: ["staff", "system:authenticated"],
        resourceAttributes: { verb: "list", resource: "pods" },
      },
    });
  });

  test("Webhook: answers are kept for their own times", async () => {
    const { url, seen } = await decider();
    const ask = await start(
      `--token-auth-file=${tokens}`,
      "--authorization-mode=Webhook",
      `--authorization-webhook-config-file=${kubeconfig(url)}`,
      "--authorization-webhook-cache-authorized-ttl=0s",
      "--authorization-webhook-cache-unauthorized-ttl=1h",
    );
    for (let again = 0; again < 2; again++) {
      await ask("GET", pods, "j");
      await ask("DELETE", `${pods}/p`, "j");
    }
    const verbs = (seen as AccessReview[]).map(
      ({ spec }) => spec.resourceAttributes!.verb,
    );
    expect(verbs).toEqual(["list", "delete", "list"]);
  });

  test("ABAC: a policy a line", async () => {
    const policy = (spec: object): string =>
      JSON.stringify({
        apiVersion: "abac.authorization.kubernetes.io/v1beta1",
        kind: "Policy",
        spec,
      });
    const ask = await start(
      `--token-auth-file=${tokens}`,
      "--authorization-mode=ABAC",
      `--authorization-policy-file=${file(
        [
          "# who may what",
          policy({
            user: "jane",
            namespace: "default",
            resource: "pods",
            apiGroup: "",
            readonly: true,
          }),
          "",
          policy({
            group: "staff",
            namespace: "*",
            resource: "configmaps",
            apiGroup: "*",
          }),
          policy({ user: "*", nonResourcePath: "/health*", readonly: true }),
          policy({ user: "jane", group: "nobody", nonResourcePath: "*" }),
          policy({ nonResourcePath: "*" }),
        ].join("\n"),
      )}`,
    );
    const codes = async (
      ...requests: [string, string, string?, object?][]
    ): Promise<number[]> => {
      const found: number[] = [];
      for (const request of requests) found.push((await ask(...request)).code);
      return found;
    };
    const map = { metadata: { name: "m" } };
    expect(
      await codes(
        ["GET", pods, "j"],
        ["DELETE", `${pods}/p`, "j"],
        ["GET", "/api/v1/namespaces/kube-system/pods", "j"],
        ["GET", "/api/v1/pods", "j"],
        ["POST", "/api/v1/namespaces/kube-system/configmaps", "j", map],
        ["GET", "/api/v1/namespaces/default/secrets", "j"],
        ["GET", "/healthz"],
        ["POST", "/healthz"],
        ["GET", "/metrics", "j"],
        ["GET", "/metrics", "r"],
      ),
    ).toEqual([200, 403, 403, 403, 201, 403, 200, 403, 403, 200]);
  });

  test.each([
    ["--authorization-mode=ABAC", "needs --authorization-policy-file"],
    [
      "--authorization-mode=RBAC,Webhook",
      "needs --authorization-webhook-config-file",
    ],
    ["--authorization-policy-file=/absent", "needs --authorization-mode=ABAC"],
    [
      "--authorization-webhook-config-file=/absent",
      "needs --authorization-mode=Webhook",
    ],
    [
      "--authorization-mode=ABAC --authorization-policy-file=/absent",
      "--authorization-policy-file: ENOENT",
    ],
    [
      "--authorization-mode=Webhook --authorization-webhook-config-file=/absent",
      "--authorization-webhook-config-file: ENOENT",
    ],
    [
      "--authentication-token-webhook-config-file=/absent",
      "--authentication-token-webhook-config-file: ENOENT",
    ],
    ["--oidc-issuer-url=https://a.example", "must be specified together"],
    ["--oidc-client-id=x", "--oidc-client-id needs --oidc-issuer-url"],
    ["--oidc-required-claim=a=b", "needs --oidc-issuer-url"],
    [
      "--oidc-issuer-url=https://a.example --oidc-client-id=x --oidc-ca-file=/dev/null",
      "--oidc-ca-file: /dev/null",
    ],
    [
      "--oidc-issuer-url=https://a.example --oidc-client-id=x --service-account-issuer=https://a.example",
      "must not be one of --service-account-issuer",
    ],
  ])("%s is refused: %s", async (argv, why) => {
    await expect(start(...argv.split(" "))).rejects.toThrow(why);
  });

  test.each([
    ["{}", "line 1: kind Policy"],
    ["\nx", "line 2: "],
    [
      '{"apiVersion":"abac.authorization.kubernetes.io/v1beta1","kind":"Policy","spec":{"usr":"a"}}',
      'line 1: unknown field "spec.usr"',
    ],
    [
      '{"apiVersion":"abac.authorization.kubernetes.io/v1beta1","kind":"Policy","spec":{"readonly":"true"}}',
      "line 1: spec.readonly must be a boolean",
    ],
  ])("a policy file that can't be used: %s", async (text, why) => {
    await expect(
      start(
        "--authorization-mode=ABAC",
        `--authorization-policy-file=${file(text)}`,
      ),
    ).rejects.toThrow(why);
  });
});

describe("--oidc-*", () => {
  const encode = (value: object): string =>
    Buffer.from(JSON.stringify(value)).toString("base64url");

  interface Signer {
    id: string;
    algorithm: string;
    privateKey: KeyObject;
    publicKey: KeyObject;
  }
  const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const signers: Record<string, Signer> = {
    RS256: { id: "rsa", algorithm: "RS256", ...rsa },
    PS384: { id: "rsa", algorithm: "PS384", ...rsa },
    ES256: {
      id: "p256",
      algorithm: "ES256",
      ...generateKeyPairSync("ec", { namedCurve: "P-256" }),
    },
    ES512: {
      id: "p521",
      algorithm: "ES512",
      ...generateKeyPairSync("ec", { namedCurve: "P-521" }),
    },
  };

  function signed(claims: object, by: Signer, header: object = {}): string {
    const { id, algorithm, privateKey } = by;
    const content = `${encode({ alg: algorithm, kid: id, ...header })}.${encode(claims)}`;
    const signature = sign(`sha${algorithm.slice(2)}`, Buffer.from(content), {
      key: privateKey,
      dsaEncoding: "ieee-p1363",
      ...(algorithm.startsWith("PS")
        ? {
            padding: constants.RSA_PKCS1_PSS_PADDING,
            saltLength: constants.RSA_PSS_SALTLEN_DIGEST,
          }
        : {}),
    });
    return `${content}.${signature.toString("base64url")}`;
  }

  /** An issuer of these signers' keys; `keys` may be changed. */
  async function issuer(): Promise<{
    url: string;
    keys: object[];
    claims(change?: object): object;
  }> {
    const keys = [signers["RS256"]!, signers["ES256"]!, signers["ES512"]!].map(
      ({ id, publicKey }): object => ({
        ...publicKey.export({ format: "jwk" }),
        kid: id,
        use: "sig",
      }),
    );
    const place = { url: "" };
    const { url } = await remote((target) =>
      target === "/.well-known/openid-configuration"
        ? { issuer: place.url, jwks_uri: `${place.url}/keys` }
        : target === "/keys"
          ? { keys }
          : undefined,
    );
    place.url = url;
    return {
      url,
      keys,
      claims: (change = {}) => ({
        iss: url,
        aud: "orbit",
        sub: "jane",
        exp: Math.floor(Date.now() / 1000) + 600,
        ...change,
      }),
    };
  }

  const options = (url: string, ...more: string[]): string[] => [
    `--oidc-issuer-url=${url}`,
    "--oidc-client-id=orbit",
    `--oidc-ca-file=${file(authority.certificate)}`,
    ...more,
  ];

  /** The keys are fetched in the background. */
  async function ready(ask: Ask, token: string): Promise<void> {
    await eventually(async () => (await whoIs(ask, token)) !== 401, {
      what: "the issuer's keys",
    });
  }

  test("a token of the issuer is its subject, with the issuer before the name", async () => {
    const { url, claims } = await issuer();
    const ask = await start(...options(url));
    const good = signed(claims(), signers["RS256"]!);
    await ready(ask, good);
    expect(await whoIs(ask, good)).toEqual([`${url}#jane`, []]);
    expect(
      await whoIs(
        ask,
        signed(claims({ aud: ["x", "orbit"] }), signers["RS256"]!),
      ),
    ).toEqual([`${url}#jane`, []]);
    const now = Math.floor(Date.now() / 1000);
    const [head, , signature] = good.split(".");
    const stranger = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const bad: [string, string][] = [
      ["another audience", signed(claims({ aud: "x" }), signers["RS256"]!)],
      ["no audience", signed(claims({ aud: undefined }), signers["RS256"]!)],
      ["expired", signed(claims({ exp: now - 1 }), signers["RS256"]!)],
      ["no expiry", signed(claims({ exp: undefined }), signers["RS256"]!)],
      ["too early", signed(claims({ nbf: now + 900 }), signers["RS256"]!)],
      [
        "another issuer",
        signed(claims({ iss: "https://x" }), signers["RS256"]!),
      ],
      ["no subject", signed(claims({ sub: undefined }), signers["RS256"]!)],
      [
        "an algorithm that is not accepted",
        signed(claims(), signers["ES256"]!),
      ],
      ["alg none", `${encode({ alg: "none" })}.${encode(claims())}.`],
      [
        "a changed subject",
        `${head}.${encode(claims({ sub: "root" }))}.${signature}`,
      ],
      [
        "another's signature",
        signed(claims(), { ...signers["RS256"]!, ...stranger }),
      ],
      [
        "the public key as a secret",
        signed(claims(), signers["RS256"]!, { alg: "HS256" }),
      ],
    ];
    for (const [what, token] of bad)
      expect([what, await whoIs(ask, token)]).toEqual([what, 401]);
  });

  test("claims, prefixes and algorithms as the options say", async () => {
    const { url, claims } = await issuer();
    const ask = await start(
      ...options(
        url,
        "--oidc-username-claim=email",
        "--oidc-username-prefix=oidc:",
        "--oidc-groups-claim=roles",
        "--oidc-groups-prefix=team-",
        "--oidc-required-claim=tenant=a,site=b",
        "--oidc-signing-algs=ES256,PS384,ES512",
      ),
    );
    const base = {
      email: "j@x",
      tenant: "a",
      site: "b",
      roles: ["one", "two"],
    };
    const token = (change: object, by = signers["ES256"]!): string =>
      signed(claims({ ...base, ...change }), by);
    await ready(ask, token({}));
    const jane = ["oidc:j@x", ["team-one", "team-two"]];
    expect(await whoIs(ask, token({}))).toEqual(jane);
    expect(await whoIs(ask, token({}, signers["PS384"]!))).toEqual(jane);
    expect(await whoIs(ask, token({}, signers["ES512"]!))).toEqual(jane);
    expect(await whoIs(ask, token({}, signers["RS256"]!))).toBe(401);
    expect(await whoIs(ask, token({ roles: "one" }))).toEqual([
      "oidc:j@x",
      ["team-one"],
    ]);
    expect(await whoIs(ask, token({ roles: [1] }))).toBe(401);
    expect(await whoIs(ask, token({ email_verified: false }))).toBe(401);
    expect(await whoIs(ask, token({ email_verified: true }))).toEqual(jane);
    expect(await whoIs(ask, token({ site: "c" }))).toBe(401);
    expect(await whoIs(ask, token({ tenant: undefined }))).toBe(401);
  });

  test("groups that another party holds are fetched from it, and believed when an issuer has signed them", async () => {
    const { url, claims } = await issuer();
    const other = await issuer();
    const now = Math.floor(Date.now() / 1000);
    const rs = signers["RS256"]!;
    const asked: (string | undefined)[] = [];
    const good = signed({ ...claims(), groups: ["staff"] }, rs);
    const answers: Record<string, string> = {
      "/own": good,
      "/other": signed({ ...other.claims(), groups: "guests" }, rs),
      "/unsigned": `${good.slice(0, good.lastIndexOf("."))}.AAAA`,
      "/expired": signed({ ...claims({ exp: now - 1 }), groups: ["x"] }, rs),
      "/elsewhere": signed({ ...claims({ aud: "x" }), groups: ["x"] }, rs),
      "/without": signed(claims(), rs),
      "/plain": signed(
        { ...claims({ iss: "http://127.0.0.1:1" }), groups: ["x"] },
        rs,
      ),
      "/junk": "junk",
    };
    const party = await remote((path, _body, headers) => {
      asked.push(headers["authorization"]);
      return answers[path];
    });
    const ask = await start(...options(url, "--oidc-groups-claim=groups"));
    const token = (source: unknown, more: object = {}): string =>
      signed(
        claims({
          _claim_names: { groups: "src" },
          _claim_sources: { src: source },
          ...more,
        }),
        rs,
      );
    const at = (path: string): object => ({
      endpoint: `${party.url}${path}`,
      access_token: "let-me",
    });
    await ready(ask, signed(claims(), rs));
    const jane = (...groups: string[]) => [`${url}#jane`, groups];
    expect(await whoIs(ask, token(at("/own")))).toEqual(jane("staff"));
    expect(await whoIs(ask, token(at("/own")))).toEqual(jane("staff"));
    // Once for both.
    expect(asked).toEqual(["Bearer let-me"]);
    expect(await whoIs(ask, token({ endpoint: `${party.url}/other` }))).toEqual(
      jane("guests"),
    );
    expect(asked.at(-1)).toBeUndefined();
    // What the token has itself counts, and what nobody holds is none.
    const own = token(at("/unsigned"), { groups: ["mine"] });
    expect(await whoIs(ask, own)).toEqual(jane("mine"));
    expect(await whoIs(ask, token({ JWT: good }))).toEqual(jane());
    const none = token(at("/own"), { _claim_names: { other: "src" } });
    expect(await whoIs(ask, none)).toEqual(jane());
    const bad: [string, string][] = [
      ...Object.keys(answers)
        .slice(2)
        .map((path): [string, string] => [path, token(at(path))]),
      ["an error", token(at("/nowhere"))],
      ["no https", token({ endpoint: party.url.replace("https", "http") })],
      ["no text", token({ endpoint: 7 })],
      ["no object", token("src")],
      ["no such source", token(at("/own"), { _claim_sources: {} })],
      ["no sources", token(at("/own"), { _claim_sources: undefined })],
      ["names that are none", token(at("/own"), { _claim_names: ["groups"] })],
    ];
    for (const [what, each] of bad)
      expect([what, await whoIs(ask, each)]).toEqual([what, 401]);
  });

  test("a prefix of - is none, and new keys are found", async () => {
    const { url, claims, keys } = await issuer();
    const [first] = keys.splice(1);
    const ask = await start(
      ...options(
        url,
        "--oidc-username-prefix=-",
        "--oidc-signing-algs=RS256,ES256",
      ),
    );
    await ready(ask, signed(claims(), signers["RS256"]!));
    expect(await whoIs(ask, signed(claims(), signers["RS256"]!))).toEqual([
      "jane",
      [],
    ]);
    keys.push(first!);
    // The issuer is asked again at most every ten seconds.
    await eventually(
      async () =>
        (await whoIs(ask, signed(claims(), signers["ES256"]!))) !== 401,
      { what: "the new key", timeoutMs: 60_000 },
    );
  });

  test("an issuer of another authority, or one that names another issuer, is not believed", async () => {
    const { url, claims } = await issuer();
    const other = authorityNamed("other");
    const stranger = await start(
      `--oidc-issuer-url=${url}`,
      "--oidc-client-id=orbit",
      `--oidc-ca-file=${file(other.certificate)}`,
    );
    const renamed = await start(...options(`${url}/`));
    for (const ask of [stranger, renamed])
      for (const iss of [url, `${url}/`])
        expect(
          await whoIs(ask, signed(claims({ iss }), signers["RS256"]!)),
        ).toBe(401);
  });
});

import { fixedKeys } from "../../../../apiserver-lite/authentication/service-account/public-keys.ts";
import { createHmac, generateKeyPairSync } from "node:crypto";
import type {
  TokenAuthenticator,
  UserInfo,
} from "../../../../api/contracts.ts";
import type { AnyObject } from "../../../../api/object.ts";
import {
  createCertificateAuthority,
  issueCertificate,
  YEAR_MS,
} from "../../../../api/pki/certificate.ts";
import { createPrivateKeyPem, publicKeyPem } from "../../../../api/pki/keys.ts";
import { decodePem } from "../../../../api/pki/pem.ts";
import { BootstrapTokenAuthenticator } from "../../../../apiserver-lite/authentication/bootstrap-token.ts";
import {
  ClientCertificateAuthenticator,
  ClientCertificateVerifier,
} from "../../../../http-kit/authentication/client-certificate.ts";
import { createAuthenticator } from "../../../../apiserver-lite/authentication/create-authenticator.ts";
import { RequestHeaderAuthenticator } from "../../../../http-kit/authentication/request-header.ts";
import { createTokenReview } from "../../../../apiserver-lite/authentication/reviews.ts";
import { DEFAULT_ISSUER } from "../../../../apiserver-lite/authentication/service-account/claims.ts";
import { JwtSigner, verificationKey } from "../../../../api/pki/jwt.ts";
import { ServiceAccountAuthenticator } from "../../../../apiserver-lite/authentication/service-account/token-authenticator.ts";
import { createTokenSubresource } from "../../../../apiserver-lite/authentication/service-account/token-request.ts";
import {
  parseTokenFile,
  StaticTokenAuthenticator,
} from "../../../../apiserver-lite/authentication/static-tokens.ts";
import type { StrategyContext } from "../../../../apiserver-lite/resources/strategy.ts";
import { FakeClock } from "../../../support/fake-clock.ts";
import { FakeState } from "../fake-state.ts";

const clock = new FakeClock();
const state = new FakeState();
const audiences = [DEFAULT_ISSUER];
const key = createPrivateKeyPem();
const signer = new JwtSigner(key);
const serviceAccounts = new ServiceAccountAuthenticator({
  issuers: [DEFAULT_ISSUER],
  keys: fixedKeys([verificationKey(publicKeyPem(key))]),
  audiences,
  state,
  clock,
});
const tokenRequest = createTokenSubresource({
  issuer: DEFAULT_ISSUER,
  signer,
  audiences,
});

beforeEach(() => {
  state.put("", "serviceaccounts", {
    metadata: { name: "sa", namespace: "ns", uid: "sa-uid" },
  });
  state.put("", "nodes", { metadata: { name: "n1", uid: "node-uid" } });
  state.put("", "pods", {
    metadata: { name: "p", namespace: "ns", uid: "pod-uid" },
    spec: { serviceAccountName: "sa", nodeName: "n1" },
  } as unknown as AnyObject);
});

interface TokenResult {
  token: string;
  expirationTimestamp: string;
}

async function issue(
  spec: object = {},
  name = "sa",
  subresource = tokenRequest,
): Promise<TokenResult> {
  const context = {
    user: { name: "u", groups: [], extra: {} },
    dryRun: false,
    clock,
    annotate: () => undefined,
    read: (
      group: string,
      resource: string,
      namespace: string,
      object: string,
    ) => state.read(group, resource, namespace, object),
    parent: () =>
      Promise.resolve(state.read("", "serviceaccounts", "ns", name)!),
  } as unknown as Parameters<typeof tokenRequest.handle>[1];
  const body = { spec } as unknown as AnyObject;
  const made = await subresource.handle(
    {
      verb: "create",
      namespace: "ns",
      name,
      body,
      query: new URLSearchParams(),
    },
    context,
  );
  return made["status"] as TokenResult;
}

function claimsOf(token: string): Record<string, unknown> {
  return JSON.parse(
    Buffer.from(token.split(".")[1]!, "base64url").toString(),
  ) as Record<string, unknown>;
}

describe("ServiceAccount tokens", () => {
  it("are bound to nodes where that is not turned off", async () => {
    const boundObjectRef = { kind: "Node", apiVersion: "v1", name: "n1" };
    const { token } = await issue({ boundObjectRef });
    expect(claimsOf(token)["kubernetes.io"]).toMatchObject({
      node: { name: "n1", uid: "node-uid" },
    });
    const off = createTokenSubresource({
      ...{ issuer: DEFAULT_ISSUER, signer, audiences },
      bindsToNodes: false,
    });
    await expect(issue({ boundObjectRef }, "sa", off)).rejects.toMatchObject({
      code: 400,
      message:
        'cannot bind token to a Node object as the "ServiceAccountTokenNodeBinding" feature-gate is disabled',
    });
    const toPod = { kind: "Pod", apiVersion: "v1", name: "p" };
    await issue({ boundObjectRef: toPod }, "sa", off);
  });

  const boundToPod = {
    kind: "Pod",
    apiVersion: "v1",
    name: "p",
    uid: "pod-uid",
  };

  it("say what the reference's say, and are believed", async () => {
    const { token } = await issue({
      boundObjectRef: boundToPod,
      expirationSeconds: 700,
    });
    const nowSeconds = clock.now() / 1000;
    expect(claimsOf(token)).toEqual({
      aud: [DEFAULT_ISSUER],
      exp: nowSeconds + 700,
      iat: nowSeconds,
      nbf: nowSeconds,
      iss: DEFAULT_ISSUER,
      jti: expect.stringMatching(/^[0-9a-f-]{36}$/),
      sub: "system:serviceaccount:ns:sa",
      "kubernetes.io": {
        namespace: "ns",
        node: { name: "n1", uid: "node-uid" },
        pod: { name: "p", uid: "pod-uid" },
        serviceaccount: { name: "sa", uid: "sa-uid" },
      },
    });
    expect(await serviceAccounts.authenticateToken(token)).toMatchObject({
      name: "system:serviceaccount:ns:sa",
      uid: "sa-uid",
      groups: ["system:serviceaccounts", "system:serviceaccounts:ns"],
      extra: {
        "authentication.kubernetes.io/pod-name": ["p"],
        "authentication.kubernetes.io/node-name": ["n1"],
      },
    });
  });

  it("of pods are extended to a year, and say the hour they were asked for", async () => {
    const { token, expirationTimestamp } = await issue({
      boundObjectRef: boundToPod,
      expirationSeconds: 3607,
    });
    const claims = claimsOf(token) as {
      exp: number;
      "kubernetes.io": { warnafter: number };
    };
    const nowSeconds = clock.now() / 1000;
    expect(claims.exp).toBe(nowSeconds + 365 * 24 * 3600);
    expect(claims["kubernetes.io"].warnafter).toBe(nowSeconds + 3607);
    expect(Date.parse(expirationTimestamp) / 1000).toBe(nowSeconds + 3607);
  });

  it.each<[string, () => void]>([
    [
      "the account is gone",
      () => state.remove("", "serviceaccounts", "ns", "sa"),
    ],
    [
      "the account is another one of the same name",
      () =>
        state.put("", "serviceaccounts", {
          metadata: { name: "sa", namespace: "ns", uid: "other" },
        }),
    ],
    ["the pod is gone", () => state.remove("", "pods", "ns", "p")],
    ["their time is over", () => clock.advance(701_000)],
  ])("are refused when %s, even when known already", async (_, change) => {
    const { token } = await issue({
      boundObjectRef: boundToPod,
      expirationSeconds: 700,
    });
    await serviceAccounts.authenticateToken(token);
    change();
    await expect(
      serviceAccounts.authenticateToken(token),
    ).rejects.toMatchObject({ code: 401 });
  });

  it("are for their audience only", async () => {
    const { token } = await issue({ audiences: ["vault"] });
    await expect(
      serviceAccounts.authenticateToken(token),
    ).rejects.toMatchObject({ code: 401 });
    expect(
      await serviceAccounts.authenticateToken(token, ["vault"]),
    ).toBeDefined();
  });

  it("can't be forged", async () => {
    const { token } = await issue();
    const [header = "", claims = "", signature = ""] = token.split(".");
    const encode = (value: object): string =>
      Buffer.from(JSON.stringify(value)).toString("base64url");
    const raised = encode({
      ...claimsOf(token),
      sub: "system:serviceaccount:kube-system:admin",
    });
    const confused = encode({ alg: "HS256" });
    const hmac = createHmac("sha256", publicKeyPem(key))
      .update(`${confused}.${claims}`)
      .digest("base64url");
    const stranger = new JwtSigner(createPrivateKeyPem()).sign(claimsOf(token));
    const flipped = Buffer.from(signature, "base64url");
    flipped[5]! ^= 1;
    for (const forged of [
      `${header}.${raised}.${signature}`,
      `${encode({ alg: "none" })}.${claims}.`,
      `${confused}.${claims}.${hmac}`,
      `${header}.${claims}.${flipped.toString("base64url")}`,
      `${header}.${claims}.`,
      stranger,
    ]) {
      await expect(
        serviceAccounts.authenticateToken(forged),
      ).rejects.toMatchObject({ code: 401 });
    }
    for (const alien of [
      "",
      "abc",
      "a.b.c",
      "..",
      `${header}.!!!.x`,
      "x".repeat(100_000),
    ]) {
      expect(await serviceAccounts.authenticateToken(alien)).toBeUndefined();
    }
  });

  it("can be signed with RSA too", async () => {
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const pem = privateKey.export({ format: "pem", type: "pkcs8" }) as string;
    const rsa = new ServiceAccountAuthenticator({
      issuers: [DEFAULT_ISSUER],
      keys: fixedKeys([verificationKey(pem)]),
      audiences,
      state,
      clock,
    });
    const token = new JwtSigner(pem).sign(claimsOf((await issue()).token));
    expect(await rsa.authenticateToken(token)).toMatchObject({
      name: "system:serviceaccount:ns:sa",
    });
  });

  it.each<[string, object, number, RegExp]>([
    [
      "too short a life",
      { expirationSeconds: 5 },
      422,
      /spec.expirationSeconds: Invalid value: 5: may not specify a duration less than 10 minutes/,
    ],
    [
      "another account's pod",
      { boundObjectRef: boundToPod },
      400,
      /different serviceaccount name/,
    ],
    [
      "a pod that is not there",
      { boundObjectRef: { ...boundToPod, name: "none" } },
      404,
      /pods "none" not found/,
    ],
    [
      "another pod of the same name",
      { boundObjectRef: { ...boundToPod, uid: "old" } },
      409,
      /UID in the bound object reference/,
    ],
    [
      "a binding to something else",
      { boundObjectRef: { kind: "ConfigMap", apiVersion: "v1", name: "c" } },
      400,
      /cannot bind token/,
    ],
  ])("are not made for %s", async (_, spec, code, message) => {
    state.put("", "serviceaccounts", {
      metadata: { name: "other", namespace: "ns", uid: "o" },
    });
    const error = await issue(spec, code === 400 ? "other" : "sa").catch(
      (failure: unknown) => failure,
    );
    expect(error).toMatchObject({
      code,
      message: expect.stringMatching(message),
    });
  });
});

describe("requests", () => {
  const nowMs = clock.now();
  const ca = createCertificateAuthority({
    subject: { commonName: "ca" },
    nowMs,
  });
  const proxyCa = createCertificateAuthority({
    subject: { commonName: "proxy-ca" },
    nowMs,
  });
  const der = (
    authority: typeof ca,
    commonName: string,
    usage: "client auth" | "server auth" = "client auth",
  ): Buffer =>
    decodePem(
      issueCertificate(authority, {
        subject: { commonName, organizations: ["dev"] },
        usages: [usage],
        validityMs: YEAR_MS,
        nowMs,
      }).certificate,
    )[0]!.der;
  const tokens: TokenAuthenticator[] = [
    new StaticTokenAuthenticator(
      parseTokenFile(
        '# tokens\nsecret,alice,1,"a,b"\nplain,bob,2\n',
        "tokens.csv",
      ),
    ),
    serviceAccounts,
  ];
  const authenticator = createAuthenticator({
    requestHeader: new RequestHeaderAuthenticator({
      verifier: new ClientCertificateVerifier(proxyCa.certificate, clock),
      allowedNames: ["front-proxy-client"],
    }),
    clientCertificate: new ClientCertificateAuthenticator(
      new ClientCertificateVerifier(ca.certificate, clock),
    ),
    tokens,
    anonymous: ["/healthz"],
  });
  const ask = async (
    headers: Record<string, string | string[]>,
    clientCertificate?: Buffer,
    path = "/api",
  ): Promise<UserInfo | undefined> =>
    (
      await authenticator.authenticate({
        // As Node gives them: fields that come several times are one.
        headers: Object.fromEntries(
          Object.entries(headers).map(([name, values]) => [
            name,
            [values].flat().join(", "),
          ]),
        ),
        exchange: {
          headerValues: (name) =>
            Object.hasOwn(headers, name) ? [headers[name]!].flat() : [],
        },
        path,
        clientCertificate,
        remoteAddress: "",
      })
    )?.user;

  it("with a certificate are of its common name and organizations", async () => {
    expect(await ask({}, der(ca, "carol"))).toMatchObject({
      name: "carol",
      groups: ["dev", "system:authenticated"],
    });
  });

  it("with a static token are of its user", async () => {
    expect(await ask({ authorization: "Bearer secret" })).toMatchObject({
      name: "alice",
      uid: "1",
      groups: ["a", "b", "system:authenticated"],
    });
  });

  it("without credentials are anonymous where that is allowed", async () => {
    expect(await ask({}, undefined, "/healthz")).toMatchObject({
      name: "system:anonymous",
      groups: ["system:unauthenticated"],
    });
  });

  it("from the front proxy are of the user it names", async () => {
    const headers = {
      "x-remote-user": "dave",
      "x-remote-group": ["g1", "g2"],
      "x-remote-extra-acme.com%2fproject": "p",
    };
    expect(await ask(headers, der(proxyCa, "front-proxy-client"))).toEqual({
      name: "dave",
      groups: ["g1", "g2", "system:authenticated"],
      extra: { "acme.com/project": ["p"] },
    });
  });

  it("from the front proxy have names as they are, commas and all", async () => {
    const headers = {
      "x-remote-user": "cn=dave, ou=people",
      "x-remote-group": ["guests, system:masters", "g2"],
      "x-remote-extra-scopes": ["a, b", "c"],
      "x-remote-extra-__proto__": "polluted",
    };
    const user = await ask(headers, der(proxyCa, "front-proxy-client"));
    expect(user).toMatchObject({
      name: "cn=dave, ou=people",
      groups: ["guests, system:masters", "g2", "system:authenticated"],
    });
    expect(Object.entries(user!.extra)).toEqual([
      ["scopes", ["a, b", "c"]],
      ["__proto__", ["polluted"]],
    ]);
    expect(Object.getPrototypeOf(user!.extra)).toBe(Object.prototype);
  });

  it("from the front proxy have names in UTF-8, and in nothing else", async () => {
    const proxy = der(proxyCa, "front-proxy-client");
    const sent = (text: string): string => Buffer.from(text).toString("latin1");
    expect(await ask({ "x-remote-user": sent("jürgen") }, proxy)).toMatchObject(
      { name: "jürgen" },
    );
    for (const name of ["x-remote-user", "x-remote-group", "x-remote-uid"])
      await expect(
        ask({ "x-remote-user": "dave", [name]: "j\xfcrgen" }, proxy),
      ).rejects.toMatchObject({ code: 401 });
  });

  it.each<[string, Record<string, string>, Buffer | undefined]>([
    ["nothing", {}, undefined],
    ["an unknown token", { authorization: "Bearer wrong" }, undefined],
    [
      "a strange authority's certificate",
      {},
      der(
        createCertificateAuthority({ subject: { commonName: "ca" }, nowMs }),
        "eve",
      ),
    ],
    ["a server's certificate", {}, der(ca, "eve", "server auth")],
    ["rubbish for a certificate", {}, Buffer.from("rubbish")],
    [
      "the front proxy's headers from another of its clients",
      { "x-remote-user": "root" },
      der(proxyCa, "eve"),
    ],
    [
      "the front proxy's headers without a certificate",
      { "x-remote-user": "root" },
      undefined,
    ],
  ])("with %s are refused", async (_, headers, certificate) => {
    await expect(ask(headers, certificate)).rejects.toMatchObject({
      code: 401,
    });
  });

  it("with a user's certificate and the front proxy's headers are of the certificate", async () => {
    expect(
      await ask({ "x-remote-user": "root" }, der(ca, "carol")),
    ).toMatchObject({ name: "carol" });
  });

  it("names the bad line of a token file", () => {
    expect(() => parseTokenFile("a,b,c\nonly-token\n", "f.csv")).toThrow(
      "f.csv: line 2",
    );
  });

  it("tells about tokens in a TokenReview", async () => {
    const review = createTokenReview({ tokens, audiences });
    const run = async (token: string, asked?: string[]): Promise<unknown> =>
      (
        await review.create(
          {
            metadata: { name: "" },
            spec: { token, ...(asked ? { audiences: asked } : {}) },
          } as AnyObject,
          {} as StrategyContext,
        )
      )["status"];
    const { token } = await issue({ audiences: ["vault", "other"] });
    expect(await run(token, ["vault", "x"])).toMatchObject({
      authenticated: true,
      audiences: ["vault"],
      user: { username: "system:serviceaccount:ns:sa" },
    });
    expect(await run(token)).toEqual({
      user: {},
      error: "invalid bearer token",
    });
    expect(await run("unknown")).toEqual({
      error: "invalid bearer token",
      user: {},
    });
  });
});

describe("bootstrap tokens", () => {
  const tokens = new BootstrapTokenAuthenticator(state, clock);
  const secret = (extra: Record<string, string> = {}): void => {
    const fields = {
      "token-id": "abcdef",
      "token-secret": "0123456789abcdef",
      "usage-bootstrap-authentication": "true",
      ...extra,
    };
    state.put("", "secrets", {
      metadata: { name: "bootstrap-token-abcdef", namespace: "kube-system" },
      type: "bootstrap.kubernetes.io/token",
      data: Object.fromEntries(
        Object.entries(fields).map(([name, value]) => [
          name,
          Buffer.from(value).toString("base64"),
        ]),
      ),
    } as unknown as AnyObject);
  };

  it("let new nodes in", async () => {
    secret({ "auth-extra-groups": "system:bootstrappers:nodes" });
    expect(
      await tokens.authenticateToken("abcdef.0123456789abcdef"),
    ).toMatchObject({
      name: "system:bootstrap:abcdef",
      groups: ["system:bootstrappers", "system:bootstrappers:nodes"],
    });
  });

  it.each<[string, Record<string, string>]>([
    ["expired", { expiration: "2020-01-01T00:00:00Z" }],
    ["of unreadable expiry", { expiration: "soon" }],
    ["not for authentication", { "usage-bootstrap-authentication": "false" }],
    [
      "with a group of their own choice",
      { "auth-extra-groups": "system:masters" },
    ],
    ["with another secret", { "token-secret": "fedcba9876543210" }],
  ])("are refused when %s", async (_, fields) => {
    secret(fields);
    await expect(
      tokens.authenticateToken("abcdef.0123456789abcdef"),
    ).rejects.toMatchObject({ code: 401 });
  });
});

// Who gets in and as whom, found right by a review and kept so: strangers, borrowed headers, tokens in odd places, and
// requests that say something else in their body than in their path.
import { once } from "node:events";
import * as fs from "node:fs";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import * as path from "node:path";
import { Agent, fetch } from "undici";
import { createPrivateKeyPem } from "../../../api/pki/keys.ts";
import { createCsr } from "../../../api/pki/signing-request.ts";
import {
  patchHeader,
  startTester,
  type Json,
  type Tester,
} from "../conformance/support.ts";
import {
  makeTempDirectory,
  removeTempDirectory,
} from "../../support/temp-directory.ts";

const directory = makeTempDirectory("orbit-way-in-");
const rbac = "/apis/rbac.authorization.k8s.io/v1";
const requests = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
const reviews = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
const token = { authorization: "Bearer ann-token" };

let tester: Tester;
/** A client with no certificate of its own. */
let stranger: Agent;
beforeAll(async () => {
  const tokens = path.join(directory, "tokens.csv");
  fs.writeFileSync(tokens, 'ann-token,ann,uid-1,"people"\n', { mode: 0o600 });
  tester = await startTester([`--token-auth-file=${tokens}`]);
  stranger = new Agent({
    connect: { ca: tester.cluster.certificateAuthority },
  });
  await tester.namespace("in");
  await tester.namespace("other");
  await tester.ok("POST", `${rbac}/namespaces/in/roles`, {
    metadata: { name: "all" },
    rules: [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }],
  });
  await tester.ok("POST", `${rbac}/namespaces/in/rolebindings`, {
    metadata: { name: "all" },
    roleRef: {
      apiGroup: "rbac.authorization.k8s.io",
      kind: "Role",
      name: "all",
    },
    subjects: [{ kind: "User", name: "ann" }],
  });
  await tester.ok("POST", `${rbac}/clusterroles`, {
    metadata: { name: "requests" },
    rules: [
      {
        apiGroups: ["certificates.k8s.io"],
        resources: [
          "certificatesigningrequests",
          "certificatesigningrequests/approval",
          "certificatesigningrequests/status",
        ],
        verbs: ["*"],
      },
    ],
  });
  await tester.ok("POST", `${rbac}/clusterrolebindings`, {
    metadata: { name: "requests" },
    roleRef: {
      apiGroup: "rbac.authorization.k8s.io",
      kind: "ClusterRole",
      name: "requests",
    },
    subjects: [{ kind: "User", name: "ann" }],
  });
});
afterAll(async () => {
  await stranger.destroy();
  await tester.stop();
  removeTempDirectory(directory);
});

async function ask(
  method: string,
  where: string,
  headers: Record<string, string> = {},
  body?: Json,
): Promise<{ status: number; body: Json }> {
  const response = await fetch(tester.cluster.url + where, {
    method,
    dispatcher: stranger,
    headers: {
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  let parsed: Json = text;
  try {
    parsed = JSON.parse(text);
  } catch {
    // Not JSON: the test looks at the text.
  }
  return { status: response.status, body: parsed };
}

const who = async (headers: Record<string, string>): Promise<string> => {
  const { status, body } = await ask("POST", reviews, headers, {
    apiVersion: "authentication.k8s.io/v1",
    kind: "SelfSubjectReview",
  });
  return body.status?.userInfo?.username ?? String(status);
};

describe("without credentials", () => {
  it.each(["/healthz", "/livez", "/readyz", "/version"])(
    "%s is shown",
    async (where) => expect((await ask("GET", where)).status).toBe(200),
  );

  it.each([
    "/",
    "/api",
    "/apis",
    "/apis/apps/v1",
    "/api/v1/pods",
    "/api/v1/namespaces/in/secrets",
    "/openapi/v2",
    "/openapi/v3",
    "/metrics",
    "/debug/pprof/",
    "/debug/pprof/heap",
    "/logs",
    "/healthz/etcd",
    "/healthz/",
    "/version/../api",
    "/.well-known/openid-configuration",
    "/nothing/here",
  ])("%s is not", async (where) => {
    for (const method of ["GET", "POST", "PUT", "DELETE", "OPTIONS"])
      expect([method, (await ask(method, where)).status]).toEqual([
        method,
        401,
      ]);
  });
});

describe("headers of proxies and others", () => {
  const claims = {
    "x-remote-user": "root",
    "x-remote-group": "system:masters",
    "x-remote-extra-scopes": "all",
    "x-forwarded-user": "root",
  };

  it("make nobody of a stranger", async () => {
    expect(await who(claims)).toBe("401");
  });

  it("make no other of a token's user", async () => {
    expect(await who({ ...claims, ...token })).toBe("ann");
  });

  it("make no other of a certificate's user", async () => {
    const { body } = await tester.call(
      "POST",
      reviews,
      { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" },
      claims,
    );
    expect(body.status.userInfo.username).not.toBe("root");
  });

  it.each([
    ["a wrong token", { authorization: "Bearer nobody" }],
    ["a password", { authorization: "Basic YW5uOmFubi10b2tlbg==" }],
    ["a token without its scheme", { authorization: "ann-token" }],
    ["no token", { authorization: "Bearer " }],
    ["two tokens", { authorization: "Bearer ann-token, Bearer ann-token" }],
  ])("%s is nobody's", async (_, headers) => {
    expect(await who(headers)).toBe("401");
  });
});

describe("a token in the protocols of a WebSocket", () => {
  async function watch(
    protocols: string,
    offer: object = { connection: "Upgrade", upgrade: "websocket" },
  ): Promise<unknown[]> {
    const url = new URL(tester.cluster.url);
    const sent = request({
      host: url.hostname,
      port: url.port,
      ca: tester.cluster.certificateAuthority,
      path: "/api/v1/namespaces/in/configmaps?watch=1",
      agent: false,
      headers: {
        ...offer,
        "sec-websocket-version": "13",
        "sec-websocket-key": Buffer.alloc(16).toString("base64"),
        ...(protocols ? { "sec-websocket-protocol": protocols } : {}),
      },
    });
    sent.end();
    const answered = await Promise.race([
      once(sent, "upgrade").then(([response, socket]) => {
        socket.destroy();
        const { statusCode, headers } = response as IncomingMessage;
        return [statusCode!, headers["sec-websocket-protocol"]];
      }),
      once(sent, "response").then(([response]) => {
        (response as IncomingMessage).destroy();
        return [(response as IncomingMessage).statusCode!];
      }),
    ]);
    return answered;
  }
  const bearer = (text: string): string =>
    `base64url.bearer.authorization.k8s.io.${Buffer.from(text).toString("base64url")}`;

  it("lets its user in, and a wrong one nobody", async () => {
    // The token does not come back, wherever it stood.
    for (const protocols of [
      `${bearer("ann-token")}, binary.k8s.io`,
      `binary.k8s.io, ${bearer("ann-token")}`,
    ])
      expect(await watch(protocols)).toEqual([101, "binary.k8s.io"]);
    expect(await watch(`${bearer("nobody")}, binary.k8s.io`)).toEqual([401]);
    expect(await watch("binary.k8s.io")).toEqual([401]);
  });

  it("counts in a WebSocket's handshake alone, beside another protocol", async () => {
    const protocols = `${bearer("ann-token")}, binary.k8s.io`;
    expect(await watch(protocols, {})).toEqual([401]);
    expect(await watch(protocols, { upgrade: "websocket" })).toEqual([401]);
    expect(await watch(bearer("ann-token"))).toEqual([401]);
  });
});

describe("a body that names another place than the path", () => {
  const map = { metadata: { name: "m", namespace: "other" } };
  it.each<[string, string, Json]>([
    ["POST", "/api/v1/namespaces/in/configmaps", map],
    ["PUT", "/api/v1/namespaces/in/configmaps/m", map],
    [
      "POST",
      "/api/v1/namespaces/in/serviceaccounts/default/token",
      {
        apiVersion: "authentication.k8s.io/v1",
        kind: "TokenRequest",
        metadata: { namespace: "other" },
      },
    ],
    [
      "POST",
      "/apis/authorization.k8s.io/v1/namespaces/in/localsubjectaccessreviews",
      {
        apiVersion: "authorization.k8s.io/v1",
        kind: "LocalSubjectAccessReview",
        metadata: { namespace: "other" },
        spec: {
          user: "x",
          resourceAttributes: { namespace: "other", verb: "get" },
        },
      },
    ],
  ])("%s %s is refused", async (method, where, body) => {
    const { status } = await ask(method, where, token, body);
    expect([400, 422]).toContain(status);
    const there = await tester.call(
      "GET",
      "/api/v1/namespaces/other/configmaps/m",
    );
    expect(there.status).toBe(404);
  });
});

describe("signing requests", () => {
  const spec = (more: Json = {}, organizations: string[] = []): Json => ({
    request: Buffer.from(
      createCsr(createPrivateKeyPem(), { commonName: "ann", organizations }),
    ).toString("base64"),
    signerName: "kubernetes.io/kube-apiserver-client",
    usages: ["client auth"],
    ...more,
  });
  const create = (name: string, body: Json) =>
    ask("POST", requests, token, { metadata: { name }, spec: body });

  it("say who asks, whatever they claim, and go on saying it", async () => {
    const claimed = { username: "root", groups: ["system:masters"], uid: "0" };
    const made = await create("mine", spec(claimed));
    expect(made.body.spec).toMatchObject({
      username: "ann",
      uid: "uid-1",
      groups: ["people", "system:authenticated"],
    });
    await tester.call(
      "PATCH",
      `${requests}/mine`,
      { spec: claimed },
      patchHeader("merge"),
    );
    const after = await tester.ok("GET", `${requests}/mine`);
    expect(after.spec).toEqual(made.body.spec);
  });

  it("are approved and signed only by who may do it for the signer", async () => {
    await create("pending", spec());
    const approval = await tester.ok("GET", `${requests}/pending`);
    approval.status = {
      conditions: [
        { type: "Approved", status: "True", reason: "r", message: "m" },
      ],
    };
    const approve = await ask(
      "PUT",
      `${requests}/pending/approval`,
      token,
      approval,
    );
    expect([approve.status, approve.body.message]).toEqual([
      403,
      expect.stringContaining("user not permitted to approve requests"),
    ]);
    const signed = await tester.ok("GET", `${requests}/pending`);
    signed.status = {
      certificate: Buffer.from(tester.cluster.certificateAuthority).toString(
        "base64",
      ),
    };
    const sign = await ask("PUT", `${requests}/pending/status`, token, signed);
    expect([sign.status, sign.body.message]).toEqual([
      403,
      expect.stringContaining("user not permitted to sign requests"),
    ]);
  });

  it.each<[string, Json, number, RegExp]>([
    ["for superusers", spec({}, ["system:masters"]), 403, /system:masters/],
    [
      "of the signer for anything",
      spec({ signerName: "kubernetes.io/legacy-unknown" }),
      422,
      /legacy-unknown/,
    ],
  ])("%s are refused", async (_, body, expected, words) => {
    const answer = await create("refused", body);
    expect(answer.status).toBe(expected);
    expect(answer.body.message).toMatch(words);
  });
});

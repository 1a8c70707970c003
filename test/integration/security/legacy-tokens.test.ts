// Tokens in Secrets, whole: a Secret of the type is filled by the controllers, its token is let in at the port, its use
// is noted, and it ends with its Secret or its account; with --service-account-lookup=false the signature is enough.
import * as fs from "node:fs";
import * as https from "node:https";
import * as path from "node:path";
import { JwtSigner } from "../../../api/pki/jwt.ts";
import { createPrivateKeyPem } from "../../../api/pki/keys.ts";
import { formatTime } from "../../../api/clock.ts";
import type { AuditEvent } from "../../../apiserver-lite/audit/audit-event.ts";
import { createHttpTransport } from "../../../client/http-transport.ts";
import { secrets, serviceAccounts } from "../../../client/resources.ts";
import { startCluster, type Cluster } from "../../../index.ts";
import { eventually } from "../../support/eventually.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const namespace = "default";
const tempDirectory = useTempDirectories();
let auditFile: string;
let strict: Cluster;
let lenient: Cluster;

beforeAll(async () => {
  const directory = tempDirectory();
  const policy = path.join(directory, "policy.yaml");
  fs.writeFileSync(
    policy,
    "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n",
  );
  auditFile = path.join(directory, "audit.log");
  strict = await startCluster({
    scheduler: false,
    args: [`--audit-policy-file=${policy}`, `--audit-log-path=${auditFile}`],
  });
  lenient = await startCluster({
    scheduler: false,
    args: ["--service-account-lookup=false"],
  });
});
afterAll(async () => {
  await strict?.stop();
  await lenient?.stop();
});

/** Who the bearer is at the port, or the code of the refusal. */
async function whoIs(cluster: Cluster, token: string): Promise<unknown> {
  const transport = createHttpTransport({
    server: cluster.url,
    tls: { ca: cluster.certificateAuthority },
    token,
  });
  try {
    const { body } = await transport.raw(
      "POST",
      "/apis/authentication.k8s.io/v1/selfsubjectreviews",
      {
        apiVersion: "authentication.k8s.io/v1",
        kind: "SelfSubjectReview",
      },
    );
    return (body as { status: { userInfo: unknown } }).status.userInfo;
  } catch (error) {
    return (error as { code?: number }).code ?? error;
  } finally {
    await transport.close();
  }
}

async function makeToken(
  { client }: Cluster,
  account: string,
): Promise<string> {
  await client
    .resource(serviceAccounts)
    .create({ metadata: { name: account, namespace } });
  await client.resource(secrets).create({
    metadata: {
      name: `of-${account}`,
      namespace,
      annotations: { "kubernetes.io/service-account.name": account },
    },
    type: "kubernetes.io/service-account-token",
  });
  const filled = await eventually(
    async () => {
      const { data } = await client
        .resource(secrets)
        .get(`of-${account}`, namespace);
      return data?.["token"] ? data : undefined;
    },
    { what: "the Secret to be filled" },
  );
  expect(Object.keys(filled).sort()).toEqual(["ca.crt", "namespace", "token"]);
  return Buffer.from(filled["token"]!, "base64").toString();
}

const refused = (cluster: Cluster, token: string): Promise<boolean> =>
  eventually(async () => (await whoIs(cluster, token)) === 401, {
    what: "the token to be refused",
  });

test("a token lives as long as its Secret, and its use is noted", async () => {
  const token = await makeToken(strict, "reader");
  const before = formatTime(Date.now()).slice(0, 10);
  expect(await whoIs(strict, token)).toMatchObject({
    username: "system:serviceaccount:default:reader",
    groups: [
      "system:serviceaccounts",
      "system:serviceaccounts:default",
      "system:authenticated",
    ],
  });
  const all = strict.client.resource(secrets);
  const label = await eventually(
    async () =>
      (await all.get("of-reader", namespace)).metadata.labels?.[
        "kubernetes.io/legacy-token-last-used"
      ],
    { what: "the use to be noted" },
  );
  expect([before, formatTime(Date.now()).slice(0, 10)]).toContain(label);
  const invalid = "kubernetes.io/legacy-token-invalid-since";
  const mark = (date: string | null): Promise<unknown> =>
    all.patch("of-reader", namespace, {
      type: "merge",
      body: { metadata: { labels: { [invalid]: date } } },
    });
  await mark(before);
  await refused(strict, token);
  await mark(null);
  await eventually(async () => (await whoIs(strict, token)) !== 401);
  await all.delete("of-reader", namespace);
  await refused(strict, token);
  // Another cluster's keys did not sign it.
  expect(await whoIs(lenient, token)).toBe(401);
});

test("a Secret and its token end with the account", async () => {
  const token = await makeToken(strict, "leaves");
  await strict.client.resource(serviceAccounts).delete("leaves", namespace);
  await refused(strict, token);
  await eventually(
    async () =>
      !(await strict.client.resource(secrets).list({ namespace })).items.some(
        ({ metadata }) => metadata.name === "of-leaves",
      ),
    { what: "the Secret to be deleted" },
  );
});

test("a token that somebody else signed is refused wherever its Secret is", async () => {
  const token = await makeToken(strict, "forged");
  const claims = JSON.parse(
    Buffer.from(token.split(".")[1]!, "base64url").toString(),
  ) as object;
  const forged = new JwtSigner(createPrivateKeyPem()).sign(claims);
  await strict.client.resource(secrets).patch("of-forged", namespace, {
    type: "merge",
    body: { data: { token: Buffer.from(forged).toString("base64") } },
  });
  expect(await whoIs(strict, forged)).toBe(401);
  expect(await whoIs(lenient, forged)).toBe(401);
  // Nor is the one that is no longer in it.
  await refused(strict, token);
});

test("without the look the signature is enough", async () => {
  const token = await makeToken(lenient, "kept");
  await lenient.client.resource(secrets).delete("of-kept", namespace);
  expect(await whoIs(lenient, token)).toMatchObject({
    username: "system:serviceaccount:default:kept",
  });
});

test("the claims of an account's own token are read once", async () => {
  const { client } = strict;
  await client
    .resource(serviceAccounts)
    .create({ metadata: { name: "known", namespace } });
  const { body } = await client.raw(
    "POST",
    `/api/v1/namespaces/${namespace}/serviceaccounts/known/token`,
    { spec: {} },
  );
  const { token } = (body as { status: { token: string } }).status;
  const parse = jest.spyOn(JSON, "parse");
  const claimsRead = (): number =>
    parse.mock.calls.filter(
      ([text]) => text.includes('"iss":') && text.includes(':known"'),
    ).length;
  try {
    expect(await whoIs(strict, token)).toHaveProperty("username");
    const first = claimsRead();
    expect(first).toBeGreaterThan(0);
    expect(await whoIs(strict, token)).toHaveProperty("username");
    expect(claimsRead()).toBe(first);
  } finally {
    parse.mockRestore();
  }
});

interface Answer {
  readonly status: number | undefined;
  readonly warning: string | undefined;
}

const get = (cluster: Cluster, target: string, token: string) =>
  new Promise<Answer>((resolve, reject) =>
    https
      .get(
        new URL(target, cluster.url),
        {
          ca: cluster.certificateAuthority,
          headers: { authorization: `Bearer ${token}` },
        },
        (response) => {
          response.resume();
          const { statusCode: status, headers } = response;
          const warning = headers["warning"] as string | undefined;
          response.on("end", () => resolve({ status, warning }));
        },
      )
      .on("error", reject),
  );

test("a token of old is named in the audit log and warned of, whatever the answer is", async () => {
  const token = await makeToken(strict, "old");
  await strict.client.resource(serviceAccounts).patch("old", namespace, {
    type: "merge",
    body: { secrets: [{ name: "of-old" }] },
  });
  const warning =
    '299 - "Use tokens from the TokenRequest API or manually created secret-based tokens instead of auto-generated secret-based tokens."';
  expect(await get(strict, "/version?old=1", token)).toEqual({
    status: 200,
    warning,
  });
  expect(await get(strict, "/api/v1/nodes?old=2", token)).toEqual({
    status: 403,
    warning,
  });
  await strict.client.resource(secrets).patch("of-old", namespace, {
    type: "merge",
    body: {
      metadata: {
        labels: { "kubernetes.io/legacy-token-invalid-since": "2025-01-01" },
      },
    },
  });
  await refused(strict, token);
  expect(await get(strict, "/version?old=3", token)).toEqual({
    status: 401,
    warning: undefined,
  });
  const annotationsOf = (target: string) =>
    eventually(
      () =>
        fs
          .readFileSync(auditFile, "utf8")
          .split("\n")
          .filter((line) => line.includes(target))
          .map((line) => JSON.parse(line) as AuditEvent)
          .find(({ stage }) => stage !== "RequestReceived")?.annotations,
      { what: `the audit log to have ${target}` },
    );
  const subject = {
    "authentication.k8s.io/legacy-token": "system:serviceaccount:default:old",
  };
  for (const number of [1, 2])
    expect(await annotationsOf(`old=${number}`)).toMatchObject({
      ...subject,
      "authentication.k8s.io/legacy-token-autogenerated-secret": "of-old",
    });
  expect(await annotationsOf("old=3")).toEqual({
    ...subject,
    "authentication.k8s.io/legacy-token-invalidated": "of-old/default",
  });
  const { body } = await strict.client.raw("GET", "/metrics");
  expect(body).toMatch(/^serviceaccount_legacy_auto_token_uses_total 2$/m);
});

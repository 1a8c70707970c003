// --authorization-config at the API server's real port: authorizers in their order, webhooks that are HTTPS servers of this
// process, what is refused at the start, and a file that changes while the server runs.
import * as fs from "node:fs";
import * as https from "node:https";
import pino from "pino";
import type {
  AccessAttributes,
  AccessDecision,
  Authorizer,
} from "../../../api/contracts.ts";
import { metricsText } from "../../../api/metrics/family.ts";
import { apiServerOptions } from "../../../cli/options/apiserver.ts";
import { parseOptions } from "../../../cli/options/parse.ts";
import { readAuthorizers } from "../../../cli/parts/api/authorization/authorizers.ts";
import { eventually } from "../../support/eventually.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";
import { openPort } from "./part-ports.ts";
import {
  askPort,
  authorityNamed,
  certificateOf,
  fileIn,
  serveOnLoopback,
  useStopped,
} from "./support.ts";

const directories = useTempDirectories();
const open = useStopped();
const file = fileIn(directories);
const authority = authorityNamed("webhooks-ca");
const serving = certificateOf(authority, "webhook", [], {
  ipAddresses: ["127.0.0.1"],
});

interface Review {
  spec: { user: string; resourceAttributes?: { verb: string } };
}

/** A webhook; undefined: it answers 500. Returns its kubeconfig and whom it was asked about. */
async function webhook(
  answer: (spec: Review["spec"]) => object | undefined,
): Promise<{ kubeconfig: string; asked: string[] }> {
  const asked: string[] = [];
  const server = https.createServer(
    { cert: serving.certificate, key: serving.key },
    (request, response) => {
      let text = "";
      request.on("data", (chunk: Buffer) => (text += chunk.toString()));
      request.on("end", () => {
        const { spec } = JSON.parse(text) as Review;
        asked.push(`${spec.user} ${spec.resourceAttributes?.verb ?? "path"}`);
        const status = answer(spec);
        response
          .writeHead(status ? 200 : 500, { "content-type": "application/json" })
          .end(JSON.stringify({ status }));
      });
    },
  );
  const port = await serveOnLoopback(server, open);
  const cluster = {
    server: `https://127.0.0.1:${port}`,
    "certificate-authority-data": Buffer.from(authority.certificate).toString(
      "base64",
    ),
  };
  const kubeconfig = file(
    JSON.stringify({
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name: "c", cluster }],
      users: [{ name: "u", user: {} }],
      contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
      "current-context": "c",
    }),
  );
  return { kubeconfig, asked };
}

const configuration = (...authorizers: object[]): string =>
  JSON.stringify({
    apiVersion: "apiserver.config.k8s.io/v1",
    kind: "AuthorizationConfiguration",
    authorizers,
  });
const hook = (
  name: string,
  kubeConfigFile: string,
  failurePolicy: string,
  ...expressions: string[]
): object => ({
  type: "Webhook",
  name,
  webhook: {
    timeout: "10s",
    subjectAccessReviewVersion: "v1",
    matchConditionSubjectAccessReviewVersion: "v1",
    failurePolicy,
    connectionInfo: { type: "KubeConfigFile", kubeConfigFile },
    matchConditions: expressions.map((expression) => ({ expression })),
  },
});
const rbac = { type: "RBAC", name: "rbac" };
const abac = { type: "ABAC", name: "abac" };
const tokens = (): string =>
  file(
    ["a,admin,1,system:masters", "j,jane,2", "m,mallory,3", "b,bob,4"].join(
      "\n",
    ),
  );

test("authorizers decide in their order, each webhook by its own rules", async () => {
  const guard = await webhook(({ user }) => ({
    allowed: false,
    denied: user === "mallory",
    reason: `seen ${user}`,
  }));
  const broken = await webhook(() => undefined);
  const helper = await webhook(({ user, resourceAttributes }) => ({
    allowed: user !== "bob" && resourceAttributes?.verb === "list",
  }));
  const policy = JSON.stringify({
    apiVersion: "abac.authorization.kubernetes.io/v1beta1",
    kind: "Policy",
    spec: { user: "*", nonResourcePath: "/metrics", readonly: true },
  });
  const port = await openPort("apiserver", directories(), [
    `--token-auth-file=${tokens()}`,
    `--authorization-policy-file=${file(policy)}`,
    `--authorization-config=${file(
      configuration(
        hook("guard", guard.kubeconfig, "Deny", "request.user != 'admin'"),
        hook(
          "secrets",
          broken.kubeconfig,
          "Deny",
          "has(request.resourceAttributes)",
          "request.resourceAttributes.resource == 'secrets'",
        ),
        hook(
          "failing",
          broken.kubeconfig,
          "NoOpinion",
          "request.resourceAttributes.verb == 'list'",
        ),
        abac,
        rbac,
        hook("helper", helper.kubeconfig, "NoOpinion"),
      ),
    )}`,
  ]);
  open.push(port);
  const ask = async (
    token: string,
    path: string,
    method = "GET",
  ): Promise<[number, string]> => {
    const { code, body } = await askPort(port.port, method, path, { token });
    return [code, String(body.message ?? "")];
  };
  const inDefault = "/api/v1/namespaces/default";
  // The last of them allows what nobody before it denies.
  expect((await ask("j", `${inDefault}/pods`))[0]).toBe(200);
  expect(await ask("j", `${inDefault}/pods/p`, "DELETE")).toEqual([
    403,
    expect.stringContaining("seen jane"),
  ]);
  // A denial ends it, whatever they behind it would say.
  expect(await ask("m", `${inDefault}/pods`)).toEqual([
    403,
    expect.stringContaining("seen mallory"),
  ]);
  expect((await ask("m", "/metrics"))[0]).toBe(403);
  expect(helper.asked).not.toContain("mallory list");
  // No answer is a denial where the policy says so.
  const unanswered = await askPort(
    port.port,
    "GET",
    `${inDefault}/secrets?a=<b>`,
    { token: "j" },
  );
  expect([unanswered.code, unanswered.body]).toEqual([
    500,
    expect.stringMatching(
      /^Internal Server Error: "\/api\/v1\/namespaces\/default\/secrets\?a=&lt;b&gt;": /,
    ),
  ]);
  expect(helper.asked).toEqual(["jane list", "jane delete"]);
  expect((await ask("j", "/metrics"))[0]).toBe(200);
  // Nobody allows it, and one who might have gave no answer.
  expect((await ask("b", `${inDefault}/pods`))[0]).toBe(500);
  expect((await ask("b", `${inDefault}/pods/p`))[0]).toBe(403);
  // Superusers are not asked about.
  expect((await ask("a", `${inDefault}/secrets`))[0]).toBe(200);
  expect(guard.asked.join()).not.toContain("admin");
  // Reviews ask the same chain; the answers it has are used again.
  const { body } = await askPort(
    port.port,
    "POST",
    "/apis/authorization.k8s.io/v1/subjectaccessreviews",
    {
      token: "a",
      body: {
        spec: {
          user: "mallory",
          resourceAttributes: { verb: "list", resource: "pods" },
        },
      },
    },
  );
  expect(body.status).toEqual({
    allowed: false,
    denied: true,
    reason: "seen mallory",
  });
  const metrics = String(
    (await askPort(port.port, "GET", "/metrics", { token: "a" })).body,
  );
  const of = (name: string): string[] =>
    metrics
      .split("\n")
      .filter((line) => line.startsWith(`apiserver_authorization_${name}{`));
  expect(of("decisions_total")).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/"denied",name="guard",type="Webhook"} 3$/),
      expect.stringMatching(/"denied",name="secrets",type="Webhook"} 1$/),
      expect.stringMatching(/"allowed",name="abac",type="ABAC"} 1$/),
      expect.stringMatching(/"allowed",name="helper",type="Webhook"} 1$/),
    ]),
  );
  expect(of("webhook_evaluations_fail_open_total")).toEqual([
    expect.stringMatching(/{name="failing",result="error"} 2$/),
  ]);
  expect(of("match_condition_evaluation_errors_total")).toEqual([
    // A question about a path has no resource.
    expect.stringMatching(/{name="failing",type="Webhook"} 1$/),
  ]);
  expect(of("config_controller_automatic_reloads_total")).toEqual([
    expect.stringMatching(
      /{apiserver_id_hash="sha256:\w{64}",status="success"} 1$/,
    ),
  ]);
});

test.each<[string, object[], string[], RegExp]>([
  [
    "a mode too",
    [rbac],
    ["--authorization-mode=RBAC"],
    /--authorization-config can not be specified when --authorization-mode or --authorization-webhook-\* flags are defined/,
  ],
  [
    "a webhook's option too",
    [rbac],
    ["--authorization-webhook-version=v1"],
    /--authorization-config can not be specified when/,
  ],
  [
    "a policy without ABAC",
    [rbac],
    ["--authorization-policy-file=/absent"],
    /--authorization-policy-file needs the authorizer ABAC/,
  ],
  [
    "ABAC without a policy",
    [abac],
    [],
    /ABAC needs --authorization-policy-file/,
  ],
  [
    "a problem in the file",
    [{ ...rbac, name: "x" }],
    [],
    /:1: authorizers\[0\]\.name: expected name rbac for authorizer RBAC instead of x/,
  ],
])("%s is refused", async (_, authorizers, argv, problem) => {
  await expect(
    openPort("apiserver", directories(), [
      `--authorization-config=${file(configuration(...authorizers))}`,
      ...argv,
    ]),
  ).rejects.toThrow(problem);
});

test("a webhook's kubeconfig that is none is refused", async () => {
  const config = configuration(hook("w", file("junk: ["), "Deny"));
  await expect(
    openPort("apiserver", directories(), [
      `--authorization-config=${file(config)}`,
    ]),
  ).rejects.toThrow(/--authorization-config: .*file: /);
});

test("anonymous requests get nowhere with AlwaysAllow", async () => {
  const config = configuration({ type: "AlwaysAllow", name: "alwaysallow" });
  const port = await openPort("apiserver", directories(), [
    `--token-auth-file=${tokens()}`,
    `--authorization-config=${file(config)}`,
  ]);
  open.push(port);
  const { code } = await askPort(port.port, "GET", "/api/v1/secrets", {});
  expect(code).toBe(401);
  const jane = await askPort(port.port, "GET", "/api/v1/secrets", {
    token: "j",
  });
  expect(jane.code).toBe(200);
});

test("a changed file takes effect within a minute; a bad one does not", async () => {
  const first = await webhook(() => ({ allowed: true }));
  const second = await webhook(() => ({ denied: true, reason: "second" }));
  const clock = new FakeClock(Date.now());
  const before = configuration(rbac, hook("w", first.kubeconfig, "Deny"));
  const path = file(before);
  const found = await readAuthorizers({
    values: parseOptions(apiServerOptions, [`--authorization-config=${path}`]),
    clock,
    logger: pino({ level: "silent" }),
  });
  open.push({ stop: () => found.close() });
  const noOpinion: Authorizer = {
    authorize: () => ({ decision: "no-opinion", reason: "" }),
  };
  const chain = found.attach({ rbac: noOpinion, node: undefined });
  found.start();
  let asked = 0;
  const ask = async (): Promise<AccessDecision> =>
    chain.authorize({
      user: { name: `jane${asked++}`, groups: [], extra: {} },
      ...{ verb: "get", path: "/x", resourceRequest: false },
    } as unknown as AccessAttributes);
  const reloads = (status: string): number => {
    const text = metricsText(found.families());
    const line = new RegExp(
      `automatic_reloads_total{.*status="${status}"} (\\d+)`,
    );
    return Number(line.exec(text)?.[1] ?? 0);
  };
  expect((await ask()).decision).toBe("allow");
  // At once, as a look may be under way.
  const replace = (text: string): void => {
    fs.writeFileSync(`${path}.new`, text);
    fs.renameSync(`${path}.new`, path);
  };
  let failures = 0;
  for (const text of [
    "{",
    configuration(),
    // RBAC must stay; Node and AlwaysAllow were not there.
    configuration(hook("w", second.kubeconfig, "Deny")),
    configuration(rbac, { type: "Node", name: "node" }),
    configuration(rbac, { type: "AlwaysAllow", name: "alwaysallow" }),
    configuration(rbac, hook("w", "/absent", "Deny")),
    configuration(rbac, hook("w", second.kubeconfig, "Deny", "request.nope")),
  ]) {
    replace(text);
    failures++;
    await eventually(async () => {
      await clock.advanceAsync(60_000);
      return reloads("failure") === failures;
    });
    expect((await ask()).decision).toBe("allow");
  }
  expect(second.asked).toEqual([]);
  expect(reloads("success")).toBe(1);
  replace(configuration(hook("w", second.kubeconfig, "Deny"), rbac));
  await eventually(async () => {
    await clock.advanceAsync(60_000);
    return reloads("success") === 2;
  });
  expect(await ask()).toEqual({ decision: "deny", reason: "second" });
  // A file that is gone is no reason to forget what it said.
  fs.rmSync(path);
  await eventually(async () => {
    await clock.advanceAsync(60_000);
    return reloads("failure") > failures;
  });
  expect((await ask()).decision).toBe("deny");
});

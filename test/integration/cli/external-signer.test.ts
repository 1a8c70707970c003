// --service-account-signing-endpoint on the API server's real port: tokens are signed by the program on the socket and
// accepted, others find its keys, and what can't be combined with it is refused.
import * as path from "node:path";

import { useTempDirectories } from "../../support/temp-directory.ts";
import { TokenSignerProgram } from "../../support/token-signer.ts";
import { openPort } from "./part-ports.ts";
import { askPort, fileIn, useStopped } from "./support.ts";

const directories = useTempDirectories();
const open = useStopped();
const file = fileIn(directories);
const gate = "--feature-gates=ExternalServiceAccountTokenSigner=true";
const issuer = "https://issuer.example.com";
const accounts = "/api/v1/namespaces/default/serviceaccounts";

async function startProgram(): Promise<TokenSignerProgram> {
  const program = new TokenSignerProgram(
    path.join(directories(), "signer.sock"),
  );
  open.push(program as unknown as { stop(): Promise<void> });
  return program.start();
}

async function start(...argv: string[]) {
  const tokens = file('admin,admin,1,"system:masters"\n');
  const port = await openPort("apiserver", directories(), [
    `--token-auth-file=${tokens}`,
    "--authorization-mode=RBAC",
    "--anonymous-auth=false",
    `--service-account-issuer=${issuer}`,
    ...argv,
  ]);
  open.push(port);
  return (
    method: string,
    target: string,
    options: Parameters<typeof askPort>[3] = {},
  ) => askPort(port.port, method, target, { token: "admin", ...options });
}

const asked = (expirationSeconds: number): { body: object } => ({
  body: {
    apiVersion: "authentication.k8s.io/v1",
    kind: "TokenRequest",
    spec: { expirationSeconds },
  },
});

test("tokens come from the program, and its keys are published", async () => {
  const program = await startProgram();
  const ask = await start(
    gate,
    `--service-account-signing-endpoint=${program.socketPath}`,
  );
  const account = { metadata: { name: "sa" } };
  expect((await ask("POST", accounts, { body: account })).code).toBe(201);
  const made = await ask("POST", `${accounts}/sa/token`, asked(9000));
  expect(made.code).toBe(201);
  const { spec, status } = made.body as {
    spec: { expirationSeconds: number };
    status: { token: string };
  };
  // The program says how long tokens may live.
  expect(spec.expirationSeconds).toBe(7200);
  expect(program.calls.sign).toBe(1);
  const who = await ask(
    "POST",
    "/apis/authentication.k8s.io/v1/selfsubjectreviews",
    { token: status.token, body: {} },
  );
  expect(who.body).toMatchObject({
    status: { userInfo: { username: "system:serviceaccount:default:sa" } },
  });
  const keys = await ask("GET", "/openid/v1/jwks");
  expect(keys.body).toMatchObject({
    keys: [{ kid: "first", alg: "ES256", kty: "EC", crv: "P-256" }],
  });
  const metrics = await ask("GET", "/metrics");
  expect(String(metrics.body)).toContain(
    'apiserver_externaljwt_sign_request_total{code="OK"} 1',
  );

  program.header = { alg: "none", kid: "first", typ: "JWT" };
  const refused = await ask("POST", `${accounts}/sa/token`, asked(600));
  expect(refused.code).toBe(500);
  expect(refused.body).toMatchObject({
    message:
      'Internal error occurred: failed to generate token: while validating header: bad signing algorithm "none"',
  });
});

test.each<[string, string[], string]>([
  ["no gate", [], "needs --feature-gates=ExternalServiceAccountTokenSigner"],
  [
    "a key of the server's own",
    [gate, "--service-account-key-file=/nowhere"],
    "excludes --service-account-signing-key-file and --service-account-key-file",
  ],
  [
    "a maximum of the server's own",
    [gate, "--service-account-max-token-expiration=1h"],
    "excludes --service-account-max-token-expiration",
  ],
])("with %s the start is refused", async (_what, argv, text) => {
  await expect(
    start(`--service-account-signing-endpoint=/nowhere/s.sock`, ...argv),
  ).rejects.toThrow(text);
});

test.each(["signer.sock", "@", "/run/"])(
  "%s is no place of a socket",
  async (endpoint) => {
    await expect(
      start(gate, `--service-account-signing-endpoint=${endpoint}`),
    ).rejects.toThrow("must be the absolute path of a socket");
  },
);

test("a program that publishes nothing keeps the server from starting", async () => {
  const program = await startProgram();
  program.answer = { keys: [] };
  await expect(
    start(gate, `--service-account-signing-endpoint=${program.socketPath}`),
  ).rejects.toThrow(
    "while setting up external-jwt-signer: while fetching token verification keys: found no keys",
  );
});

// Tokens signed by a program on a socket: what is asked of it, which of its answers are refused, and how its keys come and
// go. The program is a real gRPC server.
import * as path from "node:path";
import pino from "pino";
import {
  connectExternalSigner,
  type ExternalSigner,
} from "../../../../apiserver-lite/authentication/external-signer/external-signer.ts";
import { DEFAULT_ISSUER } from "../../../../apiserver-lite/authentication/service-account/claims.ts";
import { ServiceAccountAuthenticator } from "../../../../apiserver-lite/authentication/service-account/token-authenticator.ts";
import { metricsText } from "../../../../api/metrics/family.ts";
import { FakeClock } from "../../../support/fake-clock.ts";
import { eventually } from "../../../support/eventually.ts";
import { useTempDirectories } from "../../../support/temp-directory.ts";
import {
  signerKey,
  TokenSignerProgram,
} from "../../../support/token-signer.ts";
import { FakeState } from "../fake-state.ts";

const directories = useTempDirectories();
const logger = pino({ level: "silent" });
const clock = new FakeClock();
let program: TokenSignerProgram;
let signer: ExternalSigner | undefined;

beforeEach(async () => {
  program = await new TokenSignerProgram(
    path.join(directories(), "signer.sock"),
  ).start();
});

afterEach(async () => {
  signer?.close();
  signer = undefined;
  await program.stop();
});

async function connected(): Promise<ExternalSigner> {
  signer = await connectExternalSigner({
    ...{ socketPath: program.socketPath, clock, logger },
  });
  return signer;
}

const seconds = (): number => Math.floor(clock.now() / 1000);

const claims = () => ({
  aud: [DEFAULT_ISSUER],
  exp: seconds() + 3600,
  iat: seconds(),
  iss: DEFAULT_ISSUER,
  jti: "one",
  "kubernetes.io": {
    namespace: "ns",
    serviceaccount: { name: "sa", uid: "sa-uid" },
  },
  nbf: seconds(),
  sub: "system:serviceaccount:ns:sa",
});

function authenticatorOf({ keys }: ExternalSigner) {
  const state = new FakeState();
  state.put("", "serviceaccounts", {
    metadata: { name: "sa", namespace: "ns", uid: "sa-uid" },
  });
  return new ServiceAccountAuthenticator({
    ...{ keys, state, clock },
    ...{ issuers: [DEFAULT_ISSUER], audiences: [DEFAULT_ISSUER] },
  });
}

const user = expect.objectContaining({
  name: "system:serviceaccount:ns:sa",
}) as unknown;

test("what it signs is accepted, and says the key", async () => {
  const external = await connected();
  expect(external.maxExpirationSeconds).toBe(7200);
  const token = await external.sign(claims());
  const [header, payload] = token
    .split(".", 2)
    .map((part) => JSON.parse(Buffer.from(part, "base64url").toString()));
  expect(header).toEqual({ alg: "ES256", kid: "first", typ: "JWT" });
  expect(payload).toEqual(claims());
  await expect(
    authenticatorOf(external).authenticateToken(token),
  ).resolves.toEqual(user);
});

test("a key that came since is fetched once for all who ask; one that went is not accepted any more", async () => {
  const external = await connected();
  const authenticator = authenticatorOf(external);
  const old = await external.sign(claims());
  await authenticator.authenticateToken(old);

  program.keys = [signerKey("second")];
  program.seconds++;
  const fresh = await external.sign(claims());
  const fetches = program.calls.fetchKeys;
  await expect(
    Promise.all([
      authenticator.authenticateToken(fresh),
      authenticator.authenticateToken(fresh),
    ]),
  ).resolves.toEqual([user, user]);
  expect(program.calls.fetchKeys - fetches).toBeLessThanOrEqual(1);
  await expect(authenticator.authenticateToken(old)).rejects.toMatchObject({
    code: 401,
  });
});

test("keys are fetched again when the hint says so; while that fails the last ones stay", async () => {
  const external = await connected();
  expect(external.keys.maxAgeSeconds()).toBe(600);
  program.keys.push(signerKey("second", true));
  await clock.advanceAsync(600_000);
  await eventually(() => !(external.keys.named("second") instanceof Promise));
  // Others are not told of a key that is for older tokens alone.
  expect(external.keys.published().map(({ id }) => id)).toEqual(["first"]);

  program.answer = { keys: [] };
  await clock.advanceAsync(600_000);
  await eventually(() =>
    metricsText(external.families()).includes(
      'fetch_keys_request_total{code="unknown-non-grpc"} 1',
    ),
  );
  expect(external.keys.published()).toHaveLength(1);
  expect(external.keys.maxAgeSeconds()).toBe(0);
  program.answer = undefined;
  await clock.advanceAsync(10_000);
  await eventually(() => external.keys.maxAgeSeconds() === 600);
});

test.each<[string, Partial<TokenSignerProgram>, string]>([
  ["no header", { header: "" }, "while unwrapping header"],
  ["a header that is no JSON", { header: "eHg" }, "while parsing header JSON"],
  ["a header that is no object", { header: "W10" }, "it is no object"],
  [
    "another field",
    { header: { alg: "ES256", kid: "first", typ: "JWT", jku: "https://x" } },
    'json: unknown field "jku"',
  ],
  ["another type", { header: { alg: "ES256", kid: "first" } }, "bad type"],
  ["no key", { header: { alg: "ES256", typ: "JWT" } }, "key id missing"],
  [
    "a key id that is too long",
    { header: { alg: "ES256", typ: "JWT", kid: "x".repeat(1025) } },
    "key id longer than 1 kb",
  ],
  [
    "no signature's algorithm",
    { header: { alg: "none", kid: "first", typ: "JWT" } },
    'bad signing algorithm "none"',
  ],
  [
    "a name of every object",
    { header: { alg: "constructor", kid: "first", typ: "JWT" } },
    'bad signing algorithm "constructor"',
  ],
  ["no signature", { signature: "" }, "empty signature returned"],
  ["a signature with a dot", { signature: "a.b" }, "not URL-safe base64"],
  [
    "a key that is for older tokens alone",
    { keys: [signerKey("old", true)] },
    "key used for signing JWT (kid: old) is excluded from OIDC discovery docs",
  ],
])("an answer with %s is refused", async (_what, answers, text) => {
  const external = await connected();
  Object.assign(program, answers);
  await expect(external.sign(claims())).rejects.toThrow(text);
  expect(metricsText(external.families())).toContain(
    'sign_request_total{code="unknown-non-grpc"} 1',
  );
});

test.each<[string, Partial<TokenSignerProgram>, string]>([
  ["no keys", { answer: { keys: [] } }, "found no keys"],
  [
    "a hint of no time",
    { refreshHintSeconds: 0 },
    "found invalid refresh hint (0s)",
  ],
  [
    "no time",
    { answer: { dataTimestamp: undefined } },
    "invalid data timestamp",
  ],
  ["a time beyond the calendar", { seconds: 1e12 }, "is out of range"],
  [
    "a key without id",
    { keys: [signerKey("")] },
    'found invalid public key id ""',
  ],
  [
    "an empty key",
    { answer: { keys: [{ keyId: "a", key: Buffer.alloc(0) }] } },
    "found empty public key",
  ],
  [
    "no key at all",
    { answer: { keys: [{ keyId: "a", key: Buffer.from("key") }] } },
    "while parsing external public keys",
  ],
  [
    "tokens that live too short",
    { maxTokenExpirationSeconds: 599 },
    "max token life supported by external-jwt-signer (599s) is less than acceptable (min 600s)",
  ],
])("a signer with %s is not taken", async (_what, answers, text) => {
  Object.assign(program, answers);
  await expect(connected()).rejects.toThrow(text);
});

test("a token with an unknown key is refused when the signer has gone", async () => {
  const external = await connected();
  const authenticator = authenticatorOf(external);
  const token = await external.sign(claims());
  await expect(authenticator.authenticateToken(token)).resolves.toEqual(user);
  const other = new TokenSignerProgram("");
  other.keys = [signerKey("other")];
  program.keys = other.keys;
  program.answer = { keys: [] };
  const foreign = await external.sign(claims());
  await expect(authenticator.authenticateToken(foreign)).rejects.toMatchObject({
    code: 401,
  });
  // What was known before goes on.
  await expect(authenticator.authenticateToken(token)).resolves.toEqual(user);
});

// A KMS v2 provider with a real plug-in on a socket: keys that are followed, shared and expire, and a plug-in that dies,
// hangs, changes and lies.
import * as net from "node:net";
import * as path from "node:path";
import pino from "pino";
import { KmsMetrics } from "../../../apiserver-lite/encryption/kms/kms-metrics.ts";
import { KmsProvider } from "../../../apiserver-lite/encryption/kms/kms-provider.ts";
import type { OpenedValue } from "../../../apiserver-lite/encryption/prefix-chain.ts";
import { metricsText } from "../../../api/metrics/family.ts";
import { eventually } from "../../support/eventually.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { KmsPlugin } from "../../support/kms-plugin.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const directories = useTempDirectories();
const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
});

const minuteMs = 60_000;
/** For so long a plug-in that did not answer is not asked again. */
const pauseMs = 3000;
const text = Buffer.from("a secret");
const placeOf = (name: string) => ({
  key: `/registry/secrets/default/${name}`,
  group: "",
  resource: "secrets",
});
const place = placeOf("a");

async function startPlugin(): Promise<KmsPlugin> {
  const plugin = new KmsPlugin(path.join(directories(), "kms.sock"));
  open.push({ close: () => plugin.stop() });
  return plugin.start();
}

/** Of calls that are to succeed, on a busy machine as well. */
const longMs = 60_000;
/** Of calls that nobody answers. */
const shortMs = 300;

async function connect(
  plugin: { socketPath: string },
  { clock = new FakeClock(), metrics = new KmsMetrics("server") } = {},
  time = { timeoutMs: longMs },
): Promise<KmsProvider> {
  const provider = await KmsProvider.connect(
    {
      ...{ name: "test", socketPath: plugin.socketPath },
      get timeoutMs() {
        return time.timeoutMs;
      },
    },
    { metrics, clock, logger: pino({ level: "silent" }) },
    ({ key }) => Buffer.from(key),
  );
  provider.start();
  open.push(provider);
  return provider;
}

const opened = async (
  provider: KmsProvider,
  value: Uint8Array,
  at = place,
): Promise<OpenedValue> => provider.open(value, at);

const plainOf = async (provider: KmsProvider, value: Uint8Array) =>
  Buffer.from((await opened(provider, value)).value);

test("a key is made once, decrypted once by each server, and asked for by all values together", async () => {
  const plugin = await startPlugin();
  const first = await connect(plugin);
  const values = Array.from({ length: 200 }, (_, at) =>
    first.seal(text, placeOf(String(at))),
  );
  expect(await opened(first, values[3]!, placeOf("3"))).toEqual({
    value: text,
    stale: false,
  });
  expect(plugin.calls).toEqual({ status: 1, encrypt: 1, decrypt: 0 });
  const second = await connect(plugin);
  const all = await Promise.all(
    values.map((value, at) => opened(second, value, placeOf(String(at)))),
  );
  expect(all.every(({ value }) => text.equals(Buffer.from(value)))).toBe(true);
  expect(plugin.calls.decrypt).toBe(1);
  // Each server has a seed of its own; the id of the plug-in's key is what makes a value stale.
  expect(all[0]!.stale).toBe(false);
  expect(plugin.uids.size).toBe(3);
  await expect(opened(second, values[0]!, placeOf("1"))).rejects.toThrow(
    "cipher: message authentication failed",
  );
});

test("the plug-in's key is looked at each minute, and values of the one before are read and stale", async () => {
  const plugin = await startPlugin();
  const clock = new FakeClock();
  const provider = await connect(plugin, { clock });
  const old = provider.seal(text, place);
  plugin.keyId = "key-2";
  await provider.check();
  // A result is shared for a while.
  expect(plugin.calls.status).toBe(1);
  clock.advance(minuteMs);
  await eventually(async () => (await opened(provider, old)).stale);
  expect(await plainOf(provider, old)).toEqual(text);
  const renewed = provider.seal(text, place);
  expect((await opened(provider, renewed)).stale).toBe(false);
  expect(plugin.calls).toEqual({ status: 2, encrypt: 2, decrypt: 0 });
});

test("a dead plug-in stops writes after three minutes and reads of what is not known; its return mends both", async () => {
  const plugin = await startPlugin();
  const clock = new FakeClock();
  const time = { timeoutMs: longMs };
  const provider = await connect(plugin, { clock }, time);
  const fresh = await connect(plugin, { clock }, time);
  const value = provider.seal(text, place);
  await plugin.stop();
  time.timeoutMs = shortMs;
  clock.advance(minuteMs);
  await expect(provider.check()).rejects.toThrow(
    /^failed to perform status section of the healthz check for KMS Provider test, error: rpc error: code = (DeadlineExceeded|Unavailable) desc = /,
  );
  clock.advance(2 * minuteMs);
  expect(provider.writeProblem).toBeUndefined();
  expect(await plainOf(provider, provider.seal(text, place))).toEqual(text);
  await expect(opened(fresh, value)).rejects.toThrow(
    /^failed to decrypt DEK, error: rpc error: code = (DeadlineExceeded|Unavailable)/,
  );
  clock.advance(1);
  const expired =
    /^encryptedDEKSource with keyID hash "sha256:[0-9a-f]{64}" expired at 2025-01-01T00:03:00Z \(current time is 2025-01-01T00:03:00Z\)$/;
  expect(provider.writeProblem?.message).toMatch(expired);
  expect(() => provider.seal(text, place)).toThrow(expired);
  expect(await plainOf(provider, value)).toEqual(text);
  await plugin.start();
  time.timeoutMs = longMs;
  await eventually(() => {
    clock.advance(10_000);
    return provider.writeProblem === undefined;
  });
  expect(provider.seal(text, place)).toBeInstanceOf(Buffer);
  // Its own connection is tried again after a while.
  expect(await plainOf(fresh, value)).toEqual(text);
});

test("one that never answers holds nothing up for longer than its timeout", async () => {
  const plugin = await startPlugin();
  const clock = new FakeClock();
  const value = (await connect(plugin, { clock })).seal(text, place);
  plugin.silent = new Set(["status"]);
  const metrics = new KmsMetrics("server");
  const time = { timeoutMs: shortMs };
  const provider = await connect(plugin, { clock, metrics }, time);
  expect(provider.writeProblem?.message).toBe("got unexpected nil transformer");
  expect(() => provider.open(value, place)).toThrow(
    "got unexpected nil transformer",
  );
  plugin.silent = new Set(["decrypt"]);
  time.timeoutMs = longMs;
  clock.advance(10_000);
  await eventually(() => provider.writeProblem === undefined);
  time.timeoutMs = shortMs;
  const problems = await Promise.all(
    Array.from({ length: 50 }, () =>
      opened(provider, value).catch((error: Error) => error.message),
    ),
  );
  expect(new Set(problems)).toEqual(
    new Set([expect.stringContaining("code = DeadlineExceeded")]),
  );
  // For a moment it is not asked again.
  await expect(opened(provider, value)).rejects.toThrow("DeadlineExceeded");
  expect(metricsText(metrics.families())).toContain(
    "apiserver_storage_envelope_transformation_cache_misses_total 1\n",
  );
  plugin.silent.clear();
  time.timeoutMs = longMs;
  clock.advance(pauseMs);
  expect(await plainOf(provider, value)).toEqual(text);
});

test.each<[string, (plugin: KmsPlugin) => void, string | RegExp]>([
  [
    "is not well",
    (plugin) => (plugin.healthz = "no token"),
    "kmsv2 Provider test is not healthy, error: got unexpected healthz status: no token",
  ],
  [
    "speaks another version",
    (plugin) => (plugin.version = "v3"),
    "kmsv2 Provider test is not healthy, error: expected KMSv2 API version v2, got v3",
  ],
  [
    "changes its version",
    (plugin) => (plugin.version = "v2beta1"),
    /KMSv2 API version should not change after the initial status response version v2, got v2beta1$/,
  ],
  [
    "has a key without an id",
    (plugin) => (plugin.keyId = ""),
    'kmsv2 Provider test is not healthy, error: got invalid KMSv2 KeyID hash "": keyID is empty',
  ],
  [
    "has a key with a long id",
    (plugin) => (plugin.keyId = "k".repeat(1025)),
    /error: got invalid KMSv2 KeyID hash "sha256:[0-9a-f]{64}": keyID is 1025 bytes, which exceeds/,
  ],
  [
    "encrypts by another key than it says",
    (plugin) => {
      plugin.keyId = "key-2";
      plugin.encryptKeyId = "key-3";
    },
    /error: failed to rotate DEK uid="[0-9a-f-]{36}", useSeed=true, errState=<nil>, errGen=<nil>, statusKeyIDHash="sha256:[0-9a-f]{64}", encryptKeyIDHash="sha256:/,
  ],
  [
    "encrypts to nothing",
    (plugin) => {
      plugin.keyId = "key-2";
      plugin.ciphertext = Buffer.alloc(0);
    },
    /errGen=failed to validate encrypted DEK source: encrypted DEK source is empty/,
  ],
  [
    "encrypts to more than is stored",
    (plugin) => {
      plugin.keyId = "key-2";
      plugin.ciphertext = Buffer.alloc(1025);
    },
    /errGen=failed to validate encrypted DEK source: encrypted DEK source is 1025 bytes, which exceeds/,
  ],
  [
    "encrypts to more than a call may return",
    (plugin) => {
      plugin.keyId = "key-2";
      plugin.ciphertext = Buffer.alloc(5 * 1024 * 1024);
    },
    /errGen=failed to encrypt DEK, error: .*(larger than max|RESOURCE_EXHAUSTED|ResourceExhausted)/,
  ],
  [
    "annotates what can't be stored",
    (plugin) => {
      plugin.keyId = "key-2";
      plugin.annotations = { short: Buffer.from("x") };
    },
    /errGen=failed to validate annotations: annotations: Invalid value: "short": should be a domain with at least two segments/,
  ],
])(
  "a plug-in that %s is not well, and changes no key",
  async (_, change, problem) => {
    const plugin = await startPlugin();
    const clock = new FakeClock();
    const provider = await connect(plugin, { clock });
    const value = provider.seal(text, place);
    change(plugin);
    clock.advance(20_000);
    await expect(provider.check()).rejects.toThrow(problem);
    await expect(provider.check()).rejects.toThrow(problem);
    expect(plugin.calls.status).toBe(2);
    expect(await plainOf(provider, provider.seal(text, place))).toEqual(text);
    expect((await opened(provider, value)).stale).toBe(false);
  },
);

test("what a plug-in makes up opens nothing, and a lost key is named", async () => {
  const plugin = await startPlugin();
  const metrics = new KmsMetrics("server");
  const value = (await connect(plugin)).seal(text, place);
  plugin.lies = true;
  const deceived = await connect(plugin);
  await expect(opened(deceived, value)).rejects.toThrow(
    "cipher: message authentication failed",
  );
  plugin.lies = false;
  plugin.lost.add("key-1");
  const provider = await connect(plugin, { clock: new FakeClock(), metrics });
  await expect(opened(provider, value)).rejects.toThrow(
    "failed to decrypt DEK, error: rpc error: code = NotFound desc = no key key-1",
  );
  expect(() => provider.open(Buffer.from("\0"), place)).toThrow(
    "proto: cannot",
  );
  provider.seal(text, place);
  const shown = metricsText(metrics.families());
  const called = (method: string, code: string): string =>
    `apiserver_envelope_encryption_kms_operations_latency_seconds_count{grpc_status_code="${code}",method_name="/v2.KeyManagementService/${method}",provider_name="test"} 1`;
  for (const part of [
    called("Status", "OK"),
    called("Encrypt", "OK"),
    called("Decrypt", "NotFound"),
    'apiserver_envelope_encryption_dek_source_cache_size{provider_name="test"} 1',
    "apiserver_storage_envelope_transformation_cache_misses_total 1",
  ])
    expect(shown).toContain(part);
  expect(shown).toMatch(
    /apiserver_envelope_encryption_key_id_hash_total\{apiserver_id_hash="server",key_id_hash="sha256:[0-9a-f]{64}",provider_name="test",transformation_type="to_storage"\} 1/,
  );
  expect(shown).toMatch(
    /apiserver_envelope_encryption_key_id_hash_status_last_timestamp_seconds\{[^}]*provider_name="test"\} 17356896\d\d/,
  );
});

test("a socket without a file", async () => {
  const plugin = await startPlugin();
  const socketPath = `\0orbit-test-${process.pid}`;
  const relay = net.createServer((from) => {
    const to = net.connect(plugin.socketPath);
    from.pipe(to).pipe(from);
    from.on("error", () => to.destroy());
    to.on("error", () => from.destroy());
  });
  relay.listen({ path: socketPath });
  open.push({ close: () => relay.close() });
  const provider = await connect({ socketPath });
  await provider.check();
  expect(await plainOf(provider, provider.seal(text, place))).toEqual(text);
});

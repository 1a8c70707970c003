// KMS v2 providers of --encryption-provider-config at the API server's composition, on a file store: nothing in clear,
// restarts, a plug-in that is not there at the start, health, rotation of keys, and a followed file.
import * as fs from "node:fs";
import * as path from "node:path";
import pino from "pino";
import { metricsText } from "../../../api/metrics/family.ts";
import { apiServerOptions } from "../../../cli/options/apiserver.ts";
import { parseOptions } from "../../../cli/options/parse.ts";
import { readEncryption } from "../../../cli/parts/api/encryption/encryption.ts";
import { createFileStore } from "../../../storage/file/file-store.ts";
import { eventually } from "../../support/eventually.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { KmsPlugin } from "../../support/kms-plugin.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";
import {
  configMap,
  configMaps,
  startTestServer,
  type TestServer,
} from "../apiserver/support.ts";
import { bytesOf, fileIn, useStopped } from "./support.ts";

const directories = useTempDirectories();
const open = useStopped();
const file = fileIn(directories);
const secrets = "/api/v1/namespaces/default/secrets";
const base64 = (text: string): string => Buffer.from(text).toString("base64");
const secretOf = (name: string): object => ({
  ...configMap(name, { stringData: { text: `clear text of ${name}` } }),
  kind: "Secret",
});

interface Provider {
  readonly name: string;
  readonly plugin: KmsPlugin;
}

const configuration = (
  resources: readonly string[],
  providers: readonly Provider[],
  timeout = "20s",
): string =>
  JSON.stringify({
    apiVersion: "apiserver.config.k8s.io/v1",
    kind: "EncryptionConfiguration",
    resources: [
      {
        resources,
        providers: providers.map(({ name, plugin: { endpoint } }) => ({
          kms: { apiVersion: "v2", name, endpoint, timeout },
        })),
      },
    ],
  });

async function startPlugin(): Promise<KmsPlugin> {
  const plugin = new KmsPlugin(path.join(directories(), "kms.sock"));
  open.push(plugin);
  return plugin.start();
}

type Encryption = Awaited<ReturnType<typeof readEncryption>>;

async function encryptionOf(
  config: string,
  clock: FakeClock,
  ...more: string[]
): Promise<Encryption> {
  const encryption = await readEncryption({
    values: parseOptions(apiServerOptions, [
      `--encryption-provider-config=${config}`,
      ...more,
    ]),
    clock,
    logger: pino({ level: "silent" }),
  });
  open.push({ stop: () => Promise.resolve(encryption.stop()) });
  encryption.start();
  return encryption;
}

async function serve(
  directory: string,
  config: string,
  clock = new FakeClock(),
): Promise<TestServer> {
  const encryption = await encryptionOf(file(config), clock);
  const server = await startTestServer({
    store: createFileStore({ directory }),
    sealOf: encryption.sealOf!,
    clock,
  });
  for (const check of encryption.checks) server.server.addHealthCheck(check);
  open.push(server);
  return server;
}

async function stop(server: TestServer): Promise<void> {
  open.splice(open.indexOf(server), 1);
  await server.stop();
}

test.each([["secrets"], ["*."], ["*.*"]])(
  "%s: nothing is in the files in clear, a restart asks for each key once, and a new key seals what is written again",
  async (resources) => {
    const directory = path.join(directories(), "store");
    const plugin = await startPlugin();
    const config = configuration([resources], [{ name: "one", plugin }]);
    const first = await serve(directory, config);
    for (const name of ["a", "b", "c"])
      expect((await first.call("POST", secrets, secretOf(name))).status).toBe(
        201,
      );
    expect((await first.call("GET", "/readyz/kms-providers")).text).toBe("ok");
    expect((await first.call("GET", "/livez/kms-providers")).status).toBe(404);
    await stop(first);
    const stored = bytesOf(directory);
    const clear = ["clear text of", base64("clear text of a")];
    if (resources === "*.*") clear.push('"kind":"Namespace"');
    // Not the bytes themselves: they are no text for a terminal.
    expect(clear.filter((text) => stored.includes(text))).toEqual([]);
    expect(stored.includes("k8s:enc:kms:v2:one:")).toBe(true);

    const asked = plugin.calls.decrypt;
    const clock = new FakeClock();
    const second = await serve(directory, config, clock);
    const read = (await second.call("GET", `${secrets}/a`)).body;
    expect(read.data.text).toBe(base64("clear text of a"));
    expect(plugin.calls.decrypt).toBe(asked + 1);
    // The seed is another than before, the plug-in's key is not: the value is not stale.
    const same = await second.call("PUT", `${secrets}/a`, read);
    expect(same.body.metadata.resourceVersion).toBe(
      read.metadata.resourceVersion,
    );
    plugin.keyId = "key-2";
    clock.advance(60_000);
    await eventually(() => plugin.calls.encrypt === 3);
    const resealed = await eventually(async () => {
      const { body } = await second.call("PUT", `${secrets}/a`, read);
      return body.metadata.resourceVersion !== read.metadata.resourceVersion
        ? body
        : undefined;
    });
    const again = await second.call("PUT", `${secrets}/a`, resealed);
    expect(again.body).toEqual(resealed);
  },
);

test("a plug-in that is not there at the start: its values answer 500 until it comes, all others are served", async () => {
  const directory = path.join(directories(), "store");
  const plugin = await startPlugin();
  const config = configuration(["secrets"], [{ name: "one", plugin }], "200ms");
  const slow = configuration(["secrets"], [{ name: "one", plugin }]);
  const first = await serve(directory, slow);
  for (const name of ["a", "b"])
    await first.call("POST", secrets, secretOf(name));
  await first.call("POST", configMaps, configMap("open"));
  await stop(first);
  await plugin.stop();

  const clock = new FakeClock();
  const second = await serve(directory, config, clock);
  expect((await second.call("GET", `${configMaps}/open`)).status).toBe(200);
  for (const [method, at, body] of [
    ["GET", `${secrets}/a`],
    ["PUT", `${secrets}/a`, secretOf("a")],
    ["POST", secrets, secretOf("new")],
  ] as const)
    expect(await second.call(method, at, body)).toMatchObject({
      status: 500,
      body: {
        message: "Internal error occurred: got unexpected nil transformer",
      },
    });
  expect((await second.call("GET", secrets)).body.message).toBe(
    'Internal error occurred: unable to transform key "/registry/secrets/default/a": got unexpected nil transformer',
  );
  const ill = await second.call("GET", "/readyz/kms-providers");
  expect(ill.status).toBe(500);
  expect(ill.text).toMatch(
    /^internal server error: kms-provider-0: failed to perform status section of the healthz check for KMS Provider one, error: rpc error: code = /,
  );
  expect((await second.call("GET", "/healthz")).status).toBe(500);
  expect((await second.call("GET", "/livez")).status).toBe(200);

  await plugin.start();
  const items = await eventually(async () => {
    clock.advance(10_000);
    const { status, body } = await second.call("GET", secrets);
    return status === 200 ? body.items : undefined;
  });
  expect(items).toHaveLength(2);
  expect(items[1].data.text).toBe(base64("clear text of b"));
  expect((await second.call("POST", secrets, secretOf("new"))).status).toBe(
    201,
  );
  const watch = await second.watch(`${secrets}?watch=1`);
  await second.call("POST", secrets, secretOf("newer"));
  await eventually(async () => {
    const frame = await watch.next();
    return frame?.object.metadata.name === "newer";
  });
  watch.close();
});

test("a write by an expired key answers 500 and writes nothing", async () => {
  const plugin = await startPlugin();
  const clock = new FakeClock();
  const config = configuration(["secrets"], [{ name: "one", plugin }], "200ms");
  const server = await serve(path.join(directories(), "store"), config, clock);
  await eventually(
    async () =>
      (await server.call("POST", secrets, secretOf("a"))).status === 201,
  );
  await plugin.stop();
  clock.advance(180_001);
  const refused = await server.call("POST", secrets, secretOf("b"));
  expect(refused).toMatchObject({
    status: 500,
    body: { reason: "InternalError" },
  });
  expect(refused.body.message).toMatch(
    /^Internal error occurred: encryptedDEKSource with keyID hash "sha256:/,
  );
  const { items } = (await server.call("GET", secrets)).body;
  expect(
    items.map((item: { metadata: { name: string } }) => item.metadata.name),
  ).toEqual(["a"]);
});

test("a followed file brings providers whose plug-ins are well, and no others", async () => {
  const one = { name: "one", plugin: await startPlugin() };
  const two = { name: "two", plugin: await startPlugin() };
  const clock = new FakeClock();
  const config = file(configuration(["secrets"], [one], "300ms"));
  const encryption = await encryptionOf(
    config,
    clock,
    "--encryption-provider-config-automatic-reload",
  );
  const place = {
    ...{ key: "/registry/secrets/default/a", group: "" },
    resource: "secrets",
  };
  const seal = encryption.sealOf!("", "secrets")!;
  const write = async (): Promise<Uint8Array> => {
    await seal.prepare!(place);
    return seal.seal(Buffer.from("{}"), place);
  };
  const headOf = (value: Uint8Array): string =>
    Buffer.from(value).subarray(0, 19).toString("latin1");
  const reloads = (status: string): number =>
    Number(
      new RegExp(
        `automatic_reloads_total\\{[^}]*status="${status}"[^}]*\\} (\\d+)`,
      ).exec(metricsText(encryption.families()))?.[1] ?? 0,
    );
  const change = async (text: string, status: string): Promise<void> => {
    const before = reloads(status);
    fs.writeFileSync(`${config}.new`, text);
    fs.renameSync(`${config}.new`, config);
    await eventually(() => {
      clock.advance(5_000);
      return reloads(status) > before;
    });
  };
  const written = await eventually(write);
  expect(headOf(written)).toBe("k8s:enc:kms:v2:one:");
  await two.plugin.stop();
  await change(configuration(["secrets"], [two, one], "300ms"), "failure");
  expect(headOf(await eventually(write))).toBe("k8s:enc:kms:v2:one:");
  await two.plugin.start();
  await change(configuration(["secrets"], [two, one], "10s"), "success");
  expect(headOf(await eventually(write))).toBe("k8s:enc:kms:v2:two:");
  expect(Buffer.from(await seal.open(written, place)).toString()).toBe("{}");
  expect(await seal.isStale!(written, place)).toBe(true);
  await encryption.checks[0]!.check();
  expect(encryption.checks[0]).toMatchObject({
    name: "kms-providers",
    on: ["healthz", "readyz"],
  });
  expect(metricsText(encryption.families())).toMatch(
    /apiserver_encryption_config_controller_last_config_info\{apiserver_id_hash="sha256:[0-9a-f]{64}",hash="sha256:[0-9a-f]{64}"\} 1/,
  );
});

// --encryption-provider-config at the API server's composition, on a file store: nothing of a configured resource is in the
// files in clear, keys are rotated by configurations, a key that is gone is a named error, and a followed file.
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
import { useTempDirectories } from "../../support/temp-directory.ts";
import {
  configMap,
  startTestServer,
  type TestServer,
} from "../apiserver/support.ts";
import { bytesOf, fileIn, useStopped } from "./support.ts";

const directories = useTempDirectories();
const open = useStopped();
const file = fileIn(directories);
const secrets = "/api/v1/namespaces/default/secrets";
const secretOf = (name: string): object => ({
  ...configMap(name, { stringData: { text: `clear text of ${name}` } }),
  kind: "Secret",
});

type Keys = readonly (readonly [name: string, letter: string])[];
/** @param providers in their order; `identity` has no keys */
const configuration = (...providers: readonly [string, Keys][]): string =>
  JSON.stringify({
    apiVersion: "apiserver.config.k8s.io/v1",
    kind: "EncryptionConfiguration",
    resources: [
      {
        resources: ["secrets"],
        providers: providers.map(([type, keys]) => ({
          [type]:
            type === "identity"
              ? {}
              : {
                  keys: keys.map(([name, letter]) => ({
                    name,
                    secret: Buffer.alloc(32, letter).toString("base64"),
                  })),
                },
        })),
      },
    ],
  });
const identity: [string, Keys] = ["identity", []];

function encryptionOf(
  config: string,
  clock = new FakeClock(),
  ...more: string[]
): ReturnType<typeof readEncryption> {
  return readEncryption({
    values: parseOptions(apiServerOptions, [
      `--encryption-provider-config=${config}`,
      ...more,
    ]),
    clock,
    logger: pino({ level: "silent" }),
  });
}

async function serve(directory: string, config: string): Promise<TestServer> {
  const { sealOf } = await encryptionOf(file(config));
  const server = await startTestServer({
    store: createFileStore({ directory }),
    sealOf: sealOf!,
  });
  open.push(server);
  return server;
}

async function stop(server: TestServer): Promise<void> {
  open.splice(open.indexOf(server), 1);
  await server.stop();
}

const base64Of = (name: string): string =>
  Buffer.from(`clear text of ${name}`).toString("base64");

test("keys are rotated over a file store that never holds a secret in clear", async () => {
  const directory = path.join(directories(), "store");
  const first = await serve(
    directory,
    configuration(["aescbc", [["k1", "1"]]], identity),
  );
  for (const name of ["a", "b"])
    expect((await first.call("POST", secrets, secretOf(name))).status).toBe(
      201,
    );
  const unchanged = (await first.call("GET", `${secrets}/a`)).body;
  const again = await first.call("PUT", `${secrets}/a`, unchanged);
  expect(again.body.metadata.resourceVersion).toBe(
    unchanged.metadata.resourceVersion,
  );
  await stop(first);
  expect(bytesOf(directory)).toContain("k8s:enc:aescbc:v1:k1:");

  const rotating = configuration(
    ["secretbox", [["k2", "2"]]],
    ["aescbc", [["k1", "1"]]],
  );
  const second = await serve(directory, rotating);
  const read = (await second.call("GET", `${secrets}/a`)).body;
  expect(read.data.text).toBe(base64Of("a"));
  // A write that changes nothing brings the value under today's key, and the next one writes nothing.
  const resealed = await second.call("PUT", `${secrets}/a`, read);
  expect(Number(resealed.body.metadata.resourceVersion)).toBeGreaterThan(
    Number(read.metadata.resourceVersion),
  );
  expect(
    (await second.call("PUT", `${secrets}/a`, resealed.body)).body,
  ).toEqual(resealed.body);
  await stop(second);
  expect(bytesOf(directory)).toContain("k8s:enc:secretbox:v1:k2:");
  for (const name of ["a", "b"]) {
    expect(bytesOf(directory)).not.toContain(base64Of(name));
    expect(bytesOf(directory)).not.toContain(`clear text of ${name}`);
  }

  const third = await serve(
    directory,
    configuration(["secretbox", [["k2", "2"]]]),
  );
  expect((await third.call("GET", `${secrets}/a`)).body.data.text).toBe(
    base64Of("a"),
  );
  expect(await third.call("GET", `${secrets}/b`)).toMatchObject({
    status: 500,
    body: {
      reason: "InternalError",
      message: "Internal error occurred: no matching prefix found",
    },
  });
  expect((await third.call("GET", secrets)).body.message).toBe(
    'Internal error occurred: unable to transform key "/registry/secrets/default/b": no matching prefix found',
  );
});

test("a followed file is used when it is good; a bad one is counted and changes nothing", async () => {
  const clock = new FakeClock();
  const config = file(configuration(["aescbc", [["k1", "1"]]]));
  const encryption = await encryptionOf(
    config,
    clock,
    "--encryption-provider-config-automatic-reload",
  );
  open.push({ stop: () => Promise.resolve(encryption.stop()) });
  const place = {
    key: "/registry/secrets/default/a",
    group: "",
    resource: "secrets",
  };
  const seal = encryption.sealOf!("", "secrets")!;
  const headOf = (): string =>
    Buffer.from(seal.seal(Buffer.from("{}"), place))
      .subarray(0, 21)
      .toString("latin1");
  const reloads = (status: string): number =>
    Number(
      new RegExp(
        `apiserver_encryption_config_controller_automatic_reloads_total\\{[^}]*status="${status}"[^}]*\\} (\\d+)`,
      ).exec(metricsText(encryption.families()))?.[1] ?? 0,
    );
  const written = seal.seal(Buffer.from("{}"), place);
  encryption.start();
  const change = async (text: string, status: string): Promise<void> => {
    const before = reloads(status);
    fs.writeFileSync(`${config}.new`, text);
    fs.renameSync(`${config}.new`, config);
    await eventually(() => {
      clock.advance(60_000);
      return reloads(status) > before;
    });
  };
  await change("kind: Nonsense", "failure");
  expect(headOf()).toBe("k8s:enc:aescbc:v1:k1:");
  await change("", "failure");
  expect(headOf()).toBe("k8s:enc:aescbc:v1:k1:");
  await change(
    configuration([
      "aescbc",
      [
        ["k2", "2"],
        ["k1", "1"],
      ],
    ]),
    "success",
  );
  expect(headOf()).toBe("k8s:enc:aescbc:v1:k2:");
  expect(Buffer.from((await seal.open(written, place)) as Uint8Array)).toEqual(
    Buffer.from("{}"),
  );
  expect(seal.isStale!(written, place)).toBe(true);
});

test("what can't be used ends the start", async () => {
  const values = parseOptions(apiServerOptions, [
    "--encryption-provider-config-automatic-reload",
  ]);
  const parts = { clock: new FakeClock(), logger: pino({ level: "silent" }) };
  await expect(readEncryption({ values, ...parts })).rejects.toThrow(
    "--encryption-provider-config-automatic-reload must be set with --encryption-provider-config",
  );
  await expect(encryptionOf("/absent/file")).rejects.toThrow(
    "--encryption-provider-config: ENOENT",
  );
  await expect(encryptionOf(file(""))).rejects.toThrow(
    "must be EncryptionConfiguration",
  );
});

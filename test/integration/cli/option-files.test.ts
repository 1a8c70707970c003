// Files that restricting options name never stand for "nothing configured": absent, empty or damaged they stop the start.
import * as fs from "node:fs";
import * as path from "node:path";
import pino from "pino";
import { systemClock } from "../../../api/clock.ts";
import { apiServerOptions } from "../../../cli/options/apiserver.ts";
import { parseOptions } from "../../../cli/options/parse.ts";
import { UsageError } from "../../../cli/options/table.ts";
import { chooseStore } from "../../../cli/parts/api/store.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";
import { openPort, type OpenPort, type PortProgram } from "./part-ports.ts";

const directories = useTempDirectories();

/** What became of a start: the message of a UsageError, or that it serves. */
async function outcome(
  program: PortProgram,
  argv: readonly string[],
): Promise<string> {
  let port: OpenPort;
  try {
    port = await openPort(program, directories(), argv);
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
  await port.stop();
  return "it serves";
}

const contents: readonly [string, string | undefined][] = [
  ["absent", undefined],
  ["empty", ""],
  ["damaged", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"],
  ["a directory", "."],
];

describe.each(contents)("a file that is %s", (what, content) => {
  const file = (): string => {
    const directory = directories();
    if (content === ".") return directory;
    const name = path.join(directory, "file");
    if (content !== undefined) fs.writeFileSync(name, content);
    return name;
  };

  test.each<[PortProgram, string, string]>([
    ["apiserver", "client-ca-file", "FILE"],
    ["apiserver", "requestheader-client-ca-file", "FILE"],
    ["apiserver", "service-account-key-file", "FILE"],
    ["apiserver", "audit-policy-file", "FILE"],
    ["apiserver", "tls-sni-cert-key", "FILE,FILE"],
    ["controller-manager", "client-ca-file", "FILE"],
    ["controller-manager", "authentication-kubeconfig", "FILE"],
    ["controller-manager", "authorization-kubeconfig", "FILE"],
    ["scheduler", "client-ca-file", "FILE"],
    ["agent", "client-ca-file", "FILE"],
  ])("orbit %s --%s does not start", async (program, name, value) => {
    const text = value.replaceAll("FILE", file());
    expect(await outcome(program, [`--${name}=${text}`])).toMatch(
      name === "audit-policy-file" ? /audit.policy.file/ : `--${name}`,
    );
  });

  test.each<[PortProgram, string, string]>([
    ["controller-manager", "tls-cert-file", "tls-private-key-file"],
    ["scheduler", "tls-cert-file", "tls-private-key-file"],
    ["agent", "tls-cert-file", "tls-private-key-file"],
  ])("orbit %s --%s does not start", async (program, certificate, key) => {
    const name = file();
    expect(
      await outcome(program, [`--${certificate}=${name}`, `--${key}=${name}`]),
    ).toMatch(`--${certificate}`);
  });

  test("nor does the etcd store", async () => {
    const name = file();
    for (const argv of [
      [`--etcd-cafile=${name}`],
      [`--etcd-certfile=${name}`, `--etcd-keyfile=${name}`],
    ])
      await expect(
        chooseStore({
          kind: "etcd",
          dataDirectory: directories(),
          clock: systemClock,
          logger: pino({ level: "silent" }),
          values: parseOptions(apiServerOptions, [
            "--etcd-servers=https://127.0.0.1:1",
            ...argv,
          ]),
        }),
      ).rejects.toThrow(argv[0]!.split("=")[0]);
  });

  if (what !== "empty" && what !== "damaged")
    test("nor a token file that can't be read", async () => {
      expect(
        await outcome("apiserver", [`--token-auth-file=${file()}`]),
      ).toMatch("--token-auth-file");
    });
});

test("an audit log that can't be opened stops the start", async () => {
  const policy = path.join(directories(), "policy.yaml");
  fs.writeFileSync(
    policy,
    "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules:\n- level: Metadata\n",
  );
  expect(
    await outcome("apiserver", [
      `--audit-policy-file=${policy}`,
      `--audit-log-path=${policy}/audit.log`,
    ]),
  ).toMatch("--audit-log-path");
});

test("half of a pair stops the start", async () => {
  expect(await outcome("agent", ["--tls-private-key-file=/dev/null"])).toMatch(
    "--tls-cert-file and --tls-private-key-file must be given together",
  );
});

test("an authorization mode without its file stops the start", async () => {
  for (const mode of ["ABAC", "RBAC,Webhook"])
    expect(
      await outcome("apiserver", [`--authorization-mode=${mode}`]),
    ).toMatch("--authorization-mode");
});

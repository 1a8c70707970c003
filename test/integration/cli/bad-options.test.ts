// Options and files that can't be used end the built program at once: exit 1 and the name of what is wrong, or exit 2
// where something it needs is not to be had.
import * as fs from "node:fs";
import * as net from "node:net";
import * as path from "node:path";
import { freePort } from "../../support/free-port.ts";
import { runCommand } from "../../support/kubectl.ts";
import { orbitProgram } from "../../support/start-orbit.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const directories = useTempDirectories();
let directory: string;
let holder: net.Server;
let takenPort: number;

beforeAll(async () => {
  holder = net.createServer().listen(0, "0.0.0.0");
  await new Promise((resolve) => holder.once("listening", resolve));
  takenPort = (holder.address() as net.AddressInfo).port;
});
afterAll(() => holder.close());
beforeEach(() => {
  directory = prepared();
});

/** A directory with the files that options name. */
function prepared(): string {
  const directory = directories();
  fs.writeFileSync(path.join(directory, "junk.pem"), "junk");
  fs.writeFileSync(
    path.join(directory, "kubelet.yaml"),
    "kind: KubeletConfiguration\napiVersion: kubelet.config.k8s.io/v1beta1\nmaxPods: abc\n",
  );
  fs.writeFileSync(
    path.join(directory, "restricting.yaml"),
    "kind: KubeletConfiguration\napiVersion: kubelet.config.k8s.io/v1beta1\nmergeDefaultEvictionSettings: true\n",
  );
  return directory;
}

async function run(
  args: readonly string[],
  directory: string,
): Promise<[number, string]> {
  const { code, stderr } = await runCommand(
    process.execPath,
    [
      orbitProgram,
      "server",
      "--disable=agent",
      `--data-dir=${directory}/data`,
      `--manifests=${directory}/manifests`,
      `--write-kubeconfig=${directory}/kubeconfig`,
      `--secure-port=${await freePort()}`,
      "--controllers-port=0",
      ...args.map((each) => each.replace("DIR", directory)),
    ],
    { timeoutMs: 60_000 },
  );
  return [code, stderr];
}

// They begin before the hooks of this file: each has a directory of its own.
test.concurrent.each<[string[], number, RegExp]>([
  [["--bogus"], 1, /unknown flag: --bogus/],
  [["--secure-port=abc"], 1, /"--secure-port": must be a whole number/],
  [["--store=zap"], 1, /"--store": must be one of/],
  [
    ["--cors-allowed-origins=example.com"],
    1,
    /"--cors-allowed-origins": "example.com" does not pin the start and the end/,
  ],
  [
    ["--cors-allowed-origins=//example[.com:"],
    1,
    /"--cors-allowed-origins": .* is no regular expression: /,
  ],
  [["--agent-arg=max-pods=abc"], 1, /--agent-arg: .*"--max-pods"/],
  [["--tls-cert-file=/absent"], 1, /--tls-cert-file and .* together/],
  [
    ["--tls-cert-file=DIR/junk.pem", "--tls-private-key-file=DIR/junk.pem"],
    1,
    /--tls-cert-file, --tls-private-key-file: /,
  ],
  [["--client-ca-file=DIR/junk.pem"], 1, /--client-ca-file: .*junk\.pem: /],
  [["--config=/absent"], 1, /--config: ENOENT/],
  [
    ["--authentication-config=DIR/junk.pem"],
    1,
    /junk\.pem:1: kind: must be AuthenticationConfiguration/,
  ],
  [
    ["--egress-selector-config-file=DIR/junk.pem"],
    1,
    /junk\.pem:1: kind: must be EgressSelectorConfiguration/,
  ],
  [
    ["--controller-manager-arg=permit-port-sharing"],
    1,
    /--controller-manager-arg: --permit-port-sharing: not implemented yet/,
  ],
  [
    ["--controller-manager-arg=enable-leader-migration"],
    1,
    /--controller-manager-arg: --enable-leader-migration: .*only `orbit controller-manager` takes part in a migration/,
  ],
  [
    ["--scheduler-arg=config=DIR/junk.pem"],
    1,
    /junk\.pem:1: kind: must be KubeSchedulerConfiguration/,
  ],
  [["--scheduler-arg=config=/absent"], 1, /--scheduler-arg: --config: ENOENT/],
  [
    ["--scheduler-arg=write-config-to=/absent/file"],
    1,
    /--scheduler-arg: write-config-to is for `orbit scheduler` alone/,
  ],
  [
    ["--config=DIR/restricting.yaml"],
    1,
    /restricting\.yaml:3: mergeDefaultEvictionSettings: not implemented yet/,
  ],
  [["--config=DIR/kubelet.yaml"], 1, /kubelet\.yaml:3: maxPods: /],
  [
    [
      "--store=etcd",
      "--etcd-servers=http://127.0.0.1:1",
      "--storage-initialization-timeout=500ms",
    ],
    2,
    /the API server: etcd: .*ECONNREFUSED/,
  ],
])("%j ends with %i", async (args, code, text) => {
  const [exit, stderr] = await run(args, prepared());
  expect(stderr).toMatch(text);
  expect(stderr).not.toMatch(/\n\s+at /);
  expect(exit).toBe(code);
});

test("a port that is taken ends with 2 and names it", async () => {
  const [exit, stderr] = await run([`--secure-port=${takenPort}`], directory);
  expect(stderr).toContain(`address already in use 0.0.0.0:${takenPort}`);
  expect(exit).toBe(2);
});

test.each([
  ["--config=DIR/junk.pem", /junk\.pem:1: kind: must be KubeSchedulerConfig/],
  ["--config=/absent", /--config: ENOENT/],
  ["--write-config-to=/absent/file", /--write-config-to: ENOENT/],
])("orbit scheduler does not start with %s", async (option, text) => {
  const { code, stderr } = await runCommand(
    process.execPath,
    [orbitProgram, "scheduler", option.replaceAll("DIR", directory)],
    { timeoutMs: 60_000 },
  );
  expect(stderr).toMatch(text);
  expect(stderr).not.toMatch(/\n\s+at /);
  expect(code).toBe(1);
});

test.each([
  [
    "apiserver",
    "--etcd-servers-overrides=/events#http://127.0.0.1:1",
    "--etcd-servers-overrides",
  ],
  ["agent", "--config=DIR/restricting.yaml", "mergeDefaultEvictionSettings"],
])("orbit %s does not start with %s", async (program, option, name) => {
  const { code, stderr } = await runCommand(
    process.execPath,
    [
      orbitProgram,
      ...`${program} ${option}`.replaceAll("DIR", directory).split(" "),
    ],
    { timeoutMs: 60_000 },
  );
  expect(stderr).toContain(
    `${name}: not implemented yet, and what restricts is never ignored`,
  );
  expect(stderr).not.toMatch(/\n\s+at /);
  expect(code).toBe(1);
});

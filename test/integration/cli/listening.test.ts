// Which sockets each program opens to the network when nothing says otherwise. The programs run with their default ports
// in network namespaces of their own, so that the test meets no other cluster of the machine.
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { eventually } from "../../support/eventually.ts";
import { listeningSockets } from "../../support/listening.ts";
import {
  startPrivateRuntime,
  type PrivateRuntime,
} from "../../support/private-runtime.ts";
import { orbitProgram } from "../../support/start-orbit.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const directories = useTempDirectories();
const children: ChildProcess[] = [];
let runtime: PrivateRuntime;

beforeAll(async () => {
  runtime = await startPrivateRuntime({ image: false });
});
afterEach(async () => {
  for (const child of children.splice(0)) {
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGTERM");
    await ended;
  }
});
afterAll(() => runtime.dispose());

/** `orbit …` in a namespace with loopback and one other address; until it says `ready`. */
async function start(
  args: readonly string[],
  ready: RegExp,
): Promise<() => string[]> {
  const child = spawn(
    "unshare",
    [
      "--net",
      "sh",
      "-c",
      'ip link set lo up && ip link add eth0 type veth peer name eth1 && ip addr add 192.0.2.10/24 dev eth0 && ip link set eth0 up && exec "$@"',
      "sh",
      process.execPath,
      orbitProgram,
      ...args,
    ],
    { stdio: ["ignore", "pipe", "pipe"] },
  );
  children.push(child);
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  await eventually(() => ready.test(output) || child.exitCode !== null, {
    timeoutMs: 30_000,
    what: `orbit ${args[0]}`,
  }).catch((error: Error) => {
    throw new Error(`${error.message}\n${output.slice(-3000)}`);
  });
  if (child.exitCode !== null) throw new Error(output.slice(-3000));
  return () =>
    listeningSockets(child.pid!).map(
      ({ address, port }) =>
        `${address === "::" ? "0.0.0.0" : address}:${port}`,
    );
}

test("namespaces can be made here", () => {
  expect(spawnSync("unshare", ["--net", "true"]).status).toBe(0);
});

test("orbit server: the API and the node agent, authenticated; all else on loopback", async () => {
  const directory = directories();
  const sockets = await start(
    [
      "server",
      `--data-dir=${directory}/data`,
      `--manifests=${directory}/manifests`,
      `--write-kubeconfig=${directory}/kubeconfig`,
      `--container-runtime-endpoint=${runtime.daemon.endpoint}`,
      `--cgroup-root=${runtime.cgroupParent}`,
      "--scheduler-port=10259",
    ],
    /ready in [\d.]+s/,
  );
  expect(sockets()).toEqual([
    "0.0.0.0:6443",
    "127.0.0.1:10248",
    "0.0.0.0:10250",
    "127.0.0.1:10257",
    "127.0.0.1:10259",
  ]);
});

test("orbit apiserver: its one port, which lets nobody in without credentials", async () => {
  const sockets = await start(
    ["apiserver", "--storage-backend=memory", `--cert-dir=${directories()}`],
    /ready in [\d.]+s/,
  );
  expect(sockets()).toEqual(["0.0.0.0:6443"]);
});

test("orbit agent: everything on loopback while nothing protects it", async () => {
  const directory = directories();
  const sockets = await start(
    [
      "agent",
      `--root-dir=${directory}`,
      `--container-runtime-endpoint=${runtime.daemon.endpoint}`,
      `--cgroup-root=${runtime.cgroupParent}`,
    ],
    /ready in [\d.]+s/,
  );
  expect(sockets()).toEqual([
    "127.0.0.1:10248",
    "127.0.0.1:10250",
    "127.0.0.1:10255",
  ]);
});

test.each([
  ["controller-manager", 10257],
  ["scheduler", 10259],
])("orbit %s: one authenticated port", async (program, port) => {
  const directory = directories();
  const kubeconfig = path.join(directory, "kubeconfig");
  fs.writeFileSync(
    kubeconfig,
    JSON.stringify({
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name: "c", cluster: { server: "http://127.0.0.1:1" } }],
      contexts: [{ name: "c", context: { cluster: "c", user: "" } }],
      "current-context": "c",
    }),
  );
  const sockets = await start(
    [program, `--kubeconfig=${kubeconfig}`, `--cert-dir=${directory}`, "--v=4"],
    /candidate for leadership/,
  );
  // It may say so before it listens.
  await eventually(() => sockets().length > 0);
  expect(sockets()).toEqual([`0.0.0.0:${port}`]);
});

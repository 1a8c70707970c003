// After a reboot nothing of what ran is left but what lies on the disk: the agent starts every pod again in a new
// sandbox, with the same uid and address of record, one more restart, and the old run as last state.
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { systemClock } from "../../../api/clock.ts";
import type { Pod } from "../../../api/types/core-v1.ts";
import type { Client } from "../../../client/client.ts";
import { createClient } from "../../../client/create-client.ts";
import { pods } from "../../../client/resources.ts";
import { eventually } from "../../support/eventually.ts";
import { MemoryApi } from "../../support/memory-api.ts";
import { busyboxPod, startNode, type NodeFixture } from "./node-fixture.ts";

let node: NodeFixture;
let api: MemoryApi;
let client: Client;

beforeAll(async () => {
  node = await startNode();
  api = new MemoryApi(systemClock);
  client = createClient(api, { clock: systemClock, logger: node.logger });
});
afterAll(async () => {
  await node?.close();
  await client?.close();
});

interface Process {
  pid: number;
  parent: number;
  command: string;
}

function processes(): Process[] {
  return fs
    .readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const stat = fs.readFileSync(`/proc/${name}/stat`, "utf8");
        return [
          {
            pid: Number(name),
            parent: Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]),
            command: fs.readFileSync(`/proc/${name}/cmdline`, "utf8"),
          },
        ];
      } catch {
        return [];
      }
    });
}

/** The shims of this fixture's containerd and all that runs under them, at once; mounts go as the kernel would. */
function powerOff(directory: string): void {
  const all = processes();
  const doomed = new Set(
    all
      .filter(
        ({ command }) =>
          command.includes("containerd-shim") && command.includes(directory),
      )
      .map(({ pid }) => pid),
  );
  expect(doomed.size).toBeGreaterThan(0);
  for (let size = 0; size !== doomed.size;) {
    size = doomed.size;
    for (const { pid, parent } of all) if (doomed.has(parent)) doomed.add(pid);
  }
  for (const pid of doomed)
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It went with its parent.
    }
  for (const mount of fs
    .readFileSync("/proc/mounts", "utf8")
    .split("\n")
    .map((line) => line.split(" ")[1] ?? "")
    .filter((name) => name.startsWith(`${directory}/`))
    .reverse())
    execFileSync("umount", ["-l", mount]);
}

const find = (prefix: string): Pod | undefined =>
  api.all<Pod>(pods).find(({ metadata }) => metadata.name.startsWith(prefix));
const running = (prefix: string, restarts: number): Pod | undefined => {
  const pod = find(prefix);
  const container = pod?.status?.containerStatuses?.[0];
  return container?.state?.running && container.restartCount === restarts
    ? pod
    : undefined;
};

test("static and API pods come back, each one restart older", async () => {
  await node.writePod("static.yaml", busyboxPod("static", "sleep 1000"));
  const api1 = busyboxPod("bound", "sleep 1000");
  await client
    .resource(pods)
    .create({ ...api1, spec: { ...api1.spec, nodeName: "test-node" } });
  const before = node.agent({ client });
  await before.start();
  const first = await eventually(
    () => running("static", 0) && running("bound", 0),
  );
  const mirror = find("static")!;
  await before.stop();

  const runtime = await node.runtimeAway();
  powerOff(node.directory);
  // What a boot leaves out of /run.
  for (const name of ["containerd/run/state", "docker/run"])
    fs.rmSync(path.join(node.directory, name), {
      recursive: true,
      force: true,
    });
  await runtime.start();

  const after = node.agent({ client });
  await after.start();
  const again = await eventually(
    () => running("static", 1) && running("bound", 1),
    { timeoutMs: 30_000 },
  );
  expect(again!.metadata.uid).toBe(first!.metadata.uid);
  expect(find("static")!.metadata.uid).toBe(mirror.metadata.uid);
  const [container] = again!.status!.containerStatuses!;
  expect(container!.lastState?.terminated).toMatchObject({
    exitCode: 255,
    reason: node.runtime.name === "docker" ? "Error" : "Unknown",
  });
  await after.stop();
});

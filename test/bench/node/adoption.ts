// How soon a server that is started again has taken up the pods that ran on: it is ended (the first of `--pids`), started by
// `--restart COMMAND`, and asked until its agent has read the state of every pod's container. Nothing of a pod may change.
// `node tools/bench.mjs node --kubeconfig F --pids PID --restart "orbit server …" [--pods 110]`; the new server goes on.
import { spawn } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { Connection } from "../support/connection.ts";
import type { BenchOptions } from "../support/options.ts";
import type { Row } from "../support/statistics.ts";
import { createPod, podsPath, PodWatch, request, until } from "./pods.ts";
import { runtimeCalls } from "./processes.ts";

const label = "adoption";
/** Each question costs the server that is measured a few milliseconds. */
const askEveryMs = 30;

interface PodList {
  items: {
    metadata: { name: string };
    status: {
      podIP?: string;
      containerStatuses?: { containerID: string; restartCount: number }[];
    };
  }[];
}

/** What must stay of each pod, by name. */
async function identities(
  connection: Connection,
): Promise<Map<string, string>> {
  const path = `${podsPath}?labelSelector=bench%3D${label}`;
  const { json } = await request(connection, "GET", path);
  return new Map(
    (json as PodList).items.map(({ metadata, status }) => [
      metadata.name,
      JSON.stringify([
        status.podIP,
        status.containerStatuses?.map(({ containerID, restartCount }) => [
          containerID,
          restartCount,
        ]),
      ]),
    ]),
  );
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Asks on a new connection each time, as the server may not be there yet; resolves to the milliseconds since startMs. */
async function reachedMs(
  options: BenchOptions,
  startMs: number,
  reached: (connection: Connection) => Promise<boolean>,
): Promise<number> {
  await until(async () => {
    const connection = new Connection(options.target);
    try {
      if (await reached(connection)) return true;
    } catch {
      // Not yet.
    } finally {
      connection.close();
    }
    await pause(askEveryMs);
    return false;
  });
  return Math.round(performance.now() - startMs);
}

export async function adoption(
  options: BenchOptions,
  command: string,
): Promise<Row[]> {
  const { target, pods: count } = options;
  const [pid] = options.pids;
  if (pid === undefined) throw new Error("--restart needs --pids");
  let connection = new Connection(target);
  const watch = await PodWatch.open(target, label);
  const names = Array.from({ length: count }, (_, i) => `bench-${label}-${i}`);
  for (const name of names)
    await createPod(connection, name, options.image, label);
  await Promise.all(names.map((name) => watch.reached(name, "ready")));
  await pause(2000);
  const before = await identities(connection);
  watch.close();
  connection.close();
  process.kill(pid, "SIGTERM");
  await until(() => Promise.resolve(!isAlive(pid)));

  const startMs = performance.now();
  spawn(command, { shell: true, detached: true, stdio: "ignore" }).unref();
  const readyMs = await reachedMs(
    options,
    startMs,
    async (c) => (await c.request("GET", "/readyz")).status === 200,
  );
  const adoptedMs = await reachedMs(
    options,
    startMs,
    async (c) =>
      ((await runtimeCalls(c)).get("container_status") ?? 0) >= count,
  );
  await pause(3000);
  connection = new Connection(target);
  const after = await identities(connection);
  const changed = names.filter((name) => before.get(name) !== after.get(name));
  await request(
    connection,
    "DELETE",
    `${podsPath}?labelSelector=bench%3D${label}`,
    { gracePeriodSeconds: 1 },
  );
  connection.close();
  const name = `restart with ${count} pods`;
  return [
    { name: `${name} → /readyz`, ms: readyMs },
    { name: `${name} → all adopted`, ms: adoptedMs },
    { name: `${name}: pods that changed`, n: changed.length },
  ];
}

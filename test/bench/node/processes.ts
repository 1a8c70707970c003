// What one pod costs: the programs that are run to make and to remove it, with their CPU, and the calls of the container
// runtime. `node tools/bench.mjs node --processes --kubeconfig F --pids SERVER,CONTAINERD`
import { Connection } from "../support/connection.ts";
import type { BenchOptions } from "../support/options.ts";
import { printRows, type Row } from "../support/statistics.ts";
import { ExecutionTrace, type Execution } from "./executions.ts";
import { createPod, podsPath, PodWatch, request } from "./pods.ts";

const pods = 10;
/** For what comes after a pod is ready, or gone: shims that end, clean-up. */
const settleMs = 1500;

const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, ms));

/** Calls of the runtime so far, by the node's own metrics. */
export async function runtimeCalls(
  connection: Connection,
): Promise<Map<string, number>> {
  const { json } = await request(connection, "GET", "/api/v1/nodes");
  const [node] = (json as { items: { metadata: { name: string } }[] }).items;
  const { body = "" } = await connection.request(
    "GET",
    `/api/v1/nodes/${node!.metadata.name}/proxy/metrics`,
    undefined,
    {},
    { keepBody: true },
  );
  const found = new Map<string, number>();
  for (const [, name, count] of body.matchAll(
    /^kubelet_runtime_operations_total\{operation_type="(\w+)"\} (\d+)/gm,
  ))
    found.set(name!, Number(count));
  return found;
}

function difference(
  before: ReadonlyMap<string, number>,
  after: ReadonlyMap<string, number>,
): Map<string, number> {
  return new Map(
    [...after].map(([name, count]) => [name, count - (before.get(name) ?? 0)]),
  );
}

const perPod = (count: number | undefined): number =>
  Math.round(((count ?? 0) / pods) * 10) / 10;

function executionRows(
  made: ReadonlyMap<string, Execution>,
  removed: ReadonlyMap<string, Execution>,
): Row[] {
  const rows = [...new Set([...made.keys(), ...removed.keys()])].map(
    (name): Row & { cpuMs: number } => ({
      name,
      "runs to make": perPod(made.get(name)?.runs),
      "CPU ms to make": perPod(made.get(name)?.cpuMs),
      "runs to remove": perPod(removed.get(name)?.runs),
      "CPU ms to remove": perPod(removed.get(name)?.cpuMs),
      cpuMs: (made.get(name)?.cpuMs ?? 0) + (removed.get(name)?.cpuMs ?? 0),
    }),
  );
  const sum = (key: string): number =>
    Math.round(rows.reduce((total, row) => total + Number(row[key]), 0) * 10) /
    10;
  const total: Row = { name: "all" };
  for (const key of Object.keys(rows[0] ?? {}))
    if (key !== "name" && key !== "cpuMs") total[key] = sum(key);
  return [
    ...rows
      .sort((a, b) => b.cpuMs - a.cpuMs)
      .map(({ cpuMs: _cpuMs, ...row }): Row => row),
    total,
  ];
}

/** `pids`: of the server or agent, and of the container runtime. */
export async function processes({
  target,
  pids,
  image,
}: BenchOptions): Promise<Row[]> {
  const [server, runtime] = pids;
  if (server === undefined || runtime === undefined)
    throw new Error("--processes needs --pids SERVER,CONTAINERD");
  const connection = new Connection(target);
  const watch = await PodWatch.open(target, "processes");
  const name = (i: number): string => `bench-processes-${process.pid}-${i}`;
  const make = async (i: number): Promise<void> => {
    await createPod(connection, name(i), image, "processes");
    await watch.reached(name(i), "ready");
  };
  const remove = async (i: number): Promise<void> => {
    await request(connection, "DELETE", `${podsPath}/${name(i)}`, {
      gracePeriodSeconds: 1,
    });
    await watch.reached(name(i), "deleted");
  };
  // The first one warms caches up.
  await make(0);
  await remove(0);
  await pause(settleMs);
  const calls = [await runtimeCalls(connection)];
  const trace = new ExecutionTrace(
    new Map([
      [server, "the server, with the agent"],
      [runtime, "the container runtime"],
    ]),
  );
  const phase = async (
    step: (i: number) => Promise<void>,
  ): Promise<Map<string, Execution>> => {
    for (let i = 1; i <= pods; i++) await step(i);
    await pause(settleMs);
    const counted = trace.take();
    calls.push(await runtimeCalls(connection));
    return counted;
  };
  const made = await phase(make);
  const removed = await phase(remove);
  await trace.stop();
  watch.close();
  connection.close();
  printRows(executionRows(made, removed));
  console.log();
  const [before, between, after] = calls;
  const madeCalls = difference(before!, between!);
  const removedCalls = difference(between!, after!);
  return [...madeCalls.keys()]
    .map((call): Row => ({
      name: call,
      "calls to make": perPod(madeCalls.get(call)),
      "calls to remove": perPod(removedCalls.get(call)),
    }))
    .filter(
      (row) =>
        Number(row["calls to make"]) + Number(row["calls to remove"]) > 0,
    );
}

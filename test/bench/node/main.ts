// Measures a running cluster as a user feels it: how soon pods run and go, how soon a Deployment is ready, and what an
// idle cluster costs. All times come from watches opened before the action.
// `node tools/bench.mjs node --kubeconfig F --pids PID [--started-at EPOCH_MS] [--only regex]`; with `--processes` what is
// run for a pod (processes.ts), with `--restart COMMAND` how soon pods are adopted (adoption.ts).
import { writeFileSync } from "node:fs";
import { Connection } from "../support/connection.ts";
import { benchOptions } from "../support/options.ts";
import {
  printRows,
  quantile,
  usageOf,
  type Row,
} from "../support/statistics.ts";
import { adoption } from "./adoption.ts";
import { processes } from "./processes.ts";
import {
  PodWatch,
  createPod,
  podsPath,
  podTemplate,
  request,
  until,
} from "./pods.ts";

const options = benchOptions(process.argv.slice(2));
const { target } = options;
const rows: Row[] = [];

const wallMs = (): number => performance.timeOrigin + performance.now();
const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, ms));

function figures(name: string, values: readonly number[]): void {
  rows.push({
    name,
    n: values.length,
    "median ms": Math.round(quantile(values, 0.5)),
    "p90 ms": Math.round(quantile(values, 0.9)),
    "max ms": Math.round(Math.max(...values)),
  });
}

/** From `--started-at` to a ready API, a Ready node and the first Running pod; run it right after the start. */
async function boot(startedAtMs: number): Promise<void> {
  const reach = async (
    name: string,
    reached: (connection: Connection) => Promise<boolean>,
  ): Promise<void> => {
    await until(async () => {
      const connection = new Connection(target);
      try {
        return await reached(connection);
      } catch {
        return false;
      } finally {
        connection.close();
      }
    });
    figures(name, [wallMs() - startedAtMs]);
  };
  await reach(
    "boot: /readyz",
    async (c) => (await c.request("GET", "/readyz")).status === 200,
  );
  await Promise.all([
    reach("boot: node Ready", async (c) => {
      const { json } = await request(c, "GET", "/api/v1/nodes");
      const nodes = (
        json as {
          items: {
            status?: { conditions?: { type: string; status: string }[] };
          }[];
        }
      ).items;
      return nodes.some((node) =>
        node.status?.conditions?.some(
          (x) => x.type === "Ready" && x.status === "True",
        ),
      );
    }),
    (async () => {
      await reach("boot: first pod accepted", async (c) =>
        [201, 409].includes(
          (await createPod(c, "bench-first", options.image, "first")).status,
        ),
      );
      await reach("boot: first pod Running", async (c) => {
        const { json } = await request(c, "GET", `${podsPath}/bench-first`);
        return (
          (json as { status?: { phase?: string } }).status?.phase === "Running"
        );
      });
    })(),
  ]);
}

async function single(repetitions: number): Promise<void> {
  const connection = new Connection(target);
  const watch = await PodWatch.open(target, "single");
  const running: number[] = [];
  const deleted: number[] = [];
  for (let i = 0; i <= repetitions; i++) {
    const name = `bench-single-${process.pid}-${i}`;
    const createdAtMs = wallMs();
    await createPod(connection, name, options.image, "single");
    const seen = await watch.reached(name, "ready");
    await pause(300);
    const deletedAtMs = wallMs();
    await request(connection, "DELETE", `${podsPath}/${name}`, {
      gracePeriodSeconds: 1,
    });
    await watch.reached(name, "deleted");
    // The first round warms caches up and is not counted.
    if (i > 0) {
      running.push(seen.running! - createdAtMs);
      deleted.push(seen.deleted! - deletedAtMs);
    }
  }
  figures("pod created → Running", running);
  figures("pod deleted (grace 1 s) → gone", deleted);
  watch.close();
  connection.close();
}

async function burst(count: number): Promise<void> {
  const watch = await PodWatch.open(target, "burst");
  const connections = Array.from({ length: 10 }, () => new Connection(target));
  const names = Array.from(
    { length: count },
    (_, i) => `bench-burst-${process.pid}-${i}`,
  );
  const startMs = wallMs();
  const queue = [...names];
  await Promise.all(
    connections.map(async (connection) => {
      for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
        await createPod(connection, name, options.image, "burst");
      }
    }),
  );
  const started = await Promise.all(
    names.map((name) => watch.reached(name, "running")),
  );
  figures(`${count} pods at once → all Running`, [
    Math.max(...started.map((seen) => seen.running!)) - startMs,
  ]);
  await pause(2000);
  const deleteMs = wallMs();
  await request(
    connections[0]!,
    "DELETE",
    `${podsPath}?labelSelector=bench%3Dburst`,
    { gracePeriodSeconds: 1 },
  );
  await Promise.all(names.map((name) => watch.reached(name, "deleted")));
  figures(`${count} pods deleted (grace 1 s) → all gone`, [
    wallMs() - deleteMs,
  ]);
  watch.close();
  for (const connection of connections) connection.close();
}

async function deployment(replicas: number): Promise<void> {
  const connection = new Connection(target);
  const watch = await PodWatch.open(target, "deployment");
  const path = "/apis/apps/v1/namespaces/default/deployments";
  const template = {
    metadata: { labels: { bench: "deployment" } },
    spec: podTemplate(options.image),
  };
  const spec = {
    replicas,
    selector: { matchLabels: { bench: "deployment" } },
    template,
  };
  const startMs = wallMs();
  await request(connection, "POST", path, {
    metadata: { name: "bench-deployment" },
    spec,
  });
  await until(async () => {
    const { json } = await request(
      connection,
      "GET",
      `${path}/bench-deployment`,
    );
    return (
      (json as { status?: { readyReplicas?: number } }).status
        ?.readyReplicas === replicas
    );
  });
  figures(`Deployment of ${replicas} → all ready`, [wallMs() - startMs]);
  await request(connection, "DELETE", `${path}/bench-deployment`, {
    propagationPolicy: "Background",
  });
  await watch.allDeleted(replicas);
  watch.close();
  connection.close();
}

async function idle(seconds: number): Promise<void> {
  const connection = new Connection(target);
  const watch = await PodWatch.open(target, "idle");
  await createPod(connection, "bench-idle", options.image, "idle");
  await watch.reached("bench-idle", "ready");
  await pause(10_000);
  const before = usageOf(options.pids);
  await pause(seconds * 1000);
  const after = usageOf(options.pids);
  rows.push({
    name: `idle with one pod, ${seconds} s`,
    "CPU % of a core": ((after.cpuSeconds - before.cpuSeconds) / seconds) * 100,
    "resident MiB": Math.round(after.residentMebibytes),
  });
  await request(connection, "DELETE", `${podsPath}/bench-idle`, {
    gracePeriodSeconds: 0,
  });
  watch.close();
  connection.close();
}

async function times(): Promise<void> {
  if (options.startedAtMs !== undefined && options.only.test("boot"))
    await boot(options.startedAtMs);
  if (options.only.test("single")) await single(10);
  if (options.only.test("burst")) await burst(50);
  if (options.only.test("deployment")) await deployment(20);
  if (options.only.test("idle") && options.pids.length > 0) await idle(60);
}

async function main(): Promise<void> {
  const { restartCommand } = options;
  if (options.processes) rows.push(...(await processes(options)));
  else if (restartCommand)
    rows.push(...(await adoption(options, restartCommand)));
  else await times();
  printRows(rows);
  if (options.jsonFile)
    writeFileSync(options.jsonFile, JSON.stringify(rows, null, 1));
  process.exit(0);
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});

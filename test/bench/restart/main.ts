// What does the state cost, in memory and at a start? Fills a server with 50,000 ConfigMaps of 1 KiB and 20,000 Pods of
// 4.5 KB, then restarts it on that data. `node tools/bench.mjs restart [--program F] [--scale 0.1] [--restarts 3]`.
// "ready s" is what the server says, "start s" is measured from the start of the process.
import * as fs from "node:fs";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { Connection } from "../support/connection.ts";
import { targetFromKubeconfig } from "../support/options.ts";
import { printRows, usageOf, type Row } from "../support/statistics.ts";
import {
  runClientProcess,
  startClientProcess,
} from "../waits/client-process.ts";
import { startServer, type MeasuredServer } from "../waits/server.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const { values: options } = parseArgs({
  options: {
    program: { type: "string", default: path.join(root, "bin/orbit") },
    kubeconfig: { type: "string" },
    scale: { type: "string", default: "1" },
    restarts: { type: "string", default: "3" },
  },
});
const namespace = "filled";

async function main(): Promise<void> {
  const scale = Number(options.scale);
  const rows: Row[] = [];
  let server = await startServer(
    path.resolve(options.program),
    path.join(root, "test/bench/waits/loop-probe.cjs"),
  );
  try {
    rows.push(await rowOf("empty", server));
    const target = targetFromKubeconfig(server.kubeconfig);
    const setup = new Connection(target);
    const post = (url: string, name: string) =>
      setup.request("POST", url, JSON.stringify({ metadata: { name } }));
    await post("/api/v1/namespaces", namespace);
    await post(`/api/v1/namespaces/${namespace}/serviceaccounts`, "default");
    setup.close();
    const clients = startClientProcess(["--kubeconfig", server.kubeconfig]);
    for (const [resource, full] of [
      ["configmaps", 50_000],
      ["pods", 20_000],
    ] as const)
      await clients.fill({
        resource,
        namespace,
        count: Math.round(full * scale),
      });
    clients.close();
    rows.push(await rowOf("filled", server));
    for (let round = 0; round < Number(options.restarts); round++) {
      server = await server.restart();
      rows.push(await rowOf("restarted", server));
    }
    printRows(rows);
    const log = path.join(server.dataDirectory, "store/log");
    console.log(`log: ${(fs.statSync(log).size / 1e6).toFixed(1)} MB`);
  } finally {
    await server.stop();
  }
}

/** After a moment of rest, in which the collector may end its work. */
async function rowOf(name: string, server: MeasuredServer): Promise<Row> {
  const started = await server.report();
  const atOnce = usageOf([server.pid]).residentMebibytes;
  await new Promise((resolve) => setTimeout(resolve, 3000));
  const { memory } = await server.report();
  const mebibytes = (bytes: number): number => Math.round(bytes / 1048576);
  return {
    name,
    "ready s": server.readySeconds,
    "start s": server.startSeconds,
    "loop max ms": started.loopMaxMs,
    "MiB at once": atOnce,
    MiB: usageOf([server.pid]).residentMebibytes,
    heapUsed: mebibytes(memory.heapUsed),
    heapTotal: mebibytes(memory.heapTotal),
    buffers: mebibytes(memory.arrayBuffers),
  };
}

if (process.env["ORBIT_BENCH_CLIENT"]) {
  runClientProcess(targetFromKubeconfig(options.kubeconfig!));
} else {
  main().catch((error: unknown) => {
    console.error(error);
    process.exitCode = 1;
  });
}

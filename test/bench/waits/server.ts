// The server under measure: the built program in a process of its own, with a data directory that is removed afterwards,
// and with the loop's probe loaded into it.
import { spawn } from "node:child_process";
import * as fs from "node:fs";
import * as net from "node:net";
import * as path from "node:path";
import { freePort } from "../../support/free-port.ts";
import { eventually } from "../../support/eventually.ts";
import {
  makeTempDirectory,
  removeTempDirectory,
} from "../../support/temp-directory.ts";

export interface LoopReport {
  readonly loopMaxMs: number;
  /** The main thread's longest time on a processor in one turn of the loop. */
  readonly turnCpuMaxMs: number;
  /** Of what comes while the loop is busy: the rest of a turn on a processor that it waits for. */
  readonly turnWaitP99Ms: number;
  readonly gcCount: number;
  /** How long the main thread could have run and had no processor. */
  readonly runDelayMs: number;
  readonly loopP99Ms: number;
  readonly gcMaxMs: number;
  readonly gcTotalMs: number;
  readonly memory: NodeJS.MemoryUsage;
  /** The prober's requests by number: when they were parsed and answered, by the machine's clock. */
  readonly seen: Readonly<Record<string, SeenProbe>>;
}

export interface SeenProbe {
  readonly parsedMs: number;
  readonly writtenMs?: number;
}

export interface MeasuredServer {
  readonly pid: number;
  readonly kubeconfig: string;
  readonly dataDirectory: string;
  /** What it said of itself, and as seen from the start of the process. */
  readonly readySeconds: number;
  readonly startSeconds: number;
  /** What happened since the last call. */
  report(): Promise<LoopReport>;
  stop(): Promise<void>;
  /** Stops it and starts it again on the same data. */
  restart(): Promise<MeasuredServer>;
}

/** @param program bin/orbit of a built checkout */
export async function startServer(
  program: string,
  probe: string,
  directory = makeTempDirectory("orbit-bench-"),
): Promise<MeasuredServer> {
  const startedMs = performance.now();
  const kubeconfig = path.join(directory, "kubeconfig");
  const dataDirectory = path.join(directory, "data");
  const socket = path.join(directory, "probe.sock");
  fs.rmSync(socket, { force: true });
  const port = await freePort();
  // By its own first line, which holds the flags of the engine.
  const child = spawn(
    program,
    [
      "server",
      "--disable=agent,controllers,scheduler,proxy,dns",
      `--data-dir=${dataDirectory}`,
      `--manifests=${directory}/manifests`,
      `--write-kubeconfig=${kubeconfig}`,
      `--secure-port=${port}`,
      "--bind-address=127.0.0.1",
      "--controllers-port=0",
      "--feature-gates=CBORServingAndStorage=true",
    ],
    {
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        ...process.env,
        NODE_OPTIONS: `--require=${probe}`,
        ORBIT_BENCH_PROBE: socket,
      },
    },
  );
  let output = "";
  const exited = new Promise((resolve) => child.once("exit", resolve));
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-20_000);
    });
  const end = async (): Promise<void> => {
    child.kill("SIGTERM");
    await exited;
  };
  const stop = async (): Promise<void> => {
    await end();
    removeTempDirectory(directory);
  };
  await eventually(() => /ready in [\d.]+s/.test(output), {
    timeoutMs: 30_000,
    intervalMs: 5,
    what: "the server to be ready",
  }).catch(async (error: Error) => {
    await stop();
    throw new Error(`${error.message}\n${output}`);
  });
  return {
    pid: child.pid!,
    kubeconfig,
    dataDirectory,
    readySeconds: Number(/ready in ([\d.]+)s/.exec(output)![1]),
    startSeconds: (performance.now() - startedMs) / 1000,
    report: () => ask(socket),
    stop,
    async restart() {
      await end();
      return startServer(program, probe, directory);
    },
  };
}

function ask(socketPath: string): Promise<LoopReport> {
  return new Promise((resolve, reject) => {
    let text = "";
    net
      .connect(socketPath)
      .on("data", (chunk) => (text += chunk.toString()))
      .on("end", () => resolve(JSON.parse(text) as LoopReport))
      .on("error", reject);
  });
}

// The server under measure: the built program in a process of its own, with a data directory that is removed afterwards,
// and with the loop's probe loaded into it.
import { spawn } from "node:child_process";
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
  readonly loopP99Ms: number;
  readonly gcMaxMs: number;
  readonly gcTotalMs: number;
  readonly memory: NodeJS.MemoryUsage;
}

export interface MeasuredServer {
  readonly pid: number;
  readonly kubeconfig: string;
  readonly dataDirectory: string;
  /** What happened since the last call. */
  report(): Promise<LoopReport>;
  stop(): Promise<void>;
}

/** @param program bin/orbit of a built checkout */
export async function startServer(
  program: string,
  probe: string,
): Promise<MeasuredServer> {
  const directory = makeTempDirectory("orbit-bench-");
  const kubeconfig = path.join(directory, "kubeconfig");
  const dataDirectory = path.join(directory, "data");
  const socket = path.join(directory, "probe.sock");
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
  const stop = async (): Promise<void> => {
    child.kill("SIGTERM");
    await exited;
    removeTempDirectory(directory);
  };
  await eventually(() => /ready in [\d.]+s/.test(output), {
    timeoutMs: 30_000,
    what: "the server to be ready",
  }).catch(async (error: Error) => {
    await stop();
    throw new Error(`${error.message}\n${output}`);
  });
  return {
    pid: child.pid!,
    kubeconfig,
    dataDirectory,
    report: () => ask(socket),
    stop,
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

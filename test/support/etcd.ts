// A real etcd of a test's own: private directory, free ports, stopped by its pid.
import { spawn, type ChildProcess } from "node:child_process";
import { makeTempDirectory, removeTempDirectory } from "./temp-directory.ts";
import { freePort } from "./free-port.ts";

/** Its own are two seconds and five. */
export const etcdctlTimes = ["--dial-timeout=60s", "--command-timeout=60s"];

export interface TestEtcd {
  readonly url: string;
  /** As a crash. The data stays for start(). */
  kill(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** @param tls files for HTTPS with client certificates */
export async function startEtcd(tls?: {
  ca: string;
  certificate: string;
  key: string;
}): Promise<TestEtcd> {
  const directory = makeTempDirectory("orbit-etcd-");
  const [clientPort, peerPort] = [await freePort(), await freePort()];
  const url = `${tls ? "https" : "http"}://127.0.0.1:${clientPort}`;
  const peer = `http://127.0.0.1:${peerPort}`;
  let child: ChildProcess | undefined;

  const start = async (): Promise<void> => {
    child = spawn(
      "etcd",
      [
        ...["--name", "test", "--data-dir", directory, "--log-level", "error"],
        ...["--listen-client-urls", url, "--advertise-client-urls", url],
        ...[
          "--listen-peer-urls",
          peer,
          "--initial-advertise-peer-urls",
          peer,
          "--initial-cluster",
          `test=${peer}`,
        ],
        ...(tls
          ? [
              "--cert-file",
              tls.certificate,
              "--key-file",
              tls.key,
              "--trusted-ca-file",
              tls.ca,
              "--client-cert-auth",
            ]
          : []),
      ],
      { stdio: "ignore" },
    );
    await new Promise<void>((resolve, reject) => {
      child!.once("spawn", resolve);
      child!.once("error", reject);
    });
  };
  const kill = async (): Promise<void> => {
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolve) => child!.once("exit", resolve));
    child.kill("SIGKILL");
    await gone;
  };
  await start();
  return {
    url,
    kill,
    start,
    async stop() {
      await kill();
      removeTempDirectory(directory);
    },
  };
}

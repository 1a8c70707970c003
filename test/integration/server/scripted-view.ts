// A NodeAgentView with one pod whose "containers" are processes of this machine, so that the ports can be tested with real
// streams and without a container runtime.
import { spawn } from "node:child_process";
import { connect } from "node:net";
import { PassThrough, Readable } from "node:stream";
import type {
  ExecSession,
  LogOptions,
  NodeAgentView,
  TerminalDimensions,
} from "../../../api/contracts.ts";
import { ApiError, errors } from "../../../api/errors.ts";
import type { Pod } from "../../../api/types/core-v1.ts";

const pods = { group: "", version: "v1", resource: "pods" };

export const pod: Pod = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "p", namespace: "default", uid: "uid-p", annotations: {} },
  spec: { containers: [{ name: "c", image: "busybox" }] },
  status: {
    phase: "Running",
    containerStatuses: [
      {
        name: "c",
        ready: true,
        restartCount: 0,
        image: "busybox",
        imageID: "",
        state: { running: { startedAt: "2025-01-01T00:00:00Z" } },
      },
    ],
  },
};

/** Runs a command on this machine as if it were in a container. */
export function processSession(
  command: readonly string[],
  options: { stdin: boolean; stdout: boolean; stderr: boolean },
): ExecSession & { sizes: TerminalDimensions[]; closedByCaller: boolean } {
  const child = spawn(command[0]!, command.slice(1), {
    stdio: [options.stdin ? "pipe" : "ignore", "pipe", "pipe"],
  });
  const sizes: TerminalDimensions[] = [];
  child.stdin?.on("error", () => undefined);
  const session = {
    ...(options.stdin ? { stdin: child.stdin! } : {}),
    // Node drops what is unread in a child's pipes when the child exits.
    ...(options.stdout
      ? { stdout: child.stdout!.pipe(new PassThrough()) }
      : {}),
    ...(options.stderr
      ? { stderr: child.stderr!.pipe(new PassThrough()) }
      : {}),
    sizes,
    closedByCaller: false,
    resize: (size: TerminalDimensions) => void sizes.push(size),
    exit: new Promise<number>((resolve, reject) => {
      child.once("error", reject);
      child.once("exit", (code, signal) =>
        signal === null
          ? resolve(code!)
          : reject(new Error(`ended by ${signal}`)),
      );
    }),
    close(): void {
      session.closedByCaller = true;
      if (child.exitCode === null) child.kill("SIGKILL");
    },
  };
  if (!options.stdout) child.stdout!.resume();
  if (!options.stderr) child.stderr!.resume();
  session.exit.catch(() => undefined);
  return session;
}

export interface ScriptedView extends NodeAgentView {
  readonly sessions: ReturnType<typeof processSession>[];
  readonly logRequests: LogOptions[];
  /** undefined: healthy. */
  illness: string | undefined;
}

/** Ports below 1024 are refused; others are connected to on this machine. */
export function createScriptedView(): ScriptedView {
  const sessions: ReturnType<typeof processSession>[] = [];
  const logRequests: LogOptions[] = [];
  const check = (namespace: string, name: string, container?: string): void => {
    if (namespace !== "default" || name !== "p")
      throw errors.notFound(pods, name);
    if (container !== undefined && container !== "c")
      throw new ApiError({
        code: 404,
        reason: "NotFound",
        message: `container not found ("${container}")`,
      });
  };
  return {
    sessions,
    logRequests,
    illness: undefined,
    nodeName: "node-1",
    pods: () => [pod],
    probeMetrics: () => [],
    evictions: () => new Map([["memory.available", 2]]),
    metrics: () => [],
    pod: (namespace, name) =>
      namespace === "default" && name === "p" ? pod : undefined,
    runningPods: () =>
      Promise.resolve([
        { ...pod, metadata: { ...pod.metadata, name: "running" } },
      ]),
    logs(namespace, name, options) {
      try {
        check(namespace, name, options.container);
      } catch (error) {
        return Promise.reject(error as Error);
      }
      logRequests.push(options);
      if (!options.follow)
        return Promise.resolve(Readable.from(["one\n", "two\n"]));
      const lines = new PassThrough();
      lines.write("first\n");
      return Promise.resolve(lines);
    },
    async exec(namespace, name, options) {
      check(namespace, name, options.container);
      const session = processSession(options.command, options);
      sessions.push(session);
      return session;
    },
    async attach(namespace, name, options) {
      check(namespace, name, options.container);
      const session = processSession(
        ["sh", "-c", "echo attached; cat"],
        options,
      );
      sessions.push(session);
      return session;
    },
    portForward(namespace, name, port) {
      check(namespace, name);
      return new Promise((resolve, reject) => {
        const socket = connect({
          host: "127.0.0.1",
          port,
          allowHalfOpen: true,
        });
        socket.once("connect", () => resolve(socket));
        socket.once("error", reject);
      });
    },
    checkpoint(_namespace, name, container, timeoutSeconds) {
      return timeoutSeconds < 0
        ? Promise.reject(new Error("rpc error: code = Unimplemented desc = no"))
        : Promise.resolve(
            `/checkpoints/${name}-${container}-${timeoutSeconds}`,
          );
    },
    statsSummary: () =>
      Promise.resolve({
        node: {
          nodeName: "node-1",
          cpu: {
            time: "2025-01-01T00:00:00Z",
            usageCoreNanoSeconds: 2_500_000_000,
          },
          memory: { time: "2025-01-01T00:00:00Z", workingSetBytes: 1000 },
        },
        pods: [
          {
            podRef: { name: "p", namespace: "default", uid: "uid-p" },
            containers: [
              {
                name: "c",
                startTime: "2025-01-01T00:00:00Z",
                cpu: {
                  time: "2025-01-01T00:00:01.250Z",
                  usageCoreNanoSeconds: 1_000_000_000,
                },
                memory: { time: "2025-01-01T00:00:01Z", workingSetBytes: 77 },
              },
            ],
          },
        ],
      }),
    containerFigures: () =>
      Promise.resolve([
        {
          id: "/kubepods/poduid-p/abc",
          name: "abc",
          image: "pause",
          container: "",
          pod: "p",
          namespace: "default",
          epochMs: 1_735_689_600_000,
          cpuSeconds: 1.5,
          specMemoryBytes: 0,
          fileDescriptors: 7,
          maxOpenFiles: 1024,
          disks: [
            {
              device: "/dev/vda",
              numbers: "254:0",
              readBytes: 1,
              writeBytes: 2,
              readOperations: 3,
              writeOperations: 4,
            },
          ],
          interfaces: [
            {
              name: "eth0",
              rxBytes: 5,
              rxPackets: 1,
              rxErrors: 0,
              rxDropped: 0,
              txBytes: 6,
              txPackets: 1,
              txErrors: 0,
              txDropped: 2,
            },
          ],
        },
      ]),
    machineFigures: () =>
      Promise.resolve({
        kernelVersion: "6.1.0",
        osVersion: "Debian",
        bootId: "b",
        machineId: "m",
        systemUuid: "u",
        cores: 2,
        physicalCores: 1,
        sockets: 1,
        memoryBytes: 1024,
        swapBytes: 3000,
      }),
    volumeStats: () =>
      Promise.resolve(
        [1, 2].map((pod) => ({
          name: `v${pod}`,
          time: "2025-01-01T00:00:00Z",
          capacityBytes: 100,
          usedBytes: 7,
          pvcRef: { name: "claim", namespace: "default" },
        })),
      ),
    config: () => ({
      kind: "KubeletConfiguration",
      apiVersion: "kubelet.config.k8s.io/v1beta1",
    }),
    healthy() {
      return this.illness === undefined
        ? Promise.resolve()
        : Promise.reject(new Error(this.illness));
    },
  };
}

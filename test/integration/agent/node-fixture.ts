// A node for tests of the agent: a private containerd or dockerd, Debian's busybox as image, directories and a cgroup root of
// its own. close() ends every pod, the daemon and removes all of it.
import * as fs from "node:fs/promises";
import * as path from "node:path";
import pino, { type Logger } from "pino";
import { objectProblems } from "../../../apiserver-lite/object-rules.ts";
import {
  createAgent,
  type Agent,
  type AgentOptions,
} from "../../../agent/agent.ts";
import { createContainerdRuntime } from "../../../cri/containerd/containerd-runtime.ts";
import { createDockerRuntime } from "../../../cri/docker/docker-runtime.ts";
import type { Runtime } from "../../../cri/runtime.ts";
import type { Pod } from "../../../api/types/core-v1.ts";
import { busyboxImageTar } from "../../support/busybox-image.ts";
import { removeCgroups } from "../../support/cgroups.ts";
import {
  runtimeKinds,
  startDaemon,
  type RuntimeKind,
} from "../../support/private-runtime.ts";
import { endProcesses } from "../../support/processes.ts";
import { announce } from "../../support/run/run-state.ts";
import {
  makeTempDirectory,
  removeTempDirectory,
} from "../../support/temp-directory.ts";

export interface NodeFixture {
  directory: string;
  manifests: string;
  runtime: Runtime;
  /** Of containerd. */
  endpoint: string;
  /** The cgroup above all pods. */
  cgroupRoot: string;
  logger: Logger;
  /** A new agent on this node's directories; the caller stops it (or close() does). */
  agent(options?: Partial<AgentOptions>): Agent;
  /** Of the runtime's daemon. */
  readonly daemonPid: number;
  /** `options`: another socket than the daemon's, another deadline of calls. */
  newRuntime(options?: {
    endpoint?: string;
    requestTimeoutMs?: number;
  }): Runtime;
  /** Ends the daemon without its pods (`killed`: by kill -9); start() brings it back. */
  runtimeAway(options?: {
    killed?: boolean;
  }): Promise<{ start(): Promise<void> }>;
  writePod(file: string, pod: Pod): Promise<void>;
  close(): Promise<void>;
}

/** On containerd, unless TEST_RUNTIME or the caller names another runtime. */
export async function startNode(
  kind: RuntimeKind = runtimeKinds[0]!,
): Promise<NodeFixture> {
  const directory = makeTempDirectory("orbit-agent-");
  const logger = pino(
    { level: process.env.ORBIT_TEST_LOG ?? "silent" },
    pino.destination(2),
  );
  const daemonDirectory = path.join(directory, kind);
  let daemon = await startDaemon(kind, daemonDirectory);
  const newRuntime: NodeFixture["newRuntime"] = (other = {}) => {
    const options = {
      endpoint: daemon.endpoint,
      logger,
      ...other,
      cni: { directory: daemon.cniConfigurationDirectory },
    };
    return kind === "containerd"
      ? createContainerdRuntime(options)
      : createDockerRuntime({
          ...options,
          stateDirectory: path.join(directory, "docker-state"),
          isOwn: () => true,
        });
  };
  const runtime = newRuntime();
  await runtime.start();
  await runtime.importImage(await busyboxImageTar());
  const cgroupRoot = `/${path.basename(directory)}`;
  announce("cgroup", cgroupRoot);
  const manifests = path.join(directory, "manifests");
  await fs.mkdir(manifests);
  const agents: Agent[] = [];
  return {
    directory,
    manifests,
    runtime,
    endpoint: daemon.endpoint,
    get daemonPid() {
      return daemon.pid;
    },
    cgroupRoot,
    logger,
    newRuntime,
    async runtimeAway({ killed = false } = {}) {
      await (killed ? daemon.kill() : daemon.stop());
      return {
        async start() {
          daemon = await startDaemon(kind, daemonDirectory);
        },
      };
    },
    agent(options = {}) {
      const { config, ...rest } = options;
      const agent = createAgent({
        runtime,
        rules: objectProblems,
        logger,
        ...rest,
        config: {
          nodeName: "test-node",
          nodeIPs: ["127.0.0.1"],
          manifestsDirectory: manifests,
          rootDirectory: path.join(directory, "agent"),
          podLogsDirectory: path.join(directory, "logs/pods"),
          containerLogsDirectory: path.join(directory, "logs/containers"),
          cgroupRoot,
          ...config,
        },
      });
      agents.push(agent);
      return agent;
    },
    async writePod(file, pod) {
      const target = path.join(manifests, file);
      await fs.writeFile(`${target}~`, JSON.stringify(pod));
      await fs.rename(`${target}~`, target);
    },
    async close() {
      for (const agent of agents) await agent.stop();
      for (const { id } of await runtime.listContainers())
        await runtime.stopContainer(id, 0).catch(() => undefined);
      for (const { id } of await runtime.listContainers())
        await runtime.removeContainer(id).catch(() => undefined);
      for (const { id } of await runtime.listPodSandboxes()) {
        await runtime.stopPodSandbox(id).catch(() => undefined);
        await runtime.removePodSandbox(id).catch(() => undefined);
      }
      await runtime.stop();
      await daemon.stop();
      await endProcesses(`${directory}/`, cgroupRoot);
      await removeCgroups(cgroupRoot);
      removeTempDirectory(directory);
    },
  };
}

/** A pod of one busybox container on the host's network. */
export function busyboxPod(
  name: string,
  script: string,
  spec: Partial<Pod["spec"]> = {},
): Pod {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "default" },
    spec: {
      hostNetwork: true,
      terminationGracePeriodSeconds: 1,
      containers: [
        {
          name: "main",
          image: "busybox",
          imagePullPolicy: "IfNotPresent",
          command: ["/bin/sh", "-c", script],
        },
      ],
      ...spec,
    },
  };
}

export function podOf(agent: Agent, name: string): Pod | undefined {
  return agent.pods().find(({ metadata }) => metadata.name === name);
}

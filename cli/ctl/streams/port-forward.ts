// orbitctl port-forward: listens on ports of this machine; each connection goes to a pod's port over a WebSocket of its own
// (v4.channel.k8s.io: channel 0 is the data, 1 the error; the first message of each names the port).
import * as net from "node:net";
import type { Pod } from "../../../api/types/core-v1.ts";
import { option } from "../../options/build-table.ts";
import { UsageError } from "../../options/table.ts";
import type { CtlCommand, CtlContext } from "../command.ts";
import { podOf } from "../logs.ts";
import { isNodeAgent } from "../node-agent.ts";
import { onRefusal, openWebSocket } from "./web-socket.ts";

interface PortPair {
  /** 0: any free one. */
  readonly local: number;
  readonly remote: number;
}

/** `PORT`, `LOCAL:REMOTE` or `:REMOTE`; a name is that of a port of the pod's containers. */
export function parsePorts(text: string, pod: Pod): PortPair {
  const parts = text.split(":");
  const [first = "", second] = parts;
  const number = (word: string): number => {
    const port = /^\d{1,5}$/.test(word) ? Number(word) : namedPort(word, pod);
    if (port === undefined || port < 1 || port > 65535)
      throw new UsageError(
        `Error converting ports: "${text}" is no valid port`,
      );
    return port;
  };
  if (parts.length > 2) throw new UsageError(`invalid port format "${text}"`);
  const remote = number(second ?? first);
  return {
    remote,
    local: second === undefined ? remote : first === "" ? 0 : number(first),
  };
}

function namedPort(name: string, { spec }: Pod): number | undefined {
  return spec.containers
    .flatMap(({ ports = [] }) => ports)
    .find((port) => port.name === name)?.containerPort;
}

const answerMs = 10_000;

async function join(
  context: CtlContext,
  pod: Pod,
  port: number,
  connection: net.Socket,
): Promise<void> {
  const { name, namespace = "default" } = pod.metadata;
  const path = (await isNodeAgent(context))
    ? `/portForward/${namespace}/${name}?port=${port}`
    : `/api/v1/namespaces/${namespace}/pods/${name}/portforward?ports=${port}`;
  const socket = await openWebSocket(await context.http(), path, [
    "v4.channel.k8s.io",
  ]);
  const fail = (error: Error): void => {
    context.warn(`error: forwarding to port ${port}: ${error.message}`);
    connection.destroy();
  };
  const named = new Set<number>();
  onRefusal(socket, fail);
  socket.on("error", fail);
  socket.on("close", () => connection.end());
  connection.on("error", () => socket.close());
  connection.on("close", () => socket.close());
  socket.on("message", (data: Buffer) => {
    const channel = data[0]!;
    if (!named.has(channel)) return void named.add(channel);
    const payload = data.subarray(1);
    if (channel === 1 && payload.length > 0)
      fail(new Error(payload.toString()));
    if (channel === 0 && !connection.write(payload)) {
      socket.pause();
      connection.once("drain", () => socket.resume());
    }
  });
  let idle: NodeJS.Timeout | undefined;
  /** The protocol has no end of one direction: after the client's, the pod has this long for each piece of its answer. */
  const waitForRest = (): void => {
    clearTimeout(idle);
    idle = setTimeout(() => socket.close(), answerMs);
  };
  connection.on("close", () => clearTimeout(idle));
  connection.on("end", waitForRest);
  socket.on("message", () => {
    if (connection.readableEnded) waitForRest();
  });
  socket.on("open", () => {
    connection.on("data", (chunk: Buffer) => {
      connection.pause();
      socket.send(Buffer.concat([Buffer.from([0]), chunk]), () =>
        connection.resume(),
      );
    });
    connection.resume();
  });
}

function listen(
  server: net.Server,
  port: number,
  host: string,
): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", (error) =>
      reject(new Error(`unable to listen on port ${port}: ${error.message}`)),
    );
    server.listen(port, host, () =>
      resolve((server.address() as net.AddressInfo).port),
    );
  });
}

export const portForwardCommand: CtlCommand = {
  usage: "port-forward (POD | TYPE/NAME) [LOCAL:]REMOTE…",
  about: "Lead ports of this machine to a pod's, until it is ended.",
  options: [
    option(
      "address",
      "strings",
      "localhost",
      "Addresses to listen on; localhost: 127.0.0.1.",
    ),
  ],
  run: async (context) => {
    const [target, ...words] = context.args;
    if (!target || words.length === 0)
      throw new UsageError(
        "TYPE/NAME and list of ports are required for port-forward",
      );
    const pod = await podOf(context, target);
    if (pod.status?.phase !== "Running")
      throw new Error(
        `unable to forward port because pod is not running. Current status=${pod.status?.phase ?? "Unknown"}`,
      );
    const servers: net.Server[] = [];
    for (const { local, remote } of words.map((word) => parsePorts(word, pod)))
      for (const address of context.values.list("address")) {
        const server = net.createServer(
          { allowHalfOpen: true, pauseOnConnect: true },
          (connection) => {
            context.print(`Handling connection for ${remote}\n`);
            join(context, pod, remote, connection).catch((error: Error) => {
              context.warn(`error: ${error.message}`);
              connection.destroy();
            });
          },
        );
        const host = address === "localhost" ? "127.0.0.1" : address;
        const port = await listen(server, local, host);
        servers.push(server);
        context.print(
          `Forwarding from ${host.includes(":") ? `[${host}]` : host}:${port} -> ${remote}\n`,
        );
      }
    await new Promise<void>((resolve) => {
      for (const signal of ["SIGINT", "SIGTERM"] as const)
        process.once(signal, () => resolve());
    });
    for (const server of servers) server.close();
  },
};

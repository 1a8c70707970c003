// /exec, /attach and /portForward: the session is opened first, so that an unknown pod or container is an ordinary HTTP
// error; then the connection is upgraded, to WebSocket or SPDY/3.1 as the client asked, and the streams are joined.
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Logger } from "pino";
import type { Clock } from "../api/clock.ts";
import type { ExecSession } from "../api/contracts.ts";
import { acceptChannelRemoteCommand } from "../api/streaming/channel-remote-command.ts";
import {
  chooseChannelProtocol,
  offeredProtocols,
  portForwardStreamProtocol,
  portForwardTunnelProtocol,
  remoteCommandStreamProtocols,
} from "../api/streaming/channel-protocol.ts";
import {
  serveChannelPortForward,
  serveSpdyPortForward,
  type PortForwardOptions,
} from "../api/streaming/port-forward-server.ts";
import {
  serveRemoteCommand,
  type RemoteCommandConnection,
  type RemoteCommandOptions,
} from "../api/streaming/remote-command-server.ts";
import { acceptSpdyRemoteCommand } from "../api/streaming/spdy-remote-command.ts";
import { messageDuplex } from "../api/streaming/websocket-tunnel.ts";
import type { Upgrade } from "../http-kit/exchange.ts";
import { HttpError } from "../http-kit/http-error.ts";
import type { PortRequest } from "../http-kit/port.ts";
import { isWebSocketUpgrade, type WebSocketUpgrader } from "./websocket.ts";

export interface StreamServing {
  clock: Clock;
  logger: Logger;
  webSockets: WebSocketUpgrader;
  /** A connection silent in both directions for this long is dropped. */
  idleTimeoutMs: number;
}

/** Query parameters, in the kubelet's names and in the API's (`input` and `stdin` …). */
export function remoteCommandOptions(
  query: URLSearchParams,
): RemoteCommandOptions {
  const flag = (...names: string[]): boolean =>
    names.some((name) => /^(1|true)$/i.test(query.get(name) ?? ""));
  const tty = flag("tty");
  const options = {
    stdin: flag("input", "stdin"),
    stdout: flag("output", "stdout"),
    stderr: flag("error", "stderr") && !tty,
    tty,
  };
  if (!options.stdin && !options.stdout && !options.stderr)
    throw new HttpError(
      400,
      "you must specify at least 1 of stdin, stdout, stderr",
    );
  return options;
}

function wantedUpgrade({ exchange: { upgrade } }: PortRequest): Upgrade {
  if (upgrade === undefined)
    throw new HttpError(
      400,
      "unable to upgrade: missing upgrade headers in request",
    );
  const { request } = upgrade;
  if (
    !isWebSocketUpgrade(request) &&
    !/^spdy\/3\.1$/i.test(request.headers.upgrade ?? "")
  )
    throw new HttpError(
      400,
      `unable to upgrade: missing upgrade headers in request: unknown upgrade ${JSON.stringify(request.headers.upgrade)}`,
    );
  return upgrade;
}

function prepareSocket(socket: Duplex, idleTimeoutMs: number): void {
  const tcp = socket as Partial<Socket>;
  tcp.setNoDelay?.(true);
  tcp.setTimeout?.(idleTimeoutMs, () => socket.destroy());
  // The reader of the stream sees it as well; without a listener it would end the process.
  socket.on("error", () => undefined);
}

function acceptSpdy({ socket, head }: Upgrade, protocol: string): Duplex {
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: ${protocol}\r\n\r\n`,
  );
  if (head.length > 0) socket.unshift(head);
  return socket;
}

function negotiationFailure(
  offered: readonly string[],
  known: readonly string[],
): HttpError {
  return new HttpError(
    403,
    `unable to upgrade: unable to negotiate protocol: client supports [${offered.join(" ")}], server accepts [${known.join(" ")}]`,
    {
      "X-Accepted-Stream-Protocol-Versions": known.join(", "),
    },
  );
}

/** exec and attach. `open` starts the session; `what` is for error texts ("executing command in container"). */
export async function serveExec(
  asked: PortRequest,
  serving: StreamServing,
  options: RemoteCommandOptions,
  open: () => Promise<ExecSession>,
  what: string,
): Promise<void> {
  const upgrade = wantedUpgrade(asked);
  const { request } = upgrade;
  const webSocket = isWebSocketUpgrade(request);
  const offered = offeredProtocols(
    request.headers[
      webSocket ? "sec-websocket-protocol" : "x-stream-protocol-version"
    ],
  );
  const channel = webSocket
    ? chooseChannelProtocol(offered, "remote-command")
    : undefined;
  // Clients older than the header speak the first version.
  const stream =
    offered.length === 0
      ? "channel.k8s.io"
      : remoteCommandStreamProtocols.find((name) => offered.includes(name));
  if (webSocket ? channel === undefined : stream === undefined)
    throw negotiationFailure(offered, remoteCommandStreamProtocols);
  const session = await open();
  session.exit.catch(() => undefined);
  if (asked.exchange.closed) {
    session.close();
    return;
  }
  asked.exchange.switched();
  prepareSocket(upgrade.socket, serving.idleTimeoutMs);
  let connection: RemoteCommandConnection;
  try {
    if (channel !== undefined) {
      const socket = await serving.webSockets.upgrade(
        request,
        upgrade.socket,
        upgrade.head,
        channel.name,
      );
      if (socket === undefined)
        throw new Error("the WebSocket handshake failed");
      connection = acceptChannelRemoteCommand(socket, options, channel);
    } else {
      connection = await acceptSpdyRemoteCommand(
        acceptSpdy(upgrade, stream!),
        options,
        stream!,
        serving.clock,
      );
    }
  } catch (error) {
    serving.logger.debug({ err: error }, "a client's streams were not opened");
    session.close();
    upgrade.socket.destroy();
    return;
  }
  await serveRemoteCommand(connection, session, what, serving.clock);
}

/** Ports of the query, needed only by the channel protocols: `port=80&port=443` or `port=80,443`. */
function queryPorts(query: URLSearchParams): number[] {
  const texts = [...query.getAll("port"), ...query.getAll("ports")].flatMap(
    (text) => text.split(","),
  );
  const ports = texts.map((text) =>
    /^\d{1,5}$/.test(text) ? Number(text) : 0,
  );
  const bad = ports.findIndex((port) => port < 1 || port > 65535);
  if (bad !== -1)
    throw new HttpError(
      400,
      `port ${JSON.stringify(texts[bad])} is not a number from 1 to 65535`,
    );
  if (ports.length === 0)
    throw new HttpError(400, 'query parameter "port" is required');
  if (ports.length > 128) throw new HttpError(400, "too many ports");
  return ports;
}

export async function servePortForward(
  asked: PortRequest,
  serving: StreamServing,
  options: PortForwardOptions,
): Promise<void> {
  const upgrade = wantedUpgrade(asked);
  const { request } = upgrade;
  if (!isWebSocketUpgrade(request)) {
    const offered = offeredProtocols(
      request.headers["x-stream-protocol-version"],
    );
    if (offered.length > 0 && !offered.includes(portForwardStreamProtocol))
      throw negotiationFailure(offered, [portForwardStreamProtocol]);
    asked.exchange.switched();
    prepareSocket(upgrade.socket, serving.idleTimeoutMs);
    await serveSpdyPortForward(
      acceptSpdy(upgrade, portForwardStreamProtocol),
      options,
    );
    return;
  }
  const offered = offeredProtocols(request.headers["sec-websocket-protocol"]);
  const tunnel = offered.includes(portForwardTunnelProtocol);
  const channel = tunnel
    ? undefined
    : chooseChannelProtocol(offered, "port-forward");
  if (!tunnel && channel === undefined)
    throw negotiationFailure(offered, [
      portForwardTunnelProtocol,
      "v4.channel.k8s.io",
    ]);
  const ports = tunnel ? [] : queryPorts(asked.query);
  asked.exchange.switched();
  prepareSocket(upgrade.socket, serving.idleTimeoutMs);
  const name = tunnel ? portForwardTunnelProtocol : channel!.name;
  const socket = await serving.webSockets.upgrade(
    request,
    upgrade.socket,
    upgrade.head,
    name,
  );
  if (socket === undefined) return;
  if (tunnel) await serveSpdyPortForward(messageDuplex(socket), options);
  else await serveChannelPortForward(socket, channel!, ports, options);
}

// Port-forward, server side. SPDY: each connection of the client is a pair of streams, "error" and "data", joined by
// their requestID header (old clients: by neighbouring stream ids), with the port in a header. WebSocket (v4 channels):
// for port n of the query channel 2n carries data and 2n+1 errors, each beginning with the port as two bytes, low first.
import type { Duplex, Readable, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Clock, Timer } from "../clock.ts";
import { createChannelInputs } from "./channel-inputs.ts";
import { channelWritable } from "./channel-remote-command.ts";
import { decodeMessage, type ChannelProtocol } from "./channel-protocol.ts";
import type { MessageSocket } from "./message-socket.ts";
import { createSpdySession } from "./spdy-session.ts";
import type { SpdyStream } from "./spdy-stream.ts";

export interface PortForwardOptions {
  /** A connection to a port of the pod. */
  connect(port: number): Promise<Duplex>;
  clock: Clock;
  /** For error texts: `error forwarding port 80 to pod NAME, uid UID: …` */
  pod: string;
  uid: string;
}

/** A half pair is dropped after this; the reference's. */
const pairTimeoutMs = 30_000;
/** Connections of one client at once; two streams each. */
const maxConnections = 256;
/** Clients count. Strings of more than 16 KiB hash by their length alone: a map of them is looked through one by one. */
const maxRequestIdLength = 256;

/** For what a client sends after the pod has closed its side; as containerd has it. */
const lateInputMs = 1000;

interface Pair {
  error?: SpdyStream;
  data?: SpdyStream;
  timer: Timer;
}

function failureText(
  options: PortForwardOptions,
  port: number,
  error: unknown,
): string {
  const text = error instanceof Error ? error.message : String(error);
  // The runtime's own server says it already, with its own name of the pod.
  if (text.startsWith("error forwarding port ")) return text;
  return `error forwarding port ${port} to pod ${options.pod}, uid ${options.uid}: ${text}`;
}

/** Both directions until both ended; either breaking ends both. */
async function join(client: Duplex, target: Duplex): Promise<void> {
  await Promise.all([
    pipeline(client, target, { end: true }),
    pipeline(target, client, { end: true }),
  ]);
}

async function forward(
  options: PortForwardOptions,
  port: number,
  data: SpdyStream,
  error: SpdyStream,
): Promise<void> {
  let target: Duplex | undefined;
  try {
    target = await options.connect(port);
    if (data.destroyed) throw new Error("the client closed the connection");
    await join(data, target);
    error.end();
  } catch (failure) {
    target?.destroy();
    if (!error.destroyed) error.end(failureText(options, port, failure));
    data.destroy();
  }
}

function parsePort(text: string | undefined): number | undefined {
  const port = Number(text);
  return text !== undefined &&
    /^\d{1,5}$/.test(text) &&
    port >= 1 &&
    port <= 65535
    ? port
    : undefined;
}

/** Serves a client over SPDY until its connection ends. Never rejects. */
export async function serveSpdyPortForward(
  duplex: Duplex,
  options: PortForwardOptions,
): Promise<void> {
  const pairs = new Map<string, Pair>();

  function pairId(stream: SpdyStream, type: string): string {
    const id = stream.headers["requestid"];
    if (id !== undefined && id !== "") return id;
    // Without a requestID the data stream is opened right after its error stream.
    return `#${type === "error" ? stream.id : stream.id - 2}`;
  }

  /** A stream that was reset waits for no other: else what it leaves is bounded by nothing. */
  function dropHalf(id: string, stream: SpdyStream): void {
    const pair = pairs.get(id);
    if (pair?.error !== stream && pair?.data !== stream) return;
    pair.timer.cancel();
    pairs.delete(id);
    for (const half of [pair.error, pair.data]) half?.destroy();
  }

  const session = createSpdySession(duplex, {
    side: "server",
    maxStreams: 2 * maxConnections,
    onStream(stream) {
      const type = stream.headers["streamtype"];
      const port = parsePort(stream.headers["port"]);
      if ((type !== "error" && type !== "data") || port === undefined)
        return false;
      const id = pairId(stream, type);
      if (id.length > maxRequestIdLength) return false;
      let pair = pairs.get(id);
      if (pair === undefined) {
        const timer = options.clock.after(pairTimeoutMs, () => {
          const late = pairs.get(id);
          pairs.delete(id);
          late?.error?.end(
            "timed out waiting for the other stream of the connection",
          );
          late?.data?.destroy();
        });
        pair = { timer };
        pairs.set(id, pair);
      }
      if (pair[type] !== undefined) return false;
      pair[type] = stream;
      stream.once("close", () => dropHalf(id, stream));
      if (type === "error") stream.resume(); // the client ends it without a word
      if (pair.error !== undefined && pair.data !== undefined) {
        pair.timer.cancel();
        pairs.delete(id);
        void forward(options, port, pair.data, pair.error);
      }
      return true;
    },
  });
  await session.closed.catch(() => undefined);
  for (const { timer } of pairs.values()) timer.cancel();
  duplex.destroy();
}

/**
 * A channel has no end of its own, so the pod's end ends both directions: what the client still sends has a moment to
 * arrive. Clients read until the connection closes, which is when all ports are done.
 */
async function joinChannel(
  input: Readable,
  target: Duplex,
  output: Writable,
  clock: Clock,
): Promise<void> {
  let answered = false;
  const sent = pipeline(input, target).catch((failure: unknown) => {
    if (!answered) throw failure;
  });
  const received = pipeline(target, output).then(() => {
    answered = true;
    const timer = clock.after(lateInputMs, () => input.destroy());
    void sent.then(() => timer.cancel());
  });
  await Promise.all([sent, received]);
}

/** Serves a client over v4 channels: all connections are made at once, for the ports of the query. Never rejects. */
export async function serveChannelPortForward(
  socket: MessageSocket,
  protocol: ChannelProtocol,
  ports: readonly number[],
  options: PortForwardOptions,
): Promise<void> {
  const inputs = createChannelInputs(socket, ports.length);
  socket.onMessage((bytes) => {
    const message = decodeMessage(protocol, bytes);
    if (message !== undefined && message.channel % 2 === 0)
      inputs.push(message.channel / 2, message.data);
  });
  const closed = new Promise<void>((resolve) => socket.onClose(resolve));
  const targets: Duplex[] = [];
  void closed.then(() => {
    for (const input of inputs.streams) input.destroy();
    for (const target of targets) target.destroy();
  });

  const connections = ports.map(async (port, index) => {
    const output = channelWritable(socket, protocol, 2 * index);
    const errors = channelWritable(socket, protocol, 2 * index + 1);
    const opening = Buffer.alloc(2);
    opening.writeUInt16LE(port);
    output.write(opening);
    errors.write(opening);
    try {
      const target = await options.connect(port);
      targets.push(target);
      await joinChannel(inputs.streams[index]!, target, output, options.clock);
    } catch (failure) {
      errors.end(failureText(options, port, failure));
      inputs.streams[index]!.destroy();
    }
  });
  socket.resume();
  await Promise.race([Promise.all(connections), closed]);
  socket.close(1000, "");
  await closed;
}

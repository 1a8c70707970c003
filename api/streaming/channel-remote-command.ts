// exec and attach over WebSocket channels, server side. Back-pressure: output waits for each message to leave; input
// pauses the socket while the process does not read.
import { Writable } from "node:stream";
import type { TerminalDimensions } from "../contracts.ts";
import { createChannelInputs } from "./channel-inputs.ts";
import {
  channels,
  closeChannel,
  decodeMessage,
  encodeMessage,
  parseTerminalSize,
  type ChannelProtocol,
} from "./channel-protocol.ts";
import { encodeStatus } from "./exit-status.ts";
import type { MessageSocket } from "./message-socket.ts";
import type {
  RemoteCommandConnection,
  RemoteCommandOptions,
} from "./remote-command-server.ts";

/** WebSocket close code for a normal end. */
const normalClosure = 1000;

/** Bytes written become messages on one channel. */
export function channelWritable(
  socket: MessageSocket,
  protocol: ChannelProtocol,
  channel: number,
): Writable {
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      socket.send(encodeMessage(protocol, channel, chunk), done);
    },
  });
}

export function acceptChannelRemoteCommand(
  socket: MessageSocket,
  options: RemoteCommandOptions,
  protocol: ChannelProtocol,
): RemoteCommandConnection {
  const inputs = createChannelInputs(socket, options.stdin ? 1 : 0);
  const stdin = inputs.streams[0];
  const stdout = options.stdout
    ? channelWritable(socket, protocol, channels.stdout)
    : undefined;
  const stderr =
    options.stderr && !options.tty
      ? channelWritable(socket, protocol, channels.stderr)
      : undefined;
  let resized: ((size: TerminalDimensions) => void) | undefined;

  socket.onMessage((bytes) => {
    const message = decodeMessage(protocol, bytes);
    if (message === undefined) return;
    const { channel, data } = message;
    if (channel === channels.stdin) inputs.push(0, data);
    else if (channel === channels.resize) {
      const size = parseTerminalSize(data.toString("utf8"));
      if (size !== undefined) resized?.(size);
    } else if (
      channel === closeChannel &&
      protocol.closeMessage &&
      data[0] === channels.stdin
    )
      inputs.end(0);
  });
  const closed = new Promise<void>((resolve) =>
    socket.onClose(() => {
      inputs.end(0);
      resolve();
    }),
  );

  // An empty message on the first written channel notifies the client that the streams are there.
  const first = options.stdout
    ? channels.stdout
    : options.stderr && !options.tty
      ? channels.stderr
      : channels.error;
  socket.send(encodeMessage(protocol, first, Buffer.alloc(0)), () => undefined);
  socket.resume();
  return {
    ...(stdin === undefined ? {} : { stdin }),
    ...(stdout === undefined ? {} : { stdout }),
    ...(stderr === undefined ? {} : { stderr }),
    closed,
    onResize(listener) {
      resized = listener;
    },
    async finish(status) {
      const bytes = encodeStatus(status, protocol.statusObject);
      if (bytes.length > 0)
        await new Promise<void>((resolve) =>
          socket.send(encodeMessage(protocol, channels.error, bytes), () =>
            resolve(),
          ),
        );
      socket.close(normalClosure, "");
    },
  };
}

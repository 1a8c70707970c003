// The readable channels of one WebSocket. While any of them is full the socket is paused, and only when none is it goes on:
// a client can't fill one channel's buffer by keeping another one moving.
import { Readable } from "node:stream";
import type { MessageSocket } from "./message-socket.ts";

interface ChannelInputs {
  readonly streams: readonly Readable[];
  push(index: number, data: Buffer): void;
  end(index: number): void;
}

export function createChannelInputs(
  socket: MessageSocket,
  count: number,
): ChannelInputs {
  const full = new Set<number>();
  const ended = new Set<number>();

  function free(index: number): void {
    if (full.delete(index) && full.size === 0) socket.resume();
  }

  const streams = Array.from({ length: count }, (_unused, index) => {
    const stream = new Readable({ read: () => free(index) });
    // A destroyed stream has no reader; the others must go on.
    stream.on("close", () => free(index));
    stream.on("error", () => undefined);
    return stream;
  });
  return {
    streams,
    push(index, data) {
      const stream = streams[index];
      if (
        stream === undefined ||
        ended.has(index) ||
        stream.destroyed ||
        data.length === 0
      )
        return;
      if (stream.push(data)) return;
      full.add(index);
      socket.pause();
    },
    end(index) {
      if (ended.has(index)) return;
      ended.add(index);
      streams[index]?.push(null);
      free(index);
    },
  };
}

// A byte stream in the binary messages of a WebSocket: what SPDY/3.1+portforward.k8s.io carries its SPDY bytes in.
import { Duplex } from "node:stream";
import type { MessageSocket } from "./message-socket.ts";

/** The message boundaries carry no meaning. Ending the duplex closes the socket. */
export function messageDuplex(socket: MessageSocket): Duplex {
  const duplex: Duplex = new Duplex({
    allowHalfOpen: false,
    read: () => socket.resume(),
    write(chunk: Buffer, _encoding, done) {
      socket.send(chunk, done);
    },
    final(done) {
      socket.close(1000, "");
      done();
    },
    destroy(error, done) {
      socket.close(1000, "");
      done(error);
    },
  });
  socket.onMessage((message) => {
    if (message.length > 0 && !duplex.destroyed && !duplex.push(message))
      socket.pause();
  });
  socket.onClose(() => {
    if (!duplex.destroyed) duplex.push(null);
  });
  return duplex;
}

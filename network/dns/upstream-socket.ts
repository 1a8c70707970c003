// Asks one upstream server one question, over UDP from a fresh random port and, when the answer was cut, over TCP. The
// socket is connected, so the kernel drops what comes from elsewhere; a datagram that is not the answer (another ID or
// question) is ignored, so a guess must hit port, ID and question within the time limit.
import { randomInt } from "node:crypto";
import { createSocket } from "node:dgram";
import { connect, isIPv6 } from "node:net";
import { answersQuestion } from "./upstream-answer.ts";
import { ednsSize } from "./message.ts";

export interface Upstream {
  readonly address: string;
  readonly port: number;
}

/** A query of the question bytes (name, type, class), recursion desired, with EDNS. */
function upstreamQuery(question: Buffer, id: number): Buffer {
  const bytes = Buffer.alloc(12 + question.length + 11);
  bytes.writeUInt16BE(id, 0);
  bytes.writeUInt16BE(0x0100, 2);
  bytes.writeUInt16BE(1, 4);
  bytes.writeUInt16BE(1, 10);
  question.copy(bytes, 12);
  const opt = 12 + question.length;
  bytes.writeUInt16BE(41, opt + 1);
  bytes.writeUInt16BE(ednsSize, opt + 3);
  return bytes;
}

/** Rejects after `timeoutMs`, and when the server can't be reached. */
export function askOverUdp(
  { address, port }: Upstream,
  question: Buffer,
  timeoutMs: number,
): Promise<Buffer> {
  const id = randomInt(0x10000);
  return new Promise((resolve, reject) => {
    const socket = createSocket(isIPv6(address) ? "udp6" : "udp4");
    const end = (error: Error | undefined, answer?: Buffer): void => {
      clearTimeout(timer);
      socket.removeAllListeners();
      // A socket may report once more what the kernel heard before it was closed.
      socket.on("error", () => undefined);
      socket.close();
      if (answer) resolve(answer);
      else reject(error ?? new Error("closed"));
    };
    const timer = setTimeout(
      () => end(new Error(`${address} did not answer in ${timeoutMs} ms`)),
      timeoutMs,
    );
    socket.on("error", (error) => end(error));
    socket.on("message", (answer) => {
      if (answersQuestion(answer, question, id)) end(undefined, answer);
    });
    socket.connect(port, address, () => {
      socket.send(upstreamQuery(question, id));
    });
  });
}

export function askOverTcp(
  { address, port }: Upstream,
  question: Buffer,
  timeoutMs: number,
): Promise<Buffer> {
  const id = randomInt(0x10000);
  return new Promise((resolve, reject) => {
    const socket = connect(port, address);
    const end = (error: Error | undefined, answer?: Buffer): void => {
      clearTimeout(timer);
      socket.destroy();
      if (answer) resolve(answer);
      else reject(error ?? new Error("closed"));
    };
    const timer = setTimeout(
      () => end(new Error(`${address} did not answer in ${timeoutMs} ms`)),
      timeoutMs,
    );
    let received = Buffer.alloc(0);
    socket.on("error", (error) => end(error));
    socket.on("end", () => end(new Error(`${address} closed the connection`)));
    socket.on("connect", () => {
      const bytes = upstreamQuery(question, id);
      const length = Buffer.alloc(2);
      length.writeUInt16BE(bytes.length);
      socket.write(Buffer.concat([length, bytes]));
    });
    // At most 64 KiB and its length come together; what follows is not read.
    socket.on("data", (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      if (received.length < 2) return;
      const length = received.readUInt16BE(0);
      if (received.length < 2 + length) return;
      const answer = received.subarray(2, 2 + length);
      if (answersQuestion(answer, question, id))
        end(undefined, Buffer.from(answer));
      else end(new Error(`${address} answered another question`));
    });
  });
}

// The WebSocket channel protocols, exit statuses, and the join with a session.
import { PassThrough } from "node:stream";
import { acceptChannelRemoteCommand } from "../../../../api/streaming/channel-remote-command.ts";
import {
  chooseChannelProtocol,
  decodeMessage,
  encodeMessage,
  offeredProtocols,
  parseTerminalSize,
  type ChannelProtocol,
} from "../../../../api/streaming/channel-protocol.ts";
import {
  decodeStatus,
  encodeStatus,
  exitStatus,
  failureStatus,
} from "../../../../api/streaming/exit-status.ts";
import type { MessageSocket } from "../../../../api/streaming/message-socket.ts";
import { serveRemoteCommand } from "../../../../api/streaming/remote-command-server.ts";
import { systemClock } from "../../../../api/clock.ts";
import type { ExecSession } from "../../../../api/contracts.ts";
import { eventually } from "../../../support/eventually.ts";
import { FakeClock } from "../../../support/fake-clock.ts";

class FakeSocket implements MessageSocket {
  sent: (Buffer | string)[] = [];
  paused = true;
  closed: number | undefined;
  #message: ((message: Buffer) => void) | undefined;
  #close: (() => void) | undefined;
  send(message: Buffer | string, done: (error?: Error | null) => void): void {
    this.sent.push(message);
    setImmediate(done);
  }
  onMessage(listener: (message: Buffer) => void): void {
    this.#message = listener;
  }
  onClose(listener: () => void): void {
    this.#close = listener;
  }
  pause(): void {
    this.paused = true;
  }
  resume(): void {
    this.paused = false;
  }
  close(code: number): void {
    this.closed = code;
    this.#close?.();
  }
  receive(message: Buffer): void {
    this.#message?.(message);
  }
  leave(): void {
    this.#close?.();
  }
}

test.each([
  ["v5.channel.k8s.io", "v5.channel.k8s.io"],
  ["nope, v4.channel.k8s.io", "v4.channel.k8s.io"],
  ["base64.channel.k8s.io,v4.channel.k8s.io", "base64.channel.k8s.io"],
  ["", ""],
  ["nope", undefined],
])("negotiation of %j", (header, name) => {
  expect(
    chooseChannelProtocol(offeredProtocols(header), "remote-command")?.name,
  ).toBe(name);
});

test("port-forward takes only version 4", () => {
  expect(
    chooseChannelProtocol(["v5.channel.k8s.io"], "port-forward"),
  ).toBeUndefined();
  expect(
    chooseChannelProtocol(["v4.base64.channel.k8s.io"], "port-forward")?.base64,
  ).toBe(true);
});

const protocolOf = (name: string): ChannelProtocol =>
  chooseChannelProtocol([name], "remote-command")!;

test("messages", () => {
  const binary = protocolOf("v4.channel.k8s.io");
  const base64 = protocolOf("base64.channel.k8s.io");
  expect(encodeMessage(binary, 1, Buffer.from("ab"))).toEqual(
    Buffer.from("\x01ab"),
  );
  expect(encodeMessage(base64, 1, Buffer.from("ab"))).toBe("1YWI=");
  expect(decodeMessage(binary, Buffer.from("\x00x"))).toEqual({
    channel: 0,
    data: Buffer.from("x"),
  });
  expect(decodeMessage(base64, Buffer.from("0eA=="))).toEqual({
    channel: 0,
    data: Buffer.from("x"),
  });
  expect(decodeMessage(base64, Buffer.from("zeA=="))).toBeUndefined();
  expect(decodeMessage(binary, Buffer.alloc(0))).toBeUndefined();
});

test.each([
  ['{"Width":80,"Height":24}', { width: 80, height: 24 }],
  ['{"Width":-1,"Height":24}', undefined],
  ['{"Width":80}', undefined],
  ['{"Width":70000,"Height":24}', undefined],
  ["null", undefined],
  ["[", undefined],
])("terminal size %s", (text, size) =>
  expect(parseTerminalSize(text)).toEqual(size),
);

test("statuses", () => {
  expect(exitStatus(0)).toEqual({ metadata: {}, status: "Success" });
  expect(exitStatus(3)).toMatchObject({
    status: "Failure",
    reason: "NonZeroExitCode",
    details: { causes: [{ reason: "ExitCode", message: "3" }] },
  });
  expect(decodeStatus(encodeStatus(exitStatus(3), true), true)).toBe(3);
  expect(decodeStatus(encodeStatus(exitStatus(0), true), true)).toBe(0);
  expect(encodeStatus(exitStatus(0), false)).toHaveLength(0);
  expect(() =>
    decodeStatus(
      encodeStatus(failureStatus(new Error("boom"), "executing"), true),
      true,
    ),
  ).toThrow("Internal error occurred: error executing: boom");
  expect(() => decodeStatus(Buffer.alloc(0), true)).toThrow("ended before");
  expect(() => decodeStatus(Buffer.from("{}"), true)).toThrow("failed");

  // Told on by a second server, a failure keeps its words.
  const failure = failureStatus(new Error("no such file"), "executing it");
  let told: unknown;
  try {
    decodeStatus(encodeStatus(failure, true), true);
  } catch (error) {
    told = failureStatus(error, "executing it");
  }
  expect(told).toMatchObject(failure);
});

function session(): ExecSession & {
  in: PassThrough;
  out: PassThrough;
  end(code: number): void;
  sizes: object[];
  closed: boolean;
} {
  let end!: (code: number) => void;
  const stdin = new PassThrough();
  const stdout = new PassThrough();
  const made = {
    stdin,
    stdout,
    in: stdin,
    out: stdout,
    sizes: [] as object[],
    closed: false,
    resize: (size: object) => void made.sizes.push(size),
    exit: new Promise<number>((resolve) => (end = resolve)),
    end: (code: number) => end(code),
    close: () => void (made.closed = true),
  };
  return made;
}

const options = { stdin: true, stdout: true, stderr: false, tty: true };

test("a session over version 5: input, half-close, size, output, status, close", async () => {
  const socket = new FakeSocket();
  const run = session();
  const done = serveRemoteCommand(
    acceptChannelRemoteCommand(
      socket,
      options,
      protocolOf("v5.channel.k8s.io"),
    ),
    run,
    "executing",
    systemClock,
  );
  expect(socket.sent).toEqual([Buffer.from([1])]);
  socket.receive(Buffer.from("\x00typed"));
  socket.receive(Buffer.from('\x04{"Width":1,"Height":2}'));
  socket.receive(Buffer.from([255, 0]));
  socket.receive(Buffer.from("\x00late"));
  const parts: Buffer[] = [];
  for await (const part of run.in) parts.push(part as Buffer);
  expect(Buffer.concat(parts).toString()).toBe("typed");
  expect(run.sizes).toEqual([{ width: 1, height: 2 }]);
  run.out.end("result");
  run.end(2);
  await done;
  expect(socket.sent[1]).toEqual(Buffer.from("\x01result"));
  expect(decodeStatus((socket.sent[2] as Buffer).subarray(1), true)).toBe(2);
  expect(socket.closed).toBe(1000);
});

test("version 4 knows no half-close", async () => {
  const socket = new FakeSocket();
  const run = session();
  const done = serveRemoteCommand(
    acceptChannelRemoteCommand(
      socket,
      options,
      protocolOf("v4.channel.k8s.io"),
    ),
    run,
    "executing",
    systemClock,
  );
  socket.receive(Buffer.from([255, 0]));
  await new Promise((resolve) => setImmediate(resolve));
  expect(run.in.writableEnded).toBe(false);
  socket.leave();
  await new Promise((resolve) => setImmediate(resolve));
  expect(run.closed).toBe(true);
  run.out.end();
  run.end(0);
  await done;
});

test("a process that does not read pauses the socket", async () => {
  const socket = new FakeSocket();
  const run = session();
  void serveRemoteCommand(
    acceptChannelRemoteCommand(
      socket,
      options,
      protocolOf("v5.channel.k8s.io"),
    ),
    run,
    "executing",
    systemClock,
  );
  let sent = 0;
  while (!socket.paused && sent < 10_000_000) {
    socket.receive(Buffer.alloc(64 * 1024));
    sent += 64 * 1024;
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(socket.paused).toBe(true);
  expect(sent).toBeLessThan(1_000_000);
  run.in.resume();
  await eventually(() => !socket.paused);
});

/** Sends input until the command's is full. */
async function fillInput(socket: FakeSocket): Promise<void> {
  while (!socket.paused) {
    socket.receive(Buffer.alloc(64 * 1024));
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const serveOn = (
  socket: FakeSocket,
  run: ExecSession,
  clock: FakeClock,
): Promise<void> =>
  serveRemoteCommand(
    acceptChannelRemoteCommand(
      socket,
      options,
      protocolOf("v5.channel.k8s.io"),
    ),
    run,
    "executing",
    clock,
  );

test("a command that ends without reading its input: the client can go on, and gets the exit code", async () => {
  const socket = new FakeSocket();
  const run = session();
  const done = serveOn(socket, run, new FakeClock());
  await fillInput(socket);
  run.end(3);
  // The client is still writing: it reads its status only when it is not held up.
  await eventually(() => !socket.paused);
  await sendOnePiece(socket);
  run.out.end("result");
  await done;
  expect(socket.sent[1]).toEqual(Buffer.from("\x01result"));
  expect(decodeStatus((socket.sent[2] as Buffer).subarray(1), true)).toBe(3);
});

async function sendOnePiece(socket: FakeSocket): Promise<void> {
  socket.receive(Buffer.alloc(4 * 1024 * 1024));
  await new Promise((resolve) => setImmediate(resolve));
  expect(socket.paused).toBe(false);
}

test("a command whose output has ended but whose exit never comes does not hold the client for ever", async () => {
  const socket = new FakeSocket();
  const run = session();
  const clock = new FakeClock();
  const done = serveOn(socket, run, clock);
  await fillInput(socket);
  // As long as there is output to come it may take its time to read.
  clock.advance(3_600_000);
  await new Promise((resolve) => setImmediate(resolve));
  expect(socket.closed).toBeUndefined();
  run.out.end();
  await eventually(() => run.out.closed);
  // It reads a little now and then: that is no end either.
  for (let i = 0; i < 5; i++) {
    clock.advance(9_000);
    while (run.in.read() !== null);
    await eventually(() => !socket.paused);
    await fillInput(socket);
  }
  expect(socket.closed).toBeUndefined();
  clock.advance(10_000);
  await done;
  expect(() =>
    decodeStatus((socket.sent.at(-1) as Buffer).subarray(1), true),
  ).toThrow("its input is not read");
  expect(run.closed).toBe(true);
});

// SPDY/3.1: framing, header blocks, sessions; and bytes nobody should send.
import { Duplex } from "node:stream";
import { createDeflate, constants } from "node:zlib";
import {
  FrameParser,
  controlFrame,
  dataHeader,
  frameTypes,
  words,
  type Frame,
} from "../../../../api/streaming/spdy-frames.ts";
import {
  HeaderReader,
  HeaderWriter,
  spdyDictionary,
} from "../../../../api/streaming/spdy-headers.ts";
import { createSpdySession } from "../../../../api/streaming/spdy-session.ts";
import type { SpdyStream } from "../../../../api/streaming/spdy-stream.ts";
import { collect } from "../../../../api/streaming/remote-command-client.ts";

/** Two duplexes joined back to back. */
function duplexPair(): [Duplex, Duplex] {
  const ends: Duplex[] = [];
  for (const other of [1, 0]) {
    let waiting: (() => void) | undefined;
    const end = new Duplex({
      read() {
        const go = waiting;
        waiting = undefined;
        go?.();
      },
      write(chunk: Buffer, _encoding, done) {
        const peer = ends[other]! as Duplex & {
          give(chunk: Buffer | null, done: () => void): void;
        };
        peer.give(chunk, done);
      },
      final(done) {
        const peer = ends[other]! as Duplex & {
          give(chunk: Buffer | null, done: () => void): void;
        };
        peer.give(null, () => undefined);
        done();
      },
    });
    Object.assign(end, {
      give(chunk: Buffer | null, done: () => void) {
        if (end.destroyed || end.push(chunk)) done();
        else waiting = done;
      },
    });
    ends.push(end);
  }
  return [ends[0]!, ends[1]!];
}

function parseAll(chunks: readonly Buffer[]): Frame[] {
  const parser = new FrameParser();
  const frames: Frame[] = [];
  for (const chunk of chunks) {
    parser.add(chunk);
    for (let frame = parser.next(); frame !== undefined; frame = parser.next())
      frames.push(frame);
  }
  return frames;
}

describe("frames", () => {
  const bytes = Buffer.concat([
    controlFrame(frameTypes.ping, 0, words(7)),
    dataHeader(5, 3, false),
    Buffer.from("abc"),
    dataHeader(5, 0, true),
    controlFrame(frameTypes.goAway, 0, words(1, 0)),
  ]);

  test.each([1, 2, 3, 7, 8, 9, 1000])("in chunks of %d bytes", (size) => {
    const chunks: Buffer[] = [];
    for (let at = 0; at < bytes.length; at += size)
      chunks.push(bytes.subarray(at, at + size));
    const frames = parseAll(chunks);
    const data = frames.filter((frame) => frame.kind === "data");
    expect(Buffer.concat(data.map((frame) => frame.data)).toString()).toBe(
      "abc",
    );
    expect(data.map((frame) => frame.fin).filter(Boolean)).toHaveLength(1);
    expect(data.at(-1)?.fin).toBe(true);
    expect(
      frames
        .filter((frame) => frame.kind === "control")
        .map((frame) => [frame.type, frame.payload.toString("hex")]),
    ).toEqual([
      [frameTypes.ping, "00000007"],
      [frameTypes.goAway, "0000000100000000"],
    ]);
  });

  test("another version is refused", () => {
    expect(() => parseAll([Buffer.from("8002000600000004", "hex")])).toThrow(
      "version 3",
    );
  });

  test("a long control frame is refused before its bytes", () => {
    expect(() => parseAll([Buffer.from("8003000100ffffff", "hex")])).toThrow(
      "too long",
    );
  });
});

describe("header blocks", () => {
  test("the dictionary is the protocol's", () => {
    expect(spdyDictionary()).toHaveLength(1423);
  });

  test("round trips keep one context", async () => {
    const writer = new HeaderWriter();
    const reader = new HeaderReader();
    const blocks: Record<string, string>[] = [
      { streamtype: "data", port: "80" },
      {},
      { a: "x".repeat(20_000) },
      { b: "ü" },
    ];
    for (const headers of blocks)
      expect({ ...(await reader.read(writer.write(headers))) }).toEqual(
        headers,
      );
    reader.close();
  });

  test("a compressing peer is read, names lower-cased", async () => {
    const deflate = createDeflate({ dictionary: spdyDictionary() });
    const block = (text: string): Promise<Buffer> =>
      new Promise((resolve) => {
        const parts: Buffer[] = [];
        const take = (part: Buffer): void => void parts.push(part);
        deflate.on("data", take);
        const name = Buffer.from("StreamType");
        deflate.write(
          Buffer.concat([
            words(1, name.length),
            name,
            words(text.length),
            Buffer.from(text),
          ]),
        );
        deflate.flush(constants.Z_SYNC_FLUSH, () => {
          deflate.off("data", take);
          resolve(Buffer.concat(parts));
        });
      });
    const reader = new HeaderReader();
    expect({ ...(await reader.read(await block("error"))) }).toEqual({
      streamtype: "error",
    });
    expect({ ...(await reader.read(await block("stdout"))) }).toEqual({
      streamtype: "stdout",
    });
    reader.close();
    deflate.destroy();
  });

  test("a bomb is refused", async () => {
    const deflate = createDeflate({ dictionary: spdyDictionary() });
    const parts: Buffer[] = [];
    deflate.on("data", (part: Buffer) => parts.push(part));
    deflate.end(Buffer.alloc(10_000_000));
    await new Promise((resolve) => deflate.once("end", resolve));
    await expect(new HeaderReader().read(Buffer.concat(parts))).rejects.toThrow(
      "too large",
    );
  });

  test.each([
    ["not deflated", Buffer.from("ffffffffffff", "hex")],
    ["nothing", Buffer.alloc(0)],
  ])("%s is refused", async (_name, bytes) => {
    await expect(new HeaderReader().read(bytes)).rejects.toThrow();
  });
});

describe("sessions", () => {
  function pair(
    onStream: (stream: SpdyStream) => boolean,
  ): ReturnType<typeof createSpdySession>[] {
    const [near, far] = duplexPair();
    return [
      createSpdySession(near, { side: "client" }),
      createSpdySession(far, { side: "server", onStream }),
    ];
  }

  test("a stream carries both directions and half-closes", async () => {
    const [client] = pair((stream) => {
      void collect(stream, 1e7).then((bytes) =>
        stream.end(`${stream.headers["name"]}: ${bytes.length}`),
      );
      return true;
    });
    const streams = ["a", "b"].map((name) => client!.openStream({ name }));
    await Promise.all(streams.map((stream) => stream.accepted));
    streams[0]!.end(Buffer.alloc(3_000_000));
    streams[1]!.end("x");
    expect(String(await collect(streams[0]!, 1000))).toBe("a: 3000000");
    expect(String(await collect(streams[1]!, 1000))).toBe("b: 1");
  });

  test("a refused stream", async () => {
    const [client] = pair(() => false);
    const stream = client!.openStream({});
    await expect(stream.accepted).rejects.toThrow(
      "reset by the peer (status 3)",
    );
  });

  test("a reader that does not read holds up the connection, with bounded memory", async () => {
    let slow: SpdyStream | undefined;
    const [client] = pair((stream) => {
      slow = stream;
      return true;
    });
    const stream = client!.openStream({});
    let written = 0;
    while (stream.write(Buffer.alloc(64 * 1024)) || written < 3_000_000) {
      written += 64 * 1024;
      if (written > 50_000_000) break;
      await new Promise((resolve) => setImmediate(resolve));
    }
    await stream.accepted;
    expect(slow!.readableLength).toBeLessThan(1_300_000);
    stream.end();
    const total = (await collect(slow!, 1e9)).length;
    expect(total).toBeGreaterThanOrEqual(3_000_000);
  });

  test("bytes before a reset are still read", async () => {
    const [client] = pair((stream) => {
      stream.write("last words", () => stream.destroy());
      return true;
    });
    const stream = client!.openStream({});
    expect(String(await collect(stream, 1000))).toBe("last words");
  });

  test.each(["end", "ECONNRESET"])(
    "frames behind headers that are still inflated are read after the connection's %s",
    async (how) => {
      const duplex = new Duplex({
        read: () => undefined,
        write: (_chunk, _encoding, done) => done(),
      });
      const client = createSpdySession(duplex, { side: "client" });
      const stream = client.openStream({ streamtype: "error" });
      const answer = collect(stream, 100);
      const reply = new HeaderWriter().write({});
      duplex.push(
        controlFrame(frameTypes.synReply, 0, Buffer.concat([words(1), reply])),
      );
      await new Promise(setImmediate);
      duplex.push(dataHeader(1, 6, true));
      duplex.push(Buffer.from("status"));
      if (how === "end") duplex.push(null);
      // A socket gives what has come, then fails in the same turn of the loop.
      else
        setImmediate(() =>
          duplex.destroy(Object.assign(new Error(how), { code: how })),
        );
      expect((await answer).toString()).toBe("status");
      await (how === "end"
        ? client.closed
        : expect(client.closed).rejects.toThrow(how));
    },
  );

  test("when the connection breaks, streams end and closed settles", async () => {
    const [near, far] = duplexPair();
    const client = createSpdySession(near, { side: "client" });
    createSpdySession(far, { side: "server", onStream: () => true });
    const stream = client.openStream({});
    await stream.accepted;
    far.destroy();
    near.destroy();
    await client.closed;
    expect(String(await collect(stream, 10))).toBe("");
    stream.write("into the void");
    await expect(client.openStream({}).accepted).rejects.toThrow("closed");
  });

  test("more streams than allowed are refused, the others go on", async () => {
    const [near, far] = duplexPair();
    const client = createSpdySession(near, { side: "client" });
    createSpdySession(far, {
      side: "server",
      maxStreams: 2,
      onStream: () => true,
    });
    const streams = [1, 2, 3].map(() => client.openStream({}));
    const results = await Promise.allSettled(
      streams.map((stream) => stream.accepted),
    );
    expect(results.map(({ status }) => status)).toEqual([
      "fulfilled",
      "fulfilled",
      "rejected",
    ]);
  });

  test("pings of the client are answered", async () => {
    const [near, far] = duplexPair();
    createSpdySession(far, { side: "server" });
    const ping = controlFrame(frameTypes.ping, 0, words(1));
    near.write(ping);
    const answer = await new Promise<Buffer>((resolve) =>
      near.once("data", resolve),
    );
    expect(answer.equals(ping)).toBe(true);
  });

  test("a peer that reads no answers is not answered without end, and goes on once it reads", async () => {
    let taken = 0;
    let takeMore: (() => void) | undefined;
    let reading = false;
    const duplex = new Duplex({
      read: () => undefined,
      write(chunk: Buffer, _encoding, done) {
        taken += chunk.length;
        if (reading) setImmediate(done);
        else takeMore = done;
      },
    });
    createSpdySession(duplex, { side: "server" });
    const ping = controlFrame(frameTypes.ping, 0, words(1));
    const pings = Buffer.concat(Array.from({ length: 1000 }, () => ping));
    for (let round = 0; round < 20; round++) {
      duplex.push(pings);
      await new Promise(setImmediate);
    }
    expect(duplex.writableLength).toBeLessThan(64 * 1024);
    reading = true;
    takeMore?.();
    const all = 20 * pings.length;
    for (let turn = 0; turn < 100_000 && taken < all; turn++)
      await new Promise(setImmediate);
    expect(taken).toBe(all);
  });

  test("a connection with unread answers ends with its peer", async () => {
    const duplex = new Duplex({
      read: () => undefined,
      write: () => undefined,
    });
    const server = createSpdySession(duplex, { side: "server" });
    const ping = controlFrame(frameTypes.ping, 0, words(1));
    duplex.push(Buffer.concat(Array.from({ length: 5000 }, () => ping)));
    await new Promise(setImmediate);
    duplex.destroy();
    await server.closed;
  });

  test("many streams that are not read share what one connection may buffer", async () => {
    const taken: SpdyStream[] = [];
    const [client] = pair((stream) => {
      taken.push(stream);
      return true;
    });
    const streams = Array.from({ length: 64 }, () => client!.openStream({}));
    await Promise.all(streams.map((stream) => stream.accepted));
    for (let round = 0; round < 15; round++) {
      for (const stream of streams)
        if (!stream.writableNeedDrain) stream.write(Buffer.alloc(64 * 1024));
      for (let turn = 0; turn < 20; turn++)
        await new Promise((resolve) => setImmediate(resolve));
    }
    const buffered = taken.reduce(
      (sum, stream) => sum + stream.readableLength,
      0,
    );
    expect(buffered).toBeLessThan(10 * 1024 * 1024);
  });

  test("the same stream id twice is a protocol error", async () => {
    const [near, far] = duplexPair();
    const server = createSpdySession(far, {
      side: "server",
      onStream: () => true,
    });
    const writer = new HeaderWriter();
    const open = (): Buffer =>
      controlFrame(
        frameTypes.synStream,
        0,
        Buffer.concat([words(1, 0), Buffer.alloc(2), writer.write({})]),
      );
    near.write(Buffer.concat([open(), open()]));
    near.resume();
    await expect(server.closed).rejects.toThrow("bad stream id 1");
  });
});

/** Deterministic bytes (a small linear congruential generator). */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

describe("fuzz", () => {
  const writer = new HeaderWriter();
  const valid = Buffer.concat([
    controlFrame(
      frameTypes.synStream,
      0,
      Buffer.concat([
        words(1, 0),
        Buffer.alloc(2),
        writer.write({ streamtype: "error", port: "80" }),
      ]),
    ),
    controlFrame(
      frameTypes.synStream,
      0,
      Buffer.concat([
        words(3, 0),
        Buffer.alloc(2),
        writer.write({ streamtype: "data", port: "80" }),
      ]),
    ),
    dataHeader(3, 5, false),
    Buffer.from("hello"),
    controlFrame(frameTypes.settings, 0, words(0)),
    controlFrame(frameTypes.windowUpdate, 0, words(3, 100)),
    controlFrame(frameTypes.ping, 0, words(1)),
    dataHeader(3, 0, true),
    controlFrame(frameTypes.rstStream, 0, words(1, 5)),
    controlFrame(frameTypes.goAway, 0, words(1, 0)),
  ]);

  test("mutated and random bytes end in an orderly way", async () => {
    const next = random(20250101);
    for (let round = 0; round < 400; round++) {
      const bytes =
        round % 4 === 0
          ? Buffer.from(
              Array.from({ length: 200 }, () => Math.floor(next() * 256)),
            )
          : Buffer.from(valid);
      for (let flips = Math.floor(next() * 6); flips > 0; flips--)
        bytes[Math.floor(next() * bytes.length)] = Math.floor(next() * 256);
      const [near, far] = duplexPair();
      const server = createSpdySession(far, {
        side: "server",
        onStream: (stream) => {
          stream.resume();
          return true;
        },
      });
      near.resume();
      near.on("error", () => undefined);
      for (let at = 0; at < bytes.length;) {
        const size = 1 + Math.floor(next() * 50);
        near.write(bytes.subarray(at, at + size));
        at += size;
      }
      near.end();
      await server.closed.catch(() => undefined);
      near.destroy();
    }
  });
});

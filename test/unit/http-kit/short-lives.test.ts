// What a request holds is gone with the small collections after its end: nothing from before it may keep it until a full
// one. Measured by what comes to the old generation while requests come and go; a full collection in between, and a slow
// machine, only make it less.
import { EventEmitter } from "node:events";
import { once } from "node:events";
import * as http2 from "node:http2";
import type { ServerHttp2Session } from "node:http2";
import { PassThrough } from "node:stream";
import * as v8 from "node:v8";
import * as vm from "node:vm";
import pino from "pino";
import {
  createCertificateAuthority,
  issueCertificate,
  YEAR_MS,
} from "../../../api/pki/certificate.ts";
import { readBody } from "../../../http-kit/body.ts";
import type { Exchange, Http2Exchange } from "../../../http-kit/exchange.ts";
import { arrive } from "../../../http-kit/intake/arrive.ts";
import { Intake } from "../../../http-kit/intake/intake.ts";
import {
  SessionDeadline,
  type TimedStream,
} from "../../../http-kit/connections/session-deadline.ts";
import { Listener } from "../../../http-kit/listener.ts";
import { StreamTable } from "../../../http-kit/connections/stream-table.ts";
import { eventually } from "../../support/eventually.ts";

v8.setFlagsFromString("--expose-gc");
const collect = vm.runInNewContext("gc") as (options?: {
  type: "minor";
}) => void;

const nowMs = Date.now();
const ca = createCertificateAuthority({ subject: { commonName: "ca" }, nowMs });

async function listening(handle: (exchange: Exchange) => void) {
  const pair = issueCertificate(ca, {
    subject: { commonName: "server" },
    usages: ["server auth"],
    ipAddresses: ["127.0.0.1"],
    validityMs: YEAR_MS,
    nowMs,
  });
  const listener = new Listener({
    address: "127.0.0.1",
    port: 0,
    tls: { cert: pair.certificate, key: pair.key },
    maxStreamsPerConnection: 100,
    goawayChance: 0,
    logger: pino({ level: "silent" }),
    handle,
  });
  await listener.listen();
  return listener;
}

const rounds = 24;
/** Few of them are open at its end. */
const ofRound = 100;
const heldNumbers = 512;
const heldBytes = rounds * ofRound * heldNumbers * 8;

/** Doubles, so that each holds as many bytes as it says. */
const made = (): number[] => new Array<number>(heldNumbers).fill(0.5);

function oldBytes(): number {
  return v8
    .getHeapSpaceStatistics()
    .filter(({ space_name: name }) => !name.startsWith("new"))
    .reduce((sum, { space_used_size: size }) => sum + size, 0);
}

/** Of what all requests held, the part that came to the old generation. */
function promotedPart(request: (index: number) => void): number {
  // Compiled, and the tables have their size.
  for (let index = 0; index < 100; index++) request(index);
  collect();
  const before = oldBytes();
  for (let round = 1; round <= rounds; round++) {
    for (let at = 0; at < ofRound; at++) request(round * 1000 + at);
    collect({ type: "minor" });
    collect({ type: "minor" });
  }
  return (oldBytes() - before) / heldBytes;
}

test("the measure: what stays comes to the old generation", () => {
  const all: unknown[] = [];
  expect(promotedPart(() => all.push(made()))).toBeGreaterThan(0.8);
});

test("a request that was handed on", () => {
  let turn: (() => void) | undefined;
  const intake = new Intake({ nextTurn: (next) => void (turn = next) });
  const handle = { readStop: () => undefined, readStart: () => undefined };
  const intaken = intake.add(handle, "192.0.2.1", false);
  const peer = { remoteAddress: "", clientCertificate: undefined, intaken };
  let handled = 0;
  const part = promotedPart(() => {
    const held = made();
    const exchange = { peer, closed: false, held } as unknown as Exchange;
    arrive(exchange, () => void (handled += held.length));
    turn?.();
  });
  expect(handled).toBe((100 + rounds * ofRound) * heldNumbers);
  expect(part).toBeLessThan(0.5);
});

/** Four are open at a time; each is closed as the fourth after it opens. */
function fourOpen(open: (index: number) => () => void) {
  const closing: (() => void)[] = [];
  return (index: number): void => {
    closing.push(open(index));
    if (closing.length > 4) closing.shift()!();
  };
}

test("a stream under a session's deadline", () => {
  const deadline = new SessionDeadline(1000, 1000, () => 0);
  const session = new EventEmitter() as unknown as ServerHttp2Session;
  deadline.add(session);
  const part = promotedPart(
    fourOpen(() => {
      const stream = { writableEnded: true, bufferSize: 0, held: made() };
      return deadline.begin(session, stream as unknown as TimedStream);
    }),
  );
  deadline.stop();
  expect(part).toBeLessThan(0.5);
});

test("a stream of a session", () => {
  const table = new StreamTable<number[]>();
  const part = promotedPart(
    fourOpen((index) => {
      table.set(index, made());
      return () => table.delete(index);
    }),
  );
  expect(table.size).toBe(4);
  expect(part).toBeLessThan(0.5);
});

test("a body that is received", async () => {
  const receiving = new Set<() => void>();
  const open: PassThrough[] = [];
  // The streams live on: an answered one waits until its client has read.
  const refs: WeakRef<object>[] = [];
  const read = async (): Promise<number> => {
    const body = new PassThrough();
    open.push(body);
    const gate = { received: () => undefined, take: () => undefined };
    refs.push(new WeakRef(gate));
    const reading = readBody(body, undefined, {
      gate,
      receiving,
      onClose: (callback) => void body.once("close", callback),
    });
    body.write("ab");
    body.end("c");
    const bytes = await reading;
    refs.push(new WeakRef(bytes));
    return bytes.length;
  };
  expect(await read()).toBe(3);
  expect(receiving.size).toBe(0);
  await eventually(() => {
    collect();
    return refs.every((ref) => ref.deref() === undefined);
  });
  expect(open).toHaveLength(1);
});

test("a request whose answer waits for its client", async () => {
  const refs: WeakRef<object>[] = [];
  let streams = 0;
  const listener = await listening((exchange) => {
    refs.push(new WeakRef(exchange), new WeakRef(exchange.headers));
    exchange.respond(200, {}, "not read");
    (exchange as Http2Exchange).http2Stream.once("close", () => streams--);
    streams++;
  });
  const client = http2.connect(`https://127.0.0.1:${listener.port}`, {
    ca: ca.certificate,
    settings: { initialWindowSize: 0 },
  });
  try {
    await once(client, "remoteSettings");
    for (let at = 0; at < 3; at++) {
      const stream = client.request({ ":path": "/" }, { endStream: true });
      stream.on("error", () => undefined);
      await once(stream, "response");
    }
    await eventually(() => {
      collect();
      return refs.every((ref) => ref.deref() === undefined);
    });
    expect([streams, refs.length]).toEqual([3, 6]);
  } finally {
    client.destroy();
    listener.destroy();
  }
});

describe("a table of streams", () => {
  test("has what was set last and not deleted", () => {
    const table = new StreamTable<string>();
    expect(table.set(1, "a").set(3, "b").set(1, "c").size).toBe(2);
    expect(table.get(1)).toBe("c");
    expect(table.delete(1)).toBe(true);
    expect(table.delete(1)).toBe(false);
    expect([table.get(1), table.has(1), table.has(3)]).toEqual([
      undefined,
      false,
      true,
    ]);
  });

  test("is gone through while its streams are deleted", () => {
    const table = new StreamTable<string>();
    for (let id = 1; id <= 9; id += 2) table.set(id, `s${id}`);
    const seen: string[] = [];
    table.forEach((stream, id) => {
      seen.push(stream);
      table.delete(id);
      table.delete(id + 2);
    });
    expect(seen).toEqual(["s1", "s5", "s9"]);
    expect(table.size).toBe(0);
  });
});

describe("values of HTTP/2 headers", () => {
  v8.setFlagsFromString("--allow-natives-syntax");
  // An external string could become a name itself; one that refers to a name could not.
  const holdsText = vm.runInThisContext(
    "(text) => %IsInPlaceInternalizableString(text)",
  ) as (text: string) => boolean;

  /** The values of the headers of each request, asked one after the other. */
  async function valuesOf(
    count: number,
    headersOf: (index: number) => http2.OutgoingHttpHeaders,
  ): Promise<string[][]> {
    const values: string[][] = [];
    const listener = await listening((exchange) => {
      const { rawHeaders } = exchange as Http2Exchange;
      values.push(rawHeaders.filter((_, at) => at % 2 === 1));
      exchange.respond(200, {});
    });
    const session = http2.connect(`https://127.0.0.1:${listener.port}`, {
      ca: ca.certificate,
    });
    try {
      for (let index = 0; index < count; index++) {
        const stream = session.request(headersOf(index), { endStream: true });
        stream.resume();
        await once(stream, "close");
      }
    } finally {
      session.close();
      listener.destroy();
    }
    return values;
  }

  test("that come again hold no text of their own", async () => {
    const sent = (index: number): http2.OutgoingHttpHeaders => ({
      ":path": "/api/v1/namespaces/default/configmaps",
      authorization: `Bearer ${"a".repeat(900)}`,
      accept: "application/json",
      "x-count": String(index % 2),
      "x-host": "192.0.2.1:6443",
    });
    const values = await valuesOf(200, sent);
    expect(values[199]).toEqual(values[1]);
    expect(values[199]).toContain(`Bearer ${"a".repeat(900)}`);
    const long = values[199]!.filter(({ length }) => length > 5);
    expect(long).toHaveLength(5);
    expect(long.filter(holdsText)).toEqual([]);
  });

  test("that never come again are what they were, and the others known again", async () => {
    const path = (index: number): string => `/paths/${index}/${"p".repeat(20)}`;
    const values = await valuesOf(6000, (index) => ({
      ":path": path(index),
      "x-name": index % 2 ? "__proto__" : "constructor",
    }));
    for (const [index, each] of values.entries()) {
      expect(each).toContain(path(index));
      expect(each).toContain(index % 2 ? "__proto__" : "constructor");
    }
    const last = values.at(-1)!.find((each) => each === "__proto__")!;
    expect(holdsText(last)).toBe(false);
  });
});

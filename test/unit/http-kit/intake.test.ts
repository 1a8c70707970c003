// Which connections are read: with handles that note it, and over TLS through a listener.
import { once } from "node:events";
import * as http2 from "node:http2";
import * as tls from "node:tls";
import pino from "pino";
import {
  createCertificateAuthority,
  issueCertificate,
  YEAR_MS,
} from "../../../api/pki/certificate.ts";
import type { Exchange } from "../../../http-kit/exchange.ts";
import { Intake, type Intaken } from "../../../http-kit/intake/intake.ts";
import { Listener } from "../../../http-kit/listener.ts";
import { eventually } from "../../support/eventually.ts";
import { FakeClock } from "../../support/fake-clock.ts";

describe("lanes", () => {
  let clock: FakeClock;
  let turns: (() => void)[];
  let intake: Intake;

  beforeEach(() => {
    clock = new FakeClock();
    turns = [];
    intake = new Intake({
      nextTurn: (callback) => void turns.push(callback),
      now: () => clock.monotonic(),
      after: (ms, callback) => void clock.after(ms, callback),
    });
  });

  const nextTurn = (): void => {
    for (const turn of turns.splice(0)) turn();
  };

  interface Connection {
    readonly intaken: Intaken;
    readonly name: string;
    readonly reads: boolean;
  }
  function connect(name: string, handshakes = false): Connection {
    let reads = true;
    const handle = {
      reading: true,
      readStop: () => (reads = false),
      readStart: () => (reads = true),
    };
    const intaken = intake.add(handle, name, handshakes);
    return {
      intaken,
      name,
      get reads() {
        return reads;
      },
    };
  }
  const many = (name: string, count: number): Connection[] =>
    Array.from({ length: count }, () => connect(name));
  const readOf = (all: readonly Connection[]): Connection[] =>
    all.filter(({ reads }) => reads);
  const arrive = (
    one: Connection,
    handle: () => void = () => undefined,
    closed = false,
  ): void => one.intaken.arrived({ closed, handle }, one.name);

  test("what one sends in a turn of the loop is bounded, whoever else sends meanwhile", () => {
    const loud = many("loud", 1000);
    const quiet = many("quiet", 3);
    // All of them are known to the lane.
    for (const one of loud) {
      arrive(one);
      nextTurn();
    }
    let parsed = 0;
    for (const one of loud)
      if (one.reads) {
        arrive(one);
        parsed++;
      }
    expect(parsed).toBeGreaterThan(40);
    expect(parsed).toBeLessThanOrEqual(64);
    expect(readOf(loud)).toEqual([]);
    expect(readOf(quiet)).toHaveLength(3);
    for (const one of quiet) arrive(one);
    nextTurn();
    expect(readOf(loud)).toHaveLength(8);
    expect(readOf(quiet)).toHaveLength(3);
    // Who sends nothing now is read further, and all have their turn.
    for (let turn = 0; turn < 140; turn++) {
      clock.advance(2);
      nextTurn();
    }
    expect(readOf(loud)).toHaveLength(1000);
    expect([intake.held, turns.length]).toEqual([0, 0]);
  });

  test("requests that wait to begin hold the lane, and it is read as they begin", () => {
    const loud = many("loud", 100);
    const begin: (() => void)[] = [];
    let turn = 0;
    for (const one of loud.slice(0, 64)) {
      arrive(one);
      if (++turn % 8 === 0) nextTurn();
      begin.push(one.intaken.waits());
    }
    // The others have not sent anything yet, and are in no lane.
    for (const one of loud.slice(64)) {
      if (!one.reads) continue;
      arrive(one);
      begin.push(one.intaken.waits());
      nextTurn();
    }
    expect(intake.held).toBe(100);
    nextTurn();
    expect(readOf(loud)).toEqual([]);
    for (const next of begin.splice(0, 40)) next();
    nextTurn();
    expect(readOf(loud)).toHaveLength(8);
    expect(readOf(loud)[0]).toBe(loud[0]);
    for (const next of begin.splice(0)) next();
    for (let at = 0; at < 20; at++) nextTurn();
    expect([intake.held, turns.length]).toEqual([0, 0]);
  });

  test("who waits long is read all the same, to be refused where that is due", () => {
    const loud = many("loud", 80);
    const begin = loud.map((one) => {
      arrive(one);
      return one.intaken.waits();
    });
    nextTurn();
    expect(intake.held).toBe(80);
    clock.advance(200);
    expect(intake.held).toBe(80);
    clock.advance(150);
    expect(intake.held).toBe(0);
    expect(clock.pending).toBe(0);
    for (const one of begin) one();
    for (let turn = 0; turn < 20; turn++) nextTurn();
    expect(turns).toEqual([]);
  });

  test("of many requests that one read brings a few are handed on in a turn, in their order", () => {
    const [loud, other, quiet] = [
      connect("loud"),
      connect("other"),
      connect("quiet"),
    ];
    const passed: string[] = [];
    for (let at = 0; at < 100; at++)
      arrive(loud, () => passed.push(`loud ${at}`));
    expect(passed).toHaveLength(8);
    expect(loud.reads).toBe(false);
    arrive(quiet, () => passed.push("quiet"));
    expect(passed.splice(0)).toHaveLength(9);
    nextTurn();
    expect(passed.splice(0)).toEqual(
      Array.from({ length: 8 }, (_, at) => `loud ${at + 8}`),
    );
    // Two that are behind share the turn.
    for (let at = 0; at < 20; at++)
      arrive(other, () => passed.push(`other ${at}`));
    passed.splice(0);
    nextTurn();
    expect(passed.filter((one) => one.startsWith("other"))).toHaveLength(4);
    for (let turn = 0; turn < 20; turn++) nextTurn();
    expect(passed.filter((one) => one.startsWith("loud")).at(-1)).toBe(
      "loud 99",
    );
    expect([loud.reads, intake.held, turns.length]).toEqual([true, 0, 0]);
  });

  test("what waits for seats keeps others of its lane back, a quarter of a second at most", () => {
    const loud = connect("loud");
    let passed = 0;
    const begin: (() => void)[] = [];
    for (let at = 0; at < 100; at++)
      arrive(loud, () => {
        passed++;
        begin.push(loud.intaken.waits());
      });
    for (let turn = 0; turn < 20; turn++) nextTurn();
    expect([passed, turns.length]).toEqual([64, 0]);
    for (const next of begin.splice(0, 3)) next();
    nextTurn();
    expect(passed).toBe(67);
    clock.advance(400);
    for (let turn = 0; turn < 20; turn++) nextTurn();
    expect(passed).toBe(100);
    for (const next of begin) next();
    for (let turn = 0; turn < 3; turn++) nextTurn();
    clock.advance(400);
    expect([turns.length, clock.pending]).toEqual([0, 0]);
  });

  /** Eighty requests wait all the time. @returns how many were handed on */
  function flood(one: Connection, ms: number, every: () => void): number {
    let passed = 0;
    let waiting = 0;
    for (let at = 0; at < ms * 10; at++) {
      for (; waiting < 80 && one.reads; waiting++)
        arrive(one, () => {
          passed++;
          waiting--;
        });
      if (at % 10 === 9) {
        every();
        clock.advance(1);
      }
      nextTurn();
    }
    return passed;
  }

  test("a flood goes on at a pace while others ask, and as fast as the turns without them", () => {
    const [loud, quiet] = [connect("loud"), connect("quiet")];
    const alone = flood(loud, 1000, () => undefined);
    expect(alone).toBeGreaterThan(50_000);
    let served = 0;
    const ask = (): void => arrive(quiet, () => served++);
    const beside = flood(loud, 1000, () => {
      ask();
      expect(served).toBeGreaterThan(0);
    });
    expect(served).toBe(1000);
    expect(beside).toBeGreaterThan(1000);
    expect(beside).toBeLessThan(8000);
    // A second after the others' last request it is alone again.
    flood(loud, 1001, () => undefined);
    expect(flood(loud, 100, () => undefined)).toBeGreaterThan(5000);
  });

  test("who starts sixty informers at once is not paced, whoever asks beside", () => {
    const [client, other] = [connect("client"), connect("other")];
    let lists = 0;
    let watches = 0;
    for (let at = 0; at < 60; at++)
      arrive(client, () => {
        lists++;
        arrive(client, () => watches++);
      });
    // No time passes: what a pace would hold back waits for the clock.
    for (let turn = 0; turn < 16; turn++) {
      arrive(other);
      nextTurn();
    }
    expect([lists, watches]).toEqual([60, 60]);
  });

  test("requests that their client has reset are dropped at once", () => {
    const loud = connect("loud");
    let passed = 0;
    for (let at = 0; at < 90; at++)
      arrive(loud, () => passed++, at >= 8 && at < 80);
    nextTurn();
    expect(passed).toBe(16);
  });

  test("handshakes begin one in a turn, addresses in turn", () => {
    const loud = Array.from({ length: 20 }, () => connect("10.0.0.1", true));
    const quiet = connect("10.0.0.2", true);
    expect(readOf([...loud, quiet])).toEqual([]);
    nextTurn();
    nextTurn();
    expect(quiet.reads).toBe(true);
    expect(readOf(loud)).toHaveLength(1);
    loud[5]!.intaken.closed();
    for (let turn = 0; turn < 20; turn++) nextTurn();
    expect(readOf(loud)).toHaveLength(19);
    expect([intake.held, turns.length]).toEqual([0, 0]);
  });

  test("an upgraded connection is read from then on; one that pauses by itself is left alone", () => {
    const loud = many("loud", 65);
    for (const one of loud.slice(1)) arrive(one);
    expect(readOf(loud)).toEqual([loud[0]]);
    loud[4]!.intaken.upgraded();
    expect(loud[4]!.reads).toBe(true);
    Object.assign(loud[7]!.intaken.handle, { reading: false });
    for (let turn = 0; turn < 9; turn++) nextTurn();
    expect(loud.filter(({ reads }) => !reads)).toEqual([loud[7]]);
  });

  test("after a storm all are read or closed, and nothing is left", () => {
    let seed = 5;
    const random = (below: number): number =>
      (seed = (seed * 48271) % 0x7fffffff) % below;
    let open = Array.from({ length: 300 }, (_, at) => connect(`t${at % 3}`));
    const begin: (() => void)[] = [];
    let sent = 0;
    let passed = 0;
    for (let step = 0; step < 20_000; step++) {
      const one = open[random(open.length)]!;
      const what = random(100);
      if (what < 70) {
        if (!one.reads) continue;
        const name = random(9) === 0 ? `u${random(4)}` : one.name;
        const waits = random(2) === 1;
        const handle = (): void => {
          passed++;
          if (waits) begin.push(one.intaken.waits());
        };
        sent++;
        one.intaken.arrived({ closed: false, handle }, name);
      } else if (what < 85) begin.splice(random(begin.length + 1), 1)[0]?.();
      else if (what < 98) nextTurn();
      else if (what < 99) clock.advance(random(100));
      else if (open.length > 200) {
        one.intaken.closed();
        open = open.filter((other) => other !== one);
      }
    }
    for (let turn = 0; turn < 400; turn++) {
      for (const next of begin.splice(0)) next();
      clock.advance(10);
      nextTurn();
    }
    expect(passed).toBe(sent);
    expect(readOf(open)).toHaveLength(open.length);
    expect([intake.held, turns.length, clock.pending]).toEqual([0, 0, 0]);
    for (const { intaken } of open) intaken.closed();
    expect(intake.lanes).toBe(0);
  });
});

describe("a listener", () => {
  const nowMs = Date.now();
  const ca = createCertificateAuthority({
    subject: { commonName: "ca" },
    nowMs,
  });
  const pair = issueCertificate(ca, {
    subject: { commonName: "server" },
    usages: ["server auth"],
    ipAddresses: ["127.0.0.1"],
    validityMs: YEAR_MS,
    nowMs,
  });
  let listener: Listener;
  let handle: (exchange: Exchange) => void;
  let ofTurn = 0;
  let most = 0;

  beforeEach(async () => {
    most = ofTurn = 0;
    listener = new Listener({
      address: "127.0.0.1",
      port: 0,
      tls: { cert: pair.certificate, key: pair.key },
      maxStreamsPerConnection: 100,
      goawayChance: 0,
      logger: pino({ level: "silent" }),
      handle: (exchange) => {
        if (ofTurn++ === 0) setImmediate(() => (ofTurn = 0));
        most = Math.max(most, ofTurn);
        handle(exchange);
      },
    });
    await listener.listen();
  });
  afterEach(() => listener.destroy());

  const answer = (exchange: Exchange): void =>
    exchange.respond(200, {}, exchange.url);

  test("a hundred connections that send at once are read in several turns, and all are answered", async () => {
    handle = answer;
    const sockets = await Promise.all(
      Array.from({ length: 100 }, async () => {
        const socket = tls.connect({
          port: listener.port,
          host: "127.0.0.1",
          ca: ca.certificate,
          ALPNProtocols: ["http/1.1"],
        });
        await once(socket, "secureConnect");
        return socket;
      }),
    );
    const ask = (): Promise<unknown> => {
      const answered = sockets.map((socket) => once(socket, "data"));
      for (const socket of sockets)
        socket.write("GET /1 HTTP/1.1\r\nHost: x\r\n\r\n");
      return Promise.all(answered);
    };
    // The first requests put them into the lane.
    for (const socket of sockets) {
      socket.write("GET /0 HTTP/1.1\r\nHost: x\r\n\r\n");
      await once(socket, "data");
    }
    for (let round = 0; round < 3; round++) {
      most = 0;
      await ask();
      expect(most).toBeLessThanOrEqual(17);
      expect(most).toBeGreaterThan(4);
    }
    for (const socket of sockets) socket.destroy();
  });

  test("over HTTP/2 what waits to begin keeps its connection from sending more", async () => {
    const waiting: Exchange[] = [];
    const begin: (() => void)[] = [];
    handle = (exchange) => {
      waiting.push(exchange);
      begin.push(exchange.waits!()!);
    };
    const clients = await Promise.all(
      [1, 2].map(async () => {
        const client = http2.connect(`https://127.0.0.1:${listener.port}`, {
          ca: ca.certificate,
        });
        await once(client, "remoteSettings");
        return client;
      }),
    );
    const answers: Promise<unknown>[] = [];
    const ask = (client: http2.ClientHttp2Session, count: number): void => {
      for (let at = 0; at < count; at++) {
        const stream = client.request({ ":path": "/" });
        stream.resume();
        answers.push(once(stream, "end"));
      }
    };
    ask(clients[0]!, 70);
    await eventually(() => waiting.length === 70);
    ask(clients[0]!, 20);
    // What follows is not read before some have begun, or for a quarter of a second.
    for (let turn = 0; turn < 10; turn++)
      await new Promise((resolve) => setImmediate(resolve));
    expect(waiting).toHaveLength(70);
    for (const next of begin.splice(0)) next();
    await eventually(() => waiting.length === 90);
    for (const next of begin.splice(0)) next();
    waiting.forEach(answer);
    await Promise.all(answers);
    for (const client of clients) client.destroy();
  });
});

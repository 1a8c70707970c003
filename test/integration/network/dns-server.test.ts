// The DNS server in its thread, over real sockets: the cluster's names from an API server's objects, others' names through
// it, and what it does about clients and servers that do not behave.
import * as dgram from "node:dgram";
import { Resolver } from "node:dns/promises";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import * as net from "node:net";
import * as path from "node:path";
import * as packet from "dns-packet";
import { pino } from "pino";
import { systemClock } from "../../../api/clock.ts";
import {
  configMaps,
  endpointSlices,
  namespaces,
  services,
} from "../../../client/resources.ts";
import { startCluster, type Cluster } from "../../../index.ts";
import { dnsFamilies } from "../../../network/dns/dns-metrics.ts";
import { DnsPorts } from "../../../network/dns/dns-ports.ts";
import { DnsThread } from "../../../network/dns/dns-thread.ts";
import type { Upstream } from "../../../network/dns/upstream-socket.ts";
import {
  dnsConfigMap,
  dnsNamespace,
  ZoneFeed,
} from "../../../network/dns/zone-feed.ts";
import { bundleProgram } from "../../support/bundle-program.ts";
import { eventually } from "../../support/eventually.ts";
import { freePort, freePorts } from "../../support/free-port.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";
import { question, recordLines } from "../../unit/network/dns/dns-questions.ts";

const tempDirectory = useTempDirectories();
const logger = pino({ level: "silent" });

/** Another DNS server: what it does is the test's. */
class OtherServer {
  readonly asked: string[] = [];
  onQuery: (
    query: packet.DecodedPacket,
    reply: (answer: Buffer) => void,
    from: dgram.RemoteInfo,
  ) => void = (query, reply) => {
    const [first] = query.questions ?? [];
    reply(
      this.answer(query, [
        { name: first!.name, type: "A", ttl: 300, data: "192.0.2.1" },
      ]),
    );
  };
  /** Over TCP; the same answer unless set. */
  tcpAnswer: ((query: packet.DecodedPacket) => Buffer) | undefined;
  readonly socket = dgram.createSocket("udp4");
  readonly #tcp = net.createServer((connection) => {
    connection.on("error", () => undefined);
    connection.once("data", (bytes: Buffer) => {
      const answer = this.tcpAnswer?.(packet.decode(bytes.subarray(2)));
      if (!answer) return connection.destroy();
      const length = Buffer.alloc(2);
      length.writeUInt16BE(answer.length);
      return connection.end(Buffer.concat([length, answer]));
    });
  });

  answer(
    query: packet.DecodedPacket,
    answers: packet.Answer[],
    more: Partial<packet.Packet> = {},
  ): Buffer {
    const { rcode = 0, ...rest } = more as Partial<packet.Packet> & {
      rcode?: number;
    };
    return packet.encode({
      type: "response",
      ...(query.id === undefined ? {} : { id: query.id }),
      flags: packet.RECURSION_AVAILABLE | rcode,
      ...(query.questions ? { questions: query.questions } : {}),
      answers,
      ...rest,
    });
  }

  async start(): Promise<Upstream> {
    this.socket.on("message", (bytes, from) => {
      const query = packet.decode(bytes);
      this.asked.push(query.questions?.[0]?.name ?? "");
      this.onQuery(
        query,
        (answer) => this.socket.send(answer, from.port, from.address),
        from,
      );
    });
    // One of the system's own for UDP might be a connection's of TCP.
    const port = await freePort();
    this.socket.bind(port, "127.0.0.1");
    await once(this.socket, "listening");
    this.#tcp.listen(port, "127.0.0.1");
    await once(this.#tcp, "listening");
    return { address: "127.0.0.1", port };
  }

  stop(): void {
    this.socket.close();
    this.#tcp.close();
  }
}

let cluster: Cluster;
let thread: DnsThread;
/** Gives other servers up soon: for those that are not to be believed. */
let impatient: DnsThread;
let feed: ZoneFeed;
let workerFile: string;
let upstream: Upstream;
let secondUpstream: Upstream;
const other = new OtherServer();
const second = new OtherServer();
const problems: string[] = [];
let resolvers: Upstream[] = [];

beforeAll(async () => {
  workerFile = path.join(tempDirectory(), "dns-worker.cjs");
  await bundleProgram(
    path.join(__dirname, "../../../network/dns/dns-worker.ts"),
    workerFile,
  );
  // A message that no program sends fails the thread as a defect would.
  const fragile = path.join(tempDirectory(), "fragile-worker.cjs");
  writeFileSync(
    fragile,
    `require(${JSON.stringify(workerFile)});
require("node:worker_threads").parentPort.on("message", ({ kind }) => {
  if (kind === "crash") throw new Error("a defect");
});`,
  );
  workerFile = fragile;
  upstream = await other.start();
  secondUpstream = await second.start();
  resolvers = [upstream];
  cluster = await startCluster({ controllers: false, scheduler: false });
  const start = async (upstreamTimeoutMs: number): Promise<DnsThread> => {
    const [one, two] = (await freePorts(2)) as [number, number];
    return new DnsThread({
      data: {
        domain: "cluster.local",
        listen: [
          { address: "127.0.0.1", port: one },
          { address: "127.0.0.2", port: two },
        ],
        allowed: ["127.0.0.1/32"],
        serviceAddresses: ["10.43.0.10"],
        upstreamTimeoutMs,
      },
      onStarted: () => feed.resend(),
      workerFile,
      clock: systemClock,
      logger,
    });
  };
  thread = await start(5000);
  impatient = await start(300);
  feed = new ZoneFeed({
    client: cluster.client,
    post: (message) => {
      thread.post(message);
      impatient.post(message);
    },
    resolvers: () => resolvers,
    onProblem: (each) => problems.push(...each),
  });
  await thread.start();
  await impatient.start();
  await feed.start();
  await cluster.client.resource(namespaces).create({
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: "shop" },
    spec: {},
  });
  await cluster.client.resource(services).create({
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "db", namespace: "shop" },
    spec: { clusterIP: "None", ports: [{ name: "sql", port: 5432 }] },
  });
  await cluster.client.resource(services).create({
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "out", namespace: "shop" },
    spec: { type: "ExternalName", externalName: "outside.example" },
  });
});

afterAll(async () => {
  feed.stop();
  await thread.stop();
  await impatient.stop();
  await cluster.stop();
  other.stop();
  second.stop();
});

/** Over UDP to the server; undefined when nothing comes within the time. */
async function ask(
  bytes: Buffer,
  {
    port = thread.ports[0]!,
    from = "127.0.0.1",
    to = "127.0.0.1",
    waitMs = 20_000,
  } = {},
): Promise<Buffer | undefined> {
  const socket = dgram.createSocket("udp4");
  socket.bind(0, from);
  await once(socket, "listening");
  try {
    return await new Promise((resolve) => {
      const timer = setTimeout(() => resolve(undefined), waitMs);
      socket.once("message", (answer) => {
        clearTimeout(timer);
        resolve(answer);
      });
      socket.send(bytes, port, to);
    });
  } finally {
    socket.close();
  }
}

async function lines(name: string, type: packet.RecordType): Promise<string[]> {
  const answer = await ask(question(name, type));
  const read = packet.decode(answer!);
  return [
    (read as { rcode?: string }).rcode ?? "",
    ...recordLines(read.answers).toSorted(),
  ];
}

describe("the cluster's names", () => {
  test("endpoints come and go", async () => {
    const name = "db.shop.svc.cluster.local";
    expect(await lines(name, "A")).toEqual(["NXDOMAIN"]);
    await cluster.client.resource(endpointSlices).create({
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      metadata: {
        name: "db-1",
        namespace: "shop",
        labels: { "kubernetes.io/service-name": "db" },
      },
      addressType: "IPv4",
      endpoints: [{ addresses: ["10.42.0.9"], hostname: "db-0" }],
      ports: [{ name: "sql", port: 5432 }],
    });
    await eventually(async () => (await lines(name, "A"))[0] === "NOERROR");
    expect(await lines(name, "A")).toEqual(["NOERROR", `${name} A 10.42.0.9`]);
    expect(await lines(`_sql._tcp.${name}`, "SRV")).toEqual([
      "NOERROR",
      `_sql._tcp.${name} SRV 0 5432 db-0.${name}`,
    ]);
    await cluster.client.resource(endpointSlices).delete("db-1", "shop");
    await eventually(async () => (await lines(name, "A"))[0] === "NXDOMAIN");
  });

  test("a resolver of the C library's kind reads them", async () => {
    const resolver = new Resolver();
    resolver.setServers([`127.0.0.1:${thread.ports[0]}`]);
    await cluster.client.resource(services).create({
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "web", namespace: "shop" },
      spec: { ports: [{ name: "http", port: 80 }] },
    });
    const found = await eventually(
      async () => (await resolver.resolve4("web.shop.svc.cluster.local"))[0],
    );
    const { spec } = await cluster.client.resource(services).get("web", "shop");
    expect(found).toBe(spec?.clusterIP);
    await expect(
      resolver.resolveSrv("_http._tcp.web.shop.svc.cluster.local"),
    ).resolves.toMatchObject([
      { name: "web.shop.svc.cluster.local", port: 80 },
    ]);
    await expect(resolver.reverse(found)).resolves.toEqual([
      "web.shop.svc.cluster.local",
    ]);
  });

  test("the thread dies and is there again, with the whole zone", async () => {
    const [port] = thread.ports;
    const before = thread.restarts;
    thread.post({ kind: "crash" } as never);
    await eventually(() => thread.restarts === before + 1);
    await eventually(() => thread.ready);
    expect(thread.ports[0]).toBe(port);
    expect(await lines("web.shop.svc.cluster.local", "A")).toMatchObject([
      "NOERROR",
      expect.stringContaining("web.shop"),
    ]);
  });
});

describe("others' names", () => {
  test("are asked once, and kept", async () => {
    const asked = (name: string): number =>
      other.asked.filter((each) => each === name).length;
    expect(await lines("kept.example", "A")).toEqual([
      "NOERROR",
      "kept.example A 192.0.2.1",
    ]);
    const again = packet.decode((await ask(question("KEPT.example", "A")))!);
    expect(again.questions?.[0]?.name).toBe("KEPT.example");
    expect((again.answers![0] as { ttl: number }).ttl).toBeLessThanOrEqual(30);
    expect(asked("kept.example")).toBe(1);
  });

  test("an alias out of the cluster comes with its addresses", async () => {
    expect(await lines("out.shop.svc.cluster.local", "A")).toEqual([
      "NOERROR",
      "out.shop.svc.cluster.local CNAME outside.example",
      "outside.example A 192.0.2.1",
    ]);
  });

  test("an answer that was cut is fetched over TCP", async () => {
    const many = Array.from({ length: 200 }, (_, n): packet.Answer => ({
      name: "big.example",
      type: "A",
      ttl: 60,
      data: `192.0.2.${n}`,
    }));
    const usual = other.onQuery;
    other.onQuery = (query, reply) =>
      reply(other.answer(query, [], { flags: packet.TRUNCATED_RESPONSE }));
    other.tcpAnswer = (query) => other.answer(query, many);
    const cut = packet.decode((await ask(question("big.example")))!);
    expect((cut as { flag_tc?: boolean }).flag_tc).toBe(true);
    const resolver = new Resolver();
    resolver.setServers([`127.0.0.1:${thread.ports[0]}`]);
    await expect(resolver.resolve4("big.example")).resolves.toHaveLength(200);
    other.onQuery = usual;
    other.tcpAnswer = undefined;
  });

  test.each<
    [
      string,
      (query: packet.DecodedPacket, reply: (answer: Buffer) => void) => void,
    ]
  >([
    [
      "another ID",
      (query, reply) =>
        reply(other.answer({ ...query, id: (query.id ?? 0) ^ 1 }, [])),
    ],
    [
      "another question",
      (query, reply) =>
        reply(
          other.answer(
            { ...query, questions: [{ name: "evil.example", type: "A" }] },
            [],
          ),
        ),
    ],
    [
      "records beyond its end",
      (query, reply) => {
        const answer = other.answer(query, []);
        answer.writeUInt16BE(50, 6);
        reply(answer);
      },
    ],
    [
      "a question in place of an answer",
      (query, reply) => reply(packet.encode({ ...query, type: "query" })),
    ],
    ["silence", () => undefined],
  ])("a server that answers with %s is not believed", async (what, answers) => {
    const usual = other.onQuery;
    other.onQuery = answers;
    const name = `${what.replaceAll(/\W/g, "-").toLowerCase()}.example`;
    const answer = await ask(question(name), { port: impatient.ports[0]! });
    other.onQuery = usual;
    expect(answer![3]! & 15).toBe(2);
    expect(packet.decode(answer!).answers).toEqual([]);
  });

  test("stub domains, hosts and other servers come from the ConfigMap; a mistake changes nothing", async () => {
    second.onQuery = (query, reply) =>
      reply(
        second.answer(query, [
          {
            name: query.questions![0]!.name,
            type: "A",
            ttl: 5,
            data: "198.51.100.7",
          },
        ]),
      );
    const { port } = secondUpstream;
    const map = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: dnsConfigMap, namespace: dnsNamespace },
      data: {
        stubDomains: JSON.stringify({ "corp.example": [`127.0.0.1:${port}`] }),
        hosts: "203.0.113.5 printer.example printer\n# none\n",
      },
    };
    await cluster.client.resource(configMaps).create(map);
    await eventually(async () =>
      (await lines("www.corp.example", "A"))[1]?.endsWith("198.51.100.7"),
    );
    expect((await lines("corp.example", "A"))[1]).toContain("198.51.100.7");
    expect((await lines("notcorp.example", "A"))[1]).toContain("192.0.2.1");
    expect(await lines("printer.example", "A")).toEqual([
      "NOERROR",
      "printer.example A 203.0.113.5",
    ]);
    await cluster.client
      .resource(configMaps)
      .patch(dnsConfigMap, dnsNamespace, {
        type: "merge",
        body: { data: { hosts: "not-an-address x", Corefile: ".:53 {}" } },
      });
    await eventually(() => problems.length >= 2);
    expect(problems).toEqual([
      "Corefile: unknown; the keys are stubDomains, upstreamNameservers and hosts",
      "hosts: line 1: must be an address and the names it is for",
    ]);
    expect((await lines("printer.example", "A"))[1]).toContain("203.0.113.5");
  });

  test("a resolver that leads back here is left out", async () => {
    resolvers = [{ address: "127.0.0.1", port: thread.ports[0]! }, upstream];
    await cluster.client
      .resource(configMaps)
      .delete(dnsConfigMap, dnsNamespace);
    await eventually(async () =>
      (await lines("loop-free.example", "A"))[1]?.endsWith("192.0.2.1"),
    );
    const before = thread.statistics?.forwarded ?? {};
    expect(await lines("loop-free-2.example", "A")).toEqual([
      "NOERROR",
      "loop-free-2.example A 192.0.2.1",
    ]);
    const own = `127.0.0.1:${thread.ports[0]}`;
    await eventually(() => thread.statistics !== undefined);
    expect(thread.statistics?.forwarded[own] ?? 0).toBe(before[own] ?? 0);
  });
});

describe("clients", () => {
  test("of other addresses get no answer, over UDP and TCP", async () => {
    const name = question("db.shop.svc.cluster.local");
    const [, second] = thread.ports;
    expect(
      await ask(name, {
        port: second,
        to: "127.0.0.2",
        from: "127.0.0.3",
        waitMs: 300,
      }),
    ).toBeUndefined();
    expect(
      await ask(name, { port: second, to: "127.0.0.2", from: "127.0.0.1" }),
    ).toBeDefined();
    const socket = net.connect({
      port: second!,
      host: "127.0.0.2",
      localAddress: "127.0.0.3",
    });
    socket.on("error", () => undefined);
    await once(socket, "close");
  });

  test("that send giant frames, halves of frames or nonsense over TCP lose their connection", async () => {
    for (const bytes of [
      Buffer.from([0xff, 0xff, 1, 2, 3]),
      Buffer.concat([Buffer.from([0, 5]), Buffer.alloc(5)]),
    ]) {
      const socket = net.connect(thread.ports[0]!, "127.0.0.1");
      socket.on("error", () => undefined);
      socket.on("data", () => undefined);
      socket.write(bytes);
      await once(socket, "close");
    }
    const many = Array.from({ length: 600 }, () => {
      const socket = net.connect(thread.ports[0]!, "127.0.0.1");
      socket.on("error", () => undefined);
      return socket;
    });
    await eventually(
      () => many.filter(({ destroyed }) => destroyed).length > 0,
    );
    expect((await lines("web.shop.svc.cluster.local", "A"))[0]).toBe("NOERROR");
    for (const socket of many) socket.destroy();
  });

  test("that ask many things on one connection get all answers", async () => {
    const socket = net.connect(thread.ports[0]!, "127.0.0.1");
    await once(socket, "connect");
    const frames = Array.from({ length: 300 }, (_, id) => {
      const bytes = question(
        id % 3 === 0 ? `tcp-${id}.example` : "web.shop.svc.cluster.local",
        "A",
        { id },
      );
      const length = Buffer.alloc(2);
      length.writeUInt16BE(bytes.length);
      return Buffer.concat([length, bytes]);
    });
    const ids = new Set<number>();
    let rest = Buffer.alloc(0);
    socket.on("data", (chunk: Buffer) => {
      rest = Buffer.concat([rest, chunk]);
      while (rest.length >= 2 && rest.length >= 2 + rest.readUInt16BE(0)) {
        const length = rest.readUInt16BE(0);
        ids.add(rest.readUInt16BE(2));
        rest = rest.subarray(2 + length);
      }
    });
    socket.write(Buffer.concat(frames));
    await eventually(() => ids.size === 300);
    socket.destroy();
  });
});

describe("the ports beside the answers", () => {
  const ports = new DnsPorts();
  const places = { health: 0, ready: 0, metrics: 0 };
  afterAll(() => ports.stop());

  beforeAll(async () => {
    [places.health, places.ready, places.metrics] = (await freePorts(3)) as [
      number,
      number,
      number,
    ];
    await ports.open({
      places: Object.fromEntries(
        Object.entries(places).map(([name, port]) => [
          name,
          { host: "127.0.0.1", port },
        ]),
      ),
      lives: () => thread.ready,
      ready: () => thread.ready && feed.sent,
      metrics: () => dnsFamilies(thread, "127.0.0.1"),
      onProblem: (error) => {
        throw error;
      },
    });
  });

  const get = async (
    name: keyof typeof places,
    url: string,
  ): Promise<[number, string]> => {
    const answer = await fetch(`http://127.0.0.1:${places[name]}${url}`);
    return [answer.status, await answer.text()];
  };

  test("have the paths and texts of CoreDNS", async () => {
    expect(await get("health", "/health")).toEqual([200, "OK"]);
    expect(await get("ready", "/ready")).toEqual([200, "OK"]);
    expect((await get("health", "/ready"))[0]).toBe(404);
    await lines("web.shop.svc.cluster.local", "A");
    await eventually(async () => {
      const [status, text] = await get("metrics", "/metrics");
      return (
        status === 200 && /^coredns_dns_requests_total\{.* \d+$/m.test(text)
      );
    });
  });

  test("report a server that does not run", async () => {
    const failing = new DnsPorts();
    const [port] = await freePorts(1);
    await failing.open({
      places: { ready: { host: "127.0.0.1", port: port! } },
      lives: () => true,
      ready: () => false,
      metrics: () => [],
      onProblem: () => undefined,
    });
    const { status } = await fetch(`http://127.0.0.1:${port}/ready`);
    failing.stop();
    expect(status).toBe(503);
  });

  test("one that is taken keeps nothing from going on", async () => {
    const again = new DnsPorts();
    const found: string[] = [];
    await again.open({
      places: { health: { host: "127.0.0.1", port: places.health } },
      lives: () => true,
      ready: () => true,
      metrics: () => [],
      onProblem: (error) => found.push(error.message),
    });
    again.stop();
    expect(found).toEqual([expect.stringContaining("EADDRINUSE")]);
  });
});

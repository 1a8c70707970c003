// The thread of the DNS server: it answers while the API server works, and the other way round. It owns zone, kept answers
// and sockets; what it knows comes as messages (dns-messages.ts). Statistics are sent at most once a second, and only
// when something was asked.
import { randomBytes } from "node:crypto";
import { parentPort, workerData } from "node:worker_threads";
import { systemClock } from "../../api/clock.ts";
import type {
  DnsConfiguration,
  DnsServerData,
  FromServer,
  ToServer,
} from "./dns-messages.ts";
import { Forwarder } from "./forwarder.ts";
import { openListener } from "./listener.ts";
import { Responder } from "./responder.ts";
import { askOverUdp, type Upstream } from "./upstream-socket.ts";
import { ClusterZone } from "./zone.ts";

const port = parentPort!;
const data = workerData as DnsServerData;
const statisticsMs = 1000;
const probeMs = data.upstreamTimeoutMs ?? 2000;

const zone = new ClusterZone(data.domain, data.serviceAddresses);
const forwarder = new Forwarder(systemClock, data.upstreamTimeoutMs);
const probes = new Map<string, () => void>();
const responder = new Responder({
  zone,
  forwarder,
  probe: (name) => {
    const found = probes.get(name);
    found?.();
    return found !== undefined;
  },
});

function send(message: FromServer): void {
  port.postMessage(message);
}

let statisticsDue = false;
function noteRequest(): void {
  if (statisticsDue) return;
  statisticsDue = true;
  setTimeout(() => {
    statisticsDue = false;
    sendStatistics();
  }, statisticsMs).unref();
}

function sendStatistics(): void {
  const { counts } = responder;
  send({
    kind: "statistics",
    statistics: {
      requests: Object.fromEntries(counts.requests),
      responses: Object.fromEntries(counts.responses),
      cacheHits: counts.hits + forwarder.counts.hits,
      cacheMisses: counts.misses + forwarder.counts.misses,
      forwarded: Object.fromEntries(forwarder.counts.requests),
      forwardFailures: Object.fromEntries(forwarder.counts.failures),
      forwardRefused: forwarder.counts.refused,
      services: zone.serviceCount,
    },
  });
}

/** Asks an upstream for a name that no client asks for: when the question comes back here, the upstream is this server. */
async function leadsHere(upstream: Upstream): Promise<boolean> {
  const label = randomBytes(16).toString("hex");
  const name = `${label}.orbit-loop.invalid`;
  let seen = false;
  const found = new Promise<void>((resolve) => {
    probes.set(name, () => {
      seen = true;
      resolve();
    });
  });
  const question = Buffer.concat([
    ...name
      .split(".")
      .map((part) => Buffer.from(`${String.fromCharCode(part.length)}${part}`)),
    Buffer.from([0, 0, 1, 0, 1]),
  ]);
  await Promise.race([
    found,
    askOverUdp(upstream, question, probeMs).catch(() => undefined),
  ]);
  probes.delete(name);
  return seen;
}

let configured = 0;
async function configure({
  upstreams,
  stubDomains,
  hosts,
}: DnsConfiguration): Promise<void> {
  const round = ++configured;
  responder.setHosts(new Map(Object.entries(hosts)));
  forwarder.configure(upstreams, stubDomains);
  const all = [...upstreams, ...Object.values(stubDomains).flat()];
  const looping = new Set<Upstream>();
  await Promise.all(
    all.map(async (each) => {
      if (await leadsHere(each)) looping.add(each);
    }),
  );
  if (looping.size === 0 || round !== configured) return;
  for (const { address, port: at } of looping)
    send({ kind: "loop", upstream: `${address} port ${at}` });
  const sound = (list: readonly Upstream[]): Upstream[] =>
    list.filter((each) => !looping.has(each));
  forwarder.configure(
    sound(upstreams),
    Object.fromEntries(
      Object.entries(stubDomains).map(([domain, list]) => [
        domain,
        sound(list),
      ]),
    ),
  );
}

const listening = openListener({
  listen: data.listen,
  allowed: data.allowed,
  respond: (bytes, transport, client) => {
    noteRequest();
    return responder.respond(bytes, transport, client);
  },
});

async function stop(): Promise<void> {
  const listener = await listening.catch(() => undefined);
  await listener?.close();
  port.close();
}

port.on("message", (message: ToServer) => {
  switch (message.kind) {
    case "configure":
      void configure(message.configuration);
      break;
    case "change":
      for (const { name, present } of message.namespaces)
        zone.setNamespace(name, present);
      for (const { namespace, name, entry } of message.services)
        zone.setService(namespace, name, entry);
      break;
    case "stop":
      void stop();
      break;
  }
});

listening.then(
  ({ ports }) => send({ kind: "listening", ports }),
  (error: Error) => send({ kind: "failed", message: error.message }),
);

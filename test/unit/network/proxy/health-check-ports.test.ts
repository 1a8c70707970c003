// What a load balancer is answered on the health check port of a Service: whether this node has ready endpoints, and on which addresses.
import { createServer } from "node:net";
import { once } from "node:events";
import { pino } from "pino";
import type { EndpointSlice } from "../../../../api/types/discovery-v1.ts";
import { HealthCheckPorts } from "../../../../network/proxy/health-check-ports.ts";
import { readyEndpointsHere } from "../../../../network/proxy/service-ports.ts";
import { eventually } from "../../../support/eventually.ts";
import { FakeClock } from "../../../support/fake-clock.ts";
import { freePort } from "../../../support/free-port.ts";

const clock = new FakeClock();
const open: HealthCheckPorts[] = [];

function healthChecks(
  addressRanges: readonly string[] = [],
  works: () => boolean = () => true,
): HealthCheckPorts {
  const made = new HealthCheckPorts({
    addressRanges,
    works,
    clock,
    logger: pino({ level: "silent" }),
  });
  open.push(made);
  return made;
}

afterEach(() => {
  for (const each of open.splice(0)) each.stop();
});

async function ask(port: number, host = "127.0.0.1"): Promise<unknown[]> {
  const answer = await eventually(() => fetch(`http://${host}:${port}/`));
  return [
    answer.status,
    answer.headers.get("x-load-balancing-endpoint-weight"),
    await answer.json(),
  ];
}

const said = (localEndpoints: number, serviceProxyHealthy = true): object => ({
  service: { namespace: "shop", name: "web" },
  localEndpoints,
  serviceProxyHealthy,
});

test("says how many endpoints the node has, and fails without any", async () => {
  const port = await freePort();
  let works = true;
  const checks = healthChecks([], () => works);
  checks.set("shop", "web", port, 2);
  expect(await ask(port)).toEqual([200, "2", said(2)]);
  checks.set("shop", "web", port, 0);
  expect(await ask(port)).toEqual([503, "0", said(0)]);
  checks.set("shop", "web", port, 1);
  works = false;
  expect(await ask(port)).toEqual([503, "1", said(1, false)]);
});

test("a port that changes or goes is closed", async () => {
  const [first, second] = [await freePort(), await freePort()];
  const checks = healthChecks();
  checks.set("shop", "web", first, 1);
  await ask(first);
  checks.set("shop", "web", second, 1);
  await ask(second);
  await expect(fetch(`http://127.0.0.1:${first}/`)).rejects.toThrow();
  checks.set("shop", "web", undefined, 0);
  await expect(fetch(`http://127.0.0.1:${second}/`)).rejects.toThrow();
});

test("answers on the addresses alone that take node ports", async () => {
  const [port, other] = [await freePort(), await freePort()];
  healthChecks(["127.0.0.2/32"]).set("shop", "web", port, 1);
  expect(await ask(port, "127.0.0.2")).toEqual([200, "1", said(1)]);
  await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow();
  // A family of which no range is named is not limited.
  healthChecks(["fd00::/8"]).set("shop", "web", other, 1);
  expect(await ask(other)).toEqual([200, "1", said(1)]);
});

test("a port that another program has is opened when it is free", async () => {
  const port = await freePort();
  const taker = createServer().listen(port);
  await once(taker, "listening");
  const timers = clock.pending;
  healthChecks().set("shop", "web", port, 1);
  await eventually(() => clock.pending > timers);
  taker.close();
  await once(taker, "close");
  clock.advance(10_000);
  expect(await ask(port)).toEqual([200, "1", said(1)]);
});

test("endpoints that end, or are of other nodes, do not count", () => {
  const slice = (addressType: string, ...endpoints: object[]): EndpointSlice =>
    ({ metadata: { name: "s" }, addressType, endpoints }) as never;
  const here = { nodeName: "here" };
  const ending = { ready: false, serving: true, terminating: true };
  const slices = [
    slice(
      "IPv4",
      { ...here, addresses: ["10.0.0.1"] },
      { ...here, addresses: ["10.0.0.2"], conditions: { ready: true } },
      { ...here, addresses: ["10.0.0.3"], conditions: ending },
      { nodeName: "other", addresses: ["10.0.0.4"] },
    ),
    slice("IPv6", { ...here, addresses: ["fd00::1"] }),
    slice("FQDN", { ...here, addresses: ["a.test"] }),
  ];
  expect(readyEndpointsHere(slices, { name: "here" })).toBe(2);
  expect(readyEndpointsHere(slices, { name: "nobody" })).toBe(0);
});

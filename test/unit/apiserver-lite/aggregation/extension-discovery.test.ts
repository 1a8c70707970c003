// Why the documents of an aggregated server can't be read is said once, not each minute.
import pino from "pino";
import { ExtensionDiscovery } from "../../../../apiserver-lite/aggregation/extension-discovery.ts";
import type {
  RemoteService,
  RemoteServices,
} from "../../../../apiserver-lite/aggregation/remote-services.ts";
import { TimeSlices } from "../../../../apiserver-lite/loop/time-slices.ts";
import { FakeClock } from "../../../support/fake-clock.ts";

test("a reason is said once, another one and one that comes back again", async () => {
  const name = "v1.broken.test";
  const server = { problem: "the bundle is no certificate" };
  const remote = {
    ...{ name, group: "broken.test", version: "v1", server },
    service: { namespace: "default", name: "extension", port: 443 },
  } as unknown as RemoteService;
  let there = true;
  const remotes = {
    get: () => (there ? remote : undefined),
    all: () => [remote],
    onChange: () => undefined,
  } as unknown as RemoteServices;
  const said: string[] = [];
  const write = (line: string): void =>
    void said.push((JSON.parse(line) as { err: Error }).err.message);
  const clock = new FakeClock();
  const discovery = new ExtensionDiscovery({
    ...{ remotes, clock, slices: new TimeSlices() },
    resolve: () => ({ host: "127.0.0.1", port: 1 }) as never,
    logger: pino({ level: "warn" }, { write }),
    changed: () => undefined,
  });
  discovery.start();
  const minutes = async (count: number): Promise<void> => {
    for (let at = 0; at < count; at++) await clock.advanceAsync(60_000);
  };
  await minutes(5);
  expect(said).toEqual(["the bundle is no certificate"]);
  expect(discovery.of(name)?.freshness).toBe("Stale");
  server.problem = "connection refused";
  await minutes(5);
  expect(said.slice(1)).toEqual(["connection refused"]);
  there = false;
  await minutes(1);
  there = true;
  await minutes(2);
  expect(said.slice(2)).toEqual(["connection refused"]);
  await discovery.stop();
});

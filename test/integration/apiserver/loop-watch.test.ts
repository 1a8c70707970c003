// A server reports its event loop's delay among its metrics, and logs the request that held the loop, with its path.
import { Writable } from "node:stream";
import pino from "pino";
import { eventually } from "../../support/eventually.ts";
import {
  configMap,
  configMaps,
  startTestServer,
  type TestServer,
} from "./support.ts";

const heldMs = 300;
const lines: string[] = [];
let server: TestServer;

beforeAll(async () => {
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(chunk.toString());
      done();
    },
  });
  server = await startTestServer({
    logger: pino({ level: "warn" }, sink),
    parts: () => ({
      paths: [
        {
          path: "/hold",
          handle: (request) => {
            const before = process.cpuUsage();
            const startedMs = performance.now();
            // Other threads' time is in the process' own, and time without a processor in that of the clock.
            const usedMs = (): number => {
              const { user, system } = process.cpuUsage(before);
              return Math.min(
                (user + system) / 1000,
                performance.now() - startedMs,
              );
            };
            while (usedMs() < heldMs);
            request.respond(200, {}, "held");
          },
        },
      ],
    }),
  });
});
afterAll(() => server.stop());

async function metric(name: string): Promise<number> {
  const { text } = await server.call("GET", "/metrics");
  const line = text.split("\n").find((one) => one.startsWith(`${name} `));
  return Number(line?.split(" ")[1]);
}

test("the delay and the requests behind it", async () => {
  await server.call("POST", configMaps, configMap("small"));
  await metric("orbit_event_loop_delay_max_seconds");
  const before = await metric("orbit_event_loop_held_total");
  expect((await server.call("GET", "/hold?token=secret")).text).toBe("held");
  await eventually(() => lines.some((line) => line.includes("/hold")), {
    what: "the log",
  });
  const logged = JSON.parse(lines.find((line) => line.includes("/hold"))!);
  expect(logged).toMatchObject({
    level: 40,
    method: "GET",
    path: "/hold",
    msg: expect.stringMatching(/^a request.* held the event loop$/) as unknown,
  });
  expect(logged.heldMs).toBeGreaterThanOrEqual(heldMs - 1);
  expect(lines.join("")).not.toContain("secret");
  expect(await metric("orbit_event_loop_held_total")).toBeGreaterThan(before);
  await eventually(
    async () => (await metric("orbit_event_loop_delay_seconds_count")) > 0,
    { intervalMs: 100, what: "samples of the delay" },
  );
  expect(
    await metric('orbit_event_loop_delay_seconds{quantile="0.99"}'),
  ).toBeGreaterThanOrEqual(0);
});

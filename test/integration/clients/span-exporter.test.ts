// Spans on their way to a collector: batches, a collector that refuses for a while, hangs, or is not there; adding a span
// never waits, and what is kept is bounded.
import * as path from "node:path";
import pino from "pino";
import type { EndedSpan } from "../../../api/tracing/span.ts";
import { SpanExporter } from "../../../client/tracing/span-exporter.ts";
import { eventually } from "../../support/eventually.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { SpanCollector } from "../../support/span-collector.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const directories = useTempDirectories();
const open: { stop(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.stop();
});

const startMs = Date.UTC(2026, 0, 1);
const span = (name: string): EndedSpan => ({
  context: {
    traceId: "0af7651916cd43dd8448eb211c80319c",
    spanId: "b7ad6b7169203331",
    sampled: true,
    state: "a=b",
  },
  parentId: "00f067aa0ba902b7",
  ...{ name, kind: "server", startMs, endMs: startMs + 1.5 },
  attributes: { text: "x", count: 3, yes: true },
  links: [],
  error: "failed",
});

async function startCollector(): Promise<SpanCollector> {
  const collector = new SpanCollector(path.join(directories(), "otlp.sock"));
  open.push(collector);
  return collector.start();
}

function exporterTo(
  collector: SpanCollector,
  clock = new FakeClock(),
): SpanExporter {
  const exporter = new SpanExporter({
    target: `unix:${collector.socketPath}`,
    resource: { "service.name": "test" },
    ...{ clock, logger: pino({ level: "silent" }) },
  });
  return exporter;
}

test("spans are sent after some seconds, in batches, and the rest at the end", async () => {
  const collector = await startCollector();
  const clock = new FakeClock();
  const exporter = exporterTo(collector, clock);
  exporter.add(span("first"));
  expect(collector.spans).toEqual([]);
  clock.advance(5_000);
  await eventually(() => collector.spans.length === 1);
  expect(collector.spans[0]).toEqual({
    trace: "0af7651916cd43dd8448eb211c80319c",
    id: "b7ad6b7169203331",
    parent: "00f067aa0ba902b7",
    ...{ name: "first", kind: 2 },
    startNano: startMs * 1e6,
    endNano: startMs * 1e6 + 1_500_000,
    attributes: { text: "x", count: 3, yes: 0 },
    ...{ links: [], error: "failed" },
  });
  expect(collector.resource).toEqual({ "service.name": "test" });
  for (let at = 0; at < 1200; at++) exporter.add(span(String(at)));
  await exporter.stop();
  expect(collector.spans).toHaveLength(1201);
  expect(Math.max(...collector.batches)).toBe(512);
  expect(exporter.dropped).toBe(0);
  exporter.add(span("late"));
  expect(exporter.dropped).toBe(1);
});

test("a collector that refuses for a while is tried again; one that refuses for good is not", async () => {
  const collector = await startCollector();
  const clock = new FakeClock();
  const exporter = exporterTo(collector, clock);
  collector.refusals = [14, 14];
  exporter.add(span("kept"));
  await eventually(() => {
    clock.advance(5_000);
    return collector.spans.length === 1;
  });
  collector.refusals = [3];
  exporter.add(span("refused"));
  await eventually(() => {
    clock.advance(5_000);
    return exporter.dropped === 1;
  });
  exporter.add(span("next"));
  await eventually(() => {
    clock.advance(5_000);
    return collector.spans.length === 2;
  });
  await exporter.stop();
});

test.each([["hangs"], ["is not there"]])(
  "a collector that %s costs spans alone",
  async (how) => {
    const collector = await startCollector();
    collector.silent = true;
    if (how === "is not there") await collector.stop();
    const clock = new FakeClock();
    const exporter = exporterTo(collector, clock);
    // In one turn of the loop: there is nothing it could wait for.
    for (let at = 0; at < 10_000; at++) exporter.add(span(String(at)));
    // At most a batch is on its way, and 2048 wait.
    expect(exporter.dropped).toBeGreaterThanOrEqual(10_000 - 2048 - 512);
    let stopped = false;
    void exporter.stop().then(() => (stopped = true));
    await eventually(() => {
      clock.advance(1_000);
      return stopped;
    });
  },
);

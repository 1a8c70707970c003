// Watch scenarios: how long from a write's answer to the event at each watcher, and how many events a second get out.
import { Connection } from "../support/connection.ts";
import type { BenchOptions } from "../support/options.ts";
import { quantile, usageOf, type Row } from "../support/statistics.ts";
import { configMap } from "./objects.ts";

const headers = { Accept: "application/json" };

/** 100 watchers beside 50 writes a second, then 200 watchers beside unthrottled writers. */
export async function watchScenario(
  options: BenchOptions,
  base: string,
): Promise<Row[]> {
  return [
    await measure(options, base, {
      name: "watch-100x50",
      watchers: 100,
      writers: 1,
      writesPerSecond: 50,
    }),
    await measure(options, base, {
      name: "watch-200-max",
      watchers: 200,
      writers: 8,
      writesPerSecond: Infinity,
    }),
  ];
}

interface WatchShape {
  name: string;
  watchers: number;
  writers: number;
  writesPerSecond: number;
}

async function measure(
  options: BenchOptions,
  base: string,
  shape: WatchShape,
): Promise<Row> {
  const setup = new Connection(options.target);
  const list = await setup.request(
    "GET",
    `${base}/configmaps?limit=1`,
    undefined,
    headers,
    { keepBody: true },
  );
  const { resourceVersion } = (
    JSON.parse(list.body) as { metadata: { resourceVersion: string } }
  ).metadata;
  setup.close();

  const answeredAtMs = new Map<string, number>();
  const latenciesMs: number[] = [];
  let events = 0;
  const watchers = Array.from({ length: shape.watchers }, (_, index) => {
    const connection = new Connection(options.target);
    const onChunk = (chunk: Buffer): void => {
      const nowMs = performance.now();
      for (
        let at = chunk.indexOf('"turn":"');
        at >= 0;
        at = chunk.indexOf('"turn":"', at + 8)
      ) {
        events++;
        if (index % 10 !== 0) continue;
        const turn = chunk.toString(
          "latin1",
          at + 8,
          chunk.indexOf('"', at + 8),
        );
        const answered = answeredAtMs.get(turn);
        if (answered !== undefined)
          latenciesMs.push(Math.max(0, nowMs - answered));
      }
    };
    const path = `${base}/configmaps?watch=true&resourceVersion=${resourceVersion}`;
    connection
      .request("GET", path, undefined, headers, { onChunk })
      .catch(() => undefined);
    return connection;
  });
  await new Promise((resolve) => setTimeout(resolve, 1000));

  const before = usageOf(options.pids);
  const startMs = performance.now();
  const endMs = startMs + options.seconds * 1000;
  let writes = 0;
  const writers = Array.from({ length: shape.writers }, async (_, writer) => {
    const connection = new Connection(options.target);
    while (performance.now() < endMs) {
      const turn = String(writes++);
      const body = configMap(`own-${writer}`).replace(
        '"data":{',
        `"data":{"turn":"${turn}",`,
      );
      const sentMs = performance.now();
      await connection.request(
        "PUT",
        `${base}/configmaps/own-${writer}`,
        body,
        headers,
      );
      answeredAtMs.set(turn, performance.now());
      const pauseMs =
        (1000 / shape.writesPerSecond) * shape.writers -
        (performance.now() - sentMs);
      if (pauseMs > 0)
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
    connection.close();
  });
  await Promise.all(writers);
  const seconds = (performance.now() - startMs) / 1000;
  const after = usageOf(options.pids);
  for (const watcher of watchers) watcher.close();
  return {
    name: shape.name,
    "per second": events / seconds,
    "p50 ms": quantile(latenciesMs, 0.5),
    "p99 ms": quantile(latenciesMs, 0.99),
    "cpu-s per 1000": options.pids.length
      ? ((after.cpuSeconds - before.cpuSeconds) / events) * 1000
      : Number.NaN,
    MiB: after.residentMebibytes,
    failures: `${Math.round(writes / seconds)} writes/s`,
  };
}

// How soon a new definition is served, and how soon documents and discovery show it, with DEFINITIONS others present that are
// spread over DEFINITION_GROUPS groups (1: all in the group of the new ones).
import type { Connection } from "../support/connection.ts";
import { quantile, usageOf, type Row } from "../support/statistics.ts";
import { pod } from "../api/objects.ts";
import { definitionOf, definitions, json, make, served } from "./definition.ts";

const others = Number(process.env["DEFINITIONS"] ?? 0);
const groups = Number(process.env["DEFINITION_GROUPS"] ?? 1);
const turns = 10;
const aggregated = {
  Accept:
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
};
/** Creations of the other definitions that are open at once. */
const width = 8;

const groupOf = (index: number): string =>
  `group${index % groups}.bench.example.com`;

/** @param pids of the server */
export async function publicationRows(
  c: readonly Connection[],
  pids: readonly number[],
): Promise<Row[]> {
  const sample = JSON.parse(pod("x")) as object;
  const create = (client: Connection, index: number, plural: string) =>
    make(
      client,
      definitions,
      definitionOf(groupOf(index), plural, `K${plural}`, sample),
    );
  await Promise.all(
    c.slice(0, width).map(async (client, worker) => {
      for (let index = worker; index < others; index += width)
        await create(client, index, `others${index}`);
    }),
  );
  const [client] = c as [Connection];
  const document = async (
    path: string,
    headers: Record<string, string> = json,
  ): Promise<string> => {
    const answer = await client.request("GET", path, undefined, headers, {
      keepBody: true,
    });
    return answer.body;
  };
  const has = async (
    plural: string,
    path: string,
    headers?: Record<string, string>,
  ): Promise<void> => {
    if (!(await document(path, headers)).includes(plural))
      throw new Error(`${plural} is not published at ${path}`);
  };
  await document("/openapi/v2");
  await document("/openapi/v3");
  const rows = new Map<string, { ms: number[]; cpuMs: number[] }>();
  const timed = async (
    name: string,
    work: () => Promise<void>,
  ): Promise<void> => {
    const before = usageOf([...pids]).cpuSeconds;
    const startMs = performance.now();
    await work();
    const row = rows.get(name) ?? { ms: [], cpuMs: [] };
    rows.set(name, row);
    row.ms.push(performance.now() - startMs);
    row.cpuMs.push((usageOf([...pids]).cpuSeconds - before) * 1000);
  };
  for (let index = 0; index < turns; index++) {
    const plural = `new${process.pid}x${index}`;
    await create(client, 0, plural);
    const group = groupOf(0);
    await timed("new definition served", () =>
      served(client, `/apis/${group}/v1/${plural}`),
    );
    await timed("discovery", () => has(plural, "/apis", aggregated));
    await timed("published, v3", async () => {
      await document("/openapi/v3");
      await has(plural, `/openapi/v3/apis/${group}/v1`);
    });
    await timed("published, v2", () => has(plural, "/openapi/v2"));
  }
  return [...rows].map(([name, { ms, cpuMs }]) => ({
    name: `${name}, ${others} others in ${groups}`,
    "p50 ms": quantile(ms, 0.5),
    "max ms": Math.max(...ms),
    "cpu ms": cpuMs.reduce((sum, each) => sum + each, 0) / cpuMs.length,
    MiB: usageOf([...pids]).residentMebibytes,
  }));
}

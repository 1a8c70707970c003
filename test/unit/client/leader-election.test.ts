// One of several candidates leads by a Lease, and gives up before another may take over.
import { metricsText } from "../../../api/metrics/family.ts";
import type { Lease } from "../../../api/types/coordination-v1.ts";
import { createClient } from "../../../client/create-client.ts";
import { createLeaderElection } from "../../../client/leader-election/leader-election.ts";
import { LeaderMetrics } from "../../../client/leader-election/leader-metrics.ts";
import { leases } from "../../../client/resources.ts";
import { silent } from "../../support/control-plane.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { MemoryApi } from "../../support/memory-api.ts";

const clock = () => new FakeClock();
const electionOf = (
  api: MemoryApi,
  time: FakeClock,
  identity: string,
  metrics = new LeaderMetrics(),
) =>
  createLeaderElection({
    client: createClient(api, { clock: time, logger: silent }),
    clock: time,
    logger: silent,
    namespace: "kube-system",
    name: "test",
    identity,
    metrics,
  });
const holder = (api: MemoryApi) =>
  api.all<Lease>(leases)[0]?.spec?.holderIdentity;

test("one leads, the other follows when the first gives up", async () => {
  const time = clock();
  const api = new MemoryApi(time);
  const a = electionOf(api, time, "a");
  const b = electionOf(api, time, "b");
  await a.lead();
  void b.lead();
  await time.advanceAsync(60_000);
  expect([a.leading, b.leading, holder(api)]).toEqual([true, false, "a"]);
  await a.stop();
  expect(holder(api)).toBe("");
  await time.advanceAsync(3000);
  expect([a.leading, b.leading, holder(api)]).toEqual([false, true, "b"]);
  expect(api.all<Lease>(leases)[0]!.spec!.leaseTransitions).toBe(1);
  await b.stop();
});

test("a leader that can't renew gives up before another may take over", async () => {
  const time = clock();
  const api = new MemoryApi(time);
  const a = electionOf(api, time, "a");
  const b = electionOf(api, time, "b");
  await a.lead();
  void b.lead();
  await time.advanceAsync(5000);
  // Only a is cut off.
  api.intercept = ({ body }) => {
    const spec = (body as Lease | undefined)?.spec;
    if (spec?.holderIdentity === "a") throw new Error("unreachable");
  };
  let lostMs: number | undefined;
  void a.lost.then(() => (lostMs = time.monotonic()));
  while (!b.leading && time.monotonic() < 60_000) {
    await time.advanceAsync(500);
    expect(a.leading && b.leading).toBe(false);
  }
  expect(b.leading).toBe(true);
  expect(lostMs).toBeLessThan(time.monotonic());
  await a.stop();
  await b.stop();
});

test("a candidacy that is stopped ends", async () => {
  const time = clock();
  const api = new MemoryApi(time);
  const a = electionOf(api, time, "a");
  await a.lead();
  const b = electionOf(api, time, "b");
  const waiting = b.lead();
  await time.advanceAsync(100);
  const ended = expect(waiting).rejects.toThrow("stopped");
  await b.stop();
  await ended;
  await a.stop();
});

test("a leader whose request gets no answer gives up at its deadline", async () => {
  const time = clock();
  const api = new MemoryApi(time);
  const a = electionOf(api, time, "a");
  await a.lead();
  api.request = () => new Promise<never>(() => undefined);
  let lostMs: number | undefined;
  void a.lost.then(() => (lostMs = time.monotonic()));
  const leftMs = time.monotonic() + 10_000;
  await time.advanceAsync(9000);
  expect(a.leading).toBe(true);
  await time.advanceAsync(3000);
  expect(a.leading).toBe(false);
  expect(lostMs).toBeLessThanOrEqual(leftMs);
});

test("a leader renews what it wrote without reading it, and reads it when something else wrote it", async () => {
  const time = clock();
  const api = new MemoryApi(time);
  const metrics = new LeaderMetrics();
  const shows = (status: number, slow?: number): void => {
    const text = metricsText(metrics.families());
    expect(text).toContain(
      `leader_election_master_status{name="test"} ${status}\n`,
    );
    const counted = /slowpath_total\{name="test"\} (\d+)/.exec(text)?.[1];
    expect(counted).toBe(slow === undefined ? undefined : String(slow));
  };
  const a = electionOf(api, time, "a", metrics);
  shows(0);
  const verbs: string[] = [];
  api.intercept = ({ verb }) => void verbs.push(verb);
  await a.lead();
  await time.advanceAsync(6100);
  expect(verbs).toEqual(["get", "create", "update", "update", "update"]);
  shows(1);
  const admin = createClient(api, { clock: time, logger: silent });
  await admin.resource(leases).patch("test", "kube-system", {
    type: "merge",
    body: { metadata: { labels: { seen: "yes" } } },
  });
  verbs.length = 0;
  await time.advanceAsync(4000);
  expect(verbs).toEqual(["update", "get", "update", "update"]);
  shows(1, 1);
  expect(api.all<Lease>(leases)[0]?.metadata.labels).toEqual({ seen: "yes" });
  await a.stop();
  shows(0, 1);
});

import type { Lease } from "../../../api/types/coordination-v1.ts";
import { createClient } from "../../../client/create-client.ts";
import { createLeaderElection } from "../../../client/leader-election.ts";
import { leases } from "../../../client/resources.ts";
import { silent } from "../../support/control-plane.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { MemoryApi } from "../../support/memory-api.ts";

const clock = () => new FakeClock();
const electionOf = (api: MemoryApi, time: FakeClock, identity: string) =>
  createLeaderElection({
    client: createClient(api, { clock: time, logger: silent }),
    clock: time,
    logger: silent,
    namespace: "kube-system",
    name: "test",
    identity,
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

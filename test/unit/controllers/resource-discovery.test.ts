// What a server serves is read again when the kept answer may not know what was served at a time that matters.
import { Discovery } from "../../../controllers/discovery/resource-discovery.ts";
import type { Client } from "../../../client/client.ts";
import { FakeClock } from "../../support/fake-clock.ts";

test("an answer older than the time asked for is not used, a newer one is", async () => {
  let reads = 0;
  const client = {
    raw: (_: string, path: string) => {
      if (path === "/apis") reads++;
      return Promise.resolve({
        status: 200,
        body: path === "/apis" ? { groups: [] } : { resources: [] },
      });
    },
  } as unknown as Client;
  const clock = new FakeClock();
  const discovery = new Discovery(client, clock);
  await discovery.resources();
  await discovery.resources();
  expect(reads).toBe(1);
  // A namespace that is deleted now may hold objects of a kind registered a moment ago.
  const deletedMs = clock.now();
  await Promise.all([
    discovery.resources(deletedMs),
    discovery.resources(deletedMs),
  ]);
  expect(reads).toBeGreaterThan(1);
  clock.advance(3000);
  await discovery.resources(deletedMs);
  const afterwards = reads;
  await discovery.resources(deletedMs);
  await discovery.resources();
  expect(reads).toBe(afterwards);
  clock.advance(31_000);
  await discovery.resources();
  expect(reads).toBe(afterwards + 1);
});

test("a group version with more resources than can be followed is not used", async () => {
  const resources = (count: number): object[] =>
    Array.from({ length: count }, (_, n) => ({
      ...{ name: `r${n}`, kind: `R${n}`, namespaced: true },
      verbs: ["list", "watch"],
    }));
  const groups = ["large.test/v1", "flood.test/v1"].map((groupVersion) => ({
    preferredVersion: { groupVersion },
  }));
  const counts: Record<string, number> = {
    "/api/v1": 1,
    "/apis/large.test/v1": 2000,
    "/apis/flood.test/v1": 2001,
  };
  const client = {
    raw: (_: string, path: string) =>
      Promise.resolve({
        body:
          path === "/apis"
            ? { groups }
            : { resources: resources(counts[path]!) },
      }),
  } as unknown as Client;
  const found = await new Discovery(client, new FakeClock()).resources();
  expect(found.resources).toHaveLength(2001);
  expect(found.failures).toEqual([
    "flood.test/v1: stale GroupVersion discovery: flood.test/v1",
  ]);
});

test("a resource that only another version than the preferred one has is found, each once", async () => {
  const named = (...names: string[]): object[] =>
    names.map((name) => ({
      ...{ name, kind: name.toUpperCase(), namespaced: true },
      verbs: ["delete", "list", "watch"],
    }));
  const v1 = { groupVersion: "shop.test/v1" };
  const v1alpha1 = { groupVersion: "shop.test/v1alpha1" };
  const bodies: Record<string, object> = {
    "/apis": {
      groups: [{ versions: [v1alpha1, v1], preferredVersion: v1 }],
    },
    "/api/v1": { resources: [] },
    "/apis/shop.test/v1": { resources: named("orders") },
    "/apis/shop.test/v1alpha1": { resources: named("orders", "carts") },
  };
  const client = {
    raw: (_: string, path: string) => Promise.resolve({ body: bodies[path] }),
  } as unknown as Client;
  const discovery = new Discovery(client, new FakeClock());
  const { resources } = await discovery.resources();
  expect(resources.map((each) => `${each.resource}.${each.version}`)).toEqual([
    "orders.v1",
    "carts.v1alpha1",
  ]);
  expect(await discovery.resourceOf("shop.test/v1alpha1", "CARTS")).toEqual(
    resources[1],
  );
});

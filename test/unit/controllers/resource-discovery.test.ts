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

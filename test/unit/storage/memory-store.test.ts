import { createMemoryStore } from "../../../storage/memory/memory-store.ts";
import { FakeClock, settle } from "../../support/fake-clock.ts";
import { describeStoreContract } from "./contract.ts";

describeStoreContract("memory", {
  local: true,
  async open() {
    const store = createMemoryStore();
    await store.start();
    return store;
  },
});

describe("expiry", () => {
  it("removes a key when its time is over, unless it was written again", async () => {
    const clock = new FakeClock();
    const store = createMemoryStore({ clock });
    await store.start();
    const encode = () => Buffer.from("x");
    await store.write({
      key: "/e/short",
      expectedRevision: 0,
      encode,
      ttlSeconds: 10,
    });
    await store.write({
      key: "/e/long",
      expectedRevision: 0,
      encode,
      ttlSeconds: 3600,
    });
    await store.write({
      key: "/e/kept",
      expectedRevision: 0,
      encode,
      ttlSeconds: 10,
    });
    await store.write({ key: "/e/kept", expectedRevision: undefined, encode });
    const deleted: string[] = [];
    store.subscribe(
      store.revision,
      (events) =>
        deleted.push(...events.map(({ type, key }) => `${type} ${key}`)),
      () => undefined,
    );
    await clock.advanceAsync(9_000);
    expect(deleted).toEqual([]);
    await clock.advanceAsync(2_000);
    await settle();
    expect(deleted).toEqual(["delete /e/short"]);
    expect((await store.list("/e/")).values.map(({ key }) => key)).toEqual([
      "/e/kept",
      "/e/long",
    ]);
    await store.stop();
    expect(clock.pending).toBe(0);
  });

  it.each([365 * 86_400_000, -365 * 86_400_000])(
    "goes by the time that passed, when the wall clock jumps by %i ms",
    async (jumpMs) => {
      const clock = new FakeClock();
      const store = createMemoryStore({ clock });
      await store.start();
      const put = (key: string): Promise<unknown> =>
        store.write({
          key,
          expectedRevision: 0,
          encode: () => Buffer.from("x"),
          ttlSeconds: 3600,
        });
      const keys = async (): Promise<string[]> =>
        (await store.list("/e/")).values.map(({ key }) => key);
      await put("/e/before");
      clock.jump(jumpMs);
      // Another write looks at the queue of times again.
      await put("/e/after");
      await clock.advanceAsync(3_500_000);
      expect(await keys()).toEqual(["/e/after", "/e/before"]);
      await clock.advanceAsync(200_000);
      expect(await keys()).toEqual([]);
      await store.stop();
    },
  );
});

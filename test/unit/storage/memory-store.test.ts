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
});

// The promises of storage/store.ts as tests, run on every engine.
import {
  StoreError,
  type Store,
  type StoreEvent,
  type WriteResult,
} from "../../../storage/store.ts";

export interface EngineUnderTest {
  /** A fresh, started store. */
  open(): Promise<Store>;
  /** Stops the store and opens the same data again; absent where nothing is kept. */
  reopen?(store: Store): Promise<Store>;
  /** Does `encode` get the real revision? */
  readonly local: boolean;
}

const bytes = (text: string): Uint8Array => Buffer.from(text);
const text = (value: Uint8Array | undefined): string | undefined =>
  value && Buffer.from(value).toString();

export function put(
  store: Store,
  key: string,
  value: string,
  expectedRevision?: number,
): Promise<WriteResult> {
  return store.write({ key, expectedRevision, encode: () => bytes(value) });
}

export function remove(
  store: Store,
  key: string,
  expectedRevision?: number,
): Promise<WriteResult> {
  return store.write({ key, expectedRevision, encode: () => undefined });
}

async function revisionOf(result: Promise<WriteResult>): Promise<number> {
  const settled = await result;
  if (!settled.ok) throw new Error("the write was refused");
  return settled.revision;
}

export function describeStoreContract(
  name: string,
  engine: EngineUnderTest,
): void {
  describe(`${name} store`, () => {
    let store: Store;

    beforeEach(async () => {
      store = await engine.open();
    });
    afterEach(() => store.stop());

    it("keeps what is written and lists it in key order", async () => {
      await put(store, "/r/pods/b", "B", 0);
      await put(store, "/r/pods/a", "A", 0);
      await put(store, "/r/nodes/n", "N", 0);
      const { revision, values } = await store.list("/r/pods/");
      expect(values.map(({ key, value }) => [key, text(value)])).toEqual([
        ["/r/pods/a", "A"],
        ["/r/pods/b", "B"],
      ]);
      expect(revision).toBe(store.revision);
      expect(text((await store.get("/r/nodes/n"))?.value)).toBe("N");
      expect(await store.get("/r/nodes/none")).toBeUndefined();
    });

    it("gives strictly increasing revisions, one a write", async () => {
      expect(store.revision).toBeGreaterThanOrEqual(1);
      const results = await Promise.all(
        Array.from({ length: 100 }, (_, i) =>
          revisionOf(put(store, `/r/${i}`, "x")),
        ),
      );
      expect(new Set(results).size).toBe(100);
      expect(Math.max(...results)).toBeLessThanOrEqual(store.revision);
    });

    it("creates only what does not exist", async () => {
      const revision = await revisionOf(put(store, "/r/a", "1", 0));
      const second = await put(store, "/r/a", "2", 0);
      expect(second).toMatchObject({
        ok: false,
        current: { key: "/r/a", revision },
      });
      expect(second.ok ? "" : text(second.current?.value)).toBe("1");
    });

    it("updates only the expected revision", async () => {
      const first = await revisionOf(put(store, "/r/a", "1", 0));
      const second = await revisionOf(put(store, "/r/a", "2", first));
      expect(second).toBeGreaterThan(first);
      expect(await put(store, "/r/a", "3", first)).toMatchObject({
        ok: false,
        current: { revision: second },
      });
      expect(await put(store, "/r/none", "3", first)).toEqual({
        ok: false,
        current: undefined,
      });
      expect(text((await store.get("/r/a"))?.value)).toBe("2");
    });

    it("lets exactly one of many racing writers win", async () => {
      const revision = await revisionOf(put(store, "/r/a", "0", 0));
      const results = await Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          put(store, "/r/a", `${i}`, revision),
        ),
      );
      expect(results.filter((result) => result.ok)).toHaveLength(1);
      const winner = results.find((result) => result.ok)!;
      for (const result of results) {
        if (!result.ok)
          expect(result.current?.revision).toBe(winner.ok && winner.revision);
      }
    });

    it("deletes, and refuses to delete what is not there", async () => {
      const revision = await revisionOf(put(store, "/r/a", "1", 0));
      expect(await remove(store, "/r/a", revision + 1000)).toMatchObject({
        ok: false,
        current: { revision },
      });
      expect((await remove(store, "/r/a", revision)).ok).toBe(true);
      expect(await store.get("/r/a")).toBeUndefined();
      expect(await remove(store, "/r/a")).toEqual({
        ok: false,
        current: undefined,
      });
      expect((await put(store, "/r/a", "2", 0)).ok).toBe(true);
    });

    it("tells listeners every event in order, before the write resolves", async () => {
      const seen: StoreEvent[] = [];
      const stop = store.subscribe(
        store.revision,
        (events) => seen.push(...events),
        (error) => {
          throw error;
        },
      );
      const attachment = { parsed: true };
      const first = await revisionOf(
        store.write({
          key: "/r/a",
          expectedRevision: 0,
          encode: () => bytes("1"),
          attachment,
        }),
      );
      expect(seen.at(-1)).toMatchObject({
        type: "put",
        key: "/r/a",
        revision: first,
      });
      expect(seen.at(-1)?.attachment).toBe(attachment);
      const removal = await revisionOf(remove(store, "/r/a", first));
      expect(seen.at(-1)).toEqual({
        type: "delete",
        key: "/r/a",
        value: undefined,
        revision: removal,
        attachment: undefined,
      });
      await Promise.all(
        Array.from({ length: 50 }, (_, i) => put(store, `/r/${i}`, "x")),
      );
      expect(seen).toHaveLength(52);
      for (let i = 1; i < seen.length; i++)
        expect(seen[i]!.revision).toBeGreaterThan(seen[i - 1]!.revision);
      stop();
      await put(store, "/r/late", "x");
      expect(seen).toHaveLength(52);
    });

    it("replays what happened after the revision asked for", async () => {
      await put(store, "/r/a", "1", 0);
      const { revision } = await store.list("/r/");
      await put(store, "/r/b", "2", 0);
      const seen: string[] = [];
      const caughtUp = new Promise<void>((resolve) => {
        store.subscribe(
          revision,
          (events) => {
            for (const event of events) seen.push(event.key);
            if (seen.includes("/r/c")) resolve();
          },
          (error) => {
            throw error;
          },
        );
      });
      await put(store, "/r/c", "3", 0);
      await caughtUp;
      expect(seen).toEqual(["/r/b", "/r/c"]);
    });

    if (engine.local) {
      it("sees its own pending writes: create, update and delete in one turn", async () => {
        const results = await Promise.all([
          put(store, "/r/a", "1", 0),
          put(store, "/r/a", "2"),
          remove(store, "/r/a"),
          put(store, "/r/b", "3", 0),
        ]);
        expect(results.every((result) => result.ok)).toBe(true);
        expect((await store.list("/r/")).values.map(({ key }) => key)).toEqual([
          "/r/b",
        ]);
      });

      it("calls encode synchronously with the revision of the write", async () => {
        let told = 0;
        const result = store.write({
          key: "/r/a",
          expectedRevision: 0,
          encode: (revision) => {
            told = revision;
            return bytes(`${revision}`);
          },
        });
        expect(told).toBeGreaterThan(0);
        expect(await result).toEqual({ ok: true, revision: told });
      });

      it("rejects the write whose encode throws, and only that", async () => {
        const bad = store.write({
          key: "/r/a",
          expectedRevision: 0,
          encode: () => {
            throw new RangeError("too large");
          },
        });
        const good = put(store, "/r/b", "1", 0);
        await expect(bad).rejects.toThrow("too large");
        expect((await good).ok).toBe(true);
        expect((await put(store, "/r/a", "1", 0)).ok).toBe(true);
      });
    }

    it("refuses work after stop", async () => {
      const last = put(store, "/r/a", "1", 0);
      await store.stop();
      expect((await last).ok).toBe(true);
      await expect(put(store, "/r/b", "1", 0)).rejects.toMatchObject({
        name: "StoreError",
        code: "closed",
      });
      await expect(store.get("/r/a")).rejects.toBeInstanceOf(StoreError);
      await expect(store.healthy()).rejects.toBeInstanceOf(StoreError);
    });

    if (engine.reopen) {
      it("has everything again after a restart, and goes on above the old revisions", async () => {
        await put(store, "/r/a", "1", 0);
        await put(store, "/r/b", "2", 0);
        const last = await revisionOf(remove(store, "/r/b"));
        store = await engine.reopen!(store);
        expect(store.revision).toBeGreaterThanOrEqual(last);
        expect((await store.list("/r/")).values.map(({ key }) => key)).toEqual([
          "/r/a",
        ]);
        expect(await revisionOf(put(store, "/r/c", "3", 0))).toBeGreaterThan(
          last,
        );
      });
    }

    it("is healthy while it serves", () =>
      expect(store.healthy()).resolves.toBeUndefined());
  });
}

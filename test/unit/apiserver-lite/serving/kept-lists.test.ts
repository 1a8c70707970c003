import { KeptLists } from "../../../../apiserver-lite/serving/lists/kept-lists.ts";

const list = (bytes: number) => ({ parts: [Buffer.alloc(bytes)], bytes });

/** As who answers a list does. */
function answer(lists: KeptLists, key: string, bytes: number): void {
  if (lists.asked(key)) lists.keep(key, list(bytes));
}

describe("KeptLists", () => {
  test("keeps what is asked for a second time", () => {
    const lists = new KeptLists(100);
    answer(lists, "a", 10);
    expect(lists.get("a")).toBeUndefined();
    answer(lists, "a", 10);
    expect(lists.get("a")?.bytes).toBe(10);
  });

  test("stays within its bytes; the least recently used goes", () => {
    const lists = new KeptLists(100);
    for (const key of ["a", "b", "a", "b"]) answer(lists, key, 40);
    expect(lists.get("a")).toBeDefined();
    for (let n = 0; n < 2; n++) answer(lists, "c", 40);
    expect(lists.get("b")).toBeUndefined();
    expect(lists.get("a")).toBeDefined();
    expect(lists.get("c")).toBeDefined();
  });

  test("never keeps more than half of it in one list", () => {
    const lists = new KeptLists(100);
    for (let n = 0; n < 3; n++) answer(lists, "big", 51);
    expect(lists.get("big")).toBeUndefined();
  });

  test("forgets single askers without growing", () => {
    const lists = new KeptLists(100);
    for (let n = 0; n < 10_000; n++) answer(lists, `once-${n}`, 1);
    expect(lists.get("once-9999")).toBeUndefined();
  });
});

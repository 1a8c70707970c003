import { ExpiryQueue } from "../../../storage/local/expiry-queue.ts";
import { randomNumbers } from "../../support/random-numbers.ts";

test("gives what is due, earliest first, and nothing else", () => {
  const random = randomNumbers(3);
  const queue = new ExpiryQueue();
  const dues = Array.from({ length: 300 }, () => Math.floor(random() * 100));
  for (const [index, dueMs] of dues.entries())
    queue.add({ key: `/k${index}`, revision: index + 1, dueMs });
  const taken: number[] = [];
  for (let nowMs = -1; nowMs <= 100; nowMs++) {
    for (
      let expiry = queue.takeDue(nowMs);
      expiry;
      expiry = queue.takeDue(nowMs)
    ) {
      expect(expiry.dueMs).toBe(nowMs);
      expect(expiry.dueMs).toBe(dues[expiry.revision - 1]);
      expect(expiry.key).toBe(`/k${expiry.revision - 1}`);
      taken.push(expiry.revision);
    }
    const left = dues.filter((dueMs) => dueMs > nowMs);
    expect(queue.nextDueMs).toBe(
      left.length > 0 ? Math.min(...left) : undefined,
    );
  }
  expect(new Set(taken).size).toBe(dues.length);
});

test("keeps both entries of a key that was written again", () => {
  const queue = new ExpiryQueue();
  queue.add({ key: "/a", revision: 2, dueMs: 20 });
  queue.add({ key: "/a", revision: 1, dueMs: 10 });
  expect(queue.takeDue(9)).toBeUndefined();
  expect([queue.takeDue(30), queue.takeDue(30), queue.takeDue(30)]).toEqual([
    { key: "/a", revision: 1, dueMs: 10 },
    { key: "/a", revision: 2, dueMs: 20 },
    undefined,
  ]);
});

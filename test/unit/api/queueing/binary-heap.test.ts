import { BinaryHeap } from "../../../../api/queueing/binary-heap.ts";
import { randomNumbers } from "../../../support/random-numbers.ts";

const drained = (heap: BinaryHeap<number>): number[] => {
  const out: number[] = [];
  while (heap.size > 0) out.push(heap.pop()!);
  return out;
};
const ascending = (a: number, b: number): number => a - b;

test("gives elements in order, whatever was pushed, popped and removed between", () => {
  const random = randomNumbers(7);
  const below = (bound: number): number => Math.floor(random() * bound);
  for (let round = 0; round < 200; round++) {
    const heap = new BinaryHeap<number>((a, b) => a < b);
    let model: number[] = [];
    for (let step = 0; step < 60; step++) {
      const act = below(4);
      if (act < 2) {
        const value = below(20);
        heap.push(value);
        model.push(value);
      } else if (act === 2) {
        model.sort(ascending);
        expect(heap.pop()).toBe(model.shift());
      } else {
        const value = below(20);
        const at = model.indexOf(value);
        expect(heap.remove(value)).toBe(at >= 0);
        if (at >= 0) model = model.toSpliced(at, 1);
      }
      expect(heap.size).toBe(model.length);
      expect(heap.peek()).toBe(
        model.length > 0 ? Math.min(...model) : undefined,
      );
    }
    expect(drained(heap)).toEqual(model.sort(ascending));
  }
});

test("is empty at first", () => {
  const heap = new BinaryHeap<number>((a, b) => a < b);
  expect([heap.size, heap.peek(), heap.pop(), heap.remove(1)]).toEqual([
    0,
    undefined,
    undefined,
    false,
  ]);
});

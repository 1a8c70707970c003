// Sorting in steps: the order of Array.sort, in pieces.
import { sorting } from "../../../../api/queueing/sorting.ts";
import { finish } from "../../../../api/queueing/steps.ts";
import { randomNumbers } from "../../../support/random-numbers.ts";

test.each([0, 1, 2, 999, 1000, 1001, 2500, 10_000, 33_333])(
  "%d texts",
  (count) => {
    const random = randomNumbers(count);
    const texts = Array.from({ length: count }, () =>
      String(Math.floor(random() * count)),
    );
    expect(finish(sorting([...texts]))).toEqual([...texts].sort());
  },
);

test("many texts take many steps", () => {
  const texts = Array.from({ length: 50_000 }, (_, index) => `t${index % 777}`);
  const steps = sorting(texts);
  let count = 0;
  while (!steps.next().done) count++;
  expect(count).toBeGreaterThan(100);
});

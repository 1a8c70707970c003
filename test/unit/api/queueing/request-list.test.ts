// Requests in the order they came.
import { Listed, RequestList } from "../../../../api/queueing/request-list.ts";

class One extends Listed {
  constructor(readonly name: string) {
    super();
  }
}
const names = (list: RequestList<One>): string =>
  [...list].map(({ name }) => name).join("");

test("requests keep their order, whichever leaves", () => {
  const list = new RequestList<One>();
  const [a, b, c] = ["a", "b", "c"].map((name) => new One(name)) as [
    One,
    One,
    One,
  ];
  for (const one of [a, b, c]) list.add(one);
  expect([names(list), list.size, list.first]).toEqual(["abc", 3, a]);
  list.delete(b);
  expect([names(list), list.has(b), list.has(c)]).toEqual(["ac", false, true]);
  list.delete(a);
  list.add(b);
  expect([names(list), list.first]).toEqual(["cb", c]);
  list.delete(b);
  list.delete(c);
  expect([names(list), list.size, list.first]).toEqual(["", 0, undefined]);
});

test("a request of another list stays where it is", () => {
  const list = new RequestList<One>();
  const other = new RequestList<One>();
  const one = new One("a");
  other.add(one);
  list.delete(one);
  expect([list.size, other.size, list.has(one)]).toEqual([0, 1, false]);
  expect(names(other)).toBe("a");
});

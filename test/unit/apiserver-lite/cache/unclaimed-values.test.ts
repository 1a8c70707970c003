import { UnclaimedValues } from "../../../../apiserver-lite/cache/unclaimed-values.ts";
import type { StoreEvent } from "../../../../storage/store.ts";

const valueOf = (key: string, revision = 1) => ({
  key,
  revision,
  value: Buffer.from(key),
});
const eventOf = (
  type: "put" | "delete",
  key: string,
  revision: number,
): StoreEvent => ({ ...valueOf(key, revision), type, attachment: undefined });

test("values are found by their resource, as the last event left them", () => {
  const unclaimed = new UnclaimedValues();
  unclaimed.add(valueOf("/registry/a.b/cs/n/two"));
  unclaimed.add(valueOf("/registry/a.b/cs/n/one"));
  unclaimed.add(valueOf("/registry/a.b/cstwo/x"));
  unclaimed.apply(eventOf("put", "/registry/a.b/cs/n/two", 5));
  unclaimed.apply(eventOf("put", "/registry/a.b/cs/n/new", 6));
  unclaimed.apply(eventOf("delete", "/registry/a.b/cs/n/one", 7));
  unclaimed.apply(eventOf("delete", "/registry/none/none/x", 8));
  expect(
    unclaimed
      .take("/registry/a.b/cs")
      .map(({ key, revision }) => [key, revision]),
  ).toEqual([
    ["/registry/a.b/cs/n/new", 6],
    ["/registry/a.b/cs/n/two", 5],
  ]);
  expect(unclaimed.take("/registry/a.b/cs")).toEqual([]);
  expect(unclaimed.take("/registry/a.b/cstwo")).toHaveLength(1);
});

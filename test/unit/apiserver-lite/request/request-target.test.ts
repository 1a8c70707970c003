import { parseTarget } from "../../../../apiserver-lite/request/request-target.ts";

test.each<[string, string, [string, string][]]>([
  ["/a/b", "/a/b", []],
  [
    "/a?b=c&d",
    "/a",
    [
      ["b", "c"],
      ["d", ""],
    ],
  ],
  [
    "/a?b=%41&c=%zz&d=e;f&g=h",
    "/a",
    [
      ["b", "A"],
      ["g", "h"],
    ],
  ],
  ["/a?b?c=d", "/a", [["b?c", "d"]]],
  ["", "", []],
])("%s", (url, path, pairs) => {
  const target = parseTarget(url);
  expect(target.path).toBe(path);
  expect([...target.query]).toEqual(pairs);
});

test.each([
  `/${"x".repeat(64 * 1024)}`,
  `/${"/".repeat(1_000_000)}?a`,
  `/a?${"&".repeat(4096)}`,
  `/a?${"b=c&".repeat(250_000)}`,
])("what is longer than anybody's is refused", (url) => {
  expect(() => parseTarget(url)).toThrow(
    expect.objectContaining({ status: 414 }),
  );
});

test("a selector may be as long as the headers", () => {
  const { query } = parseTarget(`/a?labelSelector=${"b".repeat(900_000)}`);
  expect(query.get("labelSelector")).toHaveLength(900_000);
});

// Targets and hosts of requests in the form that is matched and sent on.
import { AuthorityParser } from "../../../../network/ingress/routing/authority.ts";
import { parseTarget } from "../../../../network/ingress/routing/request-target.ts";

test.each([
  ["/", "/", ""],
  ["/a/b?x=%2f&y", "/a/b", "?x=%2f&y"],
  ["/a//b/", "/a//b/", ""],
  ["//a", "//a", ""],
  ["/a/./b/../c", "/a/c", ""],
  ["/a/..", "/", ""],
  ["/../../a", "/a", ""],
  ["/a/.", "/a/", ""],
  ["/a/%2E%2e/b", "/b", ""],
  ["/%61%2D%7e", "/a-~", ""],
  ["/a%2fb%3f", "/a%2Fb%3F", ""],
  ["/a\\b", "/a%5Cb", ""],
  ["/é", "/é", ""],
  ["/...", "/...", ""],
  ["/a..b/.c", "/a..b/.c", ""],
  ["http://h.test", "/", ""],
  ["HTTP://h.test/a?b", "/a", "?b"],
  ["https://h.test?b", "/", "?b"],
])("%s is the path %s with the query %j", (target, path, query) =>
  expect(parseTarget(target)).toMatchObject({ path, query }),
);

test("an absolute target has the authority", () =>
  expect(parseTarget("http://h.test:80/a")).toMatchObject({
    authority: "h.test:80",
  }));

test.each([
  "",
  "*",
  "a/b",
  "ftp://h/",
  "h.test:80",
  "/%",
  "/%1",
  "/%zz",
  "/%00",
  "/a\0",
  "/a b",
  "/a#b",
  "/a?b#c",
  "/a?b c",
  "/..%2fadmin",
  "/a/%2e%2e%2fadmin",
  "/a/..%5c..%5cadmin",
  "/a%2f..",
])("%j is refused", (target) =>
  expect(typeof parseTarget(target)).toBe("string"),
);

describe("an authority", () => {
  const parser = new AuthorityParser();

  test.each([
    ["Example.COM", "example.com", undefined],
    ["example.com.", "example.com", undefined],
    ["example.com:8080", "example.com", 8080],
    ["example.com:", "example.com", undefined],
    ["127.0.0.1:80", "127.0.0.1", 80],
    ["[::1]:443", "[::1]", 443],
    ["a_b.test", "a_b.test", undefined],
  ])("%s is the host %s at %s", (text, host, port) => {
    expect(parser.parse(text)).toEqual({ host, port });
    expect(parser.parse(text)).toEqual({ host, port });
  });

  test.each([
    "",
    ".",
    "a..b",
    "a b",
    "a@b",
    "a/b",
    "a,b",
    "a:b",
    "a:0",
    "a:65536",
    "a:80:80",
    "[::1",
    "[a]",
    "[::1]a",
    "::1",
    "é.test",
    "a%2e",
    `${"a".repeat(300)}.test`,
  ])("%j is none", (text) => expect(parser.parse(text)).toBeUndefined());
});

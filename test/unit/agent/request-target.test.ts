// The path of a probe in the request line, as Go's client writes it (82 paths were given to both; two with an authority that
// is none differ).
import { requestTarget } from "../../../agent/probes/request-target.ts";

test.each([
  ["", "/"],
  ["healthz", "/healthz"],
  ["/a?b=c", "/a?b=c"],
  ["?a=b", "/?a=b"],
  ["/a?", "/a?"],
  ["/a?b?c", "/a?b?c"],
  ["/a#fragment", "/a"],
  ["/a/../b", "/a/../b"],
  ["/./a//b", "/./a//b"],
  ["/%2e%2e/a%2Fb", "/%2e%2e/a%2Fb"],
  ["/a b", "/a%20b"],
  ["/a!b*c(d)[e]", "/a!b*c(d)[e]"],
  ["/a b!c", "/a%20b%21c"],
  ["/a\\b", "/a%5Cb"],
  ["/{a}|^`", "/%7Ba%7D%7C%5E%60"],
  ["/é%20x", "/%C3%A9%20x"],
  ["/a?q=ü", `/a?q=${Buffer.from("ü").toString("latin1")}`],
  ["/a?b=c d", "/a?b=c%20d"],
  ["/%zz", "/%25zz"],
  ["/a?x=%zz", "/a?x=%zz"],
  ["/a#%zz", "/a%23%25zz"],
  ["/a\r\nX: y", "/a%0D%0AX:%20y"],
  ["/a\u0000b?c", "/a%00b%3Fc"],
  ["//host/x", "/x"],
  ["///x", "///x"],
  ["http://other:99/x?y", "/x?y"],
  ["1:2", "/1:2"],
  ["*", "/*"],
])("%j is asked for as %s", (path, target) => {
  expect(requestTarget(path)).toBe(target);
});

test("a scheme without a host is refused", () => {
  expect(() => requestTarget("mailto:x")).toThrow("no Host in request URL");
});

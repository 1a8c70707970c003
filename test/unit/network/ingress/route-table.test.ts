// Which rule a request gets: the tables of the Ingress documentation and of HTTPRoute's order of precedence.
import { RouteTable } from "../../../../network/ingress/routing/route-table.ts";
import type {
  RouteMatch,
  RouteRule,
  RouteSet,
} from "../../../../network/ingress/routing/route.ts";

function rule(
  name: string,
  hosts: string[],
  matches: RouteMatch[],
  deep = false,
): RouteRule {
  return {
    hosts,
    matches,
    deep,
    action: { kind: "answer", status: 200, text: name },
  };
}

function path(
  type: RouteMatch["path"]["type"],
  value: string,
  more: Partial<RouteMatch> = {},
): RouteMatch {
  return { path: { type, value }, ...more };
}

function set(rank: string, ...rules: RouteRule[]): RouteSet {
  return {
    owner: { kind: "Ingress", namespace: "default", name: rank },
    rank,
    sockets: ["http"],
    rules,
  };
}

interface Asked {
  method?: string;
  headers?: Record<string, string>;
  query?: Record<string, string>;
}

function found(
  table: RouteTable,
  url: string,
  { method = "GET", headers = {}, query = {} }: Asked = {},
): string | undefined {
  const slash = url.indexOf("/");
  const { action } =
    table.find("http", url.slice(0, slash), url.slice(slash), {
      method,
      header: (name) => headers[name],
      query: (name) => query[name],
    })?.rule ?? {};
  return action?.kind === "answer" ? action.text : undefined;
}

function tableOf(...sets: RouteSet[]): RouteTable {
  const table = new RouteTable();
  for (const each of sets) table.set(each.rank, [each]);
  return table;
}

// kubernetes.io/docs/concepts/services-networking/ingress: "Examples".
test.each([
  ["Prefix", ["/"], "/any/path", "/"],
  ["Exact", ["/foo"], "/foo", "/foo"],
  ["Exact", ["/foo"], "/bar", undefined],
  ["Exact", ["/foo"], "/foo/", undefined],
  ["Exact", ["/foo/"], "/foo", undefined],
  ["Prefix", ["/foo"], "/foo", "/foo"],
  ["Prefix", ["/foo"], "/foo/", "/foo"],
  ["Prefix", ["/foo/"], "/foo", "/foo/"],
  ["Prefix", ["/foo/"], "/foo/", "/foo/"],
  ["Prefix", ["/aaa/bb"], "/aaa/bbb", undefined],
  ["Prefix", ["/aaa/bbb"], "/aaa/bbb", "/aaa/bbb"],
  ["Prefix", ["/aaa/bbb/"], "/aaa/bbb", "/aaa/bbb/"],
  ["Prefix", ["/aaa/bbb"], "/aaa/bbb/", "/aaa/bbb"],
  ["Prefix", ["/aaa/bbb"], "/aaa/bbb/ccc", "/aaa/bbb"],
  ["Prefix", ["/aaa/bbb"], "/aaa/bbbxyz", undefined],
  ["Prefix", ["/", "/aaa"], "/aaa/ccc", "/aaa"],
  ["Prefix", ["/aaa", "/"], "/ccc", "/"],
  ["Prefix", ["/aaa"], "/ccc", undefined],
  ["Prefix", ["/foo"], "/FOO", undefined],
  ["Prefix", ["/foo"], "/foo%2Fbar", undefined],
  ["Prefix", ["/foo"], "//foo", undefined],
] as const)("%s %j of %s is %j", (type, values, asked, expected) => {
  const table = tableOf(
    set("a", ...values.map((value) => rule(value, [""], [path(type, value)]))),
  );
  expect(found(table, `h${asked}`)).toBe(expected);
});

test("an exact path is before a prefix, whichever is older", () => {
  const table = tableOf(
    set("1", rule("prefix", [""], [path("Prefix", "/foo")])),
    set("2", rule("exact", [""], [path("Exact", "/foo")])),
  );
  expect(found(table, "h/foo")).toBe("exact");
  expect(found(table, "h/foo/x")).toBe("prefix");
});

test("of two that match alike the older wins, until it goes", () => {
  const table = tableOf(
    set("2", rule("younger", ["h.test"], [path("Prefix", "/")])),
    set("1", rule("older", ["h.test"], [path("Prefix", "/")])),
  );
  expect(found(table, "h.test/")).toBe("older");
  table.set("1", undefined);
  expect(found(table, "h.test/")).toBe("younger");
  table.set("2", undefined);
  expect(found(table, "h.test/")).toBeUndefined();
  expect(table.size).toBe(0);
});

describe("hosts", () => {
  const all = [path("Prefix", "/")];
  const table = tableOf(
    set(
      "a",
      rule("exact", ["foo.bar.test"], [path("Prefix", "/exact")]),
      rule("one", ["*.bar.test"], all),
      rule("deep", ["*.test"], all, true),
      rule("deeper", ["*.b.test"], all, true),
      rule("any", [""], [path("Prefix", "/any")]),
    ),
  );
  test.each([
    ["foo.bar.test/exact", "exact"],
    ["foo.bar.test/other", "one"],
    ["x.bar.test/", "one"],
    ["x.y.bar.test/", "deep"],
    ["bar.test/", "deep"],
    ["a.b.test/", "deeper"],
    ["c.a.b.test/", "deeper"],
    ["test/any", "any"],
    ["test/", undefined],
    ["other/any/x", "any"],
  ])("%s is %s", (asked, expected) =>
    expect(found(table, asked)).toBe(expected),
  );
});

test("a default backend takes what matches nothing: its own host's first", () => {
  const table = tableOf(
    set(
      "1",
      rule("own path", ["own.test"], [path("Prefix", "/a")]),
      rule("own default", ["own.test", ""], []),
    ),
    set("0", rule("catch all", [""], [])),
    set("2", rule("other", ["other.test"], [path("Prefix", "/b")])),
  );
  expect(found(table, "own.test/a")).toBe("own path");
  expect(found(table, "own.test/x")).toBe("own default");
  expect(found(table, "other.test/b")).toBe("other");
  expect(found(table, "other.test/x")).toBe("catch all");
  expect(found(table, "third/")).toBe("catch all");
});

// gateway.networking.k8s.io/v1 HTTPRouteRule.matches.
test("method, headers and parameters count in this order, then age and place", () => {
  const at = (name: string, more: Partial<RouteMatch>): RouteRule =>
    rule(name, [""], [path("Prefix", "/", more)]);
  const header = (name: string, value = "1") => ({ name, value });
  const table = tableOf(
    set("0", at("plain", {}), at("second", {})),
    set("1", at("query", { query: [header("q")] })),
    set("2", at("headers", { headers: [header("a"), header("B")] })),
    set("3", at("header", { headers: [header("a")] })),
    set("4", at("method", { method: "POST" })),
    set("5", rule("longer", [""], [path("Prefix", "/x")])),
  );
  expect(found(table, "h/")).toBe("plain");
  expect(found(table, "h/", { query: { q: "1" } })).toBe("query");
  const headers = { a: "1", b: "1" };
  expect(found(table, "h/", { headers, query: { q: "1" } })).toBe("headers");
  expect(found(table, "h/", { headers: { a: "1" } })).toBe("header");
  expect(found(table, "h/", { headers: { a: "2" } })).toBe("plain");
  expect(found(table, "h/", { method: "POST", headers })).toBe("method");
  expect(found(table, "h/x", { method: "POST", headers })).toBe("longer");
});

test("patterns match whole paths and values, in linear time", () => {
  const table = tableOf(
    set(
      "a",
      rule("pattern", [""], [path("Regex", "/v[0-9]+/.*")]),
      rule("evil", [""], [path("Regex", "/(a+)+")]),
      rule("prefix", [""], [path("Prefix", "/v1/users/long")]),
      rule(
        "header",
        [""],
        [
          path("Prefix", "/h", {
            headers: [{ name: "x", value: "a|b", pattern: true }],
          }),
        ],
      ),
    ),
  );
  expect(found(table, "h/v1/users")).toBe("pattern");
  expect(found(table, "h/x/v1/users")).toBeUndefined();
  expect(found(table, "h/h", { headers: { x: "b" } })).toBe("header");
  expect(found(table, "h/h", { headers: { x: "ab" } })).toBeUndefined();
  expect(found(table, `h/${"a".repeat(2000)}!`)).toBeUndefined();
});

test("an object's change takes what it says of thousands of others as they are", () => {
  const table = new RouteTable();
  for (let n = 0; n < 5000; n++)
    table.set(`i${n}`, [
      set(
        `${n}`,
        rule(`r${n}`, [`h${n}.test`, "all.test"], [path("Prefix", `/p${n}`)]),
      ),
    ]);
  expect(found(table, "h4711.test/p4711/x")).toBe("r4711");
  expect(found(table, "all.test/p17")).toBe("r17");
  table.set("i17", [
    set("17", rule("new", ["h17.test"], [path("Exact", "/new")])),
  ]);
  expect(found(table, "all.test/p17")).toBeUndefined();
  expect(found(table, "h17.test/new")).toBe("new");
});

describe("listeners are apart from each other", () => {
  // The example of Gateway API's GEP about isolation.
  const listeners = [
    "bar.com",
    "*.example.com",
    "*.foo.example.com",
    "a.foo.example.com",
  ];
  const table = new RouteTable();
  const of = (listener: string, ...rules: RouteRule[]): RouteSet => ({
    ...set(`of ${listener}`, ...rules),
    listener,
  });
  table.set("gateway", [...listeners.map((each) => of(each)), of("")]);
  const hosts = [
    "",
    "bar.com",
    "*.example.com",
    "*.foo.example.com",
    "a.foo.example.com",
  ];
  for (const listener of ["", ...listeners])
    table.set(`route ${listener}`, [
      of(
        listener,
        // A route without host names is served for the listener's.
        rule(
          listener || "any",
          [listener],
          [path("Prefix", `/${listener || "any"}`)],
          true,
        ),
      ),
    ]);
  table.set("ingress", [
    set("i", rule("ingress", ["bar.com"], [path("Exact", "/i")])),
  ]);

  test.each([
    ["bar.com", "bar.com"],
    ["b.example.com", "*.example.com"],
    ["b.foo.example.com", "*.foo.example.com"],
    ["a.foo.example.com", "a.foo.example.com"],
    ["other.org", "any"],
    ["example.com", "any"],
  ])("%s is that of %s alone", (host, own) => {
    for (const each of [...hosts.slice(1), "any"])
      expect(found(table, `${host}/${each}`)).toBe(
        each === own ? own : undefined,
      );
  });

  test("rules of Ingresses belong to none", () =>
    expect(found(table, "bar.com/i")).toBe("ingress"));

  test("a listener that is gone hides nothing", () => {
    const small = new RouteTable();
    small.set("route", [
      of("", rule("any", ["bar.com"], [path("Prefix", "/")])),
    ]);
    small.set("gateway", [of("bar.com"), of("")]);
    expect(found(small, "bar.com/")).toBeUndefined();
    small.set("gateway", [of("")]);
    expect(found(small, "bar.com/")).toBe("any");
    small.set("gateway", undefined);
    expect(found(small, "bar.com/")).toBe("any");
    small.set("route", undefined);
    expect(found(small, "bar.com/")).toBeUndefined();
  });
});

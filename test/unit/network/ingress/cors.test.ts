// Which origins may read answers, and what their browsers get to know: the examples of GEP-1767.
import {
  corsChanges,
  isPreflight,
  originMatches,
  preflightHeaders,
} from "../../../../network/ingress/front/cors.ts";
import type { CorsPolicy } from "../../../../network/ingress/routing/route.ts";

test.each([
  ["*", "https://a.test", true],
  ["https://a.test", "https://a.test", true],
  ["https://a.test", "https://A.test:443", true],
  ["https://a.test", "http://a.test", false],
  ["https://a.test", "https://a.test:8443", false],
  ["https://a.test:8443", "https://a.test:8443", true],
  ["https://*.a.test", "https://b.a.test", true],
  ["https://*.a.test", "https://c.b.a.test", true],
  ["https://*.a.test", "https://a.test", false],
  ["https://*.a.test", "https://xa.test", false],
  ["https://*.a.test", "https://.a.test.evil", false],
  ["https://*", "https://anything.test", true],
  ["https://a.test", "null", false],
  ["https://a.test", "https://a.test/path", false],
  ["https://a.test", "https://a.test@evil", false],
])("%s allows %s: %s", (allowed, origin, expected) =>
  expect(originMatches(allowed, origin)).toBe(expected),
);

const policy = (more: Partial<CorsPolicy> = {}): CorsPolicy => ({
  origins: ["https://a.test"],
  methods: ["GET", "PUT"],
  headers: ["X-One", "X-Two"],
  exposedHeaders: ["X-Three"],
  credentials: false,
  maxAgeSeconds: 3600,
  ...more,
});

const asks = (headers: Record<string, string> = {}, method = "OPTIONS") => ({
  method,
  headers: {
    origin: "https://a.test",
    "access-control-request-method": "PATCH",
    "access-control-request-headers": "x-four, x-five",
    ...headers,
  },
});

const pair = (name: string, value: string) => [`access-control-${name}`, value];

test("a preflight", () => {
  expect(isPreflight(asks())).toBe(true);
  expect(isPreflight(asks({}, "GET"))).toBe(false);
  expect(isPreflight({ method: "OPTIONS", headers: {} })).toBe(false);
  expect(Object.entries(preflightHeaders(policy(), asks()))).toEqual([
    pair("allow-origin", "https://a.test"),
    pair("expose-headers", "X-Three"),
    pair("allow-methods", "GET, PUT"),
    pair("allow-headers", "X-One, X-Two"),
    pair("max-age", "3600"),
    ["vary", "Origin"],
  ]);
});

test("wildcards repeat what was asked for", () => {
  const all = { origins: ["*"], methods: ["*"], headers: ["*"] };
  expect(
    preflightHeaders(policy({ ...all, credentials: true }), asks()),
  ).toMatchObject({
    "access-control-allow-origin": "https://a.test",
    "access-control-allow-methods": "PATCH",
    "access-control-allow-headers": "x-four, x-five",
    "access-control-allow-credentials": "true",
  });
});

test.each([
  ["another origin", {}, asks({ origin: "https://b.test" })],
  ["credentials that are not allowed", {}, asks({ cookie: "a=b" })],
  ["an authorization that is not allowed", {}, asks({ authorization: "x" })],
  ["no origins", { origins: [] }, asks()],
])("%s: nothing is said", (_, more, request) => {
  expect(preflightHeaders(policy(more), request)).toEqual({ vary: "Origin" });
  expect(corsChanges(policy(more), request).add).toEqual([["vary", "Origin"]]);
});

test("what a backend says is replaced", () => {
  const { remove, add } = corsChanges(
    policy({ credentials: true, exposedHeaders: ["*"] }),
    asks({ cookie: "a=b" }, "GET"),
  );
  expect(remove).toContain("access-control-allow-origin");
  // Browsers take no wildcard with credentials.
  expect(add).toEqual([
    pair("allow-origin", "https://a.test"),
    pair("allow-credentials", "true"),
    ["vary", "Origin"],
  ]);
});

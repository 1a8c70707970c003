import { compileOrigins } from "../../../../apiserver-lite/front/origins.ts";
import { cpuMsOf } from "../../../support/cpu-time.ts";

test.each<[pattern: string, origin: string, allowed: boolean]>([
  ["^https://example\\.com$", "https://example.com", true],
  ["^https://example\\.com$", "https://example.com:8443", false],
  ["//example\\.com(:|$)", "https://example.com", true],
  ["//example\\.com(:|$)", "http://example.com:8080", true],
  ["//example\\.com(:|$)", "https://example.com.evil.org", false],
  ["//example\\.com(:|$)", "https://notexample.com", false],
  ["//example\\.com(:|$)", "https://evil.org//example.com", false],
  ["^https://.*\\.example\\.com(:[0-9]+)?$", "https://a.b.example.com", true],
  ["^https://.*\\.example\\.com$", "https://a.example.com.evil.org", false],
  ["//\\[::1\\](:|$)", "http://[::1]", true],
  ["//\\[::1\\](:|$)", "http://[::1]:8080", true],
  // The reference takes these two, although they leave the end open.
  ["https://example.com", "https://example.com", true],
  ["https://example.com", "https://example.com.evil.org", false],
  ["^http://example.com", "http://example.com:80", true],
  ["^http://example.com", "http://example.com:80.evil.org", true],
  ["^null$", "null", true],
  [".*://.*", "https://anything", true],
])("%s and the origin %s: %s", async (pattern, origin, allowed) => {
  const origins = await compileOrigins([pattern]);
  expect(origins?.allows(origin)).toBe(allowed);
});

test.each(["example.com", "^example.com", "example.com$", "", "example\\.com"])(
  "%p does not say where a host begins and ends",
  async (pattern) => {
    await expect(compileOrigins([pattern])).rejects.toThrow(
      `${JSON.stringify(pattern)} does not pin the start and the end`,
    );
  },
);

test.each(["^(a$", "^(?=a)$", "^a{2,1}$"])(
  "%p is no pattern of the reference",
  async (pattern) => {
    await expect(compileOrigins([pattern])).rejects.toThrow(
      "is no regular expression",
    );
  },
);

test("no pattern: CORS is off", async () => {
  expect(await compileOrigins([])).toBeUndefined();
});

test("patterns that would backtrack take linear time, and long origins none", async () => {
  const origins = (await compileOrigins(["^https://([a-z]+\\.?)+com$"]))!;
  expect(
    cpuMsOf(() => origins.allows(`https://${"a".repeat(480)}!`)),
  ).toBeLessThan(100);
  expect(
    cpuMsOf(() => origins.allows(`https://${"a".repeat(1_000_000)}`)),
  ).toBeLessThan(20);
});

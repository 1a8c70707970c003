// A plain time is one that stays as it is.
import fc from "fast-check";
import { isPlainTime, normaliseTime } from "../../../../api/codec/time-text.ts";

test("a plain time is its own canonical text", () => {
  fc.assert(
    fc.property(
      fc
        .tuple(
          fc.nat(9999),
          fc.nat(13),
          fc.nat(32),
          fc.nat(24),
          fc.nat(60),
          fc.nat(60),
        )
        .map(([year, ...rest]) => {
          const [month, day, hour, minute, second] = rest.map((part) =>
            String(part).padStart(2, "0"),
          );
          return `${String(year).padStart(4, "0")}-${month}-${day}T${hour}:${minute}:${second}Z`;
        }),
      (text) => {
        if (isPlainTime(text)) expect(normaliseTime(text, false)).toBe(text);
      },
    ),
    { numRuns: 500, seed: 20261122 },
  );
});

test.each([
  ["2026-11-22T12:00:00Z", true],
  ["2026-02-28T23:59:59Z", true],
  ["2026-02-29T12:00:00Z", false],
  ["2026-11-22T24:00:00Z", false],
  ["2026-11-22t12:00:00Z", false],
  ["2026-11-22T12:00:00+00:00", false],
  ["2026-11-22T12:00:00.5Z", false],
  ["2026-11-22T12:00:00Z\n", false],
  ["", false],
])("%j is plain: %s", (text, plain) => {
  expect(isPlainTime(text)).toBe(plain);
});

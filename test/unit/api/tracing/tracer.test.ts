// Traces: what callers say of theirs, what is sampled, and which span work belongs to, also across waits.
import { setTimeout as wait } from "node:timers/promises";
import type { EndedSpan } from "../../../../api/tracing/span.ts";
import {
  parseTraceContext,
  traceHeaders,
} from "../../../../api/tracing/trace-context.ts";
import { Tracer } from "../../../../api/tracing/tracer.ts";
import { FakeClock } from "../../../support/fake-clock.ts";

const trace = "0af7651916cd43dd8448eb211c80319c";
const span = "b7ad6b7169203331";

function tracerOf(ratePerMillion: number) {
  const ended: EndedSpan[] = [];
  const clock = new FakeClock();
  const sink = { add: (one: EndedSpan) => void ended.push(one) };
  return { tracer: new Tracer({ ratePerMillion, sink, clock }), ended, clock };
}

const server = { kind: "server" } as const;
const sampled = { traceId: trace, spanId: span, sampled: true, state: "" };

test.each([
  [`00-${trace}-${span}-01`, true],
  [`00-${trace}-${span}-00`, false],
  [`00-${trace}-${span}-03`, true],
  [`cc-${trace}-${span}-01-later-fields`, true],
])("%s is a context", (text, isSampled) => {
  const context = parseTraceContext(text, "a=b")!;
  expect(context).toEqual({ ...sampled, sampled: isSampled, state: "a=b" });
  expect(traceHeaders(context)).toEqual({
    traceparent: `00-${trace}-${span}-0${isSampled ? 1 : 0}`,
    tracestate: "a=b",
  });
});

test.each([
  undefined,
  "",
  ["00"],
  `00-${trace}-${span}`,
  `00-${trace}-${span}-01-more`,
  `ff-${trace}-${span}-01`,
  `00-${"0".repeat(32)}-${span}-01`,
  `00-${trace}-${"0".repeat(16)}-01`,
  `00-${trace.toUpperCase()}-${span}-01`,
  `00-${trace}-${span}-0g`,
  `cc-${trace}-${span}-01-${"x".repeat(1000)}`,
])("%j is none", (text) => {
  expect(parseTraceContext(text, undefined)).toBeUndefined();
});

test("a share of the traces that begin here is sampled; callers decide of theirs", () => {
  const share = (rate: number): number => {
    const { tracer } = tracerOf(rate);
    const all = Array.from({ length: 2000 }, () => tracer.enter("a", server));
    return all.filter((one) => one.sampled).length / all.length;
  };
  expect(share(0)).toBe(0);
  expect(share(1_000_000)).toBe(1);
  expect(share(250_000)).toBeGreaterThan(0.15);
  expect(share(250_000)).toBeLessThan(0.35);
  expect(
    tracerOf(0).tracer.enter("a", { ...server, parent: sampled }).sampled,
  ).toBe(true);
  const refused = { ...sampled, sampled: false };
  expect(
    tracerOf(1_000_000).tracer.enter("a", { ...server, parent: refused })
      .sampled,
  ).toBe(false);
});

test("work is a part of its request's span, and of no other's", async () => {
  const { tracer, ended } = tracerOf(1_000_000);
  const request = (name: string): Promise<void> =>
    tracer.scope(async () => {
      await wait(1);
      const entered = tracer.enter(name, server).set({ size: 1, empty: "" });
      await Promise.all(
        ["x", "y"].map((part) =>
          tracer.child(
            `${name}/${part}`,
            () => ({}),
            async () => {
              await wait(1);
              tracer.call(`${name}/${part}/call`, {}).end();
            },
          ),
        ),
      );
      entered.end();
    });
  await Promise.all(["a", "b", "c"].map(request));
  expect(ended).toHaveLength(15);
  const byName = new Map(ended.map((one) => [one.name, one]));
  for (const one of ended) {
    const at = one.name.lastIndexOf("/");
    const parent = byName.get(one.name.slice(0, at));
    expect(one.parentId).toBe(at < 0 ? "" : parent!.context.spanId);
    expect(one.context.traceId).toBe(byName.get(one.name[0]!)!.context.traceId);
  }
  expect(byName.get("a")!.attributes).toEqual({ size: 1 });
});

test("what a request left behind has no span, and failures are recorded", async () => {
  const { tracer, ended, clock } = tracerOf(1_000_000);
  let later: (() => string) | undefined;
  await tracer.scope(async () => {
    const entered = tracer.enter("request", server);
    later = () =>
      tracer.child(
        "late",
        () => ({}),
        () => "done",
      );
    clock.advance(5);
    await expect(
      tracer.child(
        "part",
        () => ({}),
        () => Promise.reject(new Error("broken")),
      ),
    ).rejects.toThrow("broken");
    expect(() =>
      tracer.child(
        "sync",
        () => ({}),
        () => {
          throw new Error("at once");
        },
      ),
    ).toThrow("at once");
    entered.end();
    entered.end();
    expect(later!()).toBe("done");
  });
  expect(later!()).toBe("done");
  expect(ended.map(({ name, error }) => [name, error])).toEqual([
    ["part", "broken"],
    ["sync", "at once"],
    ["request", undefined],
  ]);
  const { startMs, endMs } = ended[2]!;
  expect([startMs, endMs]).toEqual([clock.now() - 5, clock.now()]);
});

test("what is not sampled records nothing, and says so to others", () => {
  const { tracer, ended } = tracerOf(0);
  tracer.scope(() => {
    const entered = tracer.enter("request", server);
    const { traceId } = entered.context;
    expect(
      tracer.child(
        "part",
        () => {
          throw new Error("asked");
        },
        () => 7,
      ),
    ).toBe(7);
    const call = tracer.call("call", {});
    expect(call.headers["traceparent"]).toMatch(
      new RegExp(`^00-${traceId}-[0-9a-f]{16}-00$`),
    );
    call.end(new Error("failed"));
    entered.end();
  });
  expect(ended).toEqual([]);
});

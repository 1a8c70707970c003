// Rates of nodes and pods from what their agents answer, and how often these are asked.
import { NodeUsage } from "../../../../apiserver-lite/node-metrics/node-usage.ts";
import {
  parseSummary,
  podKey,
} from "../../../../apiserver-lite/node-metrics/usage-sample.ts";
import { eventually } from "../../../support/eventually.ts";
import { FakeClock } from "../../../support/fake-clock.ts";

const key = podKey({ namespace: "default", name: "p", uid: "u" });

/** What an agent answers: nanoseconds used so far by node and containers. */
function summary(node: number, containers: Record<string, number>): string {
  const stats = (used: number): object => ({
    cpu: { time: "2026-01-01T00:00:00Z", usageCoreNanoSeconds: used },
    memory: { workingSetBytes: 2048 },
  });
  return JSON.stringify({
    node: stats(node),
    pods: [
      {
        podRef: { namespace: "default", name: "p", uid: "u" },
        containers: Object.entries(containers).map(([name, used]) => ({
          name,
          ...stats(used),
        })),
      },
    ],
  });
}

function usageOf(answers: (string | Error)[]): {
  clock: FakeClock;
  asked: () => number;
  rates: () => Promise<Record<string, number | undefined>>;
} {
  const clock = new FakeClock();
  let asked = 0;
  const usage = new NodeUsage({
    read: () => {
      asked++;
      const answer = answers.shift();
      return answer instanceof Error
        ? Promise.reject(answer)
        : Promise.resolve(answer ?? "null");
    },
    clock,
  });
  return {
    clock,
    asked: () => asked,
    async rates() {
      let settled = false;
      const asking = usage.rates("n").finally(() => (settled = true));
      asking.catch(() => undefined);
      await eventually(() => settled || clock.pending > 0);
      if (!settled) clock.advance(1000);
      const { node, pods } = await asking;
      return {
        node: node?.nanoCores,
        ...Object.fromEntries(
          [...(pods.get(key) ?? [])].map(([name, rate]) => [
            name,
            rate.nanoCores,
          ]),
        ),
      };
    },
  };
}

test("who asks first waits for a second sample, who asks soon after gets the same", async () => {
  const { rates, clock, asked } = usageOf([
    summary(0, { c: 0 }),
    summary(5e8, { c: 1e8 }),
  ]);
  expect(await rates()).toEqual({ node: 5e8, c: 1e8 });
  clock.advance(9_000);
  expect(await rates()).toEqual({ node: 5e8, c: 1e8 });
  expect(asked()).toBe(2);
});

test("two who ask at once share the answer", async () => {
  const { rates, asked } = usageOf([summary(0, {}), summary(1e9, {})]);
  const [one, two] = await Promise.all([rates(), rates()]);
  expect(one).toEqual(two);
  expect(asked()).toBe(2);
});

test("a later rate is since the sample before, and a container that began meanwhile has one too", async () => {
  const { rates, clock, asked } = usageOf([
    summary(0, { c: 0 }),
    summary(1e9, { c: 1e9 }),
    summary(21e9, { c: 11e9, late: 0 }),
    summary(22e9, { c: 11e9, late: 3e8 }),
  ]);
  await rates();
  clock.advance(20_000);
  // 21 s after the last sample of the first round.
  expect(await rates()).toEqual({
    node: 1e9,
    c: Math.round(10e9 / 21),
    late: 3e8,
  });
  expect(asked()).toBe(4);
});

test("a sample of long ago is no base", async () => {
  const { rates, clock } = usageOf([
    summary(0, {}),
    summary(1e9, {}),
    summary(100e9, {}),
    summary(100e9, {}),
  ]);
  await rates();
  clock.advance(61_000);
  expect(await rates()).toEqual({ node: 0 });
});

test("a counter that went back has no rate", async () => {
  const { rates } = usageOf([
    summary(1e9, { c: 5e9 }),
    summary(2e9, { c: 1e9 }),
  ]);
  expect(await rates()).toEqual({ node: 1e9 });
});

test("a failure is reported to who asked, and the next one asks again", async () => {
  const { rates } = usageOf([
    new Error("unreachable"),
    summary(0, {}),
    summary(1e9, {}),
  ]);
  await expect(rates()).rejects.toThrow("unreachable");
  expect(await rates()).toEqual({ node: 1e9 });
});

test.each(["", "no", "null", "[]", '{"pods":{}}', '{"pods":[null]}'])(
  "%j is no summary with figures",
  (text) => {
    let found;
    try {
      found = parseSummary(text);
    } catch {
      return;
    }
    expect(found.node).toBeUndefined();
    expect(found.pods.size).toBe(0);
  },
);

test("figures that are none leave their container out", () => {
  const { pods } = parseSummary(
    JSON.stringify({
      pods: [
        {
          podRef: { namespace: "default", name: "p", uid: "u" },
          containers: [
            { name: "a", cpu: { time: "soon", usageCoreNanoSeconds: 1 } },
            { name: "b", cpu: {}, memory: { workingSetBytes: 1 } },
            null,
            7,
          ],
        },
      ],
    }),
  );
  expect(pods.get(key)?.size ?? 0).toBe(0);
});

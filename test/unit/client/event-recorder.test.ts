import type { Event, Pod } from "../../../api/types/core-v1.ts";
import { createClient } from "../../../client/create-client.ts";
import { EventRecorder } from "../../../client/event-recorder.ts";
import { events } from "../../../client/resources.ts";
import { silent } from "../../support/control-plane.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { MemoryApi } from "../../support/memory-api.ts";

const pod = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "p", namespace: "n", uid: "u", resourceVersion: "7" },
} as Pod;

function setUp(rateLimit?: { perSecond: number; burst: number }) {
  const clock = new FakeClock();
  const api = new MemoryApi(clock);
  const recorder = new EventRecorder({
    client: createClient(api, { clock, logger: silent }),
    clock,
    logger: silent,
    component: "test",
    host: "h",
    ...(rateLimit ? { rateLimit } : {}),
  });
  return { clock, api, recorder, all: () => api.all<Event>(events) };
}

test("an event says who, what and when", async () => {
  const { recorder, all } = setUp();
  recorder.event(pod, "Normal", "Started", "It started");
  await recorder.flush();
  expect(all()).toMatchObject([
    {
      metadata: {
        namespace: "n",
        name: expect.stringMatching(/^p\.[0-9a-f]{16}$/),
      },
      involvedObject: {
        apiVersion: "v1",
        kind: "Pod",
        name: "p",
        namespace: "n",
        uid: "u",
        resourceVersion: "7",
      },
      reason: "Started",
      message: "It started",
      type: "Normal",
      count: 1,
      source: { component: "test", host: "h" },
      reportingComponent: "test",
      firstTimestamp: "2025-01-01T00:00:00Z",
      lastTimestamp: "2025-01-01T00:00:00Z",
    },
  ]);
});

test("above the rate events wait, and none is lost; 0 a second is no limit", async () => {
  const record = (recorder: EventRecorder): void => {
    for (let n = 0; n < 10; n++)
      recorder.event(
        { ...pod, metadata: { ...pod.metadata, name: `p${n}`, uid: `u${n}` } },
        "Normal",
        "Started",
        "It started",
      );
  };
  const limited = setUp({ perSecond: 2, burst: 3 });
  record(limited.recorder);
  await limited.clock.advanceAsync(0);
  expect(limited.all()).toHaveLength(3);
  await limited.clock.advanceAsync(999);
  expect(limited.all()).toHaveLength(4);
  await limited.clock.advanceAsync(1);
  expect(limited.all()).toHaveLength(5);
  await limited.clock.advanceAsync(2500);
  await limited.recorder.flush();
  expect(limited.all()).toHaveLength(10);

  const unlimited = setUp({ perSecond: 0, burst: 0 });
  record(unlimited.recorder);
  await unlimited.recorder.flush();
  expect(unlimited.all()).toHaveLength(10);

  const stopped = setUp({ perSecond: 1, burst: 1 });
  record(stopped.recorder);
  await stopped.clock.advanceAsync(0);
  stopped.recorder.stop();
  await stopped.recorder.flush();
  expect(stopped.all()).toHaveLength(1);
});

test("the same again raises the count, also after the event was deleted", async () => {
  const { recorder, all, clock, api } = setUp();
  for (let n = 0; n < 3; n++) {
    recorder.event(pod, "Warning", "BackOff", "again");
    clock.advance(1000);
    await recorder.flush();
  }
  expect(all()).toMatchObject([
    {
      count: 3,
      firstTimestamp: "2025-01-01T00:00:00Z",
    },
  ]);
  const { name } = all()[0]!.metadata;
  await api.request({
    verb: "delete",
    resource: events,
    namespace: "n",
    name,
  });
  recorder.event(pod, "Warning", "BackOff", "again");
  await recorder.flush();
  expect(all()).toMatchObject([{ count: 4 }]);
});

test("many messages of one kind are combined; one object can't flood", async () => {
  const { recorder, all } = setUp();
  for (let n = 0; n < 40; n++)
    recorder.event(pod, "Normal", "Seen", `number ${n}`);
  await recorder.flush();
  const combined = all().filter(({ message }) =>
    message?.startsWith("(combined from similar events): "),
  );
  expect(combined).toHaveLength(1);
  const total = all().reduce((sum, { count = 0 }) => sum + count, 0);
  expect(total).toBe(25);
});

test("a refusal is final, a broken connection is tried again, and nothing after stop", async () => {
  const { recorder, all, clock, api } = setUp();
  let failures = 1;
  api.intercept = () => {
    if (failures-- > 0) throw new Error("connection reset");
  };
  recorder.event(pod, "Normal", "A", "a");
  await clock.advanceAsync(5000);
  await recorder.flush();
  expect(all()).toHaveLength(1);
  recorder.stop();
  recorder.event(pod, "Normal", "B", "b");
  await recorder.flush();
  expect(all()).toHaveLength(1);
});

test("the queue is bounded", () => {
  const { recorder } = setUp();
  for (let n = 0; n < 1500; n++) recorder.event(pod, "Normal", "A", String(n));
  expect(recorder.dropped).toBe(500);
  recorder.stop();
});

test("names are in the order of time, across recorders and within a millisecond", async () => {
  const { recorder, all, api, clock } = setUp();
  const other = new EventRecorder({
    client: createClient(api, { clock, logger: silent }),
    ...{ clock, logger: silent, component: "other" },
  });
  for (let n = 0; n < 8; n++) {
    (n % 2 ? recorder : other).event(pod, "Normal", `Reason${n}`, "m");
    if (n === 4) clock.advance(1);
  }
  await Promise.all([recorder.flush(), other.flush()]);
  const sorted = all().sort((a, b) =>
    a.metadata.name < b.metadata.name ? -1 : 1,
  );
  expect(sorted.map(({ reason }) => reason)).toEqual(
    Array.from({ length: 8 }, (_, n) => `Reason${n}`),
  );
});

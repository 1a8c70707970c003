// Watches over both transports: what they tell until their server ends them, and what is refused.
import type { GroupVersionResource } from "../../../../api/object.ts";
import type { InProcessTransport } from "../../../../apiserver-lite/in-process/transport.ts";
import type { WatchOptions } from "../../../../client/client.ts";
import { eventually } from "../../../support/eventually.ts";
import {
  outcome,
  useTransportPair,
  type Side,
} from "../../../support/transports/pair.ts";
import {
  configMaps,
  core,
  map,
  namespace,
  named,
  of,
  post,
  put,
  remove,
} from "../../../support/transports/requests.ts";
import type { Json } from "../support.ts";

/** Something of each kind of event. */
const pair = useTransportPair([
  post(configMaps, map("a")),
  post(configMaps, {
    metadata: { name: "b", namespace, labels: { l: "x" } },
  }),
  post(configMaps, map("c")),
  put("a", map("a", { a: "2" })),
  put("b", named("b")),
  remove(configMaps, "c"),
]);

const watches: [
  name: string,
  options: WatchOptions,
  resource: GroupVersionResource,
  want: "events" | number,
][] = [
  [
    "from now, ended in time",
    { namespace, timeoutSeconds: 1 },
    configMaps,
    "events",
  ],
  [
    "from the start, with bookmarks",
    {
      namespace,
      sendInitialEvents: true,
      resourceVersionMatch: "NotOlderThan",
      allowWatchBookmarks: true,
      timeoutSeconds: 1,
    },
    configMaps,
    "events",
  ],
  [
    "from a past version",
    { namespace, resourceVersion: "1", timeoutSeconds: 1 },
    configMaps,
    "events",
  ],
  [
    "of some labels, from a past version",
    {
      namespace,
      resourceVersion: "1",
      labelSelector: "l=x",
      timeoutSeconds: 1,
    },
    configMaps,
    "events",
  ],
  [
    "from the future",
    { namespace, resourceVersion: "999999999", timeoutSeconds: 1 },
    configMaps,
    "events",
  ],
  ["from no version", { namespace, resourceVersion: "x" }, configMaps, 400],
  ["of a bad selector", { namespace, labelSelector: "l in" }, configMaps, 400],
  [
    "of an unknown field",
    { namespace, fieldSelector: "spec.x=1" },
    configMaps,
    400,
  ],
  ["of an unknown resource", { namespace }, core("nothings"), 404],
  ["of what can't be watched", {}, core("componentstatuses"), 405],
  [
    "of what can't be listed",
    {},
    of("authorization.k8s.io", "subjectaccessreviews"),
    405,
  ],
  [
    "with a match and no initial events",
    { namespace, resourceVersionMatch: "NotOlderThan", resourceVersion: "1" },
    configMaps,
    422,
  ],
];

/** The events of a watch until its server ends it; time passes meanwhile. */
async function eventsOf(
  { transport, clock }: Side,
  resource: GroupVersionResource,
  options: WatchOptions,
): Promise<Json> {
  let over = false;
  const reading = outcome(async () => {
    const events: unknown[] = [];
    for await (const { type, object } of transport.watch(resource, options)) {
      // Of a bookmark only the version and the end of the initial state count.
      if (type === "BOOKMARK") delete object.metadata.creationTimestamp;
      events.push({ type, object });
    }
    return events;
  }).finally(() => (over = true));
  await eventually(
    async () => {
      await clock.advanceAsync(250);
      return over;
    },
    { what: "the end of the watch" },
  );
  return reading;
}

test.each(watches)("a watch %s", async (_name, options, resource, want) => {
  const over = await eventsOf(pair.http, resource, options);
  const within = await eventsOf(pair.inProcess, resource, options);
  expect(over.answer ? "events" : over.code).toBe(want);
  expect(within).toEqual(over);
});

test("a watch of this process leaves nothing behind", async () => {
  const stops = (): number =>
    (pair.inProcess.transport as InProcessTransport).openStreams;
  const before = stops();
  for (let round = 0; round < 50; round++) {
    const stream = pair.inProcess.transport.watch(configMaps, { namespace });
    if (round % 2 === 0) stream.close();
    else for await (const _ of stream) break;
  }
  expect(stops()).toBe(before);
});

// Mirrors of static pods that are changed or removed: they stay, and show what still ends, until nothing of it is left.
import pino from "pino";
import { MirrorPods } from "../../../agent/reporting/mirror-pods.ts";
import { KnownMirrors } from "../../../agent/reporting/known-mirrors.ts";
import type { Pod } from "../../../api/types/core-v1.ts";
import { createClient } from "../../../client/create-client.ts";
import { pods } from "../../../client/resources.ts";
import { eventually } from "../../support/eventually.ts";
import { FakeClock, settle } from "../../support/fake-clock.ts";
import { MemoryApi } from "../../support/memory-api.ts";

const logger = pino({ level: "silent" });

/** The version of the static pod `p` with that content. */
const version = (hash: string): Pod => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: {
    name: "p",
    namespace: "default",
    uid: hash,
    annotations: { "kubernetes.io/config.hash": hash },
  },
  spec: { containers: [{ name: "c", image: hash }] },
});

async function started() {
  const clock = new FakeClock();
  const client = createClient(new MemoryApi(clock), { clock, logger });
  const api = client.resource(pods);
  const mirrors = new MirrorPods({
    client,
    known: new KnownMirrors(),
    clock,
    logger,
    owner: () => ({ apiVersion: "v1", kind: "Node", name: "n", uid: "u" }),
    onMirror: () => undefined,
    onServed: () => undefined,
  });
  const ending = new Set<string>();
  mirrors.keepWhile((name) => ending.has(name));
  mirrors.ready();
  mirrors.setStatic([version("a")], true);
  const shown = async (): Promise<string | undefined> =>
    (await api.get("p", "default").catch(() => undefined))?.spec.containers[0]!
      .image;
  await eventually(async () => (await shown()) === "a");
  return { api, clock, mirrors, ending, shown };
}

test.each([
  ["changed", [version("b")], "b"],
  ["removed", [], undefined],
])("of a static pod that was %s", async (_what, then, expected) => {
  const { api, clock, mirrors, ending, shown } = await started();
  const { uid } = (await api.get("p", "default")).metadata;
  ending.add("default/p");
  mirrors.setStatic(then, true);
  mirrors.reconcile();
  await clock.advanceAsync(20_000);
  expect((await api.get("p", "default")).metadata.uid).toBe(uid);
  expect(await shown()).toBe("a");
  ending.clear();
  mirrors.ended(version("a"));
  await eventually(async () => (await shown()) === expected);
  mirrors.stop();
});

test.each([
  { restartPolicy: "Never", kept: false },
  { restartPolicy: "Always", kept: true },
])(
  "a pod ($restartPolicy) that was put back while it ended keeps its mirror: $kept",
  async ({ restartPolicy, kept }) => {
    const { api, mirrors, shown } = await started();
    const own = version("a");
    const { uid } = (await api.get("p", "default")).metadata;
    mirrors.ended({ ...own, spec: { ...own.spec, restartPolicy } });
    // Long enough for a deletion.
    for (let turn = 0; turn < 20; turn++) await settle();
    await eventually(async () => {
      const now = await api.get("p", "default").catch(() => undefined);
      return now !== undefined && (now.metadata.uid === uid) === kept;
    });
    expect(await shown()).toBe("a");
    mirrors.stop();
  },
);

test("one that was deleted by another is made again while the old version ends", async () => {
  const { api, mirrors, ending, shown } = await started();
  ending.add("default/p");
  mirrors.setStatic([version("b")], true);
  const mirror = await api.get("p", "default");
  await api.delete("p", "default", { gracePeriodSeconds: 0 });
  mirrors.onMirrorDeleted(mirror);
  await eventually(async () => (await shown()) === "b");
  mirrors.stop();
});

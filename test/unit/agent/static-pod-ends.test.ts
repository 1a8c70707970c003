// Whether a static pod of a name still ends, by which its mirror stays: also when its manifest went while no agent ran.
import { PodMetrics } from "../../../agent/metrics/pod-metrics.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";
import { stagedPod, workerStage } from "./worker-stage.ts";

const directories = useTempDirectories();

test("what the last agent left runs until it was ended", async () => {
  const stage = await workerStage(directories());
  const { metadata, ...rest } = stagedPod();
  const annotations = { "kubernetes.io/config.source": "file" };
  stage.workers.set({ ...rest, metadata: { ...metadata, annotations } });
  await stage.until("it runs", () => stage.running().length === 1);
  expect(stage.workers.staticPodEnds("ns/p")).toBe(false);
  await stage.workers.stop();

  const workers = stage.nextWorkers();
  // What runs is not known yet.
  expect(workers.staticPodEnds("ns/p")).toBe(true);
  workers.open();
  expect(workers.staticPodEnds("ns/p")).toBe(true);
  expect(workers.staticPodEnds("ns/other")).toBe(false);
  const ends = new Promise<boolean>((resolve) =>
    workers.onGone(() => resolve(workers.staticPodEnds("ns/p"))),
  );
  workers.endOrphans(() => true);
  await stage.until("it has ended", () => stage.running().length === 0);
  await stage.until("nothing is left", () => stage.node.sandboxes.size === 0);
  await stage.until("its worker is gone", () => workers.list().length === 0);
  expect(await ends).toBe(false);
  await workers.stop();
});

test("a pod that the runtime keeps for good is reported once, however often it is ended", async () => {
  const metrics = new PodMetrics();
  const stage = await workerStage(directories(), { metrics });
  stage.workers.set(stagedPod());
  await stage.until("it runs", () => stage.running().length === 1);
  await stage.workers.stop();

  const workers = stage.nextWorkers();
  workers.open();
  const kept = [...stage.node.sandboxes];
  let gone = 0;
  workers.onGone(() => gone++);
  for (const round of [1, 2, 3]) {
    workers.endOrphans(() => true);
    await stage.until("it has ended", () => gone === round);
    // As containerd 1.6 does whose record of a container was removed behind its back.
    for (const [id, sandbox] of kept)
      stage.node.sandboxes.set(id, { ...sandbox, ready: false });
    await stage.relist();
  }
  expect(metrics.families().flatMap((family) => [...family.text()])).toContain(
    "kubelet_orphaned_runtime_pods_total 1\n",
  );
  await workers.stop();
});

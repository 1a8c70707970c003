import type {
  ControllerRevision,
  DaemonSet,
  StatefulSet,
} from "../../../api/types/apps-v1.ts";
import type { CronJob, Job } from "../../../api/types/batch-v1.ts";
import type {
  Event,
  PersistentVolumeClaim,
  Pod,
} from "../../../api/types/core-v1.ts";
import type { PodDisruptionBudget } from "../../../api/types/policy-v1.ts";
import {
  controllerRevisions,
  cronJobs,
  daemonSets,
  events,
  jobs,
  nodes,
  persistentVolumeClaims,
  podDisruptionBudgets,
  pods,
  statefulSets,
} from "../../../client/resources.ts";
import {
  formatIndexes,
  parseIndexes,
} from "../../../controllers/job/completion-indexes.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import {
  passes,
  startControlPlane,
  testNode,
} from "../../support/control-plane.ts";
import type { ControlPlane } from "../../support/control-plane.ts";

let plane: ControlPlane;
const start = async (options: Parameters<typeof startControlPlane>[0] = {}) => {
  plane = await startControlPlane(options);
};
afterEach(() => plane.stop());

const allPods = () => plane.api.all<Pod>(pods);
const names = () =>
  allPods()
    .map(({ metadata }) => metadata.name)
    .sort();
const template = (image = "a") => ({
  metadata: { labels: { app: "x" } },
  spec: { containers: [{ name: "c", image }] },
});
const meta = (name: string) => ({ name, namespace: "default" });
const selector = { matchLabels: { app: "x" } };
const end = (name: string, phase: "Succeeded" | "Failed", exitCode = 0) =>
  plane.client.resource(pods).patch(
    name,
    "default",
    {
      type: "merge",
      body: {
        status: {
          phase,
          containerStatuses: [
            { name: "c", restartCount: 0, state: { terminated: { exitCode } } },
          ],
        },
      },
    },
    { subresource: "status" },
  );

describe("DaemonSet", () => {
  const set = (image = "a"): DaemonSet => ({
    metadata: meta("d"),
    spec: { selector, template: template(image) },
  });
  const hosts = () =>
    allPods()
      .map(
        (pod) =>
          pod.spec.affinity?.nodeAffinity
            ?.requiredDuringSchedulingIgnoredDuringExecution
            ?.nodeSelectorTerms[0]?.matchFields?.[0]?.values?.[0],
      )
      .sort();

  test("one pod a node, following nodes and taints; rolls out one by one", async () => {
    await start({ runPods: true });
    await plane.client.resource(nodes).create(testNode("n1"));
    const tainted = testNode("n2");
    tainted.spec = { taints: [{ key: "k", effect: "NoSchedule" }] };
    await plane.client.resource(nodes).create(tainted);
    await plane.client.resource(daemonSets).create(set());
    await passes(() => expect(hosts()).toEqual(["n1"]));
    const fresh = await plane.client.resource(nodes).get("n2");
    await plane.client.resource(nodes).update({ ...fresh, spec: {} });
    await passes(() => expect(hosts()).toEqual(["n1", "n2"]));
    const status = async () =>
      (await plane.client.resource(daemonSets).get("d", "default")).status;
    await passes(async () =>
      expect(await status()).toMatchObject({
        desiredNumberScheduled: 2,
        numberReady: 2,
        numberAvailable: 2,
        updatedNumberScheduled: 2,
      }),
    );
    await plane.client.resource(daemonSets).patch("d", "default", {
      type: "strategic",
      body: { spec: { template: template("b") } },
    });
    await passes(async () => {
      expect(allPods().map((pod) => pod.spec.containers[0]!.image)).toEqual([
        "b",
        "b",
      ]);
      expect(await status()).toMatchObject({
        numberReady: 2,
        updatedNumberScheduled: 2,
      });
    });
  });
});

describe("StatefulSet", () => {
  const set = (extra: Partial<StatefulSet["spec"]> = {}): StatefulSet => ({
    metadata: meta("s"),
    spec: {
      replicas: 3,
      serviceName: "svc",
      selector,
      template: template(),
      volumeClaimTemplates: [
        {
          metadata: { name: "data" },
          spec: { accessModes: ["ReadWriteOnce"] },
        } as PersistentVolumeClaim,
      ],
      ...extra,
    },
  });

  test("pods come in order with their claims, go in reverse, and roll out from the top", async () => {
    await start({ runPods: true });
    const order: string[] = [];
    plane.client.informer(pods).addHandler({
      onAdd: ({ metadata }) => order.push(`+${metadata.name}`),
      onDelete: ({ metadata }) => order.push(`-${metadata.name}`),
    });
    await plane.client.resource(statefulSets).create(set());
    const status = async () =>
      (await plane.client.resource(statefulSets).get("s", "default")).status;
    await passes(async () =>
      expect(await status()).toMatchObject({ readyReplicas: 3, replicas: 3 }),
    );
    expect(order).toEqual(["+s-0", "+s-1", "+s-2"]);
    expect(
      plane.api
        .all<PersistentVolumeClaim>(persistentVolumeClaims)
        .map(({ metadata }) => metadata.name),
    ).toEqual(["data-s-0", "data-s-1", "data-s-2"]);
    const [first] = allPods();
    expect(first).toMatchObject({
      metadata: {
        labels: {
          "statefulset.kubernetes.io/pod-name": "s-0",
          "apps.kubernetes.io/pod-index": "0",
        },
      },
      spec: {
        hostname: "s-0",
        subdomain: "svc",
        volumes: [
          { name: "data", persistentVolumeClaim: { claimName: "data-s-0" } },
        ],
      },
    });
    order.length = 0;
    await plane.client.resource(statefulSets).patch("s", "default", {
      type: "strategic",
      body: { spec: { template: template("b") } },
    });
    await passes(async () => {
      const now = await status();
      expect(now).toMatchObject({
        updatedReplicas: 3,
        readyReplicas: 3,
        observedGeneration: 2,
      });
      expect(now?.currentRevision).toBe(now?.updateRevision);
    });
    expect(order).toEqual(["-s-2", "+s-2", "-s-1", "+s-1", "-s-0", "+s-0"]);
    order.length = 0;
    await plane.client.resource(statefulSets).patch("s", "default", {
      type: "merge",
      body: { spec: { replicas: 1 } },
    });
    await passes(() => expect(names()).toEqual(["s-0"]));
    expect(order).toEqual(["-s-2", "-s-1"]);
  });

  test("OrderedReady waits for an unready pod, Parallel does not", async () => {
    await start();
    await plane.client.resource(statefulSets).create(set());
    await plane.client.resource(statefulSets).create({
      ...set({
        podManagementPolicy: "Parallel",
        selector: { matchLabels: { app: "y" } },
        template: { ...template(), metadata: { labels: { app: "y" } } },
      }),
      metadata: meta("p"),
    });
    await passes(() => expect(names()).toEqual(["p-0", "p-1", "p-2", "s-0"]));
  });
});

test("a claim that waits for the collector holds up its own pod alone where pods are made in parallel", async () => {
  // The collector would take the claim away, and the pod would be made.
  await start({
    controllers: { controllers: ["*", "-garbage-collector-controller"] },
  });
  await plane.client.resource(persistentVolumeClaims).create({
    metadata: {
      ...meta("data-s-0"),
      ownerReferences: [
        { apiVersion: "v1", kind: "Pod", name: "s-0", uid: "gone" },
      ],
    },
    spec: { accessModes: ["ReadWriteOnce"] },
  } as PersistentVolumeClaim);
  await plane.client.resource(statefulSets).create({
    metadata: meta("s"),
    spec: {
      ...{ replicas: 3, serviceName: "svc", selector, template: template() },
      podManagementPolicy: "Parallel",
      persistentVolumeClaimRetentionPolicy: {
        whenDeleted: "Delete",
        whenScaled: "Delete",
      },
      volumeClaimTemplates: [
        {
          metadata: { name: "data" },
          spec: { accessModes: ["ReadWriteOnce"] },
        } as PersistentVolumeClaim,
      ],
    },
  });
  await passes(() => expect(names()).toEqual(["s-1", "s-2"]));
  const [pod] = allPods();
  expect(pod?.metadata.generateName).toBe("s-");
  const [revision] = plane.api.all<ControllerRevision>(controllerRevisions);
  expect(Object.keys(revision?.metadata.labels ?? {})).toContain(
    "controller.kubernetes.io/hash",
  );
});

describe("StatefulSet with unhealthy pods", () => {
  test("pods that end at once are replaced a few times, then at a steady pace", async () => {
    const clock = new FakeClock();
    await start({ clock });
    const created: string[] = [];
    plane.client.informer(pods).addHandler({
      onAdd: ({ metadata }) => {
        created.push(metadata.name);
        if (metadata.name === "s-0") void end("s-0", "Failed");
      },
    });
    const rejections = () => created.filter((name) => name === "s-0").length;
    const sets = plane.client.resource(statefulSets);
    const spec = { serviceName: "svc", selector, template: template() };
    await sets.create({ metadata: meta("s"), spec });
    await passes(() => expect(rejections()).toBe(8));
    for (const name of ["t", "u", "v"]) {
      // What another set needs is not held up, and leaves the first time for more.
      await sets.create({ metadata: meta(name), spec });
      await passes(() => expect(created).toContain(`${name}-0`));
    }
    expect(rejections()).toBe(8);
    clock.advance(200);
    await passes(() => expect(rejections()).toBe(9));
  });

  const scaled = async (
    podManagementPolicy: string,
    unready: readonly string[],
    replicas: number,
  ): Promise<string[]> => {
    await start({ runPods: true });
    const sets = plane.client.resource(statefulSets);
    await sets.create({
      metadata: meta("s"),
      spec: {
        replicas: 3,
        serviceName: "svc",
        podManagementPolicy,
        selector,
        template: template(),
      },
    });
    const status = async () => (await sets.get("s", "default")).status;
    await passes(async () => expect((await status())?.readyReplicas).toBe(3));
    const conditions = [{ type: "Ready", status: "False" }];
    for (const name of unready)
      await plane.client
        .resource(pods)
        .patch(
          name,
          "default",
          { type: "strategic", body: { status: { conditions } } },
          { subresource: "status" },
        );
    await passes(async () =>
      expect((await status())?.readyReplicas).toBe(3 - unready.length),
    );
    const { metadata } = await sets.patch("s", "default", {
      type: "merge",
      body: { spec: { replicas } },
    });
    // A run that saw the new size has made its writes before it writes this.
    await passes(async () =>
      expect((await status())?.observedGeneration).toBe(metadata.generation),
    );
    return names();
  };

  test("OrderedReady: nothing goes while all are unhealthy, then all in order", async () => {
    const unready = ["s-0", "s-1", "s-2"];
    expect(await scaled("OrderedReady", unready, 0)).toEqual(unready);
    const order: string[] = [];
    plane.client.informer(pods).addHandler({
      onDelete: ({ metadata }) => order.push(metadata.name),
    });
    const conditions = [{ type: "Ready", status: "True" }];
    for (const name of unready)
      await plane.client
        .resource(pods)
        .patch(
          name,
          "default",
          { type: "strategic", body: { status: { conditions } } },
          { subresource: "status" },
        );
    await passes(() => expect(order).toEqual(["s-2", "s-1", "s-0"]));
  });

  test("OrderedReady: a replica that stays and is unhealthy keeps the others", async () => {
    expect(await scaled("OrderedReady", ["s-0"], 1)).toEqual([
      "s-0",
      "s-1",
      "s-2",
    ]);
  });

  test("OrderedReady: the only unhealthy pod may go when it is the last", async () => {
    await scaled("OrderedReady", ["s-2"], 0);
    await passes(() => expect(names()).toEqual([]));
  });

  test("Parallel: health does not matter", async () => {
    await scaled("Parallel", ["s-0", "s-1", "s-2"], 0);
    await passes(() => expect(names()).toEqual([]));
  });
});

describe("Job", () => {
  const job = (extra: Partial<Job["spec"]> = {}): Job => ({
    metadata: meta("j"),
    spec: {
      completions: 2,
      parallelism: 1,
      backoffLimit: 2,
      template: {
        spec: { ...template().spec, restartPolicy: "Never" },
      },
      ...extra,
    },
  });
  const get = async () => plane.client.resource(jobs).get("j", "default");
  const conditions = async () =>
    ((await get()).status?.conditions ?? []).map(
      ({ type, status, reason }) => `${type}=${status} ${reason}`,
    );
  const running = () =>
    allPods().filter(
      (pod) => !["Succeeded", "Failed"].includes(pod.status?.phase ?? ""),
    );

  test("runs until enough pods succeeded, counting each once", async () => {
    await start();
    await plane.client.resource(jobs).create(job());
    await passes(() => expect(running()).toHaveLength(1));
    expect(running()[0]!.metadata.finalizers).toEqual([
      "batch.kubernetes.io/job-tracking",
    ]);
    await end(running()[0]!.metadata.name, "Succeeded");
    await passes(() => expect(running()).toHaveLength(1));
    await passes(async () => expect((await get()).status?.succeeded).toBe(1));
    await end(running()[0]!.metadata.name, "Succeeded");
    await passes(async () => {
      expect(await conditions()).toEqual([
        "SuccessCriteriaMet=True CompletionsReached",
        "Complete=True CompletionsReached",
      ]);
      expect((await get()).status).toMatchObject({ succeeded: 2 });
    });
    expect(
      allPods().flatMap(({ metadata }) => metadata.finalizers ?? []),
    ).toEqual([]);
  });

  test("fails beyond the back-off limit, waiting longer between tries", async () => {
    const clock = new FakeClock();
    await start({ clock });
    await clock.advanceAsync(10);
    await plane.client.resource(jobs).create(job());
    const waits: number[] = [];
    for (let failures = 1; failures <= 3; failures++) {
      const startMs = clock.now();
      while (running().length === 0) await clock.advanceAsync(1000);
      waits.push((clock.now() - startMs) / 1000);
      await end(running()[0]!.metadata.name, "Failed", 1);
      await clock.advanceAsync(10);
    }
    expect(waits[1]).toBeGreaterThanOrEqual(8);
    expect(waits[2]!).toBeGreaterThan(waits[1]!);
    await clock.advanceAsync(1000);
    expect(await conditions()).toEqual([
      "FailureTarget=True BackoffLimitExceeded",
      "Failed=True BackoffLimitExceeded",
    ]);
    expect((await get()).status?.failed).toBe(3);
  });

  test("Indexed: each index once, compressed in the status", async () => {
    await start();
    await plane.client
      .resource(jobs)
      .create(
        job({ completionMode: "Indexed", completions: 3, parallelism: 3 }),
      );
    await passes(() => expect(running()).toHaveLength(3));
    const hostnames = running()
      .map((pod) => pod.spec.hostname)
      .sort();
    expect(hostnames).toEqual(["j-0", "j-1", "j-2"]);
    for (const pod of running()) await end(pod.metadata.name, "Succeeded");
    await passes(async () => {
      const { status } = await get();
      expect(status?.completedIndexes).toBe("0-2");
      expect(status?.succeeded).toBe(3);
    });
    expect(await conditions()).toContain("Complete=True CompletionsReached");
  });

  test("suspended Jobs have no pods; the failure policy ends a Job at once; the ttl removes it", async () => {
    await start();
    await plane.client.resource(jobs).create(
      job({
        suspend: true,
        ttlSecondsAfterFinished: 0,
        podFailurePolicy: {
          rules: [
            {
              action: "FailJob",
              onExitCodes: { operator: "In", values: [42] },
            },
          ],
        },
      }),
    );
    await passes(async () =>
      expect(await conditions()).toEqual(["Suspended=True JobSuspended"]),
    );
    expect(allPods()).toHaveLength(0);
    await plane.client.resource(jobs).patch("j", "default", {
      type: "merge",
      body: { spec: { suspend: false } },
    });
    await passes(() => expect(running()).toHaveLength(1));
    await end(running()[0]!.metadata.name, "Failed", 42);
    await passes(() => expect(plane.api.all(jobs)).toHaveLength(0));
    await passes(() => expect(allPods()).toHaveLength(0));
  });

  test.each([
    ["0-2,5", [0, 1, 2, 5]],
    ["1,2", [1, 2]],
    ["", []],
  ])("indexes %s", (text, list) => {
    expect(formatIndexes(new Set(list))).toBe(text);
    expect([...parseIndexes(text)]).toEqual(list);
  });
});

test("a CronJob makes Jobs on time, forbids overlap, and keeps a short history", async () => {
  const clock = new FakeClock(Date.UTC(2025, 0, 1, 0, 0, 30));
  await start({ clock });
  await clock.advanceAsync(10);
  await plane.client.resource(cronJobs).create({
    metadata: meta("c"),
    spec: {
      schedule: "* * * * *",
      concurrencyPolicy: "Forbid",
      successfulJobsHistoryLimit: 1,
      jobTemplate: {
        spec: {
          completions: 1,
          template: { spec: { ...template().spec, restartPolicy: "Never" } },
        },
      },
    },
  } as CronJob);
  // A run held up by the one before it starts as soon as that ends.
  const made = () =>
    plane.api.all<Job>(jobs).map(({ metadata }) => metadata.name);
  await clock.advanceAsync(29_000);
  expect(made()).toEqual([]);
  await clock.advanceAsync(2_000);
  const minute = Date.UTC(2025, 0, 1, 0, 1) / 60_000;
  expect(made()).toEqual([`c-${minute}`]);
  await clock.advanceAsync(60_000);
  expect(made()).toEqual([`c-${minute}`]);
  for (let round = 0; round < 3; round++) {
    for (const pod of allPods())
      if (!pod.status?.phase) await end(pod.metadata.name, "Succeeded");
    await clock.advanceAsync(60_000);
  }
  expect(made().length).toBeLessThanOrEqual(2);
  expect(made().at(-1)).toBe(`c-${minute + 3}`);
  const cronJob = plane.api.all<CronJob>(cronJobs)[0]!;
  expect(cronJob.status?.lastScheduleTime).toBe("2025-01-01T00:04:00Z");
  expect(cronJob.status?.active).toHaveLength(1);
});

test("a CronJob asks for Jobs that were not observed, and tells of those it did not make", async () => {
  const clock = new FakeClock(Date.UTC(2025, 0, 1, 0, 0, 30));
  await start({ clock });
  await clock.advanceAsync(10);
  const job = (name: string, owner?: CronJob): Job =>
    ({
      metadata: {
        ...meta(name),
        ...(owner
          ? {
              ownerReferences: [
                {
                  apiVersion: "batch/v1",
                  kind: "CronJob",
                  name: owner.metadata.name,
                  uid: owner.metadata.uid,
                  controller: true,
                },
              ],
            }
          : {}),
      },
      spec: {
        template: { spec: { ...template().spec, restartPolicy: "Never" } },
      },
    }) as Job;
  const resource = plane.client.resource(jobs);
  const unseen = await resource.create(job("unseen"));
  const made = await plane.client.resource(cronJobs).create({
    metadata: meta("c"),
    spec: { schedule: "0 0 1 1 *", jobTemplate: {} },
  } as CronJob);
  await plane.client.resource(cronJobs).updateStatus({
    ...made,
    status: {
      active: [
        { name: "unseen", namespace: "default", uid: unseen.metadata.uid! },
        { name: "gone", namespace: "default", uid: "gone" },
      ],
    },
  });
  await resource.create(job("manual", made));
  await clock.advanceAsync(5_000);
  expect(
    plane.api
      .all<CronJob>(cronJobs)[0]!
      .status?.active?.map(({ name }) => name),
  ).toEqual(["unseen"]);
  expect(
    plane.api
      .all<Event>(events)
      .filter(({ involvedObject }) => involvedObject.kind === "CronJob")
      .map(({ type, reason, message }) => `${type} ${reason} ${message}`)
      .sort(),
  ).toEqual([
    "Normal MissingJob Active job went missing: gone",
    "Warning UnexpectedJob Saw a job that the controller did not create or forgot: manual",
  ]);
});

test("a disruption budget counts its pods", async () => {
  await start({ runPods: true });
  for (const name of ["a", "b", "c"])
    await plane.client.resource(pods).create({
      metadata: { ...meta(name), labels: { app: "x" } },
      spec: template().spec,
    });
  await plane.client.resource(podDisruptionBudgets).create({
    metadata: meta("b"),
    spec: { minAvailable: 2, selector },
  } as PodDisruptionBudget);
  await passes(() =>
    expect(
      plane.api.all<PodDisruptionBudget>(podDisruptionBudgets)[0]!.status,
    ).toMatchObject({
      currentHealthy: 3,
      desiredHealthy: 2,
      expectedPods: 3,
      disruptionsAllowed: 1,
    }),
  );
});

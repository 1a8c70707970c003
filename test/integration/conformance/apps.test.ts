// sig-apps and sig-scheduling as the conformance tests go through them, with a stand-in for nodes that runs pods.
import { systemClock } from "../../../api/clock.ts";
import { runPods } from "../../support/control-plane.ts";
import { eventually } from "../../support/eventually.ts";
import { patchHeader, startTester, type Json, type Tester } from "./support.ts";

let tester: Tester;
let ns: string;
let count = 0;

const node = (name: string, labels: Json = {}): Json => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: { name, labels: { "kubernetes.io/hostname": name, ...labels } },
});
beforeAll(async () => {
  tester = await startTester();
  runPods(tester.cluster.client, systemClock, { onlyScheduled: true });
  for (const name of ["n1", "n2"]) {
    await tester.ok("POST", "/api/v1/nodes", node(name));
    await tester.ok(
      "PATCH",
      `/api/v1/nodes/${name}/status`,
      {
        status: {
          capacity: {
            cpu: "4",
            memory: "8Gi",
            pods: "110",
            "example.com/fakecpu": "10",
          },
          allocatable: {
            cpu: "4",
            memory: "8Gi",
            pods: "110",
            "example.com/fakecpu": "10",
          },
          conditions: [
            { type: "Ready", status: "True", reason: "KubeletReady" },
          ],
        },
      },
      patchHeader("merge"),
    );
  }
});
afterAll(() => tester.stop());
beforeEach(async () => {
  ns = await tester.namespace(`apps-${count++}`);
});

const api = (path: string): string => `/api/v1/namespaces/${ns}/${path}`;
const apps = (path: string): string => `/apis/apps/v1/namespaces/${ns}/${path}`;
const batch = (path: string): string =>
  `/apis/batch/v1/namespaces/${ns}/${path}`;
const templateOf = (
  image = "one",
  spec: Json = {},
  labels: Json = { app: "x" },
): Json => ({
  metadata: { labels },
  spec: {
    terminationGracePeriodSeconds: 0,
    containers: [{ name: "c", image }],
    ...spec,
  },
});
const workload = (kind: string, name: string, spec: Json = {}): Json => ({
  apiVersion: "apps/v1",
  kind,
  metadata: { name },
  spec: {
    selector: { matchLabels: { app: "x" } },
    template: templateOf(),
    ...spec,
  },
});
const pods = async (): Promise<Json[]> =>
  (await tester.ok("GET", api("pods"))).items;
const soon = (what: string, check: () => Promise<boolean>) =>
  eventually(check, { what });
const patch = (path: string, body: Json, type = "merge") =>
  tester.ok("PATCH", path, body, patchHeader(type));
const images = (all: Json[]): string[] =>
  all.map(({ spec }) => spec.containers[0].image).sort();

describe("Deployment", () => {
  const ready = (name: string, image: string, replicas: number) =>
    soon(`${name} to run ${replicas} of ${image}`, async () => {
      const { status, metadata } = await tester.ok(
        "GET",
        apps(`deployments/${name}`),
      );
      return (
        status.observedGeneration === metadata.generation &&
        status.updatedReplicas === replicas &&
        status.availableReplicas === replicas &&
        status.replicas === replicas &&
        images(await pods()).every((each) => each === image)
      );
    });

  test("rolls, rolls over, keeps no old replica sets when told so", async () => {
    await tester.ok(
      "POST",
      apps("deployments"),
      workload("Deployment", "d", { replicas: 3, revisionHistoryLimit: 0 }),
    );
    await ready("d", "one", 3);
    // The revision that the controller notes is no change by a user.
    const made = await tester.ok("GET", apps("deployments/d"));
    expect(made.metadata).toMatchObject({
      generation: 1,
      annotations: { "deployment.kubernetes.io/revision": "1" },
    });
    await patch(
      apps("deployments/d"),
      {
        spec: {
          template: { spec: { containers: [{ name: "c", image: "two" }] } },
        },
      },
      "strategic",
    );
    await patch(
      apps("deployments/d"),
      {
        spec: {
          template: { spec: { containers: [{ name: "c", image: "three" }] } },
        },
      },
      "strategic",
    );
    await ready("d", "three", 3);
    await soon(
      "old sets to go",
      async () =>
        (await tester.ok("GET", apps("replicasets"))).items.length === 1,
    );
    const [set] = (await tester.ok("GET", apps("replicasets"))).items;
    expect(set.metadata.annotations["deployment.kubernetes.io/revision"]).toBe(
      "3",
    );
  });

  test("recreates: no old pod runs beside a new one", async () => {
    await tester.ok(
      "POST",
      apps("deployments"),
      workload("Deployment", "d", {
        replicas: 2,
        strategy: { type: "Recreate" },
      }),
    );
    await ready("d", "one", 2);
    const watch = await tester.watch(api("pods?watch=1"));
    const version = (await tester.ok("GET", apps("deployments/d"))).metadata
      .resourceVersion;
    expect(version).toBeTruthy();
    await patch(
      apps("deployments/d"),
      {
        spec: {
          template: { spec: { containers: [{ name: "c", image: "two" }] } },
        },
      },
      "strategic",
    );
    let old = 2;
    await watch.until(({ type, object }) => {
      const image = object.spec.containers[0].image;
      if (type === "DELETED" && image === "one") old--;
      return image === "two";
    });
    expect(old).toBe(0);
    await ready("d", "two", 2);
  });

  test("scales in proportion while a rollout is stuck", async () => {
    await tester.ok(
      "POST",
      apps("deployments"),
      workload("Deployment", "d", {
        replicas: 10,
        strategy: { rollingUpdate: { maxSurge: 3, maxUnavailable: 2 } },
      }),
    );
    await ready("d", "one", 10);
    // New pods that no node takes are never available.
    await patch(apps("deployments/d"), {
      spec: { template: { spec: { nodeSelector: { no: "where" } } } },
    });
    const sizes = async (): Promise<number[]> =>
      (await tester.ok("GET", apps("replicasets"))).items
        .map(({ spec }: Json) => spec.replicas)
        .sort((a: number, b: number) => b - a);
    await soon("8 and 5", async () => (await sizes()).join() === "8,5");
    await patch(apps("deployments/d/scale"), { spec: { replicas: 30 } });
    await soon("20 and 13", async () => (await sizes()).join() === "20,13");
  });

  test("scale subresource", async () => {
    await tester.ok(
      "POST",
      apps("deployments"),
      workload("Deployment", "d", { replicas: 1 }),
    );
    const scale = await tester.ok("GET", apps("deployments/d/scale"));
    expect(scale).toMatchObject({
      kind: "Scale",
      apiVersion: "autoscaling/v1",
      spec: { replicas: 1 },
    });
    scale.spec.replicas = 2;
    scale.metadata.resourceVersion = "";
    expect(
      (await tester.ok("PUT", apps("deployments/d/scale"), scale)).spec
        .replicas,
    ).toBe(2);
    expect(
      (await patch(apps("deployments/d/scale"), { spec: { replicas: 4 } })).spec
        .replicas,
    ).toBe(4);
    expect((await tester.ok("GET", apps("deployments/d"))).spec.replicas).toBe(
      4,
    );
  });
});

describe.each([
  ["ReplicaSet", "apps/v1"],
  ["ReplicationController", "v1"],
])("%s", (kind, apiVersion) => {
  const path = (rest = ""): string =>
    apiVersion === "v1"
      ? api(`replicationcontrollers${rest}`)
      : apps(`replicasets${rest}`);
  const object = (replicas: number): Json => ({
    apiVersion,
    kind,
    metadata: { name: "r" },
    spec: {
      replicas,
      selector:
        apiVersion === "v1" ? { app: "x" } : { matchLabels: { app: "x" } },
      template: templateOf(),
    },
  });

  test("adopts what matches and lets go of what does not any more", async () => {
    await tester.ok("POST", api("pods"), {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "orphan", labels: { app: "x" } },
      spec: templateOf().spec,
    });
    await tester.ok("POST", path(), object(1));
    await soon(
      "adoption",
      async () =>
        (await tester.ok("GET", api("pods/orphan"))).metadata
          .ownerReferences?.[0]?.kind === kind,
    );
    expect(await pods()).toHaveLength(1);
    await patch(api("pods/orphan"), { metadata: { labels: { app: "other" } } });
    await soon(
      "release",
      async () =>
        !(await tester.ok("GET", api("pods/orphan"))).metadata.ownerReferences,
    );
    await soon("another pod", async () => (await pods()).length === 2);
  });

  test("scales, is replaced and patched", async () => {
    await tester.ok("POST", path(), object(1));
    await soon(
      "1",
      async () =>
        (await tester.ok("GET", path("/r"))).status.readyReplicas === 1,
    );
    await patch(path("/r/scale"), { spec: { replicas: 3 } });
    await soon(
      "3",
      async () =>
        (await tester.ok("GET", path("/r"))).status.availableReplicas === 3,
    );
    await patch(
      path("/r"),
      {
        spec: {
          replicas: 2,
          template: {
            spec: {
              terminationGracePeriodSeconds: 1,
              containers: [{ name: "c", image: "new" }],
            },
          },
        },
      },
      "strategic",
    );
    await soon(
      "2",
      async () => (await tester.ok("GET", path("/r"))).status.replicas === 2,
    );
    expect(
      (await tester.ok("GET", path("/r"))).spec.template.spec.containers[0]
        .image,
    ).toBe("new");
  });
});

describe("StatefulSet", () => {
  const set = (spec: Json = {}): Json =>
    workload("StatefulSet", "ss", {
      serviceName: "test",
      replicas: 3,
      ...spec,
    });
  const names = async (): Promise<string> =>
    (await pods())
      .map(({ metadata }) => metadata.name)
      .sort()
      .join();
  const imagesByName = async (): Promise<string> =>
    (await pods())
      .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
      .map(({ spec }) => spec.containers[0].image)
      .join();

  test("rolls from the last to the first, by partition, and back", async () => {
    await tester.ok("POST", apps("statefulsets"), set());
    await soon(
      "all",
      async () =>
        (await tester.ok("GET", apps("statefulsets/ss"))).status
          .readyReplicas === 3,
    );
    const first = (await tester.ok("GET", apps("statefulsets/ss"))).status
      .currentRevision;
    await patch(apps("statefulsets/ss"), {
      spec: {
        updateStrategy: { rollingUpdate: { partition: 2 } },
        template: templateOf("two"),
      },
    });
    await soon(
      "the canary",
      async () => (await imagesByName()) === "one,one,two",
    );
    const canary = await tester.ok("GET", apps("statefulsets/ss"));
    expect(canary.status.currentRevision).toBe(first);
    expect(canary.status.updateRevision).not.toBe(first);
    // A deleted pod comes back in its own revision.
    await tester.ok("DELETE", api("pods/ss-0"));
    await tester.ok("DELETE", api("pods/ss-2"));
    await soon(
      "both back",
      async () => (await imagesByName()) === "one,one,two",
    );
    await patch(apps("statefulsets/ss"), {
      spec: { updateStrategy: { rollingUpdate: { partition: 0 } } },
    });
    await soon("all two", async () => (await imagesByName()) === "two,two,two");
    await soon("the end", async () => {
      const { status } = await tester.ok("GET", apps("statefulsets/ss"));
      return status.currentRevision === status.updateRevision;
    });
    await patch(apps("statefulsets/ss"), {
      spec: { template: templateOf("one") },
    });
    await soon("back", async () => (await imagesByName()) === "one,one,one");
    await soon(
      "the first revision",
      async () =>
        (await tester.ok("GET", apps("statefulsets/ss"))).status
          .currentRevision === first,
    );
  });

  test("scales in order, and halts at an unhealthy pod", async () => {
    await tester.ok("POST", apps("statefulsets"), set({ replicas: 1 }));
    await soon("one", async () => (await names()) === "ss-0");
    const unready = (status: string): Promise<Json> =>
      patch(
        api("pods/ss-0/status"),
        { status: { conditions: [{ type: "Ready", status }] } },
        "strategic",
      );
    await soon(
      "ready",
      async () =>
        (await tester.ok("GET", apps("statefulsets/ss"))).status
          .readyReplicas === 1,
    );
    await unready("False");
    await soon(
      "unready",
      async () =>
        !(await tester.ok("GET", apps("statefulsets/ss"))).status.readyReplicas,
    );
    await patch(apps("statefulsets/ss/scale"), { spec: { replicas: 3 } });
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(await names()).toBe("ss-0");
    await unready("True");
    await soon("three", async () => (await names()) === "ss-0,ss-1,ss-2");
    await patch(apps("statefulsets/ss/scale"), { spec: { replicas: 0 } });
    await soon("none", async () => (await names()) === "");
  });

  test("claims go with their set or their pod as its policy says", async () => {
    const claims = async (): Promise<Json[]> =>
      (await tester.ok("GET", api("persistentvolumeclaims"))).items;
    const owned = async (): Promise<string> =>
      (await claims())
        .map(
          ({ metadata }: Json) =>
            `${metadata.name}:${(metadata.ownerReferences ?? []).map(({ kind }: Json) => kind)}`,
        )
        .sort()
        .join();
    await tester.ok(
      "POST",
      apps("statefulsets"),
      set({
        replicas: 2,
        // No volume is there for them: the pods wait.
        podManagementPolicy: "Parallel",
        volumeClaimTemplates: [
          {
            metadata: { name: "data" },
            spec: {
              accessModes: ["ReadWriteOnce"],
              resources: { requests: { storage: "1Mi" } },
            },
          },
        ],
        persistentVolumeClaimRetentionPolicy: { whenDeleted: "Delete" },
      }),
    );
    const bySet = "data-ss-0:StatefulSet,data-ss-1:StatefulSet";
    await soon("owned by the set", async () => (await owned()) === bySet);
    const policy = (whenDeleted: string, whenScaled: string): Promise<Json> =>
      patch(apps("statefulsets/ss"), {
        spec: {
          persistentVolumeClaimRetentionPolicy: { whenDeleted, whenScaled },
        },
      });
    await policy("Retain", "Retain");
    await soon(
      "owned by none",
      async () => (await owned()) === "data-ss-0:,data-ss-1:",
    );
    await policy("Delete", "Delete");
    await soon("owned again", async () => (await owned()) === bySet);
    const before = (await claims()).map(({ metadata }: Json) => metadata.uid);
    await patch(apps("statefulsets/ss/scale"), { spec: { replicas: 1 } });
    await soon(
      "one with its pod",
      async () => (await owned()) === "data-ss-0:StatefulSet",
    );
    await patch(apps("statefulsets/ss/scale"), { spec: { replicas: 2 } });
    await soon("a new claim", async () => (await owned()) === bySet);
    expect(
      (await claims()).filter(({ metadata }: Json) =>
        before.includes(metadata.uid),
      ),
    ).toHaveLength(1);
    await tester.ok("DELETE", apps("statefulsets/ss"));
    await soon("none", async () => (await owned()) === "");
  });

  test("makes a failed pod anew", async () => {
    await tester.ok("POST", apps("statefulsets"), set({ replicas: 1 }));
    await soon("one", async () => (await names()) === "ss-0");
    const { uid } = (await tester.ok("GET", api("pods/ss-0"))).metadata;
    await patch(api("pods/ss-0/status"), {
      status: { phase: "Failed", reason: "Evicted" },
    });
    await soon("another", async () => {
      const { body, status } = await tester.call("GET", api("pods/ss-0"));
      return status === 200 && body.metadata.uid !== uid;
    });
  });
});

describe("DaemonSet", () => {
  const onNodes = async (): Promise<string> =>
    (await pods())
      .map(({ spec }) => spec.nodeName)
      .sort()
      .join();

  test("runs on every node, then on those selected; replaces failed pods", async () => {
    await tester.ok("POST", apps("daemonsets"), workload("DaemonSet", "ds"));
    await soon("both", async () => (await onNodes()) === "n1,n2");
    const [pod] = await pods();
    await patch(api(`pods/${pod.metadata.name}/status`), {
      status: { phase: "Failed" },
    });
    await soon("a new one", async () => {
      const all = await pods();
      return (
        all.length === 2 &&
        all.every(
          ({ metadata, status }) =>
            metadata.uid !== pod.metadata.uid && status.phase !== "Failed",
        )
      );
    });
    await patch(apps("daemonsets/ds"), {
      spec: { template: { spec: { nodeSelector: { color: "blue" } } } },
    });
    await soon("none", async () => (await onNodes()) === "");
    await patch("/api/v1/nodes/n1", {
      metadata: { labels: { color: "blue" } },
    });
    await soon("the blue one", async () => (await onNodes()) === "n1");
    await patch("/api/v1/nodes/n1", { metadata: { labels: { color: null } } });
    await soon("none again", async () => (await onNodes()) === "");
  });

  test("updates by rolling, and rolls back without restarting what never changed", async () => {
    await tester.ok("POST", apps("daemonsets"), workload("DaemonSet", "ds"));
    const ready = () =>
      soon(
        "ready",
        async () =>
          (await tester.ok("GET", apps("daemonsets/ds"))).status.numberReady ===
          2,
      );
    await ready();
    // Clients compare its bytes with those they make of the DaemonSet.
    const { items } = await tester.ok("GET", apps("controllerrevisions"));
    expect(JSON.stringify(items[0].data)).toMatch(
      /^\{"spec":\{"template":\{"\$patch":"replace","metadata":\{"creationTimestamp":null,"labels":.*"spec":\{"containers":/,
    );
    await patch(apps("daemonsets/ds"), {
      spec: { template: templateOf("two") },
    });
    await soon("two", async () => images(await pods()).join() === "two,two");
    await ready();
    // Stuck: pods of this one never become ready.
    const before = new Set((await pods()).map(({ metadata }) => metadata.uid));
    await patch(apps("daemonsets/ds"), {
      spec: {
        template: templateOf("foo:non-existent", { schedulerName: "nobody" }),
      },
    });
    await soon("one of the new", async () =>
      images(await pods()).includes("foo:non-existent"),
    );
    const kept = (await pods())
      .filter(({ metadata }) => before.has(metadata.uid))
      .map(({ metadata }) => metadata.uid);
    await patch(apps("daemonsets/ds"), {
      spec: {
        template: templateOf("two", { schedulerName: "default-scheduler" }),
      },
    });
    await soon("back", async () => images(await pods()).join() === "two,two");
    const after = (await pods()).map(({ metadata }) => metadata.uid);
    for (const uid of kept) expect(after).toContain(uid);
  });
});

describe("Job", () => {
  const job = (spec: Json, template: Json = {}): Json => ({
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name: "j" },
    spec: {
      template: templateOf("i", { restartPolicy: "Never", ...template }),
      ...spec,
    },
  });
  const end = (name: string, status: Json): Promise<Json> =>
    patch(api(`pods/${name}/status`), { status }, "merge");
  const finished = (code: number, extra: Json = {}): Json => ({
    phase: code === 0 ? "Succeeded" : "Failed",
    containerStatuses: [
      {
        name: "c",
        image: "i",
        imageID: "",
        ready: false,
        restartCount: 0,
        state: {
          terminated: { exitCode: code, reason: code ? "Error" : "Completed" },
        },
      },
    ],
    ...extra,
  });
  const condition = async (type: string): Promise<Json> =>
    (await tester.ok("GET", batch("jobs/j"))).status.conditions?.find(
      (each: Json) => each.type === type && each.status === "True",
    );
  const running = (many: number) =>
    soon(
      `${many} running`,
      async () =>
        (await pods()).filter(({ status }) => status.phase === "Running")
          .length === many,
    );

  test("indexed: indexes in annotations, labels and host names", async () => {
    await tester.ok(
      "POST",
      batch("jobs"),
      job({ completions: 3, parallelism: 3, completionMode: "Indexed" }),
    );
    await running(3);
    const all = await pods();
    expect(
      all
        .map(
          ({ metadata }) =>
            metadata.annotations["batch.kubernetes.io/job-completion-index"],
        )
        .sort(),
    ).toEqual(["0", "1", "2"]);
    expect(all.map(({ spec }) => spec.hostname).sort()).toEqual([
      "j-0",
      "j-1",
      "j-2",
    ]);
    for (const { metadata } of all) await end(metadata.name, finished(0));
    await soon(
      "completion",
      async () => (await condition("Complete")) !== undefined,
    );
    const { status } = await tester.ok("GET", batch("jobs/j"));
    expect(status).toMatchObject({ succeeded: 3, completedIndexes: "0-2" });
    expect(status.conditions.map(({ type }: Json) => type)).toContain(
      "SuccessCriteriaMet",
    );
  });

  test("succeeds as its policy says, without the other indexes", async () => {
    await tester.ok(
      "POST",
      batch("jobs"),
      job({
        completions: 3,
        parallelism: 3,
        completionMode: "Indexed",
        successPolicy: { rules: [{ succeededIndexes: "1" }] },
      }),
    );
    await running(3);
    const one = (await pods()).find(({ spec }) => spec.hostname === "j-1");
    await end(one.metadata.name, finished(0));
    await soon("the others' end", async () => {
      const others = (await pods()).filter(
        ({ spec }) => spec.hostname !== "j-1",
      );
      return others.every(({ metadata }) => metadata.deletionTimestamp);
    });
    for (const { metadata, spec } of await pods())
      if (spec.hostname !== "j-1") await end(metadata.name, finished(143));
    await soon(
      "completion",
      async () => (await condition("Complete")) !== undefined,
    );
    const { status } = await tester.ok("GET", batch("jobs/j"));
    expect(status).toMatchObject({ succeeded: 1, completedIndexes: "1" });
    for (const type of ["SuccessCriteriaMet", "Complete"])
      expect(await condition(type)).toMatchObject({
        reason: "SuccessPolicy",
        message: "Matched rules at index 0",
      });
    expect(await condition("Failed")).toBeUndefined();
  });

  test("replaces a pod only when it has ended, where the policy says so", async () => {
    await tester.ok(
      "POST",
      batch("jobs"),
      job({ completions: 1, podReplacementPolicy: "Failed" }),
    );
    await running(1);
    const [first] = await pods();
    await tester.ok("DELETE", api(`pods/${first.metadata.name}`));
    await soon("a terminating pod", async () => {
      const { status } = await tester.ok("GET", batch("jobs/j"));
      return status.terminating === 1 && !status.active;
    });
    expect(await pods()).toHaveLength(1);
    await end(first.metadata.name, finished(143));
    await soon("another pod", async () =>
      (await pods()).some(
        ({ metadata }) => metadata.name !== first.metadata.name,
      ),
    );
  });

  test("adopts and releases", async () => {
    await tester.ok(
      "POST",
      batch("jobs"),
      job({ completions: 2, parallelism: 2 }),
    );
    await running(2);
    const [pod] = await pods();
    const path = api(`pods/${pod.metadata.name}`);
    await patch(path, { metadata: { ownerReferences: null } });
    await soon(
      "adoption",
      async () =>
        (await tester.ok("GET", path)).metadata.ownerReferences?.[0]?.name ===
        "j",
    );
    await patch(path, { metadata: { labels: null } });
    await soon(
      "release",
      async () => !(await tester.ok("GET", path)).metadata.ownerReferences,
    );
  });

  test("pod failure policy: fail the job, ignore disruption", async () => {
    await tester.ok(
      "POST",
      batch("jobs"),
      job({
        backoffLimit: 0,
        podFailurePolicy: {
          rules: [
            {
              action: "Ignore",
              onPodConditions: [{ type: "DisruptionTarget", status: "True" }],
            },
            {
              action: "FailJob",
              onExitCodes: { operator: "In", values: [42] },
            },
          ],
        },
      }),
    );
    await running(1);
    const [pod] = await pods();
    await tester.ok("POST", api(`pods/${pod.metadata.name}/eviction`), {
      apiVersion: "policy/v1",
      kind: "Eviction",
      metadata: { name: pod.metadata.name, namespace: ns },
    });
    // As the agent would say.
    await end(pod.metadata.name, { phase: "Failed" });
    await soon("another pod", async () => {
      const all = await pods();
      return (
        all.length > 0 &&
        all.every(({ metadata }) => metadata.uid !== pod.metadata.uid)
      );
    });
    await running(1);
    expect(await condition("Failed")).toBeUndefined();
    const [second] = (await pods()).filter(
      ({ status }) => status.phase === "Running",
    );
    await end(second.metadata.name, finished(42));
    await soon(
      "failure",
      async () => (await condition("Failed"))?.reason === "PodFailurePolicy",
    );
  });

  test("suspend, resume, delete with its pods", async () => {
    await tester.ok(
      "POST",
      batch("jobs"),
      job({ suspend: true, parallelism: 2, completions: 4 }),
    );
    await soon(
      "suspended",
      async () => (await condition("Suspended")) !== undefined,
    );
    expect(await pods()).toEqual([]);
    await patch(batch("jobs/j"), { spec: { suspend: false } });
    await running(2);
    await tester.ok("DELETE", batch("jobs/j"), {
      propagationPolicy: "Foreground",
    });
    await soon(
      "all gone",
      async () => (await tester.call("GET", batch("jobs/j"))).status === 404,
    );
    expect(await pods()).toEqual([]);
  });
});

describe("PodDisruptionBudget", () => {
  const policy = (path = ""): string =>
    `/apis/policy/v1/namespaces/${ns}/poddisruptionbudgets${path}`;

  test("blocks an eviction until it allows it", async () => {
    await tester.ok(
      "POST",
      apps("replicasets"),
      workload("ReplicaSet", "r", { replicas: 3 }),
    );
    await tester.ok("POST", policy(), {
      apiVersion: "policy/v1",
      kind: "PodDisruptionBudget",
      metadata: { name: "b" },
      spec: { minAvailable: 3, selector: { matchLabels: { app: "x" } } },
    });
    const allowed = (many: number) =>
      soon(`${many} allowed`, async () => {
        const { status } = await tester.ok("GET", policy("/b"));
        return status.currentHealthy >= 3 && status.disruptionsAllowed === many;
      });
    await allowed(0);
    const [pod] = await pods();
    const evict = (extra: Json = {}) =>
      tester.call("POST", api(`pods/${pod.metadata.name}/eviction`), {
        apiVersion: "policy/v1",
        kind: "Eviction",
        metadata: { name: pod.metadata.name, namespace: ns },
        ...extra,
      });
    const refused = await evict();
    expect(refused.status).toBe(429);
    expect(refused.body.details.causes[0].reason).toBe("DisruptionBudget");
    await patch(policy("/b"), { spec: { minAvailable: 2 } });
    await allowed(1);
    const rehearsed = await evict({ deleteOptions: { dryRun: ["All"] } });
    expect(rehearsed.status).toBe(201);
    const { metadata } = await tester.ok(
      "GET",
      api(`pods/${pod.metadata.name}`),
    );
    expect(metadata.deletionTimestamp).toBeUndefined();
    expect((await evict()).status).toBe(201);
  });
});

describe("scheduling", () => {
  const pod = (
    name: string,
    amount: number,
    priorityClassName?: string,
  ): Json => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name },
    spec: {
      ...templateOf().spec,
      ...(priorityClassName ? { priorityClassName } : {}),
      nodeSelector: { "kubernetes.io/hostname": "n1" },
      containers: [
        {
          name: "c",
          image: "i",
          resources: {
            requests: { "example.com/fakecpu": String(amount) },
            limits: { "example.com/fakecpu": String(amount) },
          },
        },
      ],
    },
  });

  test("a more important pod takes the place of another, which is told so", async () => {
    for (const [name, value] of [
      ["p1", 1],
      ["p2", 2],
    ])
      await tester.ok("POST", "/apis/scheduling.k8s.io/v1/priorityclasses", {
        apiVersion: "scheduling.k8s.io/v1",
        kind: "PriorityClass",
        metadata: { name },
        value,
      });
    const victim = pod("victim", 9, "p1");
    victim.metadata.finalizers = ["example.com/test-finalizer"];
    await tester.ok("POST", api("pods"), victim);
    await soon(
      "victim",
      async () =>
        (await tester.ok("GET", api("pods/victim"))).status.phase === "Running",
    );
    await tester.ok("POST", api("pods"), pod("preemptor", 9, "p2"));
    await soon("its condition", async () => {
      const { metadata, status } = await tester.ok("GET", api("pods/victim"));
      return (
        metadata.deletionTimestamp &&
        status.conditions.some(
          ({ type, reason }: Json) =>
            type === "DisruptionTarget" && reason === "PreemptionByScheduler",
        )
      );
    });
    await patch(api("pods/victim"), { metadata: { finalizers: null } });
    await soon(
      "preemptor",
      async () =>
        (await tester.ok("GET", api("pods/preemptor"))).spec.nodeName === "n1",
    );
  });

  test("a node selector that matches nothing, a port that is taken", async () => {
    await tester.ok("POST", api("pods"), {
      ...pod("nowhere", 1),
      spec: { ...templateOf().spec, nodeSelector: { label: "nonempty" } },
    });
    await soon("its condition", async () =>
      (await tester.ok("GET", api("pods/nowhere"))).status.conditions?.some(
        ({ reason }: Json) => reason === "Unschedulable",
      ),
    );
    const onPort = (name: string, hostIP: string): Json => {
      const made = pod(name, 0);
      made.spec.containers = [
        {
          name: "c",
          image: "i",
          ports: [
            { containerPort: 80, hostPort: 54322, protocol: "TCP", hostIP },
          ],
        },
      ];
      return made;
    };
    await tester.ok("POST", api("pods"), onPort("any", ""));
    await soon(
      "the first",
      async () =>
        (await tester.ok("GET", api("pods/any"))).spec.nodeName === "n1",
    );
    await tester.ok("POST", api("pods"), onPort("one", "10.0.0.1"));
    await soon("the conflict", async () =>
      (await tester.ok("GET", api("pods/one"))).status.conditions?.some(
        ({ message = "" }: Json) => /free ports/.test(message),
      ),
    );
  });

  test("limit ranges give defaults and refuse", async () => {
    await tester.ok("POST", api("limitranges"), {
      apiVersion: "v1",
      kind: "LimitRange",
      metadata: { name: "l" },
      spec: {
        limits: [
          {
            type: "Container",
            min: { cpu: "50m", memory: "100Mi" },
            max: { cpu: "500m", memory: "500Mi" },
            default: { cpu: "500m", memory: "500Mi" },
            defaultRequest: { cpu: "100m", memory: "200Mi" },
          },
        ],
      },
    });
    const made = await tester.ok("POST", api("pods"), {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "p" },
      spec: templateOf().spec,
    });
    expect(made.spec.containers[0].resources).toEqual({
      limits: { cpu: "500m", memory: "500Mi" },
      requests: { cpu: "100m", memory: "200Mi" },
    });
    const partial = templateOf().spec;
    partial.containers[0].resources = {
      requests: { cpu: "300m" },
      limits: { memory: "300Mi" },
    };
    const other = await tester.ok("POST", api("pods"), {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "q" },
      spec: partial,
    });
    expect(other.spec.containers[0].resources).toEqual({
      limits: { cpu: "500m", memory: "300Mi" },
      requests: { cpu: "300m", memory: "300Mi" },
    });
    const big = templateOf().spec;
    big.containers[0].resources = {
      requests: { cpu: "600m" },
      limits: { cpu: "600m" },
    };
    expect(
      (
        await tester.call("POST", api("pods"), {
          apiVersion: "v1",
          kind: "Pod",
          metadata: { name: "r" },
          spec: big,
        })
      ).status,
    ).toBe(403);
  });
});

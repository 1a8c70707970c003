import type {
  Container,
  ContainerStatus as ApiContainer,
  Pod,
  PodStatus,
  VolumeMount,
} from "../../../api/types/core-v1.ts";
import type { ContainerStatus } from "../../../cri/runtime.ts";
import {
  podStatus,
  type PodStatusInputs,
} from "../../../agent/status/pod-status.ts";
import { recursiveReadOnly } from "../../../agent/pods/shape/recursive-read-only.ts";
import { statusPatch } from "../../../agent/reporting/status-patch.ts";
import {
  containerOf,
  exited,
  runtimePodOf,
  sandboxOf,
  testPod,
} from "./runtime-objects.ts";

const nowMs = Date.UTC(2026, 0, 1);

function report(
  pod: Pod,
  containers: ContainerStatus[],
  options: Partial<PodStatusInputs> = {},
): PodStatus {
  return podStatus({
    pod,
    runtimePod: runtimePodOf([sandboxOf(pod)], containers),
    runtimeName: "containerd",
    previous: undefined,
    waiting: new Map(),
    readiness: { started: () => true, ready: () => true },
    nodeIPs: ["192.0.2.1"],
    nowMs,
    startedAtMs: nowMs,
    ended: false,
    ...options,
  });
}

const condition = (
  status: PodStatus,
  type: string,
): [string, string | undefined, string | undefined] => {
  const found = status.conditions!.find(
    (candidate) => candidate.type === type,
  )!;
  return [found.status, found.reason, found.message];
};
const init = (name: string, extra: Partial<Container> = {}): Container => ({
  name,
  image: "i",
  ...extra,
});
const pod = testPod();
const never = testPod({ restartPolicy: "Never" });
const withInit = testPod({ initContainers: [init("one")] });
const withSidecar = testPod({
  restartPolicy: "Never",
  initContainers: [init("side", { restartPolicy: "Always" })],
});
const crash = new Map([["app", { reason: "CrashLoopBackOff", message: "m" }]]);

test.each<
  [string, Pod, (p: Pod) => ContainerStatus[], Partial<PodStatusInputs>, string]
>([
  ["nothing yet", pod, () => [], {}, "Pending"],
  ["running", pod, (p) => [containerOf(p, "app")], {}, "Running"],
  [
    "back-off",
    pod,
    (p) => [containerOf(p, "app", exited(1))],
    { waiting: crash },
    "Running",
  ],
  [
    "exited, to be restarted",
    pod,
    (p) => [containerOf(p, "app", exited(0))],
    {},
    "Running",
  ],
  [
    "succeeded",
    never,
    (p) => [containerOf(p, "app", exited(0))],
    {},
    "Succeeded",
  ],
  ["failed", never, (p) => [containerOf(p, "app", exited(2))], {}, "Failed"],
  [
    "ended for good",
    pod,
    (p) => [containerOf(p, "app", exited(137))],
    { ended: true },
    "Failed",
  ],
  [
    "ended well",
    pod,
    (p) => [containerOf(p, "app", exited(0))],
    { ended: true },
    "Succeeded",
  ],
  [
    "torn down before anything started",
    pod,
    () => [],
    { ended: true, tornDown: true },
    "Failed",
  ],
  ["init running", withInit, (p) => [containerOf(p, "one")], {}, "Pending"],
  [
    "initialized once more in a new sandbox",
    withInit,
    (p) => [containerOf(p, "one"), containerOf(p, "app", exited(137))],
    {},
    "Pending",
  ],
  [
    "running, the remains of its init container removed",
    withInit,
    (p) => [containerOf(p, "app")],
    {},
    "Running",
  ],
  [
    "a sidecar starts again before an app container in back-off",
    testPod({ initContainers: [init("side", { restartPolicy: "Always" })] }),
    (p) => [containerOf(p, "side"), containerOf(p, "app", exited(1))],
    { waiting: crash, readiness: { started: () => false, ready: () => false } },
    "Pending",
  ],
  [
    "init failed, tried again",
    withInit,
    (p) => [containerOf(p, "one", exited(1))],
    {},
    "Pending",
  ],
  [
    "init failed for good",
    testPod({ restartPolicy: "Never", initContainers: [init("one")] }),
    (p) => [containerOf(p, "one", exited(1))],
    {},
    "Failed",
  ],
  [
    "one of two images missing",
    testPod({ containers: [init("app"), init("web")] }),
    (p) => [containerOf(p, "app")],
    { waiting: new Map([["web", { reason: "ErrImagePull", message: "" }]]) },
    "Pending",
  ],
  [
    "a sidecar alone left",
    withSidecar,
    (p) => [containerOf(p, "side"), containerOf(p, "app", exited(0))],
    {},
    "Running",
  ],
  [
    "failed stays failed",
    pod,
    (p) => [containerOf(p, "app")],
    { previous: { phase: "Failed" } },
    "Failed",
  ],
  [
    "being ended by the agent",
    pod,
    (p) => [containerOf(p, "app")],
    { failure: { reason: "Evicted", message: "m" } },
    "Running",
  ],
  [
    "ended by the agent",
    pod,
    (p) => [containerOf(p, "app", exited(137))],
    { ended: true, failure: { reason: "Evicted", message: "m" } },
    "Failed",
  ],
  [
    "ended by the agent, and done",
    pod,
    (p) => [containerOf(p, "app", exited(0))],
    { ended: true, failure: { reason: "Evicted", message: "m" } },
    "Succeeded",
  ],
  [
    "over its deadline, and done",
    pod,
    (p) => [containerOf(p, "app", exited(0))],
    { ended: true, failure: { reason: "R", message: "m", always: true } },
    "Failed",
  ],
])("phase when %s", (_what, subject, containers, options, wanted) => {
  expect(report(subject, containers(subject), options).phase).toBe(wanted);
});

test("a pod that was ended for the node's sake and succeeded says so in its condition alone", () => {
  const status = report(pod, [containerOf(pod, "app", exited(0))], {
    ended: true,
    failure: { reason: "Preempting", message: "m", disruption: true },
  });
  expect(status.phase).toBe("Succeeded");
  expect(status).not.toHaveProperty("reason");
  expect(status).not.toHaveProperty("message");
  expect(status.conditions?.at(-1)).toMatchObject({
    type: "DisruptionTarget",
    message: "m",
  });
});

test("a pod that still runs was not disrupted yet, and a reason goes with its phase", () => {
  const failure = { reason: "Evicted", message: "m", disruption: true };
  const types = (status: PodStatus): string[] =>
    status.conditions!.map(({ type }) => type);
  const running = report(pod, [containerOf(pod, "app")], {
    ended: true,
    failure,
  });
  expect(running.phase).toBe("Running");
  expect(types(running)).not.toContain("DisruptionTarget");
  const ended = report(never, [containerOf(never, "app", exited(1))], {
    ended: true,
    failure,
    previous: running,
  });
  expect(ended).toMatchObject({ phase: "Failed", reason: "Evicted" });
  expect(types(ended)).toContain("DisruptionTarget");
  // Said while the node did not answer.
  const lost = { ...running, reason: "NodeLost", message: "unresponsive" };
  expect(
    report(pod, [containerOf(pod, "app")], { previous: lost }),
  ).toMatchObject({ reason: "NodeLost", message: "unresponsive" });
  const done = report(never, [containerOf(never, "app", exited(0))], {
    previous: lost,
  });
  expect(done.phase).toBe("Succeeded");
  expect(done).not.toHaveProperty("reason");
  expect(done).not.toHaveProperty("message");
});

test("what could not be started waits only where it is tried again", () => {
  const failed = new Map([
    ["app", { reason: "RunContainerError", message: "no such file" }],
  ]);
  const stateOf = (of: Pod): unknown =>
    report(
      of,
      [containerOf(of, "app", { ...exited(128), reason: "StartError" })],
      { waiting: failed },
    ).containerStatuses?.[0]?.state;
  expect(stateOf(pod)).toEqual({
    waiting: { reason: "RunContainerError", message: "no such file" },
  });
  expect(stateOf(never)).toMatchObject({
    terminated: { reason: "StartError", exitCode: 128 },
  });
});

test("torn down while the runtime still takes its init container for running, a pod never started", () => {
  const last = report(withInit, [containerOf(withInit, "one")], {
    ended: true,
    tornDown: true,
  });
  expect(last.initContainerStatuses?.[0]?.state?.terminated?.reason).toBe(
    "ContainerStatusUnknown",
  );
  expect(last.containerStatuses?.[0]?.state).toEqual({
    waiting: { reason: "PodInitializing" },
  });
});

test("a pod that was torn down has no sandbox for containers to start in", () => {
  const conditionOf = (more: object): string | undefined =>
    report(pod, [containerOf(pod, "app", exited(0))], more).conditions!.find(
      ({ type }) => type === "PodReadyToStartContainers",
    )?.status;
  expect(conditionOf({ ended: true })).toBe("True");
  expect(conditionOf({ ended: true, tornDown: true })).toBe("False");
});

test("conditions and addresses of a running pod", () => {
  const status = report(pod, [containerOf(pod, "app")]);
  expect(
    status.conditions!.map(({ type, status: value }) => `${type}=${value}`),
  ).toEqual([
    "PodReadyToStartContainers=True",
    "Initialized=True",
    "Ready=True",
    "ContainersReady=True",
    "PodScheduled=True",
  ]);
  expect(status).toMatchObject({
    podIP: "10.0.0.1",
    podIPs: [{ ip: "10.0.0.1" }],
    hostIP: "192.0.2.1",
    qosClass: "BestEffort",
    startTime: "2026-01-01T00:00:00Z",
  });
  expect(status.containerStatuses![0]).toMatchObject({
    containerID: "containerd://app-0",
    imageID: "sha256:1",
    ready: true,
    started: true,
    state: { running: {} },
  });
});

test("conditions name what is missing", () => {
  const waiting = report(withInit, []);
  expect(condition(waiting, "Initialized")).toEqual([
    "False",
    "ContainersNotInitialized",
    "containers with incomplete status: [one]",
  ]);
  expect(condition(waiting, "Ready")).toEqual([
    "False",
    "ContainersNotReady",
    "containers with unready status: [app]",
  ]);
  expect(waiting.containerStatuses![0]!.state).toEqual({
    waiting: { reason: "PodInitializing" },
  });
  expect(report(pod, []).containerStatuses![0]!.state).toEqual({
    waiting: { reason: "ContainerCreating" },
  });
  const done = report(never, [containerOf(never, "app", exited(0))]);
  expect(condition(done, "Ready")).toEqual([
    "False",
    "PodCompleted",
    undefined,
  ]);
  expect(
    condition(
      report(never, [containerOf(never, "app", exited(1))]),
      "ContainersReady",
    )[1],
  ).toBe("PodFailed");
});

test("transition times are kept while a condition stays", () => {
  const first = report(pod, [containerOf(pod, "app")]);
  const later = report(pod, [containerOf(pod, "app")], {
    previous: first,
    nowMs: nowMs + 60_000,
    readiness: { started: () => true, ready: () => false },
  });
  const time = (status: PodStatus, type: string): string | undefined =>
    status.conditions!.find((candidate) => candidate.type === type)!
      .lastTransitionTime;
  expect(time(later, "Initialized")).toBe("2026-01-01T00:00:00Z");
  expect(time(later, "Ready")).toBe("2026-01-01T00:01:00Z");
  expect(statusPatch(first, first)).toBeUndefined();
  expect(Object.keys(statusPatch(first, later)!)).toEqual([
    "containerStatuses",
    "conditions",
  ]);
});

test("readiness gates hold Ready back, other conditions are left alone", () => {
  const gatedPod = testPod({
    readinessGates: [{ conditionType: "example.com/ok" }],
  });
  expect(
    condition(report(gatedPod, [containerOf(gatedPod, "app")]), "Ready"),
  ).toEqual([
    "False",
    "ReadinessGatesNotReady",
    'corresponding condition of pod readiness gate "example.com/ok" does not exist.',
  ]);
  const previous: PodStatus = {
    conditions: [{ type: "example.com/ok", status: "True" }],
  };
  const open = report(gatedPod, [containerOf(gatedPod, "app")], { previous });
  expect(condition(open, "Ready")[0]).toBe("True");
  expect(open.conditions).toContainEqual({
    type: "example.com/ok",
    status: "True",
  });
});

test("a restarted container shows its last end, a lost one is told of", () => {
  const restarted = report(pod, [
    containerOf(pod, "app", { restartCount: 1 }),
    containerOf(pod, "app", exited(3)),
  ]);
  expect(restarted.containerStatuses![0]).toMatchObject({
    restartCount: 1,
    lastState: { terminated: { exitCode: 3, reason: "Error" } },
  });
  const before: ApiContainer = {
    name: "app",
    image: "i",
    imageID: "",
    ready: true,
    restartCount: 2,
    containerID: "containerd://x",
    state: { running: {} },
  };
  const lost = report(pod, [], { previous: { containerStatuses: [before] } });
  expect(lost.containerStatuses![0]).toMatchObject({
    restartCount: 3,
    lastState: {
      terminated: { exitCode: 137, reason: "ContainerStatusUnknown" },
    },
  });
});

test.each<[string, Pod, (pod: Pod) => ContainerStatus[], string[]]>([
  ["no container", pod, () => [], ["ContainerStatusUnknown"]],
  [
    "one of two",
    testPod({ containers: [init("app"), init("web")] }),
    (p) => [containerOf(p, "web", exited(0))],
    ["ContainerStatusUnknown", "Completed"],
  ],
  [
    "no init container",
    withInit,
    () => [],
    ["ContainerStatusUnknown", "PodInitializing"],
  ],
  [
    "an init container that failed",
    withInit,
    (p) => [containerOf(p, "one", exited(1))],
    ["Error", "PodInitializing"],
  ],
])(
  "the last status of a pod that started %s leaves no container waiting",
  (_what, subject, containers, wanted) => {
    const status = report(subject, containers(subject), {
      ended: true,
      tornDown: true,
    });
    expect(
      [
        ...(status.initContainerStatuses ?? []),
        ...status.containerStatuses!,
      ].map(({ state }) => (state!.terminated ?? state!.waiting)!.reason),
    ).toEqual(wanted);
    expect(status.phase).toBe("Failed");
  },
);

test("the last messages of a pod's containers have 12 KiB together", () => {
  const several = testPod({
    restartPolicy: "Never",
    containers: ["a", "b", "c", "d"].map((name) => ({ name, image: "i" })),
  });
  const ended = (name: string, message: string): ContainerStatus => ({
    ...containerOf(several, name, exited(1)),
    message,
  });
  const status = report(several, [
    ended("a", "x".repeat(4096)),
    ended("b", "é".repeat(1600)),
    ended("c", "short"),
    ended("d", `${"x".repeat(3071)}é`),
  ]);
  const messages = status.containerStatuses!.map(
    ({ state }) => state?.terminated?.message ?? "",
  );
  expect(messages).toEqual([
    "x".repeat(3072),
    "é".repeat(1536),
    "short",
    "x".repeat(3071),
  ]);
});

test.each<[VolumeMount["recursiveReadOnly"], boolean, string | undefined]>([
  [undefined, true, "Disabled"],
  ["Disabled", true, "Disabled"],
  ["IfPossible", true, "Enabled"],
  ["IfPossible", false, "Disabled"],
  ["Enabled", true, "Enabled"],
  ["Enabled", false, "Disabled"],
])(
  "a mount that is read-only %s, supported: %s",
  (mode, supported, reported) => {
    const mount: VolumeMount = {
      name: "v",
      mountPath: "/v",
      readOnly: true,
      ...(mode ? { recursiveReadOnly: mode } : {}),
    };
    const mounting = testPod({
      containers: [
        {
          name: "app",
          image: "i",
          volumeMounts: [mount, { name: "v", mountPath: "/w" }],
        },
      ],
    });
    const status = report(mounting, [containerOf(mounting, "app")], {
      mountsReadOnlyBelow: supported,
    });
    expect(status.containerStatuses![0]!.volumeMounts).toEqual([
      {
        name: "v",
        mountPath: "/v",
        readOnly: true,
        recursiveReadOnly: reported,
      },
      { name: "v", mountPath: "/w" },
    ]);
    const resolve = (change: Partial<VolumeMount> = {}): boolean =>
      recursiveReadOnly({ ...mount, ...change }, supported);
    if (mode === "Enabled" && !supported)
      expect(resolve).toThrow(
        'failed to resolve recursive read-only mode: volume "v" requested recursive read-only mode, but it is not supported by the runtime',
      );
    else expect(resolve()).toBe(reported === "Enabled");
    if (reported !== "Enabled") return;
    expect(() => resolve({ readOnly: false })).toThrow(
      /but it is not read-only/,
    );
    expect(() => resolve({ mountPropagation: "HostToContainer" })).toThrow(
      'not compatible with propagation "HostToContainer"',
    );
  },
);

test("a pod whose init container failed is over when its sidecars have ended, not before", () => {
  const failing = testPod({
    restartPolicy: "Never",
    initContainers: [init("side", { restartPolicy: "Always" }), init("one")],
  });
  const phase = (side: Partial<ContainerStatus>, ended: boolean) =>
    report(
      failing,
      [
        containerOf(failing, "side", side),
        containerOf(failing, "one", exited(1)),
      ],
      { ended, previous: { phase: "Pending" } },
    ).phase;
  expect(phase({}, false)).toBe("Pending");
  expect(phase({}, true)).toBe("Pending");
  expect(phase(exited(0), true)).toBe("Failed");
});

test.each([
  [["192.0.2.1"], ["fd00::5", "10.0.0.5", "10.0.0.6"], ["10.0.0.5", "fd00::5"]],
  [
    ["2001:db8::1", "192.0.2.1"],
    ["10.0.0.5", "fd00::5"],
    ["fd00::5", "10.0.0.5"],
  ],
  [["192.0.2.1"], ["fd00::5"], ["fd00::5"]],
])("at a node of %j the addresses %j are %j", (nodeIPs, ips, wanted) => {
  const status = report(pod, [containerOf(pod, "app")], {
    nodeIPs,
    runtimePod: runtimePodOf([sandboxOf(pod, { ips })], []),
  });
  expect(status.podIP).toBe(wanted[0]);
  expect(status.podIPs).toEqual(wanted.map((ip) => ({ ip })));
});

test("an ephemeral container is neither started nor ready", () => {
  const debugged = testPod({
    ephemeralContainers: [{ name: "debug", image: "i" }],
  });
  const status = report(debugged, [
    containerOf(debugged, "app"),
    containerOf(debugged, "debug"),
  ]);
  const [debug] = status.ephemeralContainerStatuses!;
  expect(debug).toMatchObject({ ready: false, state: { running: {} } });
  expect(debug).not.toHaveProperty("started");
  expect(status.containerStatuses).toMatchObject([
    { ready: true, started: true },
  ]);
});

test("statuses of containers are in the order of their names, those of init containers in that of the pod", () => {
  const of = (...names: string[]): Container[] =>
    names.map((name) => init(name));
  const status = report(
    testPod({
      containers: of("web", "log", "app"),
      initContainers: of("second", "first"),
      ephemeralContainers: of("y", "x"),
    }),
    [],
  );
  const names = (list: ApiContainer[] | undefined): string[] | undefined =>
    list?.map(({ name }) => name);
  expect(names(status.containerStatuses)).toEqual(["app", "log", "web"]);
  expect(names(status.initContainerStatuses)).toEqual(["second", "first"]);
  expect(names(status.ephemeralContainerStatuses)).toEqual(["x", "y"]);
});

test("a pod that was torn down before its sidecar had started never started its containers", () => {
  const last = report(
    withSidecar,
    [containerOf(withSidecar, "side", exited(0))],
    {
      ended: true,
      tornDown: true,
    },
  );
  expect(last.containerStatuses?.[0]?.state).toEqual({
    waiting: { reason: "PodInitializing" },
  });
});

test("a pod that ran is not initialized while its init container runs once more in another sandbox", () => {
  const status = report(withInit, [containerOf(withInit, "one")], {
    previous: {
      phase: "Running",
      containerStatuses: [
        {
          name: "app",
          image: "i",
          imageID: "",
          ready: false,
          restartCount: 1,
          containerID: "containerd://gone",
          state: { running: {} },
        },
      ],
    },
  });
  expect(status.containerStatuses?.[0]?.lastState?.terminated).toBeDefined();
  expect(condition(status, "Initialized")).toEqual([
    "False",
    "ContainersNotInitialized",
    "containers with incomplete status: [one]",
  ]);
});

import type { Container, Pod } from "../../../api/types/core-v1.ts";
import type { ContainerStatus, SandboxStatus } from "../../../cri/runtime.ts";
import { BackOff, backOffKey } from "../../../agent/pacing/back-off.ts";
import {
  computePodActions,
  type ProbeResults,
} from "../../../agent/pods/worker/pod-actions.ts";
import {
  containerOf,
  exited,
  runtimePodOf,
  sandboxOf,
  testPod,
} from "./runtime-objects.ts";

const init = (name: string, extra: Partial<Container> = {}): Container => ({
  name,
  image: "i",
  ...extra,
});
const sidecar = (name: string, extra: Partial<Container> = {}): Container =>
  init(name, { restartPolicy: "Always", ...extra });
const noProbes: ProbeResults = {
  liveness: () => undefined,
  startup: () => undefined,
};

interface Outcome {
  sandbox?: boolean;
  killPod?: boolean;
  finished?: boolean;
  start?: string[];
  kill?: string[];
  waiting?: string[];
}

function decide(
  pod: Pod,
  sandboxes: SandboxStatus[],
  containers: ContainerStatus[],
  options: {
    probes?: Partial<ProbeResults>;
    backOff?: BackOff;
    nowMs?: number;
    toRestart?: ReadonlySet<string>;
    resized?: readonly string[];
  } = {},
): Outcome {
  const actions = computePodActions({
    pod,
    runtimePod: runtimePodOf(sandboxes, containers),
    probes: { ...noProbes, ...options.probes },
    backOff: options.backOff ?? new BackOff(),
    nowMs: options.nowMs ?? 10_000,
    toRestart: options.toRestart ?? new Set(),
    resizeRestarts: ({ name }) => options.resized?.includes(name) ?? false,
  });
  const outcome: Outcome = {};
  if (actions.createSandbox) outcome.sandbox = true;
  if (actions.killPod) outcome.killPod = true;
  if (actions.finished) outcome.finished = true;
  if (actions.containersToStart.length > 0)
    outcome.start = actions.containersToStart.map(
      ({ container }) => container.name,
    );
  if (actions.containersToKill.length > 0)
    outcome.kill = actions.containersToKill.map(
      ({ status, reason }) => `${status.id}:${reason}`,
    );
  if (actions.waiting.length > 0)
    outcome.waiting = actions.waiting.map(({ container }) => container.name);
  return outcome;
}

const two = testPod({ containers: [init("app"), init("web")] });
const never = testPod({ restartPolicy: "Never" });
const onFailure = testPod({ restartPolicy: "OnFailure" });
const withInit = testPod({ initContainers: [init("one"), init("two")] });
const withInitNever = testPod({
  initContainers: [init("one")],
  restartPolicy: "Never",
});
const withSidecar = testPod({ initContainers: [sidecar("side"), init("one")] });
const gated = testPod({
  initContainers: [
    sidecar("side", { startupProbe: { exec: { command: ["x"] } } }),
    init("one"),
  ],
});
const gone = (pod: Pod): SandboxStatus => sandboxOf(pod, { ready: false });

test.each<
  [string, Pod, (pod: Pod) => [SandboxStatus[], ContainerStatus[]], Outcome]
>([
  ["a new pod", two, () => [[], []], { sandbox: true, start: ["app", "web"] }],
  [
    "a new pod with init containers",
    withInit,
    () => [[], []],
    { sandbox: true, start: ["one"] },
  ],
  [
    "all running",
    two,
    (p) => [[sandboxOf(p)], [containerOf(p, "app"), containerOf(p, "web")]],
    {},
  ],
  [
    "one missing",
    two,
    (p) => [[sandboxOf(p)], [containerOf(p, "app")]],
    { start: ["web"] },
  ],
  [
    "one exited",
    two,
    (p) => [
      [sandboxOf(p)],
      [containerOf(p, "app", exited(0)), containerOf(p, "web")],
    ],
    { start: ["app"] },
  ],
  [
    "exited with Never",
    never,
    (p) => [[sandboxOf(p)], [containerOf(p, "app", exited(1))]],
    { killPod: true, finished: true },
  ],
  [
    "failed with OnFailure",
    onFailure,
    (p) => [[sandboxOf(p)], [containerOf(p, "app", exited(1))]],
    { start: ["app"] },
  ],
  [
    "succeeded with OnFailure",
    onFailure,
    (p) => [[sandboxOf(p)], [containerOf(p, "app", exited(0))]],
    { killPod: true, finished: true },
  ],
  [
    "sandbox gone",
    two,
    (p) => [
      [gone(p)],
      [containerOf(p, "app", exited(137)), containerOf(p, "web", exited(137))],
    ],
    { killPod: true, sandbox: true, start: ["app", "web"] },
  ],
  [
    "sandbox gone after success with OnFailure",
    onFailure,
    (p) => [[gone(p)], [containerOf(p, "app", exited(0))]],
    { killPod: true, finished: true },
  ],
  [
    "sandbox gone with Never",
    never,
    (p) => [[gone(p)], [containerOf(p, "app", exited(137))]],
    { killPod: true, finished: true },
  ],
  [
    "sandbox without address",
    two,
    (p) => [[sandboxOf(p, { ips: [] })], []],
    { killPod: true, sandbox: true, start: ["app", "web"] },
  ],
  [
    "host network without address",
    testPod({ hostNetwork: true }),
    (p) => [[sandboxOf(p, { ips: [] })], []],
    { start: ["app"] },
  ],
  [
    "first init running",
    withInit,
    (p) => [[sandboxOf(p)], [containerOf(p, "one")]],
    {},
  ],
  [
    "first init done",
    withInit,
    (p) => [[sandboxOf(p)], [containerOf(p, "one", exited(0))]],
    { start: ["two"] },
  ],
  [
    "first init failed",
    withInit,
    (p) => [[sandboxOf(p)], [containerOf(p, "one", exited(1))]],
    { start: ["one"] },
  ],
  [
    "init failed with Never",
    withInitNever,
    (p) => [[sandboxOf(p)], [containerOf(p, "one", exited(1))]],
    { killPod: true, finished: true },
  ],
  [
    "all inits done",
    withInit,
    (p) => [
      [sandboxOf(p)],
      [containerOf(p, "one", exited(0)), containerOf(p, "two", exited(0))],
    ],
    { start: ["app"] },
  ],
  [
    "initialized, inits collected",
    withInit,
    (p) => [[sandboxOf(p)], [containerOf(p, "app")]],
    {},
  ],
  [
    "second init running, first one collected",
    withInit,
    (p) => [[sandboxOf(p)], [containerOf(p, "two")]],
    {},
  ],
  [
    "second init done, first one collected",
    withInit,
    (p) => [[sandboxOf(p)], [containerOf(p, "two", exited(0))]],
    { start: ["app"] },
  ],
  [
    "inits run again in a new sandbox",
    withInit,
    (p) => [
      [sandboxOf(p, { id: "s2" }), gone(p)],
      [containerOf(p, "app", exited(137)), containerOf(p, "one", exited(0))],
    ],
    { start: ["one"] },
  ],
  [
    "a sidecar first",
    withSidecar,
    (p) => [[sandboxOf(p)], []],
    { start: ["side"] },
  ],
  [
    "the init after the sidecar",
    withSidecar,
    (p) => [[sandboxOf(p)], [containerOf(p, "side")]],
    { start: ["one"] },
  ],
  [
    "a sidecar not started yet",
    gated,
    (p) => [[sandboxOf(p)], [containerOf(p, "side")]],
    {},
  ],
  [
    "a sidecar exited while apps run",
    withSidecar,
    (p) => [
      [sandboxOf(p)],
      [containerOf(p, "side", exited(0)), containerOf(p, "app")],
    ],
    { start: ["side"] },
  ],
  [
    "only the sidecar left",
    testPod({ restartPolicy: "Never", initContainers: [sidecar("side")] }),
    (p) => [
      [sandboxOf(p)],
      [containerOf(p, "side"), containerOf(p, "app", exited(0))],
    ],
    { killPod: true, finished: true },
  ],
  [
    "made but never started",
    two,
    (p) => [
      [sandboxOf(p)],
      [containerOf(p, "app", { state: "created" }), containerOf(p, "web")],
    ],
    { kill: ["app-0:changed"], start: ["app"] },
  ],
  [
    "an ephemeral container",
    testPod({ ephemeralContainers: [{ name: "debug", image: "i" }] }),
    (p) => [[sandboxOf(p)], [containerOf(p, "app")]],
    { start: ["debug"] },
  ],
  [
    "an ephemeral container of a pod that is not initialized",
    testPod({
      initContainers: [init("one")],
      ephemeralContainers: [{ name: "debug", image: "i" }],
    }),
    (p) => [[sandboxOf(p)], [containerOf(p, "one")]],
    { start: ["debug"] },
  ],
  [
    "an ephemeral container of an older sandbox",
    testPod({ ephemeralContainers: [{ name: "debug", image: "i" }] }),
    (p) => [
      [sandboxOf(p, { id: "s2" }), gone(p)],
      [
        containerOf(p, "app", { sandboxId: "s2" }),
        containerOf(p, "debug", exited(137)),
      ],
    ],
    {},
  ],
  [
    "the last container that has to run ended in a new sandbox",
    testPod({
      containers: [init("app"), init("web")],
      restartPolicy: "OnFailure",
    }),
    (p) => [
      [sandboxOf(p, { id: "s2" }), gone(p)],
      [
        containerOf(p, "web", {
          ...exited(0),
          sandboxId: "s2",
          restartCount: 1,
        }),
        containerOf(p, "app", exited(0)),
        containerOf(p, "web", exited(137)),
      ],
    ],
    { killPod: true, finished: true },
  ],
  [
    "an older sandbox is ready, too",
    two,
    (p) => [
      [sandboxOf(p, { id: "s2", createdAtMs: 2000 }), sandboxOf(p)],
      [containerOf(p, "app"), containerOf(p, "web")],
    ],
    { killPod: true, sandbox: true, start: ["app", "web"] },
  ],
  [
    "the sandbox went with a failed init container of Never",
    withInitNever,
    (p) => [[gone(p)], [containerOf(p, "one", exited(255))]],
    { killPod: true, finished: true },
  ],
  [
    "an init container that was short of memory",
    withInit,
    (p) => [
      [sandboxOf(p)],
      [containerOf(p, "one", { ...exited(0), reason: "OOMKilled" })],
    ],
    { start: ["one"] },
  ],
  [
    "a failed init container beside a sidecar that ended",
    withSidecar,
    (p) => [
      [sandboxOf(p)],
      [containerOf(p, "one", exited(1)), containerOf(p, "side", exited(0))],
    ],
    { start: ["side", "one"] },
  ],
  [
    "an ephemeral container that ended",
    testPod({ ephemeralContainers: [{ name: "debug", image: "i" }] }),
    (p) => [
      [sandboxOf(p)],
      [containerOf(p, "app"), containerOf(p, "debug", exited(0))],
    ],
    {},
  ],
])("%s", (_what, pod, state, wanted) => {
  expect(decide(pod, ...state(pod))).toEqual(wanted);
});

test("a changed image replaces the container, another annotation does not", () => {
  const before = containerOf(two, "app");
  const changed = testPod({
    containers: [init("app", { image: "other" }), init("web")],
  });
  expect(
    decide(changed, [sandboxOf(two)], [before, containerOf(two, "web")]),
  ).toEqual({ kill: ["app-0:changed"] });
});

test("failed probes end the container", () => {
  const state: [SandboxStatus[], ContainerStatus[]] = [
    [sandboxOf(two)],
    [containerOf(two, "app"), containerOf(two, "web")],
  ];
  expect(
    decide(two, ...state, {
      probes: { liveness: (id) => (id === "app-0" ? "failure" : "success") },
    }),
  ).toEqual({ kill: ["app-0:liveness"] });
  expect(
    decide(two, ...state, {
      probes: { startup: (id) => (id === "web-0" ? "failure" : undefined) },
    }),
  ).toEqual({ kill: ["web-0:startup"] });
});

test("back-off holds back a restart, not the others", () => {
  const backOff = new BackOff();
  backOff.next(backOffKey(two, two.spec.containers[0]!), 0, 0);
  const state: [SandboxStatus[], ContainerStatus[]] = [
    [sandboxOf(two)],
    [
      containerOf(two, "app", exited(1, 5000)),
      containerOf(two, "web", exited(1, 5000)),
    ],
  ];
  expect(decide(two, ...state, { backOff, nowMs: 10_000 })).toEqual({
    start: ["web"],
    waiting: ["app"],
  });
  expect(decide(two, ...state, { backOff, nowMs: 15_000 })).toEqual({
    start: ["app", "web"],
  });
});

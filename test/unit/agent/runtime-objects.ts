// Sandboxes and containers as a runtime would report them, for tests of what is decided from them.
import type { Container, Pod } from "../../../api/types/core-v1.ts";
import type { ContainerStatus, SandboxStatus } from "../../../cri/runtime.ts";
import {
  containerAnnotations,
  containerLabels,
  podSandboxAnnotations,
  podSandboxLabels,
} from "../../../agent/pods/shape/labels.ts";
import { podContainers } from "../../../agent/pods/shape/pod-shape.ts";
import type { RuntimePod } from "../../../agent/pods/runtime/runtime-pods.ts";

export function testPod(spec: Partial<Pod["spec"]> = {}): Pod {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "p", namespace: "ns", uid: "u" },
    spec: {
      containers: [{ name: "app", image: "i" }],
      restartPolicy: "Always",
      ...spec,
    },
  };
}

export function sandboxOf(
  pod: Pod,
  options: Partial<SandboxStatus> = {},
): SandboxStatus {
  return {
    id: "s1",
    metadata: {
      name: pod.metadata.name,
      namespace: "ns",
      uid: "u",
      attempt: 0,
    },
    ready: true,
    createdAtMs: 1000,
    labels: podSandboxLabels(pod),
    annotations: podSandboxAnnotations(pod, "/root"),
    runtimeHandler: "",
    ips: ["10.0.0.1"],
    ...options,
  };
}

export function containerOf(
  pod: Pod,
  name: string,
  options: Partial<ContainerStatus> & { restartCount?: number } = {},
): ContainerStatus {
  const { restartCount = 0, ...rest } = options;
  const found = podContainers(pod).find(
    ({ container }) => container.name === name,
  ) ?? { container: { name, image: "i" } as Container, kind: "app" as const };
  return {
    id: `${name}-${restartCount}`,
    sandboxId: "s1",
    name,
    attempt: restartCount,
    image: "i",
    imageRef: "sha256:1",
    state: "running",
    createdAtMs: 2000 + restartCount,
    labels: containerLabels(pod, found.container),
    annotations: containerAnnotations(
      pod,
      found.container,
      found.kind,
      restartCount,
      "/root",
    ),
    startedAtMs: 2000,
    finishedAtMs: 0,
    exitCode: 0,
    reason: "",
    message: "",
    logPath: "",
    mounts: [],
    ...rest,
  };
}

export function exited(
  exitCode: number,
  finishedAtMs = 3000,
): Partial<ContainerStatus> {
  return {
    state: "exited",
    exitCode,
    finishedAtMs,
    reason: exitCode === 0 ? "Completed" : "Error",
  };
}

export function runtimePodOf(
  sandboxes: SandboxStatus[],
  containers: ContainerStatus[],
): RuntimePod {
  return { uid: "u", name: "p", namespace: "ns", sandboxes, containers };
}

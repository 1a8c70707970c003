// The labels and annotations by which sandboxes and containers are recognised as ours, also after a restart of the
// agent. The keys are the ecosystem's, so that crictl and others show pods as such; state is rebuilt from them alone.
import { createHash } from "node:crypto";
import type { Container, Pod } from "../../../api/types/core-v1.ts";
import type { SandboxConfig } from "../../../cri/runtime.ts";

export const podNameLabel = "io.kubernetes.pod.name";
export const podNamespaceLabel = "io.kubernetes.pod.namespace";
export const podUidLabel = "io.kubernetes.pod.uid";
export const containerNameLabel = "io.kubernetes.container.name";

const hashAnnotation = "io.kubernetes.container.hash";
const restartCountAnnotation = "io.kubernetes.container.restartCount";
const messagePathAnnotation = "io.kubernetes.container.terminationMessagePath";
const messagePolicyAnnotation =
  "io.kubernetes.container.terminationMessagePolicy";
const preStopAnnotation = "io.kubernetes.container.preStopHandler";
const podGraceAnnotation = "io.kubernetes.pod.terminationGracePeriod";
const podDeletionGraceAnnotation = "io.kubernetes.pod.deletionGracePeriod";
const restartPolicyAnnotation = "io.kubernetes.pod.restartPolicy";
/** Whose it is: the root directory of the agent that made it. An agent leaves alone what it did not make. */
const ownerAnnotation = "orbit.io/agent";
const kindAnnotation = "io.kubernetes.container.kind";
/** Of the pod, on its sandbox: who ends last when the machine halts. */
const priorityAnnotation = "orbit.io/priority";

/** Of the pod, on its sandbox: the ports of the node that lead to it, as JSON. */
const hostPortsAnnotation = "orbit.io/host-ports";

/** On static pods and their mirrors. */
export const configHashAnnotation = "kubernetes.io/config.hash";
export const configSourceAnnotation = "kubernetes.io/config.source";
export const configSeenAnnotation = "kubernetes.io/config.seen";
export const configMirrorAnnotation = "kubernetes.io/config.mirror";

export type ContainerKind = "init" | "sidecar" | "app" | "ephemeral";

export function podSandboxLabels(pod: Pod): Record<string, string> {
  return {
    ...pod.metadata.labels,
    [podNameLabel]: pod.metadata.name,
    [podNamespaceLabel]: pod.metadata.namespace ?? "default",
    [podUidLabel]: pod.metadata.uid ?? "",
  };
}

export function podSandboxAnnotations(
  pod: Pod,
  owner: string,
  hostPorts: SandboxConfig["portMappings"] = [],
): Record<string, string> {
  // One of the pod's own would lead ports to it that it was not admitted with.
  const { [hostPortsAnnotation]: _own, ...annotations } =
    pod.metadata.annotations ?? {};
  return {
    ...annotations,
    [ownerAnnotation]: owner,
    [restartPolicyAnnotation]: pod.spec.restartPolicy ?? "Always",
    [priorityAnnotation]: String(pod.spec.priority ?? 0),
    ...(hostPorts.length > 0
      ? { [hostPortsAnnotation]: JSON.stringify(hostPorts) }
      : {}),
  };
}

/** Reads back what podSandboxAnnotations wrote. */
export function sandboxHostPorts(
  annotations: Readonly<Record<string, string>>,
): SandboxConfig["portMappings"] {
  const text = annotations[hostPortsAnnotation];
  return text === undefined
    ? []
    : (JSON.parse(text) as SandboxConfig["portMappings"]);
}

export function sandboxPriority(
  annotations: Readonly<Record<string, string>>,
): number {
  return Number(annotations[priorityAnnotation] ?? 0) || 0;
}

export function containerLabels(
  pod: Pod,
  container: Container,
): Record<string, string> {
  return {
    [containerNameLabel]: container.name,
    [podNameLabel]: pod.metadata.name,
    [podNamespaceLabel]: pod.metadata.namespace ?? "default",
    [podUidLabel]: pod.metadata.uid ?? "",
  };
}

export function containerAnnotations(
  pod: Pod,
  container: Container,
  kind: ContainerKind,
  restartCount: number,
  owner: string,
): Record<string, string> {
  const annotations: Record<string, string> = {
    [ownerAnnotation]: owner,
    [hashAnnotation]: containerHash(container),
    [restartCountAnnotation]: String(restartCount),
    [messagePathAnnotation]:
      container.terminationMessagePath ?? "/dev/termination-log",
    [messagePolicyAnnotation]: container.terminationMessagePolicy ?? "File",
    [restartPolicyAnnotation]: pod.spec.restartPolicy ?? "Always",
    [kindAnnotation]: kind,
  };
  if (pod.spec.terminationGracePeriodSeconds !== undefined)
    annotations[podGraceAnnotation] = String(
      pod.spec.terminationGracePeriodSeconds,
    );
  if (pod.metadata.deletionGracePeriodSeconds !== undefined)
    annotations[podDeletionGraceAnnotation] = String(
      pod.metadata.deletionGracePeriodSeconds,
    );
  if (container.lifecycle?.preStop)
    annotations[preStopAnnotation] = JSON.stringify(
      container.lifecycle.preStop,
    );
  return annotations;
}

/** What distinguishes a container from its replacement: the fields of a running pod's container that may change. */
export function containerHash(container: Container): string {
  return createHash("sha256")
    .update(`${container.name}\0${container.image}`)
    .digest("hex")
    .slice(0, 8);
}

interface ContainerRecord {
  hash: string;
  restartCount: number;
  terminationMessagePath: string;
  terminationMessagePolicy: string;
  terminationGraceSeconds: number | undefined;
  restartPolicy: string;
  kind: ContainerKind;
  /** JSON of the LifecycleHandler, for containers whose pod is known only from the runtime. */
  preStop: string | undefined;
}

/** Reads back what containerAnnotations wrote. */
export function containerRecord(
  annotations: Readonly<Record<string, string>>,
): ContainerRecord {
  const grace =
    annotations[podDeletionGraceAnnotation] ?? annotations[podGraceAnnotation];
  return {
    hash: annotations[hashAnnotation] ?? "",
    restartCount: Number(annotations[restartCountAnnotation] ?? 0) || 0,
    terminationMessagePath: annotations[messagePathAnnotation] ?? "",
    terminationMessagePolicy: annotations[messagePolicyAnnotation] ?? "File",
    terminationGraceSeconds: grace === undefined ? undefined : Number(grace),
    restartPolicy: annotations[restartPolicyAnnotation] ?? "Always",
    kind: (annotations[kindAnnotation] as ContainerKind | undefined) ?? "app",
    preStop: annotations[preStopAnnotation],
  };
}

/** file, http or api. */
export function podSource(pod: {
  metadata: { annotations?: Record<string, string> };
}): string {
  return pod.metadata.annotations?.[configSourceAnnotation] ?? "api";
}

export function isStaticPod(pod: Pod): boolean {
  return podSource(pod) !== "api";
}

export function isMirrorPod(pod: Pod): boolean {
  return pod.metadata.annotations?.[configMirrorAnnotation] !== undefined;
}

/** The name used in messages: `name_namespace(uid)`. */
export function podDescription(pod: Pod): string {
  return `${pod.metadata.name}_${pod.metadata.namespace ?? "default"}(${pod.metadata.uid ?? ""})`;
}

/** The pod a sandbox or container belongs to. */
export function podLabelsOf(labels: Readonly<Record<string, string>>): {
  uid: string;
  name: string;
  namespace: string;
} {
  return {
    uid: labels[podUidLabel] ?? "",
    name: labels[podNameLabel] ?? "",
    namespace: labels[podNamespaceLabel] ?? "",
  };
}

export function isOwn(
  made: { annotations: Readonly<Record<string, string>> },
  owner: string,
): boolean {
  return made.annotations[ownerAnnotation] === owner;
}

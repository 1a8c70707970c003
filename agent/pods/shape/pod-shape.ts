// Questions about a Pod's specification that many rooms ask: its containers by kind, grace periods.
import { isPodTerminal } from "../../../api/objects/pod-state.ts";
import {
  parseQuantity,
  quantityMilliValue,
  quantityValue,
} from "../../../api/quantity.ts";
import type { Container, Pod } from "../../../api/types/core-v1.ts";
import { isStaticPod, type ContainerKind } from "./labels.ts";

interface PodContainer {
  container: Container;
  kind: ContainerKind;
}

export function isSidecar(container: Container): boolean {
  return container.restartPolicy === "Always";
}

/** Init containers (with sidecars among them) in order, then app containers, then ephemeral ones. */
export function podContainers(pod: Pod): PodContainer[] {
  return [
    ...(pod.spec.initContainers ?? []).map((container): PodContainer => ({
      container,
      kind: isSidecar(container) ? "sidecar" : "init",
    })),
    ...pod.spec.containers.map((container): PodContainer => ({
      container,
      kind: "app",
    })),
    ...(pod.spec.ephemeralContainers ?? []).map((container): PodContainer => ({
      container: container as Container,
      kind: "ephemeral",
    })),
  ];
}

export function findContainer(
  pod: Pod,
  name: string,
): PodContainer | undefined {
  return podContainers(pod).find(({ container }) => container.name === name);
}

export function cpuMillis(
  quantities: Readonly<Record<string, string>> | undefined,
): number {
  const text = quantities?.cpu;
  return text === undefined ? 0 : quantityMilliValue(parseQuantity(text));
}

export function memoryBytes(
  quantities: Readonly<Record<string, string>> | undefined,
  name = "memory",
): number {
  const text = quantities?.[name];
  return text === undefined ? 0 : quantityValue(parseQuantity(text));
}

/** How long the pod has to end: the deletion's grace, else the specification's; at least one second. */
export function graceSeconds(pod: Pod): number {
  const grace =
    pod.metadata.deletionGracePeriodSeconds ??
    pod.spec.terminationGracePeriodSeconds ??
    30;
  return Math.max(1, grace);
}

/** Its object is being deleted, or others declared it to be over: the agent ends it, as the reference does. */
export function isToEnd(pod: Pod): boolean {
  const { deletionTimestamp } = pod.metadata;
  return !!deletionTimestamp || (!isStaticPod(pod) && isPodTerminal(pod));
}

export function podFullName(pod: {
  metadata: { name: string; namespace?: string };
}): string {
  return `${pod.metadata.namespace ?? "default"}/${pod.metadata.name}`;
}

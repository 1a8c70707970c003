// What the runtime's lists of everything have of each pod, by its uid. What has no pod's labels is left out.
import type { ContainerSummary, SandboxSummary } from "../../../cri/runtime.ts";
import {
  containerNameLabel,
  podNameLabel,
  podNamespaceLabel,
  podUidLabel,
} from "../shape/labels.ts";

export interface PodLists {
  readonly name: string;
  readonly namespace: string;
  readonly sandboxes: SandboxSummary[];
  readonly containers: ContainerSummary[];
}

export function listsByPod(
  sandboxes: readonly SandboxSummary[],
  containers: readonly ContainerSummary[],
): Map<string, PodLists> {
  const found = new Map<string, PodLists>();
  const of = (labels: Record<string, string>): PodLists | undefined => {
    const uid = labels[podUidLabel];
    if (uid === undefined) return undefined;
    const known = found.get(uid) ?? {
      name: labels[podNameLabel] ?? "",
      namespace: labels[podNamespaceLabel] ?? "",
      sandboxes: [],
      containers: [],
    };
    found.set(uid, known);
    return known;
  };
  for (const sandbox of sandboxes) of(sandbox.labels)?.sandboxes.push(sandbox);
  for (const container of containers)
    if (container.labels[containerNameLabel] !== undefined)
      of(container.labels)?.containers.push(container);
  return found;
}

/** Whether anything of a pod is another than before shows in these. */
export function statesOf({
  sandboxes,
  containers,
}: {
  sandboxes: readonly { id: string; ready: boolean }[];
  containers: readonly { id: string; state: string }[];
}): string[] {
  return [
    ...sandboxes.map(({ id, ready }) => `${id}:${ready}`),
    ...containers.map(({ id, state }) => `${id}:${state}`),
  ];
}

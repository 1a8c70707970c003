// Multi-Attach events: a pod's volume is attached to another node, and one node alone may have it. As at the reference it
// is reported once, to the pods that wait on a node at that time, until no pod needs the volume there any more.
//
// Memory: one entry for each node that waits for a volume.
import type { PersistentVolume, Pod } from "../../../api/types/core-v1.ts";
import type { EventWriter } from "../../../client/event-recorder.ts";
import type { Wanted } from "./attachment-plan.ts";

export class MultiAttachReports {
  /** Volume → nodes whose pods know. */
  readonly #reported = new Map<string, Set<string>>();

  constructor(private readonly recorder: EventWriter) {}

  /** Forgets the nodes that do not need the volume (any more). */
  keep(volume: string, wanted: Wanted): void {
    const nodes = this.#reported.get(volume);
    if (!nodes) return;
    for (const node of nodes) if (!wanted.has(node)) nodes.delete(node);
    if (nodes.size === 0) this.#reported.delete(volume);
  }

  /** @param held nodes that have the volume */
  report(
    { metadata }: PersistentVolume,
    nodeName: string,
    wanted: Wanted,
    held: ReadonlySet<string>,
  ): void {
    const { name } = metadata;
    const nodes = this.#reported.get(name) ?? new Set();
    if (nodes.has(nodeName)) return;
    this.#reported.set(name, nodes.add(nodeName));
    const others = [...held].flatMap((node) => wanted.get(node) ?? []);
    for (const pod of wanted.get(nodeName) ?? [])
      this.recorder.event(
        pod,
        "Warning",
        "FailedAttachVolume",
        multiAttachText(name, pod, others),
      );
  }
}

/** The text for a pod, which shows names of its own namespace only. */
function multiAttachText(
  volume: string,
  pod: Pod,
  others: readonly Pod[],
): string {
  const start = `Multi-Attach error for volume "${volume}"`;
  if (others.length === 0)
    return `${start} Volume is already exclusively attached to one node and can't be attached to another`;
  const { namespace } = pod.metadata;
  const local = others
    .filter(({ metadata }) => metadata.namespace === namespace)
    .map(({ metadata }) => metadata.name);
  const foreign = others.length - local.length;
  const elsewhere = `${foreign} pod(s) in different namespaces`;
  if (local.length === 0)
    return `${start} Volume is already used by ${elsewhere}`;
  return `${start} Volume is already used by pod(s) ${local.join(", ")}${foreign > 0 ? ` and ${elsewhere}` : ""}`;
}

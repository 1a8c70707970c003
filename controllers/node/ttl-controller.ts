// Annotates nodes with how long their agents may keep Secrets and ConfigMaps that they have read: the longer, the more
// nodes there are. Agents that watch these objects do not need it.
import type { Node } from "../../api/types/core-v1.ts";
import { nodes } from "../../client/resources.ts";
import type { Controller, ControllerContext } from "../context.ts";
import { Reconciler } from "../reconciler.ts";

const annotation = "node.alpha.kubernetes.io/ttl";

/** The sizes overlap, so that a cluster about as large as a bound does not go to and fro. */
const steps: readonly { least: number; most: number; seconds: number }[] = [
  { least: 0, most: 100, seconds: 0 },
  { least: 90, most: 500, seconds: 15 },
  { least: 450, most: 1000, seconds: 30 },
  { least: 900, most: 2000, seconds: 60 },
  { least: 1800, most: Infinity, seconds: 300 },
];

/** The step of a cluster of `count` nodes that was at `step` before. */
export function stepOf(step: number, count: number): number {
  let next = step;
  while (count > steps[next]!.most) next++;
  while (count < steps[next]!.least) next--;
  return next;
}

export const secondsAt = (step: number): number => steps[step]!.seconds;

export function createTtlController(context: ControllerContext): Controller {
  const { client } = context;
  const informer = client.informer(nodes);
  let step = 0;
  const reconciler = new Reconciler({
    name: "ttl-controller",
    context,
    concurrency: 5,
    reconcile,
  });

  async function reconcile(name: string): Promise<void> {
    const node = informer.lister.get(name);
    const text = String(secondsAt(step));
    if (!node || node.metadata.annotations?.[annotation] === text) return;
    await client.resource(nodes).patch(name, undefined, {
      type: "strategic",
      body: { metadata: { annotations: { [annotation]: text } } },
    });
  }

  function countAgain(): void {
    const all = informer.lister.list();
    const next = stepOf(step, all.length);
    if (next === step) return;
    step = next;
    for (const { metadata } of all) reconciler.queue.add(metadata.name);
  }

  const look = ({ metadata }: Node): void =>
    reconciler.queue.add(metadata.name);
  return reconciler.watch(informer, {
    onAdd: (node) => {
      countAgain();
      look(node);
    },
    onUpdate: (old, node) => {
      const [was, is] = [old, node].map(
        ({ metadata }) => metadata.annotations?.[annotation],
      );
      if (was !== is) look(node);
    },
    onDelete: countAgain,
  });
}

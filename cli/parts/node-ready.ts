// Waiting for a node to be Ready, by watching it.
import type { Client } from "../../client/client.ts";
import type { Node } from "../../api/types/core-v1.ts";
import { nodes } from "../../client/resources.ts";

const isReady = (node: Node): boolean =>
  (node.status?.conditions ?? []).some(
    ({ type, status }) => type === "Ready" && status === "True",
  );

/** Resolves when the node is Ready; never rejects. The returned function ends the waiting. */
export function waitForNodeReady(
  client: Client,
  name: string,
): { ready: Promise<void>; stop: () => void } {
  let stop: () => void = () => undefined;
  const ready = new Promise<void>((resolve) => {
    const look = (node: Node): void => {
      if (node.metadata.name === name && isReady(node)) resolve();
    };
    stop = client
      .informer(nodes)
      .addHandler({ onAdd: look, onUpdate: (_before, node) => look(node) });
  });
  void ready.then(() => stop());
  return { ready, stop: () => stop() };
}

// The nodes that serve Ingresses and Gateways: those that run the proxy say so by a label of their Node. One of them, the first
// by name, writes what is the same for all of them.
import type { Logger } from "pino";
import { isConditionTrue } from "../../../api/objects/conditions.ts";
import type { Node } from "../../../api/types/core-v1.ts";
import type { Client } from "../../../client/client.ts";
import { nodes } from "../../../client/resources.ts";
import { servingAddresses } from "./node-addresses.ts";

const servingLabel = "ingress.orbit.io/serving";

function serves(node: Node): boolean {
  return node.metadata.labels?.[servingLabel] === "true";
}

function isReady(node: Node): boolean {
  return isConditionTrue(node.status?.conditions, "Ready");
}

/** Nodes that serve beside this one, which always does. */
function others(all: readonly Node[], nodeName: string): Node[] {
  return all.filter(
    (each) => each.metadata.name !== nodeName && serves(each) && isReady(each),
  );
}

/** Whether this node writes the statuses that all serving nodes have alike. */
export function writesForAll(all: readonly Node[], nodeName: string): boolean {
  const rest = others(all, nodeName);
  if (rest.length === 0) return true;
  const own = all.find(({ metadata }) => metadata.name === nodeName);
  // The others do not count one that is not Ready: two would write.
  if (!own || !isReady(own)) return false;
  return rest.every(({ metadata }) => nodeName < metadata.name);
}

/** Of all nodes that serve. Sorted. */
export function allServingAddresses(
  all: readonly Node[],
  nodeName: string,
): string[] {
  const own = all.filter(({ metadata }) => metadata.name === nodeName);
  return [
    ...new Set(
      [...own, ...others(all, nodeName)].flatMap((each) =>
        servingAddresses(each),
      ),
    ),
  ].sort();
}

/** What of a node others' answers depend on. */
export function servingText(node: Node): string {
  return JSON.stringify([
    node.status?.addresses ?? [],
    serves(node),
    isReady(node),
  ]);
}

/** Says on the Node whether it serves. Best effort: the next change of the Node tries again. */
export async function labelServingNode(
  client: Client,
  node: Node | undefined,
  serving: boolean,
  logger: Logger,
): Promise<void> {
  if (!node || serves(node) === serving) return;
  await client
    .resource(nodes)
    .patch(node.metadata.name, undefined, {
      type: "merge",
      body: {
        metadata: { labels: { [servingLabel]: serving ? "true" : null } },
      },
    })
    .catch((err: unknown) =>
      logger.debug({ err }, "the Node could not be labelled"),
    );
}

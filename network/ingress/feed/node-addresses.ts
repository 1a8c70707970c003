// At which addresses clients reach the proxy: those of the nodes that run it.
import type { Node } from "../../../api/types/core-v1.ts";

/** Of a node: the external ones, or else the internal ones. */
export function servingAddresses(node: Node): string[] {
  const of = (type: string): string[] =>
    (node.status?.addresses ?? [])
      .filter((each) => each.type === type)
      .map(({ address }) => address);
  const external = of("ExternalIP");
  return external.length > 0 ? external : of("InternalIP");
}

/**
 * The addresses of a status with this node's own: those of other nodes stay, those that no node has go. Sorted.
 * @param serving false: this node serves nothing
 */
export function withOwnAddresses(
  current: readonly string[],
  nodes: readonly Node[],
  nodeName: string,
  serving: boolean,
): string[] {
  const own: string[] = [];
  const others = new Set<string>();
  for (const node of nodes)
    if (node.metadata.name === nodeName) own.push(...servingAddresses(node));
    else for (const address of servingAddresses(node)) others.add(address);
  const kept = current.filter(
    (address) => others.has(address) && !own.includes(address),
  );
  return [...new Set([...kept, ...(serving ? own : [])])].sort();
}

// What keeps the kernel's side of the routes to other nodes: routes and the VXLAN, or WireGuard.
import type { Node } from "../../api/types/core-v1.ts";

export interface AppliedRoutes {
  /** Of all other nodes. */
  readonly ranges: readonly string[];
  /** The largest packet that the tunnel takes; undefined: there is none. */
  readonly mtu?: number | undefined;
  /** Names of nodes that no route leads to, and why. */
  readonly unreachable: ReadonlyMap<string, string>;
}

export interface RoutesBackend {
  /** What of a Node matters, as text. */
  describe(node: Node): string;
  /** Rejects with what could not be written; called again then. */
  apply(nodes: readonly Node[]): Promise<AppliedRoutes>;
  stop(): Promise<void>;
}

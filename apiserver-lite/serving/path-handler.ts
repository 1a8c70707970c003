// The contract of paths that are no resources.
import type { Route } from "../request/route.ts";
import type { Handler } from "./http-request.ts";

/** A path outside the resources: discovery, health, version, metrics. */
export interface PathHandler {
  /** The longest matching prefix wins; exact unless it ends with "/". */
  readonly path: string;
  /** What is checked before; with one, a slash behind the path does no harm. */
  readonly route?: Route;
  /** The paths to list, where it is not `path`. */
  readonly listed?: () => readonly string[];
  readonly handle: Handler;
}

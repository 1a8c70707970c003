// What is known of one pod in the runtime, and how current it is.
import type { ContainerStatus, SandboxStatus } from "../../../cri/runtime.ts";
import type { PodLists } from "./pod-lists.ts";

export interface RuntimePod {
  uid: string;
  name: string;
  namespace: string;
  sandboxes: readonly SandboxStatus[];
  containers: readonly ContainerStatus[];
}

export interface Entry {
  pod: RuntimePod;
  /** Raised by each event; a refresh is current when it began at this version. */
  version: number;
  readVersion: number;
  /** The last version at which something of the pod was changed that only lists show. */
  unlistedVersion: number;
  /** Containers that changed, with the version: when nothing else did, they alone are asked for. */
  readonly changed: Map<string, number>;
  /** What a list of everything had of the pod, good for a refresh while `version` is that entry's. */
  listed?: Pick<PodLists, "sandboxes" | "containers"> & { version: number };
}

export function newEntry(
  identity: Pick<RuntimePod, "uid" | "name" | "namespace">,
  readVersion: number,
): Entry {
  return {
    pod: { ...identity, sandboxes: [], containers: [] },
    version: 1,
    readVersion,
    unlistedVersion: 1,
    changed: new Map(),
  };
}

// What the node's pod network knows of the sandboxes that run: their addresses, and the ports of the node that lead to
// them, which their annotations keep, so that the runtime alone is enough to know them after a restart.
// Invariant: the network gets all of them or none: not before the runtime was listed.
import type { Pod } from "../../../api/types/core-v1.ts";
import type { SandboxConfig, SandboxStatus } from "../../../cri/runtime.ts";
import { isOwn, podLabelsOf, sandboxHostPorts } from "../shape/labels.ts";
import type { RuntimePods } from "./runtime-pods.ts";

export interface NetworkedSandbox {
  readonly id: string;
  /** Names, uid, labels and annotations at least. */
  readonly pod: Pod;
  /** Never empty. */
  readonly ips: readonly string[];
  readonly ports: SandboxConfig["portMappings"];
}

/** A node's network, as its pods need it. */
export interface PodNetworkHooks {
  /** The sandboxes that run, whenever they may have changed. */
  present(all: readonly NetworkedSandbox[]): void;
  /** Called before a sandbox's first container starts, which waits for it; rejects when it must not start. */
  protect(sandbox: NetworkedSandbox): Promise<void>;
}

/** Undefined: it has no network of its own. */
export function networkedSandbox(
  { id, ready, ips, annotations, labels }: SandboxStatus,
  pod?: Pod,
): NetworkedSandbox | undefined {
  if (!ready || ips.length === 0) return undefined;
  const { uid, name, namespace } = podLabelsOf(labels);
  return {
    id,
    pod: pod ?? {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { uid, name, namespace, labels, annotations },
      spec: { containers: [] },
    },
    ips,
    ports: sandboxHostPorts(annotations),
  };
}

/** Those of the agent whose root directory is `owner`. */
export function networkedSandboxes(
  runtimePods: Pick<RuntimePods, "list">,
  owner: string,
): NetworkedSandbox[] {
  return runtimePods
    .list()
    .flatMap(({ sandboxes }) => sandboxes)
    .filter((sandbox) => isOwn(sandbox, owner))
    .flatMap((sandbox) => networkedSandbox(sandbox) ?? []);
}

// What an agent is given.
import type { Logger } from "pino";
import type { Clock } from "../api/clock.ts";
import type { AnyObject } from "../api/object.ts";
import type { Tracer } from "../api/tracing/tracer.ts";
import type { Client } from "../client/client.ts";
import type { MemoryObjects } from "../client/memory-objects.ts";
import type { Runtime } from "../cri/runtime.ts";
import type { AgentConfig } from "./config/agent-config.ts";
import type { PodNetworkHooks } from "./pods/runtime/networked-sandboxes.ts";
import type { ObjectRules } from "./sources/field-problem.ts";

export interface AgentOptions {
  /** Started by its owner, who also stops it; it need not answer yet. */
  runtime: Runtime;
  /** Absent: standalone, static pods only. */
  client?: Client;
  config: Partial<AgentConfig> & { nodeName: string };
  clock?: Clock;
  logger: Logger;
  /** Traces what is done for each pod. */
  tracer?: Pick<Tracer, "root" | "scope"> | undefined;
  /** Objects of other kinds found in the manifests directory, by file: the complete set after each change. */
  onOtherManifests?: (
    byFile: ReadonlyMap<string, readonly AnyObject[]>,
  ) => void;
  /** Without a client: gets the objects of the manifests directory, and the pods with their statuses. */
  localObjects?: MemoryObjects;
  /** Whose pods' sandboxes these are: host ports lead to them, and policies protect them. */
  podNetwork?: PodNetworkHooks;
  /** For what manifests hold; what breaks them is reported and not run. */
  rules: ObjectRules;
  /** Called before a file is made outside of the agent's directories. */
  onMachineFile?: (file: string) => Promise<void>;
  /** The Node has its ranges of pod addresses, or others than before. */
  onPodRanges?: (ranges: readonly string[]) => void;
}

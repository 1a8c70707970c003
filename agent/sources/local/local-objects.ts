// What a node without an API server has in its place: the objects of its manifests directory in memory, and its pods with
// their statuses, for the parts that follow them (service proxy, DNS, endpoints).
import type { Logger } from "pino";
import type { Clock } from "../../../api/clock.ts";
import type { KubeObject } from "../../../api/object.ts";
import type { Pod, PodStatus } from "../../../api/types/core-v1.ts";
import type { Client } from "../../../client/client.ts";
import { createClient } from "../../../client/create-client.ts";
import type { MemoryObjects } from "../../../client/memory-objects.ts";
import {
  configMaps,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  secrets,
  services,
} from "../../../client/resources.ts";
import { localPathRoot } from "../../volumes/volume-paths.ts";
import type { AgentConfig } from "../../config/agent-config.ts";
import { DirectoryObjects } from "./directory-objects.ts";
import { EphemeralClaims } from "./ephemeral-claims.ts";
import type { LocalEvents } from "./local-events.ts";

/** What clients of the agent's port may list. */
const shown = [
  configMaps,
  persistentVolumeClaims,
  persistentVolumes,
  secrets,
  services,
];

interface LocalObjectsOptions {
  readonly objects: MemoryObjects;
  readonly config: Pick<AgentConfig, "rootDirectory" | "serviceRanges">;
  readonly events: LocalEvents;
  readonly onProblem: (file: string, message: string) => void;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class LocalObjects {
  readonly client: Client;
  readonly events: LocalEvents;
  readonly directory: DirectoryObjects;
  readonly #objects: MemoryObjects;
  readonly #claims: EphemeralClaims;
  readonly #names = new Map<string, Pod["metadata"]>();

  constructor(options: LocalObjectsOptions) {
    const { objects, config, onProblem } = options;
    this.#objects = objects;
    this.events = options.events;
    this.client = createClient(objects, options);
    const volumesRoot = localPathRoot(config);
    this.#claims = new EphemeralClaims({ objects, volumesRoot, onProblem });
    this.directory = new DirectoryObjects({
      objects,
      volumesRoot,
      serviceRanges: config.serviceRanges,
      onProblem,
    });
  }

  /** All of a kind that the directory may have; undefined: of another one. */
  list(resource: string): readonly KubeObject[] | undefined {
    const ref = shown.find((each) => each.resource === resource);
    return ref && this.#objects.cache(ref).lister.list();
  }

  /** Of two pods of one name, while one takes the other's place, the last that reported is there. */
  setStatus(pod: Pod, status: PodStatus): void {
    this.#names.set(pod.metadata.uid ?? "", pod.metadata);
    this.#claims.ensure(pod);
    this.#objects.put(pods, { ...pod, status });
  }

  forgetPod(uid: string): void {
    const gone = this.#names.get(uid);
    this.#names.delete(uid);
    this.#claims.forget(uid);
    if (!gone) return;
    const { name, namespace = "default" } = gone;
    const { lister } = this.#objects.cache<Pod>(pods);
    if (lister.get(name, namespace)?.metadata.uid === uid)
      this.#objects.remove(pods, name, namespace);
  }
}

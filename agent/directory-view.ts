// The objects of a node without an API server as its port serves them, and the deletion of pods: their manifest goes.
import type { DirectoryView } from "../api/contracts.ts";
import { ApiError } from "../api/errors.ts";
import type { KubeObject } from "../api/object.ts";
import type { Pod, Secret } from "../api/types/core-v1.ts";
import type { LocalEvents } from "./sources/local/local-events.ts";
import type { LocalObjects } from "./sources/local/local-objects.ts";

interface DirectoryViewOptions {
  readonly local: LocalObjects;
  readonly events: LocalEvents;
  readonly pod: (namespace: string, name: string) => Pod | undefined;
  /** Removes the manifest of a pod; a text says why it can't be. */
  readonly removeManifest: (pod: Pod) => Promise<string | undefined>;
}

export function directoryView(options: DirectoryViewOptions): DirectoryView {
  const { local, events } = options;
  return {
    objects(resource) {
      if (resource === "events") return events.list();
      const found = local.list(resource);
      return resource === "secrets" ? found?.map(withoutValues) : found;
    },
    async deletePod(namespace, name) {
      const pod = options.pod(namespace, name);
      if (!pod)
        throw new ApiError({
          code: 404,
          reason: "NotFound",
          message: `pods "${name}" not found`,
        });
      const refusal = await options.removeManifest(pod);
      if (refusal !== undefined)
        throw new ApiError({
          code: 409,
          reason: "Conflict",
          message: `pod "${name}" can't be deleted: ${refusal}`,
        });
    },
  };
}

/** Who may list need not see them. */
function withoutValues(object: KubeObject): KubeObject {
  const { data, stringData: _, ...rest } = object as Secret;
  return {
    ...rest,
    data: Object.fromEntries(Object.keys(data ?? {}).map((key) => [key, ""])),
  } as KubeObject;
}

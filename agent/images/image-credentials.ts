// What an image is pulled with: first the pod's imagePullSecrets, then what the node has for everybody, which is docker's
// configuration files and the credential provider programs. Secrets are never logged.
import type { Pod, Secret } from "../../api/types/core-v1.ts";
import type { ImageAuth } from "../../cri/runtime.ts";
import type { PodEvents } from "../events/pod-events.ts";
import {
  credentialsOf,
  secretCredentials,
  type RegistryCredentials,
} from "./docker-config.ts";
import { repositoryName } from "./registry-keys.ts";

/** Credentials that the node has whatever the pod. */
export interface NodeCredentials {
  /** Never rejects: who can't say has none. @param repository the image's full name without tag */
  find(repository: string): Promise<readonly RegistryCredentials[]>;
}

interface ImageCredentialsOptions {
  readonly secret: (
    namespace: string,
    name: string,
  ) => Promise<Secret | undefined>;
  readonly node: readonly NodeCredentials[];
  readonly events: PodEvents;
}

export class ImageCredentials {
  constructor(private readonly options: ImageCredentialsOptions) {}

  /** In the order in which they are tried; none: the image is pulled without. */
  async find(pod: Pod, image: string): Promise<ImageAuth[]> {
    const repository = repositoryName(image);
    const [ofPod, ...ofNode] = await Promise.all([
      this.#ofPod(pod),
      ...this.options.node.map((each) => each.find(repository)),
    ]);
    return [
      ...credentialsOf(ofPod, repository),
      ...credentialsOf(ofNode.flat(), repository),
    ];
  }

  /** Secrets that are missing or malformed are reported and passed over: the pull may work without. */
  async #ofPod(pod: Pod): Promise<RegistryCredentials[]> {
    const names = (pod.spec.imagePullSecrets ?? [])
      .map(({ name }) => name ?? "")
      .filter(Boolean);
    const missing: string[] = [];
    const found = await Promise.all(
      names.map(async (name) => {
        try {
          const namespace = pod.metadata.namespace ?? "default";
          const secret = await this.options.secret(namespace, name);
          if (secret) return secretCredentials(secret);
        } catch {
          // Reported below, without its text, which may hold what is secret.
        }
        missing.push(name);
        return [];
      }),
    );
    if (missing.length > 0)
      this.options.events.pod(
        pod,
        "Warning",
        "FailedToRetrieveImagePullSecret",
        `Unable to retrieve some image pull secrets (${names.filter((name) => missing.includes(name)).join(", ")}); attempting to pull the image may not succeed.`,
      );
    return found.flat();
  }
}

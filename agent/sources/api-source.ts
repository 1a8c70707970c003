// Pods that the API server bound to this node, and the mirrors of static pods among them.
import type { Pod } from "../../api/types/core-v1.ts";
import type { Client } from "../../client/client.ts";
import { pods } from "../../client/resources.ts";
import {
  configSourceAnnotation,
  isMirrorPod,
  podSource,
} from "../pods/shape/labels.ts";

interface ApiSourceOptions {
  client: Client;
  nodeName: string;
  onPod: (pod: Pod) => void;
  /** `last`: the version before it was gone. */
  onPodGone: (last: Pod) => void;
  onMirror: (mirror: Pod) => void;
  onMirrorGone: (last: Pod) => void;
  /** Every pod there is was handed over once. */
  onSynced: () => void;
}

export class ApiSource {
  readonly #options: ApiSourceOptions;
  #removeHandler: (() => void) | undefined;

  constructor(options: ApiSourceOptions) {
    this.#options = options;
  }

  start(): void {
    const { client, nodeName, onPod, onPodGone, onMirror, onMirrorGone } =
      this.#options;
    const informer = client.informer(pods, {
      fieldSelector: `spec.nodeName=${nodeName}`,
    });
    const seen = (pod: Pod): void =>
      isMirrorPod(pod) ? onMirror(pod) : onPod(fromApi(pod));
    this.#removeHandler = informer.addHandler({
      onAdd: seen,
      onUpdate: (_before, pod) => seen(pod),
      onDelete: (pod) =>
        isMirrorPod(pod) ? onMirrorGone(pod) : onPodGone(fromApi(pod)),
    });
    informer.synced().then(
      () => this.#options.onSynced(),
      // The informer was stopped before.
      () => undefined,
    );
  }

  stop(): void {
    this.#removeHandler?.();
  }
}

/**
 * Whatever the pod says of itself, as at the reference: a user who calls it static would have it critical, safe from eviction
 * and without a status.
 */
function fromApi(pod: Pod): Pod {
  if (podSource(pod) === "api") return pod;
  const annotations = {
    ...pod.metadata.annotations,
    [configSourceAnnotation]: "api",
  };
  return { ...pod, metadata: { ...pod.metadata, annotations } };
}

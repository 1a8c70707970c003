// The mirror pods that the API server is known to have, by the name they share with their static pods.
import type { Pod } from "../../api/types/core-v1.ts";
import {
  configHashAnnotation,
  configMirrorAnnotation,
} from "../pods/shape/labels.ts";
import { podFullName } from "../pods/shape/pod-shape.ts";

export class KnownMirrors {
  readonly #byName = new Map<string, Pod>();

  get(name: string): Pod | undefined {
    return this.#byName.get(name);
  }

  set(name: string, mirror: Pod): void {
    this.#byName.set(name, mirror);
  }

  /** Unless another one took its place. */
  delete(name: string, uid: string | undefined): void {
    if (this.#byName.get(name)?.metadata.uid === uid) this.#byName.delete(name);
  }

  get size(): number {
    return this.#byName.size;
  }

  names(): Iterable<string> {
    return this.#byName.keys();
  }

  /** The mirror of this very version of the static pod. */
  of(staticPod: Pod): Pod | undefined {
    const mirror = this.#byName.get(podFullName(staticPod));
    return mirror && mirrors(mirror, staticPod) ? mirror : undefined;
  }
}

export function mirrors(mirror: Pod, staticPod: Pod): boolean {
  return (
    mirror.metadata.annotations?.[configMirrorAnnotation] ===
    staticPod.metadata.annotations?.[configHashAnnotation]
  );
}

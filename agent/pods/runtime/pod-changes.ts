// Says that something about a pod changed in the runtime or in its probes, by uid: to those who act on every pod, and to
// those who follow one (a log that is followed ends with its container).
export class PodChanges {
  readonly #every = new Set<(uid: string) => void>();
  readonly #ofPod = new Map<string, Set<() => void>>();

  notify(uid: string): void {
    for (const listener of this.#every) listener(uid);
    for (const listener of this.#ofPod.get(uid) ?? []) listener();
  }

  onEvery(listener: (uid: string) => void): void {
    this.#every.add(listener);
  }

  /** Returns a disposer. */
  onPod(uid: string, listener: () => void): () => void {
    const listeners = this.#ofPod.get(uid) ?? new Set();
    listeners.add(listener);
    this.#ofPod.set(uid, listeners);
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.#ofPod.delete(uid);
    };
  }
}

// Holds the start of this node's pods until the rules of their network policies are in the kernel. It is there before the
// policies are: a pod that comes earlier waits for them, and its start fails, to be tried again, when they do not come.
import type { Pod } from "../../../api/types/core-v1.ts";

type Protect = (pod: Pod, ips: readonly string[]) => Promise<void>;

const patienceMs = 10_000;

export class PodGuard {
  #expected = false;
  #set: (protect: Protect) => void = () => undefined;
  readonly #known = new Promise<Protect>((resolve) => (this.#set = resolve));

  /** Network policies hold on this node: no pod starts without them. */
  expect(): void {
    this.#expected = true;
  }

  set(protect: Protect): void {
    this.#set(protect);
  }

  async protect(pod: Pod, ips: readonly string[]): Promise<void> {
    if (!this.#expected) return;
    let timer: NodeJS.Timeout | undefined;
    const protect = await Promise.race([
      this.#known,
      new Promise<never>((_, reject) => {
        timer = setTimeout(
          () => reject(new Error("the node's network does not run yet")),
          patienceMs,
        );
      }),
    ]).finally(() => clearTimeout(timer));
    await protect(pod, ips);
  }
}

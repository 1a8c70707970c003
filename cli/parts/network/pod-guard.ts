// Holds the start of this node's pods until the rules of their network policies are in the kernel. It is there before the
// policies are: a pod that comes earlier waits for them, and its start fails, to be tried again, when they do not come.
// The policies in turn wait for a while until the runtime has named the pods that run since before.
import type { Clock } from "../../../api/clock.ts";
import type { NetworkedSandbox } from "../../../agent/pods/runtime/networked-sandboxes.ts";
import type { NetworkPolicies } from "../../../network/policy/network-policies.ts";

type Policies = Pick<NetworkPolicies, "protect" | "adopt">;

const patienceMs = 10_000;

export class PodGuard {
  #expected = false;
  #running: readonly NetworkedSandbox[] | undefined;
  #policies: Policies | undefined;
  #set: (policies: Policies) => void = () => undefined;
  readonly #known = new Promise<Policies>((resolve) => (this.#set = resolve));
  #setAdopted: () => void = () => undefined;
  readonly #adopted = new Promise<void>(
    (resolve) => (this.#setAdopted = resolve),
  );

  /** Network policies hold on this node: no pod starts without them. */
  expect(): void {
    this.#expected = true;
  }

  /** Resolves when the pods that run are known, or when the runtime was waited for long enough. */
  async set(policies: Policies, clock: Clock): Promise<void> {
    this.#policies = policies;
    let timer: { cancel(): void } | undefined;
    await Promise.race([
      this.#adopted,
      new Promise<void>((resolve) => {
        timer = clock.after(patienceMs, resolve);
      }),
    ]);
    timer?.cancel();
    policies.adopt(this.#running ?? []);
    this.#set(policies);
  }

  /** The sandboxes that run. */
  adopt(all: readonly NetworkedSandbox[]): void {
    this.#running = all;
    this.#setAdopted();
    this.#policies?.adopt(all);
  }

  async protect({ pod, ips }: NetworkedSandbox): Promise<void> {
    if (!this.#expected) return;
    let timer: NodeJS.Timeout | undefined;
    const policies = await Promise.race([
      this.#known,
      new Promise<never>((_, reject) => {
        timer = setTimeout(
          () => reject(new Error("the node's network does not run yet")),
          patienceMs,
        );
      }),
    ]).finally(() => clearTimeout(timer));
    await policies.protect(pod, ips);
  }
}

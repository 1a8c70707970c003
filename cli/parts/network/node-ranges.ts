// The ranges of pod addresses of this machine's node: known from the options, or once the Node has been given them; the
// rules of its pod network, which the runtime's configuration and the network both need; and what holds its pods until
// they are protected.
import type { PodNetworkHooks } from "../../../agent/pods/runtime/networked-sandboxes.ts";
import { PodNetwork } from "../../../network/pods/pod-network.ts";
import { PodGuard } from "./pod-guard.ts";

export class NodeRangesSource {
  readonly pods: PodNetwork;
  readonly guard = new PodGuard();
  /** Resolves to the first ones. */
  readonly known: Promise<readonly string[]>;
  #resolve: (ranges: readonly string[]) => void = () => undefined;

  /** @param given empty: the Node will be given them */
  constructor(
    given: readonly string[],
    pods: ConstructorParameters<typeof PodNetwork>[0],
  ) {
    this.pods = new PodNetwork(pods);
    this.known =
      given.length > 0
        ? Promise.resolve(given)
        : new Promise((resolve) => (this.#resolve = resolve));
  }

  /** What the agent calls. */
  get hooks(): PodNetworkHooks {
    const { guard, pods } = this;
    return {
      present(all) {
        guard.adopt(all);
        pods.hostPorts.setAll(all);
      },
      async protect(sandbox) {
        await Promise.all([
          guard.protect(sandbox),
          pods.hostPorts.add(sandbox),
        ]);
      },
    };
  }

  set(ranges: readonly string[]): void {
    this.#resolve(ranges);
  }
}

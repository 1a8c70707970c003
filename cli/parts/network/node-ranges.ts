// The ranges of pod addresses of this machine's node: known from the options, or once the Node has been given them; and the
// masquerading, which the runtime's configuration and the network both need, and what holds
// its pods until they are protected.
import { PodGuard } from "./pod-guard.ts";
import { PodMasquerade } from "../../../network/pods/masquerade.ts";

export class NodeRangesSource {
  readonly masquerade: PodMasquerade;
  readonly guard = new PodGuard();
  /** Resolves to the first ones. */
  readonly known: Promise<readonly string[]>;
  #resolve: (ranges: readonly string[]) => void = () => undefined;

  /** @param given empty: the Node will be given them */
  constructor(given: readonly string[], clusterRanges: readonly string[]) {
    this.masquerade = new PodMasquerade(clusterRanges);
    this.known =
      given.length > 0
        ? Promise.resolve(given)
        : new Promise((resolve) => (this.#resolve = resolve));
  }

  set(ranges: readonly string[]): void {
    this.#resolve(ranges);
  }
}

// The ranges of pod addresses of this machine's node: known from the options, or once the Node has been given them; the
// rules of its pod network, which the runtime's configuration and the network both need; and what holds its pods until
// they are protected.
import type { PodNetworkHooks } from "../../../agent/pods/runtime/networked-sandboxes.ts";
import { HostLinks } from "../../../network/links/host-links.ts";
import { programRunner } from "../../../network/links/ip-command.ts";
import {
  tunnelOverhead,
  wireguardOverhead,
  type RouteMode,
} from "../../../network/nodes/route-plan.ts";
import { PodMtu } from "../../../network/pods/pod-mtu.ts";
import { PodNetwork } from "../../../network/pods/pod-network.ts";
import type { RuntimeChoice } from "../agent/runtime.ts";
import { PodGuard } from "./pod-guard.ts";

export class NodeRangesSource {
  readonly pods: PodNetwork;
  readonly links: HostLinks;
  readonly mtu: PodMtu;
  readonly guard = new PodGuard();
  /** Resolves to the first ones. */
  readonly known: Promise<readonly string[]>;
  #resolve: (ranges: readonly string[]) => void = () => undefined;

  /** @param given empty: the Node will be given them */
  constructor(
    given: readonly string[],
    pods: ConstructorParameters<typeof PodNetwork>[0],
    routes: RouteMode | undefined,
  ) {
    this.pods = new PodNetwork(pods);
    this.links = new HostLinks(pods);
    this.mtu = new PodMtu({
      run: programRunner(),
      overhead:
        routes === "wireguard"
          ? wireguardOverhead[4]
          : routes === "vxlan"
            ? tunnelOverhead[4]
            : 0,
    });
    this.known =
      given.length > 0
        ? Promise.resolve(given)
        : new Promise((resolve) => (this.#resolve = resolve));
  }

  /** For the runtime's configuration; the listener is called when pods that are made from now on are to have another size. */
  get podMtu(): NonNullable<RuntimeChoice["podMtu"]> {
    const { mtu, links } = this;
    return {
      value: () => mtu.value(),
      onChange(listener) {
        mtu.onChange(listener);
        links.onChange(() => mtu.look());
      },
    };
  }

  /** What the agent calls. */
  get hooks(): PodNetworkHooks {
    const { guard, pods } = this;
    return {
      present(all) {
        guard.adopt(all);
        pods.hostPorts.setAll(all);
        pods.connections.setAll(all);
      },
      async protect(sandbox) {
        pods.connections.add(sandbox);
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

  async stop(): Promise<void> {
    this.links.stop();
    await this.pods.stop();
  }
}

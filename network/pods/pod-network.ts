// The rules of a node's own pod network: masquerading and host ports, and the monitor that has both written again when
// another program deletes them. They begin with the node's ranges and stay when this stops, as the pods do. Beside them the
// limit of what pods ask by ARP, and the guard of the kernel's table of connections.
import type { Logger } from "pino";
import type { Clock } from "../../api/clock.ts";
import type { OnKernelSetting } from "../kernel-settings.ts";
import { nftCommand, type RunNft } from "../nft/nft-command.ts";
import { NftMonitor } from "../nft/nft-monitor.ts";
import { ConnectionGuard } from "../conntrack/connection-guard.ts";
import { OwnProcesses } from "../nft/own-processes.ts";
import { HostPorts } from "./host-ports.ts";
import { PodMasquerade } from "./masquerade.ts";
import { neighborRules, neighborTable } from "./neighbor-limit.ts";

interface PodNetworkOptions {
  /** Ranges of the whole cluster, as far as they are known. */
  readonly clusterRanges: readonly string[];
  readonly clock: Clock;
  readonly logger: Logger;
  /** As nftCommand's. */
  readonly wrapper?: readonly string[];
  readonly onKernelSetting?: OnKernelSetting;
}

export class PodNetwork {
  readonly masquerade: PodMasquerade;
  readonly hostPorts: HostPorts;
  readonly connections: ConnectionGuard;
  readonly #options: PodNetworkOptions;
  readonly #processes = new OwnProcesses();
  readonly #run: RunNft;
  #own: readonly string[] = [];
  #monitor: { monitor: NftMonitor; tables: string } | undefined;
  #saidUnlimited = false;
  #stopped = false;

  constructor(options: PodNetworkOptions) {
    this.#options = options;
    const { wrapper } = options;
    const run = nftCommand({
      ...(wrapper ? { wrapper } : {}),
      processes: this.#processes,
    });
    this.#run = run;
    this.masquerade = new PodMasquerade({ ...options, run });
    this.hostPorts = new HostPorts({ ...options, run });
    this.connections = new ConnectionGuard({ ...options, run });
  }

  /** The node's ranges. Rejects with nft's error text when there can't be rules: then there are none. */
  async setOwn(ranges: readonly string[]): Promise<void> {
    await this.masquerade.setOwn(ranges);
    this.#own = ranges.filter((range) => !range.includes(":"));
    await this.#limitNeighbors();
    this.hostPorts.setOwn(ranges);
    this.connections.setOwn(ranges);
    this.#watch();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#monitor?.monitor.stop();
    await this.connections.stop();
    await this.masquerade.stop();
    await this.hostPorts.stop();
  }

  async #limitNeighbors(): Promise<void> {
    const script = this.#own.map(neighborRules).join("");
    if (script === "") return;
    await this.#run(script).then(
      () => (this.#saidUnlimited = false),
      (error: unknown) => {
        // It is tried at each write of the rules; a kernel without such tables stays so.
        if (this.#saidUnlimited) return;
        this.#saidUnlimited = true;
        this.#options.logger.warn(
          { err: error },
          "what pods ask by ARP is not limited",
        );
      },
    );
  }

  #watch(): void {
    const tables = [
      ...this.masquerade.tables,
      ...this.hostPorts.tables,
      ...this.#own.map(neighborTable),
    ];
    if (this.#stopped || this.#monitor?.tables === tables.join()) return;
    this.#monitor?.monitor.stop();
    const { clock, logger, wrapper } = this.#options;
    const monitor = new NftMonitor({
      tables,
      processes: this.#processes,
      onDeleted: () => {
        this.masquerade.rewrite();
        this.hostPorts.rewrite();
        void this.#limitNeighbors();
      },
      clock,
      logger,
      ...(wrapper ? { wrapper } : {}),
    });
    this.#monitor = { monitor, tables: tables.join() };
    monitor.start();
  }
}

// Cluster IPs and node ports where several API servers, the reference's among them, write to one store: what a service
// takes is entered into the ranges they share before the service is written, and comes out when it has gone. At start
// and every three minutes the ranges are brought in line with the services.
import type { Logger } from "pino";
import type { Clock, Timer } from "../../../../api/clock.ts";
import type { Service } from "../../../../api/types/core-v1.ts";
import type { Store } from "../../../../storage/store.ts";
import type { StoredEncoding } from "../../../../api/codec/stored-form.ts";
import { AllocationRange } from "./allocation-range.ts";
import {
  clusterIpsOf,
  nodePortsOf,
  type ServiceAllocators,
  type SharedRanges,
} from "./service-ip-allocator.ts";

export interface ServiceRangesOptions {
  readonly store: Pick<Store, "get" | "write">;
  readonly encoding: StoredEncoding;
  readonly clock: Clock;
  readonly logger: Logger;
}

interface Share {
  readonly range: AllocationRange;
  numbersOf(service: Readonly<Service>): number[];
}

const REPAIR_INTERVAL_MS = 180_000;
const REPAIR_ATTEMPTS = 5;
const DIRECTORY = "/registry/ranges";
/** By place among the families: the first is the primary one. */
const ipKeys = ["serviceips", "secondaryserviceips"];

class ServiceRanges implements SharedRanges {
  readonly #shares: readonly Share[];
  readonly #options: ServiceRangesOptions;
  #timer: Timer | undefined;

  constructor(allocators: ServiceAllocators, options: ServiceRangesOptions) {
    this.#options = options;
    const { store, encoding } = options;
    const { ips, ports } = allocators;
    const open = (key: string, range: string): AllocationRange =>
      new AllocationRange({
        store,
        encoding,
        key: `${DIRECTORY}/${key}`,
        range,
      });
    const shares: Share[] = ips.map((ip, index) => {
      const range = open(ipKeys[index]!, ip.cidr);
      ip.pool.shared = range;
      return {
        range,
        numbersOf: (service) => inRange(clusterIpsOf(service).map(ip.offset)),
      };
    });
    const range = open("servicenodeports", `${ports.from}-${ports.to}`);
    ports.pool.shared = range;
    shares.push({
      range,
      numbersOf: (service) => inRange(nodePortsOf(service).map(ports.offset)),
    });
    this.#shares = shares;
  }

  async start(services: () => readonly Readonly<Service>[]): Promise<void> {
    await this.#repair(services);
    const again = (): void => {
      this.#timer = this.#options.clock.after(REPAIR_INTERVAL_MS, () => {
        this.#repair(services).catch((error: unknown) =>
          this.#options.logger.warn(
            { err: error },
            "can't check the ranges of service addresses and ports",
          ),
        );
        again();
      });
    };
    again();
  }

  stop(): void {
    this.#timer?.cancel();
  }

  async refresh(): Promise<void> {
    await Promise.all(this.#shares.map(({ range }) => range.refresh()));
  }

  async take(
    service: Readonly<Service>,
    old?: Readonly<Service>,
  ): Promise<boolean> {
    const entered: (() => Promise<unknown>)[] = [];
    for (const { range, numbersOf } of this.#shares) {
      const numbers = beyond(numbersOf(service), old && numbersOf(old));
      const mine = await range.change(numbers, []);
      if (!mine) {
        for (const undo of entered) await undo();
        return false;
      }
      entered.push(() => range.change([], numbers));
    }
    return true;
  }

  /** A repair finds the numbers that can't be given back now. */
  async release(
    service: Readonly<Service>,
    keep?: Readonly<Service>,
  ): Promise<void> {
    try {
      for (const { range, numbersOf } of this.#shares)
        await range.change(
          [],
          beyond(numbersOf(service), keep && numbersOf(keep)),
        );
    } catch (error) {
      this.#options.logger.warn(
        { err: error, service: service.metadata.name },
        "can't give back a service's addresses and ports",
      );
    }
  }

  async #repair(services: () => readonly Readonly<Service>[]): Promise<void> {
    for (const { range, numbersOf } of this.#shares) {
      let released: number[] | undefined;
      for (let attempt = 1; !released; attempt++) {
        released = await range.repair(
          () => new Set(services().flatMap(numbersOf)),
        );
        if (!released && attempt >= REPAIR_ATTEMPTS) return;
      }
      if (released.length > 0)
        this.#options.logger.warn(
          { numbers: released },
          "addresses or ports without a service are free again",
        );
    }
  }
}

/** Servers on one store share what they give out. */
export function shareAllocators(
  allocators: ServiceAllocators,
  options: ServiceRangesOptions,
): ServiceAllocators & { ranges: SharedRanges } {
  return { ...allocators, ranges: new ServiceRanges(allocators, options) };
}

const inRange = (offsets: readonly number[]): number[] =>
  offsets.filter((offset) => offset >= 0);

function beyond(
  numbers: readonly number[],
  known: readonly number[] = [],
): number[] {
  return numbers.filter((number) => !known.includes(number));
}

// Addresses of `--node-ip` that the machine has. One that no interface has would lead requests for logs or an exec to another
// machine: as the reference's kubelet does, the agent says so and reports it only once it is there.
import { BlockList, isIPv6 } from "node:net";
import type { NetworkInterfaceInfo } from "node:os";
import type { Logger } from "pino";

type Interfaces = NodeJS.Dict<readonly NetworkInterfaceInfo[]>;

const familyOf = (address: string): "ipv4" | "ipv6" =>
  isIPv6(address) ? "ipv6" : "ipv4";

export class GivenAddresses {
  readonly #given: readonly string[];
  readonly #interfaces: () => Interfaces;
  readonly #logger: Logger;
  /** Those that were missing at the last look. */
  #missing = "";

  constructor(
    given: readonly string[],
    { interfaces, logger }: { interfaces: () => Interfaces; logger: Logger },
  ) {
    this.#given = given;
    this.#interfaces = interfaces;
    this.#logger = logger;
  }

  /** In the order in which they were given; what is missing is reported once until that changes. */
  look(): string[] {
    const own = new BlockList();
    // Every address of it answers, whatever the interface lists.
    own.addSubnet("127.0.0.0", 8, "ipv4");
    for (const { address } of Object.values(this.#interfaces()).flatMap(
      (addresses) => addresses ?? [],
    ))
      own.addAddress(address, familyOf(address));
    const isOwn = (address: string): boolean =>
      own.check(address, familyOf(address));
    const missing = this.#given.filter((address) => !isOwn(address)).join(",");
    if (missing !== "" && missing !== this.#missing)
      this.#logger.warn(
        { nodeIp: missing },
        "--node-ip: no network interface has this address; the node is reported without it until one has",
      );
    this.#missing = missing;
    return this.#given.filter(isOwn);
  }
}

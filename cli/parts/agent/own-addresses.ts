// Whether this machine has lost an address: connections from it hear nothing any more, and nothing ends them. A link that is
// down takes its addresses along and brings them back: while there is none at all, none is lost.
import { networkInterfaces } from "node:os";

/** Links of pods and our own come and go; no connection to an API server has their addresses. */
const ofPods = /^(veth|cni|orbit-)/;

export function machineAddresses(): Set<string> {
  return new Set(
    Object.entries(networkInterfaces()).flatMap(([name, addresses = []]) =>
      ofPods.test(name)
        ? []
        : addresses.flatMap(({ internal, address }) =>
            internal ? [] : [address],
          ),
    ),
  );
}

export class OwnAddresses {
  readonly #read: () => ReadonlySet<string>;
  #known: ReadonlySet<string>;

  constructor(read: () => ReadonlySet<string> = machineAddresses) {
    this.#read = read;
    this.#known = read();
  }

  /** Asked after each change of the links. */
  haveGone(): boolean {
    const now = this.#read();
    if (now.size === 0) return false;
    const gone = [...this.#known].some((address) => !now.has(address));
    this.#known = now;
    return gone;
  }
}

// How an exchange comes to be handled: through the intake of its connection, where there is one.
import type { Exchange } from "../exchange.ts";
import type { Arriving } from "./lane.ts";

/** A class: an accessor in an object literal would give each request a hidden class that keeps it for long. */
class Arrival implements Arriving {
  constructor(
    private readonly exchange: Exchange,
    readonly handle: () => void,
  ) {}

  get closed(): boolean {
    return this.exchange.closed;
  }
}

/** Calls back at once, or later where its tenant sends more than is served; never when its client is gone by then. */
export function arrive(exchange: Exchange, handle: () => void): void {
  const { intaken, tenant } = exchange.peer;
  if (!intaken) return handle();
  intaken.arrived(new Arrival(exchange, handle), tenant);
}

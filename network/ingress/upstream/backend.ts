// The endpoints of one Service port, and which of them gets the next request: the one with the fewest under way, in turns
// where they are alike; of many, the better of two taken at random. One that failed lately is asked when all have.
import type {
  BackendAddress,
  BackendProtocol,
  BackendState,
} from "../routing/route.ts";
import { Endpoint, tlsOf, type TlsToBackend } from "./endpoint.ts";

/** Up to this number all are looked at. */
const few = 8;

export class Backend {
  #endpoints: Endpoint[] = [];
  #next = 0;
  #tlsText = "";
  protocol: BackendProtocol = "http";
  tls: TlsToBackend | undefined;

  get size(): number {
    return this.#endpoints.length;
  }

  get endpoints(): readonly Endpoint[] {
    return this.#endpoints;
  }

  /** Endpoints that stay keep their connections. */
  update(state: BackendState): void {
    const tlsText = JSON.stringify(state.tls ?? null);
    const same = tlsText === this.#tlsText && state.protocol === this.protocol;
    const known = new Map(
      same ? this.#endpoints.map((each) => [keyOf(each.address), each]) : [],
    );
    this.#tlsText = tlsText;
    this.protocol = state.protocol;
    this.tls = tlsOf(state);
    const kept = new Set<Endpoint>();
    const before = this.#endpoints;
    this.#endpoints = state.endpoints.map((address) => {
      const endpoint =
        known.get(keyOf(address)) ?? new Endpoint(address, this.tls);
      kept.add(endpoint);
      return endpoint;
    });
    for (const each of before) if (!kept.has(each)) each.close();
  }

  /** Undefined: there is none that was not tried. */
  choose(tried: readonly Endpoint[], nowMs: number): Endpoint | undefined {
    const all = this.#endpoints;
    if (all.length === 0) return undefined;
    if (all.length > few && tried.length === 0) {
      const [a, b] = [this.#random(), this.#random()];
      const better = a.underWay <= b.underWay ? a : b;
      if (better.pausedUntilMs <= nowMs) return better;
    }
    let chosen: Endpoint | undefined;
    let chosenPaused = false;
    const start = this.#next++;
    for (let n = 0; n < all.length; n++) {
      const each = all[(start + n) % all.length]!;
      if (tried.includes(each)) continue;
      const paused = each.pausedUntilMs > nowMs;
      if (
        !chosen ||
        (chosenPaused && !paused) ||
        (chosenPaused === paused && each.underWay < chosen.underWay)
      ) {
        chosen = each;
        chosenPaused = paused;
      }
    }
    return chosen;
  }

  releaseIdle(beforeMs: number): void {
    for (const each of this.#endpoints)
      if (each.idle && each.usedMs < beforeMs) each.release();
  }

  close(): void {
    for (const each of this.#endpoints) each.close();
    this.#endpoints = [];
  }

  destroy(): void {
    for (const each of this.#endpoints) each.destroy();
  }

  #random(): Endpoint {
    const all = this.#endpoints;
    return all[Math.floor(Math.random() * all.length)]!;
  }
}

function keyOf({ address, port }: BackendAddress): string {
  return `${address} ${port}`;
}

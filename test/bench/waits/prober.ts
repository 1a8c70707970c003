// What another client feels: a GET of one small object every few milliseconds, over connections of its own. A request
// never waits for the one before it, so a server that stops for 100 ms delays as many requests as began meanwhile.
import { Connection, type Target } from "../support/connection.ts";
import { quantile } from "../support/statistics.ts";

const intervalMs = 2;
const connections = 64;
const headers = { Accept: "application/json" };

export interface Felt {
  readonly samples: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

export class Prober {
  readonly #free: Connection[];
  #latenciesMs: number[] = [];
  #sent = 0;
  #failed = 0;

  constructor(
    target: Target,
    private readonly path: string,
  ) {
    this.#free = Array.from(
      { length: connections },
      () => new Connection(target),
    );
  }

  /** Opens the connections. */
  async warm(): Promise<void> {
    await Promise.all(
      this.#free.map((one) =>
        one.request("GET", this.path, undefined, headers),
      ),
    );
  }

  /** Probes while `work` runs. */
  async during<T>(work: () => Promise<T>): Promise<{ felt: Felt; result: T }> {
    this.#latenciesMs = [];
    this.#sent = 0;
    const timer = setInterval(() => this.#probe(), intervalMs);
    try {
      const result = await work();
      clearInterval(timer);
      while (this.#latenciesMs.length + this.#failed < this.#sent)
        await new Promise((resolve) => setTimeout(resolve, 1));
      if (this.#failed > 0) throw new Error(`${this.#failed} probes failed`);
      const all = this.#latenciesMs;
      return {
        result,
        felt: {
          samples: all.length,
          p50Ms: quantile(all, 0.5),
          p99Ms: quantile(all, 0.99),
          maxMs: quantile(all, 1),
        },
      };
    } finally {
      clearInterval(timer);
    }
  }

  close(): void {
    for (const one of this.#free) one.close();
  }

  #probe(): void {
    const connection = this.#free.pop();
    if (!connection) return;
    this.#sent++;
    const startMs = performance.now();
    connection.request("GET", this.path, undefined, headers).then(
      ({ status }) => {
        if (status === 200) this.#latenciesMs.push(performance.now() - startMs);
        else this.#failed++;
        this.#free.push(connection);
      },
      () => this.#failed++,
    );
  }
}

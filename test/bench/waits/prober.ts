// What another client feels: a GET of one small object every few milliseconds, over connections of its own. A request
// never waits for the one before it, so a server that stops for 100 ms delays as many requests as began meanwhile.
import { Connection, type Target } from "../support/connection.ts";
import { quantile } from "../support/statistics.ts";

const intervalMs = 2;
const connections = 64;
const headers = { Accept: "application/json" };
/** Says which probe it is, so that the measured server's loop probe can say when it saw it. */
const numberHeader = "X-Probe";

export interface Felt {
  readonly samples: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** Refused, or without an answer. */
  readonly failed: number;
  /** When each was sent and answered, by the machine's own clock, in milliseconds. */
  readonly times: ReadonlyMap<number, ProbeTimes>;
}

interface ProbeTimes {
  readonly sentMs: number;
  readonly answeredMs: number;
}

/** The same in all processes of the machine. */
const clockMs = (): number => Number(process.hrtime.bigint()) / 1e6;

export class Prober {
  readonly #free: Connection[];
  #latenciesMs: number[] = [];
  #times = new Map<number, ProbeTimes>();
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
    this.#times = new Map();
    this.#sent = 0;
    this.#failed = 0;
    const timer = setInterval(() => this.#probe(), intervalMs);
    try {
      const result = await work();
      clearInterval(timer);
      while (this.#latenciesMs.length + this.#failed < this.#sent)
        await new Promise((resolve) => setTimeout(resolve, 1));
      const all = this.#latenciesMs;
      return {
        result,
        felt: {
          samples: all.length,
          p50Ms: quantile(all, 0.5),
          p99Ms: quantile(all, 0.99),
          maxMs: quantile(all, 1),
          failed: this.#failed,
          times: this.#times,
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
    const number = ++this.#sent;
    const sentMs = clockMs();
    const named = { ...headers, [numberHeader]: String(number) };
    connection.request("GET", this.path, undefined, named).then(
      ({ status }) => {
        const answeredMs = clockMs();
        if (status === 200) {
          this.#latenciesMs.push(answeredMs - sentMs);
          this.#times.set(number, { sentMs, answeredMs });
        } else this.#failed++;
        this.#free.push(connection);
      },
      () => {
        this.#failed++;
        this.#free.push(connection);
      },
    );
  }
}

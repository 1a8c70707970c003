// Deletes UDP flows that the kernel remembers and that lead to where they must not go any more: TCP and SCTP end by themselves.
// Needs the program `conntrack`; without it such flows last until they time out, which is logged once.
import { execFile } from "node:child_process";
import type { Logger } from "pino";

const patienceMs = 10_000;

/** Flows to the address and port, of one endpoint (undefined: of none, which the kernel therefore left as they were). */
export interface StaleFlow {
  readonly address?: string;
  readonly port: number;
  readonly endpoint?: string;
}

export class ConntrackCleaner {
  #missing = false;
  #queue: Promise<void> = Promise.resolve();

  constructor(
    private readonly logger: Logger,
    private readonly wrapper: readonly string[] = [],
  ) {}

  clean(flows: readonly StaleFlow[], family: 4 | 6): void {
    if (flows.length === 0 || this.#missing) return;
    this.#queue = this.#queue.then(async () => {
      for (const flow of flows) await this.#delete(flow, family);
    });
  }

  /** Resolves when what was asked for is done. */
  done(): Promise<void> {
    return this.#queue;
  }

  #delete(
    { address, port, endpoint }: StaleFlow,
    family: 4 | 6,
  ): Promise<void> {
    const [program = "", ...options] = [
      ...this.wrapper,
      "conntrack",
      "-D",
      "-f",
      family === 4 ? "ipv4" : "ipv6",
      "-p",
      "udp",
      "--orig-port-dst",
      String(port),
      ...(address === undefined ? [] : ["--orig-dst", address]),
      // A flow that was rewritten meanwhile is alive: only what still answers from where it was sent to is stale.
      ...(endpoint === undefined
        ? [
            "--reply-port-src",
            String(port),
            ...(address === undefined ? [] : ["--reply-src", address]),
          ]
        : ["--reply-src", endpoint]),
    ];
    return new Promise((resolve) => {
      execFile(
        program,
        options,
        { timeout: patienceMs },
        (error, _out, text) => {
          const { code } = (error ?? {}) as { code?: unknown };
          if (code === "ENOENT" && !this.#missing) {
            this.#missing = true;
            this.logger.warn(
              "there is no conntrack program: UDP flows to endpoints that are gone last until they time out",
            );
          } else if (error && code !== 1)
            // 1 also means that there was no such flow.
            this.logger.debug({ err: error, text }, "conntrack failed");
          resolve();
        },
      );
    });
  }
}

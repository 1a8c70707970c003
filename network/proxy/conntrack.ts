// UDP flows that the kernel remembers keep going to an endpoint that is gone, or past a service that had none: they are
// deleted when endpoints change. TCP and SCTP end by themselves. Needs the program `conntrack`; without it such flows last
// until they time out, which is logged once.
import { execFile } from "node:child_process";
import type { Logger } from "pino";
import type { ProxyPort } from "./service-ports.ts";

const patienceMs = 10_000;

/** Flows to the address and port, of one endpoint (undefined: of none, which the kernel therefore left as they were). */
export interface StaleFlow {
  readonly address?: string;
  readonly port: number;
  readonly endpoint?: string;
}

/** The UDP flows that must go when a port's endpoints change. */
export function staleFlows(
  before: ProxyPort | undefined,
  after: ProxyPort | undefined,
): StaleFlow[] {
  const port = after ?? before;
  if (port?.protocol !== "udp") return [];
  const flows: StaleFlow[] = [];
  const addresses = [
    ...(port.clusterIp === undefined ? [] : [port.clusterIp]),
    ...port.externalIps,
    ...port.loadBalancerIps,
  ];
  const each = (endpoint: string | undefined): void => {
    for (const address of addresses)
      flows.push({
        address,
        port: port.port,
        ...(endpoint === undefined ? {} : { endpoint }),
      });
    if (port.nodePort !== undefined)
      flows.push({
        port: port.nodePort,
        ...(endpoint === undefined ? {} : { endpoint }),
      });
  };
  const now = new Set(after?.cluster.map(({ address }) => address));
  for (const address of new Set(before?.cluster.map((e) => e.address)))
    if (!now.has(address)) each(address);
  // What came while there was no endpoint was let through or refused, and is remembered without one.
  if ((before?.cluster.length ?? 0) === 0 && now.size > 0) each(undefined);
  return flows;
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

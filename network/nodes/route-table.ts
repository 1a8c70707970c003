// The kernel's routes of one protocol number, which are ours: brought in step with those that are wanted. Nothing is written
// where the kernel has them. A route without a device makes the kernel refuse what no better one takes: it has a metric of its
// own, so that it is there beside the route to a device, and alone when that one goes with its device.
import { familyOf, type Family } from "./peers.ts";
import { queryJson, type RunProgram } from "../links/ip-command.ts";

export interface RouteEntry {
  readonly range: string;
  readonly via?: string;
  /** Undefined: packets are refused. */
  readonly device?: string;
  /** The gateway is none of the link's addresses, but is there. */
  readonly onlink?: boolean;
}

interface RouteAnswer {
  readonly type?: string;
  readonly dst?: string;
  readonly gateway?: string;
  readonly dev?: string;
}

/** Behind every metric that others use; the protocol's number is added, so that two clusters on one machine do not meet. */
const refusingMetric = 2_000_000_000;

const families = [4, 6] as const;

export class RouteTable {
  readonly #run: RunProgram;
  readonly #protocol: number;

  /** @param protocol 1 to 255, none of /etc/iproute2/rt_protos */
  constructor(run: RunProgram, protocol: number) {
    this.#run = run;
    this.#protocol = protocol;
  }

  /** Those of the entries that the kernel has. */
  async present(entries: readonly RouteEntry[]): Promise<RouteEntry[]> {
    const found = new Set(
      (await Promise.all(families.map((each) => this.#routes(each)))).flatMap(
        (routes) => [...routes.keys()],
      ),
    );
    return entries.filter((entry) => found.has(this.#text(entry)));
  }

  /** Takes away what is not wanted. Resolves to whether anything was written. Rejects with the program's text. */
  async apply(entries: readonly RouteEntry[]): Promise<boolean> {
    let written = false;
    for (const family of families) {
      const present = await this.#routes(family);
      const wanted = new Map(
        entries
          .filter(({ range }) => familyOf(range) === family)
          .map((entry) => [this.#text(entry), entry]),
      );
      const missing = [...wanted].filter(([text]) => !present.has(text));
      const replaced = new Set(missing.map(([, entry]) => this.#place(entry)));
      const add = ([text, { onlink }]: (typeof missing)[number]): string =>
        `route replace ${text}${onlink ? " onlink" : ""} proto ${this.#protocol}`;
      const commands = [
        // Before anything else goes.
        ...missing.filter(([, { device }]) => device === undefined).map(add),
        ...[...present]
          .filter(
            ([text, entry]) =>
              !wanted.has(text) && !replaced.has(this.#place(entry)),
          )
          .map(([text]) => `route del ${text} proto ${this.#protocol}`),
        ...missing.filter(([, { device }]) => device !== undefined).map(add),
      ];
      if (commands.length === 0) continue;
      written = true;
      await this.#run(
        ["ip", `-${family}`, "-force", "-batch", "-"],
        `${commands.join("\n")}\n`,
      );
    }
    return written;
  }

  #text({ range, via, device }: RouteEntry): string {
    if (device === undefined)
      return `unreachable ${range} metric ${refusingMetric + this.#protocol}`;
    return `${range}${via === undefined ? "" : ` via ${via}`} dev ${device}`;
  }

  /** Routes of one place replace each other. */
  #place({ range, device }: RouteEntry): string {
    return `${range} ${device === undefined ? "refused" : ""}`;
  }

  async #routes(family: Family): Promise<Map<string, RouteEntry>> {
    const answers = await queryJson<RouteAnswer>(this.#run, [
      "ip",
      `-${family}`,
      "-j",
      "route",
      "show",
      "proto",
      String(this.#protocol),
    ]);
    return new Map(
      answers.map(({ type, dst = "", gateway, dev }) => {
        const entry: RouteEntry = {
          // One address is written without its size.
          range: dst.includes("/") ? dst : `${dst}/${family === 4 ? 32 : 128}`,
          ...(gateway === undefined ? {} : { via: gateway }),
          ...(type === "unreachable" || dev === undefined
            ? {}
            : { device: dev }),
        };
        return [this.#text(entry), entry];
      }),
    );
  }
}

// The chains that a node keeps in iptables whatever its services are served by, as kubelet does: KUBE-IPTABLES-HINT, by which
// other programs see which variant of iptables is used here, and KUBE-FIREWALL, which drops packets for loopback addresses
// that come from outside (route_localnet lets them in). KUBE-KUBELET-CANARY is looked for each minute: where it is gone
// the tables were flushed, and the chains are made again. Rules and chains of others are left as they are.
// A machine without iptables has none of them; that is in the log, and no error. Each pass is one shell for all commands of a
// family, started after the node's own work.
import { execFile } from "node:child_process";
import type { Logger } from "pino";
import type { Clock, Timer } from "../../api/clock.ts";

interface UtilChainsOptions {
  /** A program and its arguments that runs iptables, such as `ip netns exec NAME`; default: none. */
  wrapper?: readonly string[];
  clock: Clock;
  logger: Logger;
}

/** A node that starts has more urgent work. */
const firstMs = 1_000;
const lookMs = 60_000;
const patienceMs = 60_000;
const families = ["iptables", "ip6tables"] as const;
type Family = (typeof families)[number];
/** Of a shell that does not find a program. */
const notFound = 127;
/** The canary is gone. */
const flushed = 3;

const opening = String.raw`
ipt=$1
command -v "$ipt" >/dev/null || exit ${notFound}
run() { "$ipt" --wait 5 "$@"; }
chain() { run -t "$1" -N "$2" 2>/dev/null || run -t "$1" -S "$2" >/dev/null; }
`;

/** The first chain is enough: a flush takes all tables' in most cases. */
const lookScript = `${opening}
run -t mangle -S KUBE-KUBELET-CANARY >/dev/null 2>&1 && exit 0
run -t mangle -S PREROUTING >/dev/null && exit ${flushed}`;

const canaries = `
for table in mangle nat filter; do chain $table KUBE-KUBELET-CANARY || exit 1; done`;

const localRule =
  '-m comment --comment "block incoming localnet connections" -d 127.0.0.0/8 ! -s 127.0.0.0/8 -m conntrack ! --ctstate RELATED,ESTABLISHED,DNAT -j DROP';

const makeScripts: Readonly<Record<Family, string>> = {
  iptables: `${opening}
set -e
chain mangle KUBE-IPTABLES-HINT
chain filter KUBE-FIREWALL
for from in OUTPUT INPUT; do
  run -t filter -C $from -j KUBE-FIREWALL 2>/dev/null || run -t filter -I $from -j KUBE-FIREWALL
done
run -t filter -C KUBE-FIREWALL ${localRule} 2>/dev/null || run -t filter -A KUBE-FIREWALL ${localRule}
${canaries}`,
  // Loopback is one address there, which the kernel takes from no other link.
  ip6tables: `${opening}
set -e
chain mangle KUBE-IPTABLES-HINT
${canaries}`,
};

export class UtilChains {
  readonly #options: UtilChainsOptions;
  readonly #timers = new Map<Family, Timer>();
  #running: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(options: UtilChainsOptions) {
    this.#options = options;
  }

  /** In the background; the chains stay when it is stopped, as pods do. */
  start(): void {
    for (const family of families)
      this.#later(firstMs, family, () => this.#make(family));
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    for (const timer of this.#timers.values()) timer.cancel();
    await this.#running;
  }

  /** One after the other: nothing waits for it. */
  #later(delayMs: number, family: Family, work: () => Promise<void>): void {
    if (this.#stopped) return;
    const timer = this.#options.clock.after(delayMs, () => {
      this.#running = this.#running.then(() =>
        this.#stopped ? undefined : work(),
      );
    });
    this.#timers.set(family, timer);
  }

  async #make(family: Family): Promise<void> {
    const { logger } = this.#options;
    const { code, problem } = await this.#run(family, makeScripts[family]);
    if (code === 0) {
      logger.debug({ family }, "the utility chains of iptables are there");
      this.#later(lookMs, family, () => this.#look(family));
      return;
    }
    // No IPv6, or no iptables at all: it does not come while the node runs.
    logger.info(
      { family, reason: code === notFound ? "not installed" : problem },
      "no utility chains in iptables; some functionality may be missing",
    );
  }

  async #look(family: Family): Promise<void> {
    const { code } = await this.#run(family, lookScript);
    if (code === flushed) {
      this.#options.logger.info({ family }, "iptables was flushed");
      return this.#make(family);
    }
    // Another failure says nothing about the chains: the next look may.
    this.#later(lookMs, family, () => this.#look(family));
  }

  #run(
    family: Family,
    script: string,
  ): Promise<{ code: number; problem: string }> {
    const [program, ...args] = [
      ...(this.#options.wrapper ?? []),
      ...["sh", "-c", script, "sh", family],
    ] as [string, ...string[]];
    return new Promise((resolve) => {
      execFile(program, args, { timeout: patienceMs }, (error, _out, text) => {
        const code = error ? (error.code ?? 1) : 0;
        resolve({
          code: typeof code === "number" ? code : 1,
          problem: text.trim() || (error?.message ?? ""),
        });
      });
    });
  }
}

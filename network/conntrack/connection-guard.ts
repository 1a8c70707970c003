// Keeps one pod's connections from taking the kernel's whole table of them, which all pods and the node share: a pod can fill it
// in seconds with datagrams between two addresses, and then new connections of all are dropped. Nothing is done, and nothing
// is counted, until the table is nearly full. Then the pods that began more than a fair share of what it holds can't begin
// others until there is room again; what they have goes on, and the others do not notice. Connections of pods that are gone are
// forgotten: an established one stays for a day. What is begun by the node or from outside is not limited.
// The reference has no such guard, and no limit of a pod's connections either. One in the kernel (`ct count`) would go through
// all of a pod's connections again and again, and a fixed one would break what needs many.
// Invariant: a table of rules is there only while a pod is held back; one that an earlier process left goes at the start.
import { networkInterfaces } from "node:os";
import type { Logger } from "pino";
import {
  addressNumber,
  canonicalAddress,
  cidrRange,
  type AddressRange,
} from "../../api/addresses/address-range.ts";
import type { Clock, Timer } from "../../api/clock.ts";
import { fairShare } from "./connection-share.ts";
import {
  connectionsBySource,
  forgetConnections,
  tableFill,
  type TableFill,
} from "./tracked-connections.ts";

interface ConnectionGuardOptions {
  /** Runs nft. */
  readonly run: (script: string) => Promise<void>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** As nftCommand's. */
  readonly wrapper?: readonly string[];
  /** Default: the kernel's. */
  readonly fill?: () => TableFill | undefined;
  /** What each pod may have in any case; default 1024. */
  readonly least?: number;
}

/** Parts of the table: from where on pods are held back, what they are held back to, and where that ends. */
const full = 0.8;
const wanted = 0.7;
const roomy = 0.6;
/** Still, with pods held back: others find no room. */
const crowded = 0.95;
const lookEveryMs = 1000;
/** Counting takes about a second of a core for a quarter of a million: so much rarer than that, but for the longest pause. */
const countPause = 5;
const longestPauseMs = 10_000;
/** A flood that is let go fills the table again. */
const leastHeldMs = 60_000;

interface Range {
  readonly text: string;
  readonly bounds: AddressRange;
}

function connectionTable({ text, bounds }: Range): string {
  const family = bounds.family === "IPv4" ? "ip" : "ip6";
  return `${family} orbit-share-${text.replace(/[^0-9a-f]+/gi, "-")}`;
}

/** As nft reads it; without addresses the table goes. */
function connectionRules(range: Range, addresses: readonly string[]): string {
  const table = connectionTable(range);
  const gone = `table ${table}\ndelete table ${table}\n`;
  if (addresses.length === 0) return gone;
  const [ip, type] =
    range.bounds.family === "IPv4" ? ["ip", "ipv4_addr"] : ["ip6", "ipv6_addr"];
  return `${gone}table ${table} {
  set held { type ${type}; elements = { ${addresses.join(", ")} } }
  chain prerouting {
    type filter hook prerouting priority mangle; policy accept;
    ct state new ${ip} saddr @held counter drop
  }
}
`;
}

export class ConnectionGuard {
  readonly #options: ConnectionGuardOptions;
  #ranges: readonly Range[] = [];
  /** Addresses of the pods that there are; undefined: not known yet. */
  #pods: Map<string, readonly string[]> | undefined;
  #timer: Timer | undefined;
  #working: Promise<void> = Promise.resolve();
  #held = "";
  #heldAtMs = -Infinity;
  #active = false;
  #nextCountMs = 0;
  #failure = "";
  #stopped = false;

  constructor(options: ConnectionGuardOptions) {
    this.#options = options;
  }

  /** The node's ranges; it looks from then on. */
  setOwn(ranges: readonly string[]): void {
    this.#ranges = ranges.flatMap((text) => {
      const bounds = cidrRange(text);
      return bounds ? [{ text, bounds }] : [];
    });
    if (this.#timer || this.#stopped) return;
    this.#working = this.#write(new Map(), true).then(
      () => undefined,
      () => undefined,
    );
    this.#later();
  }

  /** All pods that there are. */
  setAll(
    pods: Iterable<{ readonly id: string; readonly ips: readonly string[] }>,
  ): void {
    this.#pods = new Map([...pods].map(({ id, ips }) => [id, ips]));
  }

  add({ id, ips }: { id: string; ips: readonly string[] }): void {
    this.#pods?.set(id, ips);
  }

  /** The rules go: without this process none would let the pods go. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    await this.#working;
    if (this.#held !== "") await this.#write(new Map()).catch(() => undefined);
  }

  #later(): void {
    this.#timer = this.#options.clock.after(lookEveryMs, () => {
      this.#working = this.#look()
        .then(
          () => (this.#failure = ""),
          (error: unknown) => this.#report(error),
        )
        .then(() => {
          if (!this.#stopped) this.#later();
        });
    });
  }

  async #look(): Promise<void> {
    const { fill = tableFill, clock, logger } = this.#options;
    const now = fill();
    if (!now || now.max === 0) return;
    const part = now.count / now.max;
    if (part >= full) this.#active = true;
    if (!this.#active) return;
    if (part < roomy) {
      if (clock.monotonic() - this.#heldAtMs < leastHeldMs) return;
      this.#active = false;
      if (this.#held === "") return;
      await this.#write(new Map());
      logger.info(now, "pods may begin connections again");
      return;
    }
    if (clock.monotonic() < this.#nextCountMs) return;
    await this.#share(now);
  }

  /** Counts, holds back and forgets. */
  async #share(now: TableFill): Promise<void> {
    const { least = 1024, clock, logger, wrapper } = this.#options;
    const own = ownAddresses();
    const live = this.#pods && new Set([...this.#pods.values()].flat());
    const held = new Map<string, number>();
    const gone: string[] = [];
    const begunMs = clock.monotonic();
    for (const range of this.#ranges) {
      const family = range.bounds.family === "IPv4" ? 4 : 6;
      const counts = await connectionsBySource(family, 64, wrapper);
      for (const [text, count] of counts) {
        const address = canonicalAddress(text);
        if (address === undefined || own.has(address)) continue;
        if (!isOfPod(address, range)) continue;
        if (!live || live.has(address)) held.set(address, count);
        else gone.push(address);
      }
    }
    const endMs = clock.monotonic();
    this.#nextCountMs =
      endMs + Math.min(longestPauseMs, countPause * (endMs - begunMs));
    const ofPods = [...held.values()].reduce((sum, count) => sum + count, 0);
    const others = Math.max(0, now.count - ofPods);
    const share = Math.max(
      least,
      fairShare(held.values(), now.max * wanted - others),
    );
    const over = new Map([...held].filter(([, count]) => count > share));
    const stays =
      now.count / now.max >= crowded
        ? [...over.keys()].filter((each) => this.#isHeld(each))
        : [];
    if (await this.#write(over))
      logger.warn(
        { ...now, share, pods: Object.fromEntries(over) },
        "the kernel's table of connections is nearly full: pods with more than their share can't begin others",
      );
    for (const address of gone) await this.#forget(address);
    for (const address of stays) {
      await this.#forget(address);
      logger.warn(
        { address },
        "the kernel's table of connections is full: those that this pod began are ended",
      );
    }
  }

  #isHeld(address: string): boolean {
    return this.#held.split(",").includes(address);
  }

  #forget(address: string): Promise<void> {
    const family = address.includes(":") ? 6 : 4;
    return forgetConnections(family, address, this.#options.wrapper);
  }

  /** Resolves to whether it changed something. */
  async #write(
    over: ReadonlyMap<string, number>,
    always = false,
  ): Promise<boolean> {
    const addresses = [...over.keys()].sort();
    if (!always && addresses.join() === this.#held) return false;
    const scripts = this.#ranges.map((range) =>
      connectionRules(
        range,
        addresses.filter((address) => isOfPod(address, range)),
      ),
    );
    await this.#options.run(scripts.join(""));
    this.#held = addresses.join();
    if (addresses.length > 0) this.#heldAtMs = this.#options.clock.monotonic();
    return !always;
  }

  /** Once: without the program it fails each time. */
  #report(error: unknown): void {
    const text = (error as Error).message;
    if (text === this.#failure) return;
    this.#failure = text;
    this.#options.logger.warn(
      { err: error },
      "the kernel's table of connections is nearly full, and who fills it is not known",
    );
  }
}

/** In the range, and not its gateway's. */
function isOfPod(address: string, { bounds }: Range): boolean {
  if (address.includes(":") !== (bounds.family === "IPv6")) return false;
  const number = addressNumber(address);
  return number > bounds.first + 1n && number <= bounds.last;
}

function ownAddresses(): ReadonlySet<string> {
  return new Set(
    Object.values(networkInterfaces()).flatMap((all) =>
      (all ?? []).flatMap(({ address }) => canonicalAddress(address) ?? []),
    ),
  );
}

// Ports of the node that lead to its pods (hostPort, hostIP): elements of maps in a table of our own for each family, named by
// the node's range as that of masquerading is. A change is one transaction of the elements it touches, and a table is there
// from the first port on. From outside and from pods a connection keeps its source; where the pod would answer past the node
// (itself as the client, loopback as the source) it comes from the node's address.
// The rules outlive this process, as the pods do: after a start nothing is written before all pods that run are known.
//
// Worked example: a pod 10.42.0.7 with `containerPort: 80, hostPort: 8080, hostIP: 192.0.2.1` is the element
// `192.0.2.1 . tcp . 8080 : 10.42.0.7 . 80` of address-ports; without hostIP it is `tcp . 8080 : 10.42.0.7 . 80` of ports.
import { isIP } from "node:net";
import type { Logger } from "pino";
import { canonicalAddress } from "../../api/addresses/address-range.ts";
import type { Clock } from "../../api/clock.ts";
import {
  serviceSettings,
  writeKernelSettings,
  type OnKernelSetting,
} from "../kernel-settings.ts";
import type { RunNft } from "../nft/nft-command.ts";
import { TableObjects, type TableScripts } from "../nft/table-objects.ts";
import { TableSync } from "../nft/table-sync.ts";
import {
  ConntrackCleaner,
  type StaleFlow,
} from "../conntrack/conntrack-cleaner.ts";

type Family = 4 | 6;

export interface HostPort {
  readonly protocol: "TCP" | "UDP" | "SCTP";
  readonly containerPort: number;
  readonly hostPort: number;
  /** "": all addresses of the node; 0.0.0.0 or ::: all of that family. */
  readonly hostIP: string;
}

/** One sandbox. */
export interface PodPorts {
  readonly id: string;
  readonly ips: readonly string[];
  readonly ports: readonly HostPort[];
}

const families = [4, 6] as const;

export function hostPortTable(podCidr: string): string {
  return `orbit-ports-${podCidr.replace(/[^0-9a-f]+/gi, "-")}`;
}

function familyOf(text: string): Family {
  return text.includes(":") ? 6 : 4;
}

/** Chains and maps that belong to the table for good. */
function fixedText(family: Family): string {
  const ip = family === 4 ? "ip" : "ip6";
  const address = family === 4 ? "ipv4_addr" : "ipv6_addr";
  const known = "meta l4proto { tcp, udp, sctp }";
  return `  map ports { type inet_proto . inet_service : ${address} . inet_service; }
  map address-ports { type ${address} . inet_proto . inet_service : ${address} . inet_service; }
  set hairpin { type ${address} . ${address}; }
  chain to-pods {
    ${known} dnat to ${ip} daddr . meta l4proto . th dport map @address-ports
    fib daddr type local ${known} dnat to meta l4proto . th dport map @ports
  }
  chain prerouting {
    type nat hook prerouting priority dstnat + 1; policy accept;
    jump to-pods
  }
  chain output {
    type nat hook output priority -99; policy accept;
    jump to-pods
  }
  chain postrouting {
    type nat hook postrouting priority srcnat - 1; policy accept;
    ct status dnat ${ip} saddr . ${ip} daddr @hairpin masquerade
${family === 4 ? '    ct status dnat ip saddr 127.0.0.0/8 oifname != "lo" masquerade\n' : ""}  }
${family === 4 ? '  chain loopback {\n    type filter hook prerouting priority -110; policy accept;\n    iifname != "lo" ip daddr 127.0.0.0/8 drop\n  }\n' : ""}`;
}

type Element = readonly [container: string, key: string, data: string];

/** The elements of one family; of two pods with the same port the later one has it. */
function elementsOf(all: Iterable<PodPorts>, family: Family): Element[] {
  const elements = new Map<string, Element>();
  for (const { ips, ports } of all) {
    const pod = ips.find((ip) => isIP(ip) === family);
    if (pod === undefined) continue;
    for (const { protocol, containerPort, hostPort, hostIP } of ports) {
      // In one form: an address that nft can't read, or one key twice, would keep all pods' ports from the kernel.
      const address = canonicalAddress(hostIP) ?? "";
      if (hostIP !== "" && isIP(address) !== family) continue;
      const any = ["", "0.0.0.0", "::"].includes(address);
      const container = any ? "ports" : "address-ports";
      const port = `${protocol.toLowerCase()} . ${hostPort}`;
      const key = any ? port : `${address} . ${port}`;
      const data = `${pod} . ${containerPort}`;
      elements.delete(`${container} ${key}`);
      elements.set(`${container} ${key}`, [container, key, data]);
      elements.set(`hairpin ${pod}`, ["hairpin", `${pod} . ${pod}`, ""]);
    }
  }
  return [...elements.values()];
}

/** The scripts of one family's table, which is not there while no pod has a port. */
class PortTable implements TableScripts {
  readonly #objects: TableObjects;
  #elements: readonly Element[] = [];
  #written = false;

  constructor(
    readonly family: Family,
    readonly table: string,
  ) {
    this.#objects = new TableObjects(table, fixedText(family));
  }

  get isEmpty(): boolean {
    return this.#elements.length === 0;
  }

  get elements(): readonly Element[] {
    return this.#elements;
  }

  set(elements: readonly Element[]): void {
    this.#elements = elements;
    this.#objects.set("pods", { chains: new Map(), sets: new Map(), elements });
  }

  wholeScript(): string {
    this.#written = !this.isEmpty;
    const whole = this.#objects.wholeScript();
    return this.#written
      ? whole
      : `table ${this.table}\ndelete table ${this.table}\n`;
  }

  changeScript(): string {
    return this.#written ? this.#objects.changeScript() : this.wholeScript();
  }
}

/** UDP goes on to where the kernel remembers it: flows that began before a port led to a pod, or while it led to another. */
function staleFlows(
  before: readonly Element[],
  after: readonly Element[],
): StaleFlow[] {
  const flowsOf = ([container, key, data]: Element): StaleFlow[] => {
    const words = key.split(" . ");
    const [protocol, port] = words.slice(-2);
    if (protocol !== "udp") return [];
    const endpoint = data.split(" . ")[0];
    return [
      {
        port: Number(port),
        ...(container === "ports" ? {} : { address: words[0]! }),
        ...(endpoint === undefined ? {} : { endpoint }),
      },
    ];
  };
  const text = (element: Element): string => element.join("\0");
  const had = new Set(before.map(text));
  const has = new Set(after.map(text));
  return [
    ...before.filter((each) => !has.has(text(each))).flatMap(flowsOf),
    ...after
      .filter((each) => !had.has(text(each)))
      .flatMap(flowsOf)
      .map(({ endpoint: _endpoint, ...flow }) => flow),
  ];
}

interface HostPortsOptions {
  readonly run: RunNft;
  readonly clock: Clock;
  readonly logger: Logger;
  /** As nftCommand's. */
  readonly wrapper?: readonly string[] | undefined;
  readonly onKernelSetting?: OnKernelSetting | undefined;
}

interface FamilyPorts {
  readonly scripts: PortTable;
  readonly sync: TableSync;
  stale: StaleFlow[];
}

export class HostPorts {
  readonly #options: HostPortsOptions;
  readonly #conntrack: ConntrackCleaner;
  #ranges: readonly string[] = [];
  #tables: readonly FamilyPorts[] = [];
  /** By sandbox, in the order in which they came. */
  readonly #pods = new Map<string, PodPorts>();
  /** All pods that run are known. */
  #known = false;
  #settingsWritten = false;

  constructor(options: HostPortsOptions) {
    this.#options = options;
    this.#conntrack = new ConntrackCleaner(options.logger, options.wrapper);
  }

  /** Tables as nft names them. */
  get tables(): string[] {
    return this.#tables.map(({ scripts }) => scripts.table);
  }

  /** The node's ranges, which name the tables; none: another program's network has the ports. */
  setOwn(ranges: readonly string[]): void {
    if (ranges.join() === this.#ranges.join()) return;
    this.#ranges = [...ranges];
    const gone = this.#tables;
    for (const { sync } of gone) void sync.stop();
    const { run, logger } = this.#options;
    if (gone.length > 0)
      run(
        gone
          .map(
            ({ scripts: { table } }) =>
              `table ${table}\ndelete table ${table}\n`,
          )
          .join(""),
      ).catch((err: unknown) =>
        logger.warn({ err }, "the host ports of another range stay"),
      );
    this.#tables = families.flatMap((family) => {
      const range = ranges.find((each) => familyOf(each) === family);
      return range === undefined ? [] : [this.#familyPorts(family, range)];
    });
    if (this.#known) this.#update(true);
  }

  #familyPorts(family: Family, range: string): FamilyPorts {
    const { run, clock, logger } = this.#options;
    const ip = family === 4 ? "ip" : "ip6";
    const scripts = new PortTable(family, `${ip} ${hostPortTable(range)}`);
    const sync = new TableSync({
      scripts,
      what: "host ports of pods",
      run,
      clock,
      logger,
      onBegin: () => undefined,
      onDone: (_durationMs, failed) => {
        // A flow that is deleted before would be made again by the old rules.
        if (!failed) this.#conntrack.clean(made.stale.splice(0), family);
      },
    });
    const made: FamilyPorts = { scripts, sync, stale: [] };
    return made;
  }

  /** All pods that run; those that are not among them have no ports any more. */
  setAll(pods: readonly PodPorts[]): void {
    const first = !this.#known;
    this.#known = true;
    const ids = new Set(pods.map(({ id }) => id));
    for (const id of this.#pods.keys()) if (!ids.has(id)) this.#pods.delete(id);
    for (const pod of pods)
      if (pod.ports.length > 0 && !this.#pods.has(pod.id))
        this.#pods.set(pod.id, pod);
    this.#update(first);
  }

  /** A pod that starts. Resolves when its ports lead to it; rejects when that could not be written. */
  async add(pod: PodPorts): Promise<void> {
    if (pod.ports.length === 0) return;
    this.#pods.delete(pod.id);
    this.#pods.set(pod.id, pod);
    this.#update(false);
    for (const { scripts, sync } of this.#tables)
      if (!scripts.isEmpty && !(await sync.settled()))
        throw new Error("the rules of its host ports could not be written");
  }

  /** Writes everything again: another program may have changed it. */
  rewrite(): void {
    if (!this.#known) return;
    for (const { scripts, sync } of this.#tables)
      if (!scripts.isEmpty) sync.request(true);
  }

  /** The rules stay. */
  async stop(): Promise<void> {
    await Promise.all(this.#tables.map(({ sync }) => sync.stop()));
    await this.#conntrack.done();
  }

  #update(whole: boolean): void {
    for (const table of this.#tables) {
      const { scripts, sync, stale } = table;
      const before = scripts.elements;
      const after = elementsOf(this.#pods.values(), scripts.family);
      stale.push(...staleFlows(before, after));
      scripts.set(after);
      if (after.length > 0) this.#writeSettings();
      if (whole || after.length + before.length > 0) sync.request(whole);
    }
  }

  #writeSettings(): void {
    const { wrapper, onKernelSetting, logger } = this.#options;
    if (this.#settingsWritten) return;
    this.#settingsWritten = true;
    writeKernelSettings(serviceSettings, wrapper, onKernelSetting).catch(
      (err: unknown) =>
        logger.warn(
          { err },
          "a kernel setting could not be written: host ports may not answer on loopback",
        ),
    );
  }
}

// The service rules of one address family in iptables: chains of this proxy alone, entered by one rule each in the kernel's
// own chains (jumps, which iptables/own-chains.ts keeps in place). A change rewrites the chains that it touches; the lists of
// all services are such chains too. The scripts are input of iptables-restore --noflush: each table is one transaction.
import type { OwnChains, PlacedRule } from "../iptables/own-chains.ts";
import {
  chainPrefix,
  iptablesRules,
  podMatches,
  type IptablesContent,
} from "./iptables-rules.ts";
import {
  masqueradeMark,
  type RuleTable,
  type TableOptions,
} from "./rule-table.ts";
import type { ProxyPort } from "./service-ports.ts";

/** A comment of a script that has all chains. */
const wholeMark = "# all\n";

type TableName = "nat" | "filter" | "mangle";

const tables: readonly TableName[] = ["mangle", "nat", "filter"];

/** Lists that all ports share, with the chain that holds each. */
const shared = [
  ["services", "nat SERVICES"],
  ["nodePorts", "nat NODEPORTS"],
  ["refused", "filter REFUSED"],
  ["closed", "filter REFUSED"],
] as const;

export class IptablesRuleset implements RuleTable, OwnChains {
  readonly table: string;
  readonly prefix: string;
  readonly #options: TableOptions;
  readonly #contents = new Map<string, IptablesContent>();
  /** `table chain`, without the prefix where it is a fixed one, whose rules changed. */
  readonly #changed = new Set<string>();

  constructor(options: TableOptions) {
    this.#options = options;
    this.prefix = chainPrefix(options.name);
    this.table = `${options.family === 4 ? "iptables" : "ip6tables"} ${this.prefix}`;
  }

  /** Where the kernel's own chains enter these. */
  get jumps(): readonly PlacedRule[] {
    const { prefix } = this;
    const comment = "-m comment --comment orbit-service-proxy";
    const refused = `-m conntrack --ctstate NEW ${comment} -j ${prefix}REFUSED`;
    return [
      {
        table: "nat",
        chain: "PREROUTING",
        rule: `${comment} -j ${prefix}SERVICES`,
      },
      {
        table: "nat",
        chain: "OUTPUT",
        rule: `${comment} -j ${prefix}SERVICES`,
      },
      {
        table: "nat",
        chain: "POSTROUTING",
        rule: `${comment} -j ${prefix}POST`,
      },
      ...["INPUT", "FORWARD", "OUTPUT"].map((chain) => ({
        table: "filter",
        chain,
        rule: refused,
      })),
      ...(this.#options.family === 4
        ? [
            {
              table: "mangle",
              chain: "PREROUTING",
              rule: `${comment} -j ${prefix}LOOPBACK`,
            },
          ]
        : []),
    ];
  }

  /** Rules that are always there: without one of them others have changed something. */
  get witnesses(): readonly PlacedRule[] {
    const { prefix, jumps } = this;
    return [
      ...jumps,
      { table: "nat", chain: `${prefix}SERVICES`, rule: this.#nodePorts[0]! },
    ];
  }

  setPort(id: string, port: ProxyPort | undefined): void {
    const before = this.#contents.get(id);
    const now = port && iptablesRules(port, this.#options, this.prefix);
    if (now) this.#contents.set(id, now);
    else this.#contents.delete(id);
    const names = new Set([
      ...(before?.chains.keys() ?? []),
      ...(now?.chains.keys() ?? []),
    ]);
    for (const name of names)
      if (!sameLines(before?.chains.get(name), now?.chains.get(name)))
        this.#changed.add(`nat ${name}`);
    for (const [list, chain] of shared)
      if (!sameLines(before?.[list] ?? [], now?.[list] ?? []))
        this.#changed.add(chain);
  }

  wholeScript(): string {
    this.#changed.clear();
    return wholeMark + this.#script(this.#all());
  }

  /** Whether the script replaces everything: the chains that it does not have are to go. */
  isWhole(script: string): boolean {
    return script.startsWith(wholeMark);
  }

  changeScript(): string {
    if (this.#changed.size === 0) return "";
    const all = this.#all();
    const changed = new Map(
      [...this.#changed].map((key) => {
        const [table = "", name = ""] = key.split(" ");
        const full = `${table} ${name.startsWith(this.prefix) ? name : this.prefix + name}`;
        return [full, all.get(full)];
      }),
    );
    this.#changed.clear();
    return this.#script(changed);
  }

  /** @param chains by `table chain`; undefined: it is deleted */
  #script(chains: ReadonlyMap<string, readonly string[] | undefined>): string {
    return tables
      .map((table) => {
        const own = [...chains].flatMap(([key, rules]) =>
          key.startsWith(`${table} `)
            ? [[key.slice(table.length + 1), rules] as const]
            : [],
        );
        if (own.length === 0) return "";
        return [
          `*${table}`,
          // Declared, a chain is there and empty.
          ...own.map(([name]) => `:${name} - [0:0]`),
          ...own.flatMap(([name, rules = []]) =>
            rules.map((rule) => `-A ${name} ${rule}`),
          ),
          ...own.flatMap(([name, rules]) => (rules ? [] : [`-X ${name}`])),
          "COMMIT\n",
        ].join("\n");
      })
      .join("");
  }

  #all(): Map<string, readonly string[]> {
    const { prefix } = this;
    const all = new Map(
      [...this.#fixed()].map(([key, rules]) => {
        const [table, name] = key.split(" ");
        return [`${table} ${prefix}${name}`, rules] as const;
      }),
    );
    for (const { chains } of this.#contents.values())
      for (const [name, rules] of chains) all.set(`nat ${name}`, rules);
    return all;
  }

  #lines(list: (typeof shared)[number][0]): string[] {
    return [
      ...new Set([...this.#contents.values()].flatMap((each) => each[list])),
    ];
  }

  /** Where node ports are looked up. */
  get #nodePorts(): string[] {
    const { nodePortRanges } = this.#options;
    const jump = `-m addrtype --dst-type LOCAL -j ${this.prefix}NODEPORTS`;
    return nodePortRanges.length > 0
      ? nodePortRanges.map((range) => `-d ${range} ${jump}`)
      : [jump];
  }

  /** Chains that are always there. */
  #fixed(): Map<string, readonly string[]> {
    const { prefix } = this;
    const { family, masqueradeAll, serviceRanges } = this.#options;
    const mark = masqueradeMark(this.#options);
    const pods = podMatches(family, this.#options);
    const own = this.#options.loopbackNodePorts === false && family === 4;
    return new Map<string, readonly string[]>([
      ["nat MARK", [`-j MARK --or-mark ${mark}`]],
      [
        "nat FOREIGN",
        masqueradeAll
          ? [`-j ${prefix}MARK`]
          : pods.length > 0
            ? [...pods.map((match) => `${match} -j RETURN`), `-j ${prefix}MARK`]
            : [],
      ],
      [
        "nat SERVICES",
        [
          ...this.#lines("services"),
          ...(own ? ["-d 127.0.0.0/8 -j RETURN"] : []),
          ...this.#nodePorts,
        ],
      ],
      ["nat NODEPORTS", this.#lines("nodePorts")],
      [
        "nat POST",
        [
          `-m mark ! --mark ${mark}/${mark} -j RETURN`,
          `-j MARK --xor-mark ${mark}`,
          "-j MASQUERADE --random-fully",
        ],
      ],
      [
        "filter REFUSED",
        [
          ...this.#lines("refused"),
          ...this.#lines("closed"),
          ...serviceRanges.map((range) => `-d ${range} -j REJECT`),
        ],
      ],
      ...(family === 4
        ? [
            // The kernel's setting for node ports on loopback would let them in.
            ["mangle LOOPBACK", ["! -i lo -d 127.0.0.0/8 -j DROP"]] as const,
          ]
        : []),
    ]);
  }
}

function sameLines(
  before: readonly string[] | undefined,
  now: readonly string[] | undefined,
): boolean {
  return before?.join("\n") === now?.join("\n");
}

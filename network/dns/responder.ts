// One query's answer: host entries first, then the cluster's zone, then other servers. What the zone answers is kept as
// bytes until the zone changes, in several orders of its addresses, so that clients which take the first one spread over
// all of them. A query answered from what is kept costs no promise.
import { LRUCache } from "lru-cache";
import type { Forwarder } from "./forwarder.ts";
import {
  datagramLimit,
  encodeAnswer,
  encodeCode,
  encodeRefusal,
  encodeTruncated,
  readdress,
  type Answer,
  type DnsRecord,
} from "./message.ts";
import { parseQuery, rcodes, type Query } from "./query.ts";
import { answerRecords } from "./upstream-answer.ts";
import { zoneTtl, type ClusterZone } from "./zone.ts";

export type Transport = "udp" | "tcp";

const tcpLimit = 65_535;
const maxKept = 20_000;
const maxKeptBytes = 8 * 1024 * 1024;
/** Orders of one answer's addresses that are kept. */
const orders = 8;
const maxAliases = 8;
const typeA = 1;
const typeAaaa = 28;
/** A, NS, CNAME, SOA, PTR, MX, TXT, AAAA, SRV, NAPTR, DS, RRSIG, NSEC, DNSKEY, SVCB, HTTPS and ANY. */
const countedTypes = new Set([
  1, 2, 5, 6, 12, 15, 16, 28, 33, 35, 43, 46, 47, 48, 64, 65, 255,
]);
/** ANY and transfers. */
const wholeTypes = new Set([251, 252, 255]);

interface Kept {
  readonly generation: number;
  readonly variants: readonly Buffer[];
  next: number;
}

interface ResponderCounts {
  /** By transport and type's number, "other" for types that are seldom asked: a client can make up 65,536. */
  readonly requests: Map<string, number>;
  /** By response code. */
  readonly responses: Map<number, number>;
  hits: number;
  misses: number;
}

interface ResponderOptions {
  zone: ClusterZone;
  forwarder: Forwarder;
  /** Names to addresses, lower case; in front of the zone. */
  hosts?: ReadonlyMap<string, readonly string[]>;
  /** Sees each name that is asked; true: the query is one of its own, and gets no answer. */
  probe?: (name: string) => boolean;
}

export class Responder {
  readonly counts: ResponderCounts = {
    requests: new Map(),
    responses: new Map(),
    hits: 0,
    misses: 0,
  };
  readonly #options: ResponderOptions;
  readonly #kept = new LRUCache<string, Kept>({
    max: maxKept,
    maxSize: maxKeptBytes,
    sizeCalculation: ({ variants }, key) =>
      variants.reduce(
        (sum, { length }) => sum + length + 100,
        key.length + 100,
      ),
  });
  #hosts: ReadonlyMap<string, readonly string[]>;

  constructor(options: ResponderOptions) {
    this.#options = options;
    this.#hosts = options.hosts ?? new Map();
  }

  setHosts(hosts: ReadonlyMap<string, readonly string[]>): void {
    this.#hosts = hosts;
    this.#kept.clear();
  }

  /** Undefined: there is no answer to it. Never throws or rejects. @param client its address */
  respond(
    bytes: Buffer,
    transport: Transport,
    client = "",
  ): Buffer | Promise<Buffer> | undefined {
    const query = parseQuery(bytes);
    if ("rcode" in query) {
      if (query.rcode === undefined) return undefined;
      return this.#counted(encodeRefusal(bytes, query.rcode));
    }
    const type = countedTypes.has(query.type) ? query.type : "other";
    add(this.counts.requests, `${transport} ${type}`);
    const refusal = this.#refusal(query);
    if (refusal !== undefined) return this.#counted(encodeCode(query, refusal));
    const limit = transport === "udp" ? datagramLimit(query) : tcpLimit;
    const { zone } = this.#options;
    const key = `${query.key} ${limit} ${query.edns ? 1 : 0}`;
    const kept = this.#kept.get(key);
    if (kept?.generation === zone.generation) {
      this.counts.hits++;
      const variant = kept.variants[kept.next++ % kept.variants.length]!;
      return this.#counted(readdress(variant, query));
    }
    if (this.#options.probe?.(query.labels.join("."))) return undefined;
    const local = this.#local(query.labels, query.type);
    if (local && local.alias === undefined) {
      this.counts.misses++;
      const variants = rotations(local).map((each) =>
        encodeAnswer(query, each, limit),
      );
      this.#kept.set(key, { generation: zone.generation, variants, next: 1 });
      return this.#counted(readdress(variants[0]!, query));
    }
    if (local)
      return this.#withAlias(query, local, limit, client).then((answer) =>
        this.#counted(answer),
      );
    const fromOthers = this.#options.forwarder.kept(query);
    if (fromOthers) return this.#counted(this.#fit(fromOthers, query, limit));
    return this.#options.forwarder
      .ask(query, client)
      .then((answer) => this.#counted(this.#fit(answer, query, limit)));
  }

  #refusal(query: Query): number | undefined {
    if (query.edns && query.edns.version > 0) return rcodes.badVersion;
    if (query.class !== 1) return rcodes.refused;
    if (wholeTypes.has(query.type)) return rcodes.notImplemented;
    return undefined;
  }

  #counted(answer: Buffer): Buffer {
    add(this.counts.responses, answer[3]! & 15);
    return answer;
  }

  /** An upstream's answer for this client; one that is too long is asked for again over TCP. */
  #fit(answer: Buffer, query: Query, limit: number): Buffer {
    return answer.length > limit
      ? encodeTruncated(query)
      : readdress(answer, query);
  }

  #local(
    labels: readonly string[],
    type: number,
  ): (Answer & { alias?: string }) | undefined {
    const name = labels.join(".");
    const addresses = this.#hosts.get(name);
    if (!addresses) return this.#options.zone.answer(labels, type);
    const wanted =
      type === typeA ? "A" : type === typeAaaa ? "AAAA" : undefined;
    return {
      rcode: rcodes.noError,
      authoritative: true,
      answers: addresses
        .map((data): DnsRecord => ({
          name,
          type: data.includes(":") ? "AAAA" : "A",
          ttl: zoneTtl,
          data,
        }))
        .filter((record) => record.type === wanted),
      authority: [],
      additional: [],
    };
  }

  /** Follows an ExternalName, in the zone or outside of it, for addresses; other types get the alias alone. */
  async #withAlias(
    query: Query,
    first: Answer & { alias?: string },
    limit: number,
    client: string,
  ): Promise<Buffer> {
    const answers = [...first.answers];
    let alias = first.alias;
    const wantsAddress = query.type === typeA || query.type === typeAaaa;
    for (
      let n = 0;
      alias !== undefined && wantsAddress && n < maxAliases;
      n++
    ) {
      const labels = alias.toLowerCase().split(".");
      const local = this.#local(labels, query.type);
      if (local) {
        answers.push(...local.answers);
        alias = local.alias;
        continue;
      }
      answers.push(...(await this.#foreign(labels, query, client)));
      break;
    }
    return encodeAnswer(query, { ...first, answers }, limit);
  }

  async #foreign(
    labels: readonly string[],
    query: Query,
    client: string,
  ): Promise<DnsRecord[]> {
    const asked = questionFor(labels, query);
    if (!asked) return [];
    const { forwarder } = this.#options;
    const bytes = forwarder.kept(asked) ?? (await forwarder.ask(asked, client));
    return answerRecords(bytes).flatMap((record): DnsRecord[] =>
      record.type === "A" || record.type === "AAAA" || record.type === "CNAME"
        ? [
            {
              name: record.name,
              type: record.type,
              ttl: Math.min(record.ttl ?? 0, zoneTtl),
              data: record.data,
            },
          ]
        : [],
    );
  }
}

/** A query for another name, of the same type; undefined when the name is none. */
function questionFor(
  labels: readonly string[],
  query: Query,
): Query | undefined {
  const parts = labels.map((label) => Buffer.from(label, "latin1"));
  if (parts.some(({ length }) => length === 0 || length > 63)) return undefined;
  const end = Buffer.alloc(5);
  end.writeUInt16BE(query.type, 1);
  end.writeUInt16BE(1, 3);
  const header = Buffer.alloc(12);
  header.writeUInt16BE(0x0100, 2);
  header.writeUInt16BE(1, 4);
  const made = parseQuery(
    Buffer.concat([
      header,
      ...parts.flatMap((part) => [Buffer.from([part.length]), part]),
      end,
    ]),
  );
  return "rcode" in made ? undefined : made;
}

function rotations(answer: Answer): Answer[] {
  const count = Math.min(answer.answers.length, orders);
  if (count < 2) return [answer];
  return Array.from({ length: count }, (_, n) => ({
    ...answer,
    answers: [...answer.answers.slice(n), ...answer.answers.slice(0, n)],
  }));
}

function add<K>(counts: Map<K, number>, key: K): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

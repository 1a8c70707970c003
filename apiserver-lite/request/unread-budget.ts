// What all watchers together have not read. Each alone may be behind by some MiB; a thousand of them that read nothing
// would take the memory of the server. Beyond the bound watchers are cut off, of the tenant that is behind the most the
// one with most unread, so that a tenant's watchers suffer from its own.
// Invariant: those that are hardly behind are not kept here, and are never cut off.

/** A watcher. */
export interface Reader {
  /** Undefined: not known. */
  readonly tenant: string | undefined;
  /** Ends it. Calls `forget`. */
  cutOff(): void;
}

const defaultMaxBytes = 256 * 1024 * 1024;
/** Less is what any busy watcher has now and then. */
const hardlyBehindBytes = 256 * 1024;

export class UnreadBudget {
  readonly #behind = new Map<Reader, number>();
  #bytes = 0;

  constructor(private readonly maxBytes = defaultMaxBytes) {}

  /** Of all that are far behind. */
  get bytes(): number {
    return this.#bytes;
  }

  /** What a watcher has not read now. */
  note(reader: Reader, bytes: number): void {
    if (bytes <= hardlyBehindBytes) {
      if (this.#behind.size > 0) this.forget(reader);
      return;
    }
    this.#bytes += bytes - (this.#behind.get(reader) ?? 0);
    this.#behind.set(reader, bytes);
    while (this.#bytes > this.maxBytes) {
      const furthest = this.#furthest();
      this.forget(furthest);
      furthest.cutOff();
    }
  }

  forget(reader: Reader): void {
    this.#bytes -= this.#behind.get(reader) ?? 0;
    this.#behind.delete(reader);
  }

  #furthest(): Reader {
    const byTenant = new Map<string, number>();
    for (const [{ tenant = "" }, bytes] of this.#behind)
      byTenant.set(tenant, (byTenant.get(tenant) ?? 0) + bytes);
    const [[most]] = [...byTenant].sort(([, a], [, b]) => b - a) as [
      [string, number],
    ];
    let furthest: Reader | undefined;
    let furthestBytes = 0;
    for (const [reader, bytes] of this.#behind)
      if ((reader.tenant ?? "") === most && bytes > furthestBytes) {
        furthest = reader;
        furthestBytes = bytes;
      }
    return furthest!;
  }
}

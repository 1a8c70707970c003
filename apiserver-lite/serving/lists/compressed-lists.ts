// Compressed lists that are kept, and those that are being made: requests for the same bytes wait for the first of them
// instead of compressing their own copies, which matters when many clients list again at once. A key names its bytes for
// ever (it holds the revision), so nothing here can be stale, only unused.
// Invariants: at most `maxKept` lists of `maxBytes` each are kept; a list being made never waits for a client's reading.
import type { KeptList } from "./kept-lists.ts";

const maxKept = 8;
/** Larger lists are not shared: each client's is compressed as fast as that client reads. */
export const maxSharedBytes = 2 * 1024 * 1024;

export class CompressedLists {
  readonly #kept = new Map<string, KeptList>();
  readonly #making = new Map<string, Making>();

  get(key: string): KeptList | undefined {
    return this.#kept.get(key);
  }

  /** Undefined: it is not being made. Resolves to undefined when it was too large, or was given up. */
  made(key: string): Promise<KeptList | undefined> | undefined {
    return this.#making.get(key)?.wait();
  }

  /** To be ended by the caller, whatever becomes of the list. */
  begin(key: string): Making {
    const making = new Making((list) => {
      if (this.#making.get(key) === making) this.#making.delete(key);
      if (list) this.#keep(key, list);
    });
    this.#making.set(key, making);
    return making;
  }

  #keep(key: string, list: KeptList): void {
    if (this.#kept.size >= maxKept) {
      const [oldest] = this.#kept.keys();
      this.#kept.delete(oldest!);
    }
    this.#kept.set(key, list);
  }
}

/** A list that is being compressed. */
export class Making {
  #waiting = 0;
  #ended = false;
  #resolve: (list: KeptList | undefined) => void = () => undefined;
  readonly #list = new Promise<KeptList | undefined>((resolve) => {
    this.#resolve = resolve;
  });

  constructor(private readonly onEnd: (list: KeptList | undefined) => void) {}

  /** Whether others wait for it. */
  get isAwaited(): boolean {
    return this.#waiting > 0;
  }

  wait(): Promise<KeptList | undefined> {
    this.#waiting++;
    return this.#list;
  }

  /** The first call counts. */
  end(list: KeptList | undefined): void {
    if (this.#ended) return;
    this.#ended = true;
    this.onEnd(list);
    this.#resolve(list);
  }
}

// So many seats that all users share, with a bounded queue for those who find none.
//
// Invariants: a user has at most half of the seats and of the queue (system:masters always has a seat); a waiter that fits
// is admitted at once; a waiter is overtaken by a later one only while it waits for its own user's share; each taken seat
// is given back by one `give`.
import type { UserInfo } from "../../api/contracts.ts";

/** Users who have nothing and are kept: a map of which names come and go makes its table again and again. */
const keptUsers = 64;

/** An amount that all users share: each has at most half. */
export class Share {
  used = 0;
  readonly #byUser = new Map<string, number>();

  /** 0: no limit. */
  constructor(protected readonly max: number) {}

  /** False: there is not so much left, for this user or at all. */
  take(user: UserInfo, amount: number): boolean {
    if (!this.fits(amount) || !this.#fitsUser(user, amount))
      if (!isMaster(user)) return false;
    this.used += amount;
    this.#byUser.set(user.name, this.of(user) + amount);
    return true;
  }

  give(user: UserInfo, amount: number): void {
    this.used -= amount;
    const own = this.of(user) - amount;
    if (own > 0 || this.#byUser.size <= keptUsers)
      this.#byUser.set(user.name, own);
    else this.#byUser.delete(user.name);
  }

  protected of(user: UserInfo): number {
    return this.#byUser.get(user.name) ?? 0;
  }

  protected fits(amount: number): boolean {
    return this.max === 0 || this.used + amount <= this.max;
  }

  #fitsUser(user: UserInfo, amount: number): boolean {
    return this.max === 0 || this.of(user) + amount <= Math.ceil(this.max / 2);
  }
}

const isMaster = ({ groups }: UserInfo): boolean =>
  groups.includes("system:masters");

interface Waiter {
  readonly user: UserInfo;
  readonly width: number;
  /**
   * Unset when it waits no longer: a set that changes often leaves old tables behind, which hold what was in them until
   * the next full collection.
   */
  admit: (() => void) | undefined;
}

export class Seats extends Share {
  readonly #waiters = new Set<Waiter>();
  readonly #queue: Share;

  /** @param maxWaiting 0: there is no queue */
  constructor(
    max: number,
    private readonly maxWaiting: number,
  ) {
    super(max);
    this.#queue = new Share(maxWaiting);
  }

  get waiting(): number {
    return this.#waiters.size;
  }

  /** Takes seats that are free now; false: there are none for this user. */
  enter(user: UserInfo, width: number): boolean {
    return (
      (isMaster(user) || !this.#someoneIsFirst()) && this.take(user, width)
    );
  }

  /**
   * Queues for seats after `enter` found none: `admit` is called, once, when they were taken. Returns what stops the
   * waiting (it does nothing after `admit`); undefined: the queue is full.
   */
  wait(
    user: UserInfo,
    width: number,
    admit: () => void,
  ): (() => void) | undefined {
    if (this.maxWaiting === 0 || !this.#queue.take(user, 1)) return undefined;
    const waiter: Waiter = { user, width, admit };
    this.#waiters.add(waiter);
    return () => {
      if (this.#leave(waiter)) this.#admit();
    };
  }

  override give(user: UserInfo, amount: number): void {
    super.give(user, amount);
    this.#admit();
  }

  /** Everybody who fits, in the order they came. */
  #admit(): void {
    for (const waiter of this.#waiters)
      if (this.take(waiter.user, waiter.width)) {
        const { admit } = waiter;
        this.#leave(waiter);
        admit?.();
      } else if (!this.fits(waiter.width)) return;
  }

  /** False: it waits no longer. */
  #leave(waiter: Waiter): boolean {
    const waited = this.#waiters.delete(waiter);
    waiter.admit = undefined;
    if (waited) this.#queue.give(waiter.user, 1);
    return waited;
  }

  /** Does a waiter need more seats than are free, rather than a larger share for its user? */
  #someoneIsFirst(): boolean {
    for (const { width } of this.#waiters) if (!this.fits(width)) return true;
    return false;
  }
}

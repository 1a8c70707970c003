// --max-requests-inflight and --max-mutating-requests-inflight: 429 beyond them. A place is taken when there is work to
// do, that is after a body has been received, and kept until the work is over, also when its client has been told that
// it takes too long. One user gets at most half of the places. What bodies hold while they are received is bounded in
// bytes instead. Long-running requests (watch, proxy, log, exec …) have no place; system:masters always has one.
import type { UserInfo } from "../../api/contracts.ts";
import type { BodyGate } from "../../http-kit/body.ts";
import { isLongRunning } from "../request/deadline.ts";
import type { RequestInfo } from "../request/request-info.ts";
import { PlainAnswer } from "../request/route.ts";

const readOnly = new Set(["get", "list", "watch"]);

/** Of all bodies that are being received or worked on: a hundred of the largest. */
const maxBodiesBytes = 300 * 1024 * 1024;
/** What a request costs while its body is waited for. */
const waitingBytes = 4096;

/** An amount that all users share: nobody has more than half. */
class Shared {
  used = 0;
  readonly #byUser = new Map<string, number>();

  /** 0: no limit. */
  constructor(private readonly max: number) {}

  /** False: there is not so much left, for this user or at all. */
  take(user: UserInfo, amount: number): boolean {
    const { max } = this;
    const own = this.#byUser.get(user.name) ?? 0;
    const tooMuch =
      this.used + amount > max || own + amount > Math.ceil(max / 2);
    if (max > 0 && tooMuch && !user.groups.includes("system:masters"))
      return false;
    this.used += amount;
    this.#byUser.set(user.name, own + amount);
    return true;
  }

  give(user: UserInfo, amount: number): void {
    this.used -= amount;
    const own = (this.#byUser.get(user.name) ?? 0) - amount;
    if (own > 0) this.#byUser.set(user.name, own);
    else this.#byUser.delete(user.name);
  }
}

export class Limiter {
  readonly #readOnly: Shared;
  readonly #mutating: Shared;
  readonly #bodies: Shared;
  /** Requests that have been begun, with or without a place. */
  requests = 0;

  /** 0: no limit. */
  constructor(
    maxReadOnly: number,
    maxMutating: number,
    maxBytes = maxBodiesBytes,
  ) {
    this.#readOnly = new Shared(maxReadOnly);
    this.#mutating = new Shared(maxMutating);
    this.#bodies = new Shared(maxBytes);
  }

  get readOnlyInFlight(): number {
    return this.#readOnly.used;
  }

  get mutatingInFlight(): number {
    return this.#mutating.used;
  }

  /** Undefined for long-running requests. The place is not taken yet. */
  place(info: RequestInfo, user: UserInfo): Place | undefined {
    if (isLongRunning(info)) return undefined;
    const reads = !info.resourceRequest || readOnly.has(info.verb);
    this.requests++;
    return new Place(
      reads ? this.#readOnly : this.#mutating,
      this.#bodies,
      user,
      () => this.requests--,
    );
  }
}

/** One request's. `leave` has to be called in the end; more calls do nothing. */
export class Place implements BodyGate {
  #taken = false;
  #bytes = 0;
  #left = false;

  constructor(
    private readonly places: Shared,
    private readonly bodies: Shared,
    private readonly user: UserInfo,
    private readonly over: () => void,
  ) {}

  /** A body is waited for. Throws a PlainAnswer of 429. */
  expect(): void {
    this.received(waitingBytes);
  }

  received(bytes: number): void {
    if (this.#left || !this.bodies.take(this.user, bytes)) throw tooMany();
    this.#bytes += bytes;
  }

  /** Throws a PlainAnswer of 429. A promise (none yet) is waited for. */
  take(): void | Promise<void> {
    if (this.#taken) return;
    if (this.#left || !this.places.take(this.user, 1)) throw tooMany();
    this.#taken = true;
  }

  leave(): void {
    if (this.#left) return;
    this.#left = true;
    if (this.#taken) this.places.give(this.user, 1);
    if (this.#bytes > 0) this.bodies.give(this.user, this.#bytes);
    this.over();
  }
}

function tooMany(): PlainAnswer {
  return new PlainAnswer(429, "Too many requests, please try again later.\n", {
    "retry-after": "1",
    "x-content-type-options": "nosniff",
  });
}

// --max-requests-inflight and --max-mutating-requests-inflight: 429 beyond them. Long-running requests (watch, proxy,
// log, exec …) and system:masters do not count.
import type { UserInfo } from "../../api/contracts.ts";
import { isLongRunning } from "./deadline.ts";
import type { RequestInfo } from "./request-info.ts";
import { PlainAnswer } from "./route.ts";

const readOnly = new Set(["get", "list", "watch"]);

export class Limiter {
  readOnlyInFlight = 0;
  mutatingInFlight = 0;

  /** 0: no limit. */
  constructor(
    private readonly maxReadOnly: number,
    private readonly maxMutating: number,
  ) {}

  /** Throws a PlainAnswer of 429; gives the way to leave. */
  enter(info: RequestInfo, user: UserInfo): (() => void) | undefined {
    if (isLongRunning(info)) return undefined;
    const reads = !info.resourceRequest || readOnly.has(info.verb);
    const max = reads ? this.maxReadOnly : this.maxMutating;
    const now = reads ? this.readOnlyInFlight : this.mutatingInFlight;
    if (max > 0 && now >= max && !user.groups.includes("system:masters"))
      throw new PlainAnswer(
        429,
        "Too many requests, please try again later.\n",
        {
          "retry-after": "1",
          "x-content-type-options": "nosniff",
        },
      );
    if (reads) {
      this.readOnlyInFlight++;
      return this.#leaveRead;
    }
    this.mutatingInFlight++;
    return this.#leaveWrite;
  }

  readonly #leaveRead = (): void => {
    this.readOnlyInFlight--;
  };
  readonly #leaveWrite = (): void => {
    this.mutatingInFlight--;
  };
}

// Metrics: requests by what they asked for, their status and how long they took; long-running ones while they are open.
import { isLongRunning } from "../../request/deadline.ts";
import type { Observer } from "../../request/observer.ts";
import type { Filter } from "../filter.ts";

/** @param observer undefined: requests are not counted */
export function metricsFilter(observer: Observer | undefined): Filter {
  return {
    name: "metrics",
    enter({ info, exchange }) {
      if (!isLongRunning(info)) return;
      const over = observer?.began?.(info);
      if (over) exchange.onClose(over);
    },
    answered({ info, exchange, startedMs, timedOut }) {
      const { method, status, sentBytes } = exchange;
      if (timedOut) observer?.terminated?.(info, status);
      observer?.finished(info, method, status, startedMs, sentBytes);
    },
  };
}

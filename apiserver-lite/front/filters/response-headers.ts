// Headers that every answer has: the audit id at once, and, of requests that are served, HSTS and what caches may do.
import { randomUUID } from "node:crypto";
import type { Exchange } from "../../../http-kit/exchange.ts";
import type { Filter } from "../filter.ts";

export const auditIdFilter: Filter = {
  name: "audit id",
  enter({ exchange, headers }) {
    headers["audit-id"] = auditIdOf(exchange);
  },
};

export function strictTransportFilter(value: string | undefined): Filter {
  return {
    name: "strict transport security",
    enter({ headers }) {
      if (value) headers["strict-transport-security"] = value;
    },
  };
}

export const cacheControlFilter: Filter = {
  name: "cache control",
  enter({ headers }) {
    headers["cache-control"] = "no-cache, private";
  },
};

/** The client's, when it is one. */
function auditIdOf({ headers }: Exchange): string {
  const given = headers["audit-id"];
  return typeof given === "string" &&
    given.length <= 64 &&
    /^[\x21-\x7e]+$/.test(given)
    ? given
    : randomUUID();
}

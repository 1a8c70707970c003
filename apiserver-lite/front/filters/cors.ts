// --cors-allowed-origins: browsers of these origins may read answers. Their preflight requests are answered here.
import type { AllowedOrigins } from "../origins.ts";
import type { Filter } from "../filter.ts";

/** @param allowed undefined: CORS is off */
export function corsFilter(allowed: AllowedOrigins | undefined): Filter {
  return {
    name: "CORS",
    enter({ exchange, headers }) {
      const { origin } = exchange.headers;
      if (!allowed || !origin || !allowed.allows(origin)) return;
      headers["access-control-allow-origin"] = origin;
      headers["access-control-allow-methods"] =
        "POST, GET, OPTIONS, PUT, DELETE, PATCH";
      headers["access-control-allow-headers"] =
        "Content-Type, Content-Length, Accept-Encoding, X-CSRF-Token, Authorization, X-Requested-With, If-Modified-Since";
      headers["access-control-expose-headers"] = "Date";
      headers["access-control-allow-credentials"] = "true";
      if (exchange.method !== "OPTIONS") return;
      exchange.respond(204, headers);
      return true;
    },
  };
}

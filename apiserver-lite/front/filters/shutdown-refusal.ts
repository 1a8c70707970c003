// While the server shuts down new requests are answered 429, so that clients go to another server. Health is answered
// until the very end.
import { errors } from "../../../api/errors.ts";
import type { Filter } from "../filter.ts";

/** Undefined: requests are taken. */
export type Refusing = () => { readonly retryAfterSeconds: number } | undefined;

export function shutdownFilter(refusing: Refusing): Filter {
  return {
    name: "shutdown refusal",
    skipsParts: true,
    enter({ headers, info }) {
      const refusal = refusing();
      if (!refusal || /^\/(readyz|livez|healthz)/.test(info.path)) return;
      headers["connection"] = "close";
      throw errors.tooManyRequests(
        "The apiserver is shutting down, please try again later.",
        refusal.retryAfterSeconds,
      );
    },
  };
}

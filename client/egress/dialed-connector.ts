// Connections of undici that are made by a dialer: what undici's own connector does is left to it, TLS on the connection
// that is there among it.
import type { buildConnector } from "undici";
import type { Dial } from "./egress-dialer.ts";

type Connector = buildConnector.connector;

/** @param direct undici's own, which knows the TLS */
export const dialedConnector =
  (dial: Dial, direct: Connector): Connector =>
  (target, callback) => {
    const { hostname, port, protocol } = target;
    const secure = protocol === "https:";
    dial(
      hostname.replace(/^\[|\]$/g, ""),
      Number(port || (secure ? 443 : 80)),
    ).then(
      (httpSocket) =>
        secure
          ? direct({ ...target, httpSocket }, callback)
          : callback(null, httpSocket),
      (error: Error) => callback(error, null),
    );
  };

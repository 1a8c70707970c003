// Agents of node:http and node:https whose connections are made by a dialer. A connection is handed over when its TLS is
// made, so that who waits for one waits for all of it.
import * as http from "node:http";
import * as https from "node:https";
import * as tls from "node:tls";
import type { Duplex } from "node:stream";
import type { Dial } from "./egress-dialer.ts";

type Created = (error: Error | null, stream: Duplex) => void;

interface Place {
  readonly host?: string | null | undefined;
  readonly port?: number | string | null | undefined;
}

/** Until TLS is made. */
const handshakeMs = 30_000;

export const dialed = (dial: Dial, { host, port }: Place): ReturnType<Dial> =>
  dial(String(host ?? "").replace(/^\[|\]$/g, ""), Number(port));

class DialedHttpAgent extends http.Agent {
  constructor(
    private readonly dial: Dial,
    options: http.AgentOptions,
  ) {
    super(options);
  }

  override createConnection(
    options: http.ClientRequestArgs,
    created?: Created,
  ): undefined {
    dialed(this.dial, options).then(
      (socket) => created?.(null, socket),
      (error: Error) => created?.(error, undefined as never),
    );
    return undefined;
  }
}

class DialedHttpsAgent extends https.Agent {
  constructor(
    private readonly dial: Dial,
    options: https.AgentOptions,
  ) {
    super(options);
  }

  override createConnection(
    options: https.RequestOptions,
    created?: Created,
  ): undefined {
    secured(this.dial, options).then(
      (socket) => created?.(null, socket),
      (error: Error) => created?.(error, undefined as never),
    );
    return undefined;
  }
}

async function secured(
  dial: Dial,
  options: https.RequestOptions,
): Promise<tls.TLSSocket> {
  const socket = await dialed(dial, options);
  return established(
    tls.connect({ ...(options as tls.ConnectionOptions), socket }),
  );
}

/** Once it is made. Rejects for one that is not made, or not verified, or takes longer than half a minute: it is closed then. */
export function established(secure: tls.TLSSocket): Promise<tls.TLSSocket> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () =>
        secure.destroy(
          Object.assign(new Error("i/o timeout"), { code: "ETIMEDOUT" }),
        ),
      handshakeMs,
    );
    secure.once("secureConnect", () => {
      clearTimeout(timer);
      resolve(secure);
    });
    secure.once("error", reject);
    secure.once("close", () => {
      clearTimeout(timer);
      reject(new Error("socket hang up"));
    });
  });
}

/** Undefined dialer: those of Node. */
export const httpAgent = (
  dial: Dial | undefined,
  options: http.AgentOptions = {},
): http.Agent =>
  dial ? new DialedHttpAgent(dial, options) : new http.Agent(options);

export const httpsAgent = (
  dial: Dial | undefined,
  options: https.AgentOptions = {},
): https.Agent =>
  dial ? new DialedHttpsAgent(dial, options) : new https.Agent(options);

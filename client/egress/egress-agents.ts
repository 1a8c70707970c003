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

const dialed = (dial: Dial, { host, port }: Place): ReturnType<Dial> =>
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
  const secure = tls.connect({
    ...(options as tls.ConnectionOptions),
    socket,
  });
  return new Promise((resolve, reject) => {
    secure.once("secureConnect", () => {
      secure.off("error", reject);
      resolve(secure);
    });
    secure.once("error", reject);
    secure.once("close", () => reject(new Error("socket hang up")));
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

// Connections of node:https to a server that is verified with a bundle as Go does it (self-named-server.ts). One is handed to
// its request when its TLS is made; those under way end with close().
import * as https from "node:https";
import {
  connect,
  createSecureContext,
  type ConnectionOptions,
  type TLSSocket,
} from "node:tls";
import type { Duplex } from "node:stream";
import { systemClock } from "../../api/clock.ts";
import type { CertificatePair } from "../../api/pki/certificate.ts";
import { dialed, established } from "../egress/egress-agents.ts";
import type { Dial } from "../egress/egress-dialer.ts";
import {
  connectorForBundle,
  readableBundle,
  type Callback,
  type Connector,
} from "./self-named-server.ts";
import { checkServerNames } from "../../api/pki/server-names.ts";

type Options = ConnectionOptions;

interface Bundle {
  /** PEM */
  readonly bundle: string;
  /** How connections leave; undefined: directly. */
  readonly dial: Dial | undefined;
}

export class BundleConnections {
  readonly #underWay = new Set<TLSSocket>();
  #certificate: CertificatePair | undefined;
  #connect: Connector<Options> | undefined;
  #closed = false;

  constructor(private readonly of: Bundle) {}

  /** The client's own, for connections from now on. */
  setCertificate(certificate: CertificatePair | undefined): void {
    this.#certificate = certificate;
    this.#connect = undefined;
  }

  createAgent(options: https.AgentOptions): https.Agent {
    return new BundleAgent((target, callback) => {
      this.#connect ??= this.#createConnector();
      this.#connect(target, callback);
    }, options);
  }

  close(): void {
    this.#closed = true;
    for (const socket of this.#underWay) socket.destroy();
  }

  #createConnector(): Connector<Options> {
    const { bundle } = this.of;
    const own = this.#certificate;
    const identity = own ? { cert: own.certificate, key: own.key } : {};
    // Made once: to read the certificates takes a millisecond, and each watch is a connection. Every certificate of the
    // bundle is trusted, as by Go: an authority whose own issuer is not in it, too.
    const secureContext = createSecureContext({
      ...identity,
      ca: readableBundle(bundle),
      allowPartialTrustChain: true,
    });
    // Of the last connection that the bundle verified: the next one costs less with it.
    let session: Buffer | undefined;
    const keep = (socket: TLSSocket): void =>
      void socket.on("session", (next) => (session = next));
    return connectorForBundle<Options>(
      {
        strict: (options, callback) =>
          this.#open({ ...options, secureContext, session }, callback, keep),
        open: (options, callback) =>
          this.#open({ ...options, rejectUnauthorized: false }, callback),
        trusting: (leaf) => {
          const alone = createSecureContext({ ...identity, ca: leaf });
          return (options, callback) =>
            this.#open({ ...options, secureContext: alone }, callback);
        },
      },
      bundle,
      systemClock,
    );
  }

  #open(
    options: Options,
    callback: Callback,
    verified?: (socket: TLSSocket) => void,
  ): void {
    this.#secured(options).then(
      (socket) => {
        verified?.(socket);
        callback(null, socket);
      },
      (error: Error) => callback(error, null),
    );
  }

  async #secured(options: Options): Promise<TLSSocket> {
    const { dial } = this.of;
    const socket = dial && (await dialed(dial, options));
    if (this.#closed) {
      socket?.destroy();
      throw new Error("the connections are closed");
    }
    const secure = connect({
      checkServerIdentity: checkServerNames,
      ...options,
      ...(socket ? { socket } : {}),
    });
    this.#underWay.add(secure);
    try {
      return await established(secure);
    } finally {
      this.#underWay.delete(secure);
    }
  }
}

class BundleAgent extends https.Agent {
  constructor(
    private readonly connector: Connector<Options>,
    options: https.AgentOptions,
  ) {
    super(options);
  }

  override createConnection(
    options: https.RequestOptions,
    created?: (error: Error | null, stream: Duplex) => void,
  ): undefined {
    this.connector(options as Options, (error, socket) =>
      created?.(error, socket as Duplex),
    );
    return undefined;
  }
}

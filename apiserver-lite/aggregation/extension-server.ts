// The connections to the server behind one APIService: TLS as its spec says, this API server's client certificate, kept
// open for the next request. Upgraded connections belong to their request. Everything open ends with close().
import * as https from "node:https";
import { createSecureContext, type SecureContext } from "node:tls";
import type { ClientRequest, OutgoingHttpHeaders } from "node:http";
import { X509Certificate } from "node:crypto";
import { httpsAgent } from "../../client/egress/egress-agents.ts";
import type { Dial } from "../../client/egress/egress-dialer.ts";
import { BundleConnections } from "../../client/webhook/bundle-connections.ts";
import type { CertificatePair } from "../../api/pki/certificate.ts";
import { checkServerNames } from "../../api/pki/server-names.ts";

/** Until a connection, its TLS included, is made. */
const connectTimeoutMs = 10_000;
/** Connections that wait for the next request. */
const maxKept = 16;
const maxIdleMs = 90_000;

export interface ServerTls {
  /** PEM; undefined: the system's authorities. */
  readonly authority: string | undefined;
  /** The server's certificate is not checked. */
  readonly insecure: boolean;
  /** The name it must be valid for. */
  readonly serverName: string;
}

export interface Place {
  readonly host: string;
  readonly port: number;
}

interface Asked {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: OutgoingHttpHeaders;
  readonly upgrading?: boolean;
}

export class ExtensionServer {
  readonly #open = new Set<ClientRequest>();
  #agent: https.Agent;
  #context: SecureContext | undefined;
  /** With an authority: how its servers are verified. */
  readonly #verified: BundleConnections | undefined;
  #unchecked: ExtensionServer | undefined;
  #closed = false;
  /** Why no connection can be made. */
  readonly problem: string | undefined;

  constructor(
    private readonly tls: ServerTls,
    private certificate: CertificatePair | undefined,
    /** How connections leave; undefined: directly. */
    private readonly dial?: Dial,
  ) {
    this.problem = authorityProblem(tls);
    const { authority, insecure } = tls;
    if (authority && !insecure) {
      this.#verified = new BundleConnections({ bundle: authority, dial });
      this.#verified.setCertificate(certificate);
    }
    this.#agent = this.#createKeepingAgent();
  }

  /** The same, whatever certificate it shows: to see whether it is there. */
  get unchecked(): ExtensionServer {
    if (this.#closed) return this;
    return (this.#unchecked ??= new ExtensionServer(
      { ...this.tls, authority: undefined, insecure: true },
      this.certificate,
      this.dial,
    ));
  }

  /** For connections from now on. */
  setCertificate(certificate: CertificatePair | undefined): void {
    this.certificate = certificate;
    this.#context = undefined;
    this.#verified?.setCertificate(certificate);
    // Those in use stay as they are; those that wait are closed.
    const old = this.#agent;
    this.#agent = this.#createKeepingAgent();
    for (const sockets of Object.values(old.freeSockets))
      for (const socket of sockets ?? []) socket.destroy();
    this.#unchecked?.setCertificate(certificate);
  }

  /**
   * A request whose body is not sent yet. The caller has to end it and to handle its errors. Throws when a header can't be
   * sent, and after close().
   */
  request(
    { host, port }: Place,
    { method, path, headers, upgrading = false }: Asked,
  ): ClientRequest {
    if (this.#closed) throw new Error("the connections are closed");
    const request = https.request({
      host,
      port,
      path,
      method,
      headers,
      ...(this.#verified ? {} : { secureContext: this.#secureContext() }),
      agent: upgrading ? this.#createAgent() : this.#agent,
    });
    this.#open.add(request);
    const timer = setTimeout(
      () =>
        request.destroy(
          Object.assign(new Error("i/o timeout"), { code: "ETIMEDOUT" }),
        ),
      connectTimeoutMs,
    );
    const connected = (): void => clearTimeout(timer);
    request.once("close", () => {
      connected();
      this.#open.delete(request);
    });
    request.once("socket", (socket) => {
      if (socket.connecting) socket.once("secureConnect", connected);
      else connected();
    });
    return request;
  }

  close(): void {
    this.#closed = true;
    for (const request of this.#open) request.destroy();
    this.#agent.destroy();
    this.#verified?.close();
    this.#unchecked?.close();
  }

  /** One for all connections: to read the certificates takes a millisecond, and each watch is a connection. */
  #secureContext(): SecureContext {
    const { certificate } = this;
    return (this.#context ??= createSecureContext(
      certificate
        ? { cert: certificate.certificate, key: certificate.key }
        : {},
    ));
  }

  #createKeepingAgent(): https.Agent {
    return this.#createAgent({
      keepAlive: true,
      maxFreeSockets: maxKept,
      timeout: maxIdleMs,
    });
  }

  #createAgent(keeping: https.AgentOptions = {}): https.Agent {
    const { insecure, serverName } = this.tls;
    const options: https.AgentOptions = {
      ...keeping,
      ALPNProtocols: ["http/1.1"],
      servername: serverName,
      rejectUnauthorized: !insecure,
      checkServerIdentity: checkServerNames,
    };
    return (
      this.#verified?.createAgent(options) ?? httpsAgent(this.dial, options)
    );
  }
}

function authorityProblem({ authority }: ServerTls): string | undefined {
  if (authority === undefined) return undefined;
  try {
    new X509Certificate(authority);
    return undefined;
  } catch {
    return "unable to load root certificates: unable to parse bytes as PEM block";
  }
}

// HTTP/1.1 requests to agents, pods and services. Connections to agents are kept for a while, as logs and statistics come
// in rows; upgraded ones belong to their request. Everything open ends with close().
import * as http from "node:http";
import * as https from "node:https";
import type { OutgoingHttpHeaders } from "node:http";
import type { CertificatePair } from "../../api/pki/certificate.ts";
import { errors, type ApiError } from "../../api/errors.ts";
import { httpAgent, httpsAgent } from "../../client/egress/egress-agents.ts";
import type { Dial } from "../../client/egress/egress-dialer.ts";
import { connectionText } from "../../client/webhook/call-failure.ts";
import type { ProxyTarget } from "./proxy-name.ts";
import { checkServerNames } from "../../api/pki/server-names.ts";

export interface DialerOptions {
  /** With what the API server goes to the agents; undefined: without a certificate. */
  readonly clientCertificate: CertificatePair | undefined;
  /** Authorities (PEM) the agents' certificates must be from. Undefined: not checked, the reference's default. */
  readonly agentAuthority: string | undefined;
  /** How connections leave; undefined: directly. */
  readonly dial?: Dial | undefined;
  /** Until a connection, its TLS included, is made; default 10 s. */
  readonly connectTimeoutMs?: number;
}

const DEFAULT_CONNECT_TIMEOUT_MS = 10_000;
/** After so long without a packet the other side is asked whether it is still there: a node that lost its power says nothing. */
const KEEP_ALIVE_MS = 30_000;

export class Dialer {
  readonly #open = new Set<http.ClientRequest>();
  #options: DialerOptions;
  #agents: https.Agent;

  constructor(options: DialerOptions) {
    this.#options = options;
    this.#agents = this.#createAgent();
  }

  /** For connections from now on. */
  setOptions(options: DialerOptions): void {
    this.#options = options;
    this.#agents.destroy();
    this.#agents = this.#createAgent();
  }

  /** A request whose head is not sent yet. It has to be ended by the caller. */
  request(
    target: ProxyTarget,
    method: string,
    headers: OutgoingHttpHeaders,
    upgrading: boolean,
  ): http.ClientRequest {
    const options: https.RequestOptions = {
      host: target.host,
      port: target.port,
      path: target.path,
      method,
      headers,
    };
    const { dial } = this.#options;
    const secure = target.scheme === "https";
    if (target.agent && !upgrading) options.agent = this.#agents;
    else
      options.agent = !dial
        ? false
        : secure
          ? httpsAgent(dial)
          : httpAgent(dial);
    if (target.agent && upgrading) Object.assign(options, this.#tlsOptions());
    // Pods' and services' certificates are their own affair, as at the reference.
    if (!target.agent && secure) options.rejectUnauthorized = false;
    const request = secure ? https.request(options) : http.request(options);
    this.#open.add(request);
    request.once("close", () => this.#open.delete(request));
    const timer = setTimeout(
      () =>
        request.destroy(
          Object.assign(new Error("i/o timeout"), { code: "ETIMEDOUT" }),
        ),
      (target.agent ? this.#options.connectTimeoutMs : undefined) ??
        DEFAULT_CONNECT_TIMEOUT_MS,
    );
    const connected = (): void => clearTimeout(timer);
    request.once("close", connected);
    request.once("socket", (socket) => {
      socket.setKeepAlive(true, KEEP_ALIVE_MS);
      if (socket.connecting)
        socket.once(
          target.scheme === "https" ? "secureConnect" : "connect",
          connected,
        );
      else connected();
    });
    return request;
  }

  close(): void {
    this.#agents.destroy();
    for (const request of this.#open) request.destroy();
  }

  #tlsOptions(): https.AgentOptions {
    const { clientCertificate, agentAuthority } = this.#options;
    return {
      ...(clientCertificate
        ? { cert: clientCertificate.certificate, key: clientCertificate.key }
        : {}),
      ALPNProtocols: ["http/1.1"],
      ...(agentAuthority
        ? { ca: agentAuthority, checkServerIdentity: checkServerNames }
        : { rejectUnauthorized: false }),
    };
  }

  #createAgent(): https.Agent {
    return httpsAgent(this.#options.dial, {
      keepAlive: true,
      maxFreeSockets: 4,
      timeout: 0,
      ...this.#tlsOptions(),
    });
  }
}

/** The reference's text for a backend that can't be reached. */
export function dialError(
  error: unknown,
  { host, port, agent }: ProxyTarget,
): ApiError {
  const code = (error as NodeJS.ErrnoException).code ?? "";
  const reason =
    connectionText(code) ??
    (error instanceof Error ? error.message : String(error));
  const text = `dial tcp ${host.includes(":") ? `[${host}]` : host}:${port}: ${reason}`;
  return agent
    ? errors.internal(`error dialing backend: ${text}`)
    : errors.unavailable(`error trying to reach service: ${text}`);
}

// How the API server calls itself: webhooks at the service `kubernetes` in `default`, or at its name, are called at this
// server's own port as system:apiserver, as at the reference. Such a webhook is usually a path of an aggregated server.
//
// Invariants: the token is made at the start, is never stored and is shown only to a peer that has proved to hold the key
// of a certificate made here, at the address of the own port: neither the caBundle of a configuration nor the endpoints of
// the service nor DNS decide where it goes. It is accepted only from connections of this machine.
import { randomBytes, randomUUID, timingSafeEqual } from "node:crypto";
import { createSecureContext, type SecureContext } from "node:tls";
import { isLoopbackAddress, localAddress } from "../../api/address-kind.ts";
import { systemClock } from "../../api/clock.ts";
import type { UserInfo } from "../../api/contracts.ts";
import {
  createCertificateAuthority,
  issueCertificate,
} from "../../api/pki/certificate.ts";
import { secureContextOptions } from "../../api/pki/serving-tls.ts";
import type {
  AuthenticationRequest,
  AuthenticationResult,
  RequestAuthenticator,
} from "../../http-kit/authentication/authenticator.ts";

interface OwnPlace {
  readonly host: string;
  readonly port: number;
}

interface LoopbackOptions {
  /** That the port is bound to; `localhost` too. */
  readonly address: string;
  /** 0: not open yet. */
  readonly port: () => number;
}

/** By which a client asks for the certificate; also the name in it. */
const serverName = "apiserver-loopback-client";

export class Loopback implements RequestAuthenticator {
  readonly #token = randomBytes(32).toString("base64url");
  readonly #expected = Buffer.from(`Bearer ${this.#token}`);
  readonly #user: UserInfo = Object.freeze({
    name: "system:apiserver",
    uid: randomUUID(),
    groups: Object.freeze(["system:masters"]),
    extra: Object.freeze({}),
  });
  readonly #host: string;
  /** Made at the first use. */
  #tls: { authority: string; context: SecureContext } | undefined;

  constructor(private readonly options: LoopbackOptions) {
    this.#host = localAddress(options.address);
  }

  /** What a client connects with; its `tls` trusts no other certificate. */
  credentials(): {
    readonly token: string;
    readonly tls: { readonly ca: string; readonly serverName: string };
  } {
    const { authority } = (this.#tls ??= this.#createTls());
    return { token: this.#token, tls: { ca: authority, serverName } };
  }

  /** Throws an Error until the port is open. */
  place(): OwnPlace {
    const port = this.options.port();
    if (!port) throw new Error("the API server's port is not open yet");
    return { host: this.#host, port };
  }

  /** The certificate for a client that asks for this name; undefined: the name is not the loopback's. */
  contextOf(name: string): SecureContext | undefined {
    return name === serverName ? this.#tls?.context : undefined;
  }

  authenticate({
    headers: { authorization },
    remoteAddress,
  }: AuthenticationRequest): AuthenticationResult | undefined {
    const expected = this.#expected;
    if (authorization?.length !== expected.length) return undefined;
    const shown = Buffer.from(authorization, "latin1");
    if (!timingSafeEqual(shown, expected)) return undefined;
    const local =
      remoteAddress === this.#host || isLoopbackAddress(remoteAddress);
    return local ? { user: this.#user } : undefined;
  }

  #createTls(): { authority: string; context: SecureContext } {
    // The time that TLS compares with, whatever clock the server was given.
    const nowMs = systemClock.now();
    // The authority's key is not kept.
    const authority = createCertificateAuthority({
      subject: { commonName: `${serverName}-ca` },
      nowMs,
    });
    const pair = issueCertificate(authority, {
      subject: { commonName: serverName },
      dnsNames: [serverName],
      usages: ["server auth"],
      validityMs: Number.MAX_SAFE_INTEGER,
      nowMs,
    });
    const context = createSecureContext(
      secureContextOptions({ ...pair, clientCa: undefined }, {}),
    );
    return { authority: authority.certificate, context };
  }
}

// The APIServices that other servers answer for, with the connections to each. What is connected to a service stays when
// something else of its APIService changes.
import type { Dial } from "../../client/egress/egress-dialer.ts";
import type { CertificatePair } from "../../api/pki/certificate.ts";
import type { APIService } from "../../api/types/apiregistration-v1.ts";
import type { ClusterState } from "../resources/state.ts";
import { typed } from "../resources/typed.ts";
import { ExtensionServer, type ServerTls } from "./extension-server.ts";
import {
  apiServicesResource,
  registrationGroup,
  registrationOf,
  type Registration,
  type ServicePort,
} from "./registration.ts";

export interface RemoteService extends Registration {
  readonly service: ServicePort;
  readonly server: ExtensionServer;
  readonly tls: ServerTls;
}

/** `now` is undefined for one that is gone, or local from now on. */
type Listener = (
  name: string,
  now: RemoteService | undefined,
  before: RemoteService | undefined,
) => void;

export class RemoteServices {
  readonly #byName = new Map<string, RemoteService>();
  readonly #listeners: Listener[] = [];
  #stop: (() => void) | undefined;

  constructor(
    private readonly state: ClusterState,
    private certificate: CertificatePair | undefined,
    /** How connections leave; undefined: directly. */
    private readonly dial?: Dial,
  ) {}

  /** Reads what is there, then follows. */
  start(): void {
    const { resource } = apiServicesResource;
    this.#stop = this.state.onChange(
      registrationGroup,
      resource,
      ({ object, previous }) => {
        const { metadata } = (object ?? previous)!;
        this.#set(metadata.name ?? "", typed<APIService>(object));
      },
    );
    for (const object of this.state.list(registrationGroup, resource))
      this.#set(object.metadata.name ?? "", typed<APIService>(object));
  }

  stop(): void {
    this.#stop?.();
    for (const { server } of this.#byName.values()) server.close();
    this.#byName.clear();
  }

  get size(): number {
    return this.#byName.size;
  }

  get(name: string): RemoteService | undefined {
    return this.#byName.get(name);
  }

  all(): Iterable<RemoteService> {
    return this.#byName.values();
  }

  /** Called after each change of one, its condition included. */
  onChange(listener: Listener): void {
    this.#listeners.push(listener);
  }

  /** This server's own, for connections from now on. */
  setCertificate(certificate: CertificatePair | undefined): void {
    this.certificate = certificate;
    for (const { server } of this.#byName.values())
      server.setCertificate(certificate);
  }

  #set(name: string, object: APIService | undefined): void {
    const before = this.#byName.get(name);
    const now = object && this.#remoteOf(object, before);
    if (now) this.#byName.set(name, now);
    else this.#byName.delete(name);
    if (before && before.server !== now?.server) before.server.close();
    if (now || before)
      for (const listener of this.#listeners) listener(name, now, before);
  }

  #remoteOf(
    object: APIService,
    before: RemoteService | undefined,
  ): RemoteService | undefined {
    const registration = registrationOf(object);
    const { service } = registration;
    if (!service) return undefined;
    const { caBundle, insecureSkipTLSVerify = false } = object.spec;
    const tls: ServerTls = {
      authority: caBundle
        ? Buffer.from(caBundle, "base64").toString()
        : undefined,
      insecure: insecureSkipTLSVerify,
      serverName: `${service.name}.${service.namespace}.svc`,
    };
    const same = before && JSON.stringify(before.tls) === JSON.stringify(tls);
    const server = same
      ? before.server
      : new ExtensionServer(tls, this.certificate, this.dial);
    return { ...registration, service, tls, server };
  }
}

// Keeps the proxy in step with the API, whatever the kind of the objects that route: plans of objects (Ingresses, routes),
// the backends and certificates they name, and who has to look again when a Service, its endpoints or a Secret changes.
// A change costs what depends on it; all changes are sent in slices of a few milliseconds, so that thousands of objects
// never hold the loop of the API server.
// Invariant: a route is sent with or after the state of its backends and certificates.
import type { Client } from "../../../client/client.ts";
import type { Informer } from "../../../client/informer.ts";
import {
  configMaps,
  endpointSlices,
  secrets,
  services,
} from "../../../client/resources.ts";
import { objectKey, splitKey } from "../../../api/object.ts";
import type { ConfigMap, Secret, Service } from "../../../api/types/core-v1.ts";
import type { EndpointSlice } from "../../../api/types/discovery-v1.ts";
import { ownEndpointSlices } from "../../slices-of-service.ts";
import type { CertificatePem, ObjectChange, ToProxy } from "../messages.ts";
import type { BackendState } from "../routing/route.ts";
import type { ObjectPlan } from "./ingress-routes.ts";
import { drain, file, unfile } from "./key-sets.ts";
import {
  backendKey,
  backendState,
  type BackendSpec,
} from "./service-backend.ts";

const sliceMs = 2;

/** Something that is named by objects, and by which. */
interface Used<T> {
  readonly spec: T;
  readonly users: Set<string>;
}

interface ProxyFeedOptions {
  readonly client: Client;
  readonly post: (message: ToProxy) => void;
  /** Of the object; undefined: it is gone, or another controller's. */
  readonly planOf: (key: string) => ObjectPlan | undefined;
  /** What is wrong with the object, or with what it names; empty: nothing any more. */
  readonly onProblems: (key: string, problems: readonly string[]) => void;
}

interface Known {
  readonly plan: ObjectPlan;
  readonly backendKeys: readonly string[];
}

type Change = ToProxy & { kind: "change" };

export class ProxyFeed {
  readonly #options: ProxyFeedOptions;
  readonly #services: Informer<Service>;
  readonly #slices: Informer<EndpointSlice>;
  readonly #secrets: Informer<Secret>;
  readonly #configMaps: Informer<ConfigMap>;
  readonly #known = new Map<string, Known>();
  readonly #backends = new Map<string, Used<BackendSpec>>();
  /** Keys of backends, by namespace/name of their Service, and by the object with their authority. */
  readonly #byService = new Map<string, Set<string>>();
  readonly #byAuthority = new Map<string, Set<string>>();
  readonly #certificates = new Map<string, Used<undefined>>();
  readonly #backendProblems = new Map<string, string>();
  readonly #certificateProblems = new Map<string, string>();
  readonly #dirtyObjects = new Set<string>();
  readonly #dirtyBackends = new Set<string>();
  readonly #dirtyCertificates = new Set<string>();
  readonly #dirtyProblems = new Set<string>();
  readonly #disposers: (() => void)[] = [];
  #due = false;
  #stopped = false;

  constructor(options: ProxyFeedOptions) {
    this.#options = options;
    const { client } = options;
    this.#services = client.informer(services);
    this.#slices = client.informer(endpointSlices, {
      indexes: { service: ownEndpointSlices },
    });
    this.#secrets = client.informer(secrets);
    this.#configMaps = client.informer(configMaps);
  }

  /** Resolves when what exists is known; then objects may be marked. */
  async start(): Promise<void> {
    const each = <T>(handler: (object: T) => void) => ({
      onAdd: handler,
      onUpdate: (old: T, object: T) => {
        handler(old);
        handler(object);
      },
      onDelete: handler,
    });
    const ofService = (key: string): void =>
      this.#markBackends(this.#byService.get(key));
    this.#disposers.push(
      this.#services.addHandler(
        each((service: Service) => ofService(objectKey(service))),
      ),
      this.#slices.addHandler(
        each((slice: EndpointSlice) => {
          for (const key of ownEndpointSlices(slice)) ofService(key);
        }),
      ),
      this.#secrets.addHandler(
        each((secret: Secret) => this.#secretChanged(objectKey(secret))),
      ),
      this.#configMaps.addHandler(
        each((map: ConfigMap) =>
          this.#markBackends(
            this.#byAuthority.get(`ConfigMap/${objectKey(map)}`),
          ),
        ),
      ),
    );
    await Promise.all([
      this.#services.synced(),
      this.#slices.synced(),
      this.#secrets.synced(),
      this.#configMaps.synced(),
    ]);
  }

  stop(): void {
    this.#stopped = true;
    for (const dispose of this.#disposers.splice(0)) dispose();
  }

  /** The object has changed, come or gone. */
  mark(key: string): void {
    this.#dirtyObjects.add(key);
    this.#flushSoon();
  }

  /** Sends everything: the proxy was started again. */
  resend(): void {
    for (const key of this.#backends.keys()) this.#dirtyBackends.add(key);
    for (const key of this.#certificates.keys())
      this.#dirtyCertificates.add(key);
    for (const key of this.#known.keys()) this.#dirtyObjects.add(key);
    this.#flushSoon();
  }

  /** What the proxy says of a certificate; undefined: it is used. */
  certificateChecked(key: string, problem: string | undefined): void {
    this.#noteCertificate(key, problem);
  }

  /** Undefined: it is used, or nothing is known of it yet. */
  certificateProblem(key: string): string | undefined {
    return this.#certificateProblems.get(key);
  }

  #secretChanged(key: string): void {
    if (this.#certificates.has(key)) this.#dirtyCertificates.add(key);
    this.#markBackends(this.#byAuthority.get(`Secret/${key}`));
    this.#flushSoon();
  }

  #markBackends(keys: ReadonlySet<string> | undefined): void {
    if (!keys) return;
    for (const key of keys) this.#dirtyBackends.add(key);
    this.#flushSoon();
  }

  #flushSoon(): void {
    if (this.#due || this.#stopped) return;
    this.#due = true;
    setImmediate(() => this.#flush());
  }

  #flush(): void {
    this.#due = false;
    if (this.#stopped) return;
    const until = performance.now() + sliceMs;
    const late = (): boolean => performance.now() > until;
    const change = {
      kind: "change" as const,
      objects: [] as ObjectChange[],
      backends: [] as Change["backends"][number][],
      certificates: [] as Change["certificates"][number][],
    };
    for (const key of drain(this.#dirtyBackends, late))
      change.backends.push(this.#backendOf(key));
    for (const key of drain(this.#dirtyCertificates, late))
      change.certificates.push(this.#certificateOf(key));
    // An object is sent when all that changed before it was.
    const waiting = this.#dirtyBackends.size + this.#dirtyCertificates.size > 0;
    for (const key of waiting ? [] : drain(this.#dirtyObjects, late)) {
      const gone = this.#known.get(key);
      const plan = this.#options.planOf(key);
      if (!gone && !plan) continue;
      this.#use(key, plan);
      // What it is the first to name goes with it.
      for (const named of drain(this.#dirtyBackends))
        change.backends.push(this.#backendOf(named));
      for (const named of drain(this.#dirtyCertificates))
        change.certificates.push(this.#certificateOf(named));
      change.objects.push({
        key,
        ...(plan
          ? { routes: plan.routes, certificateUses: plan.certificateUses }
          : {}),
      });
      this.#dirtyProblems.add(key);
    }
    if (
      change.objects.length +
        change.backends.length +
        change.certificates.length >
      0
    )
      this.#options.post(change);
    for (const key of drain(this.#dirtyProblems)) this.#reportProblems(key);
    if (
      this.#dirtyObjects.size +
        this.#dirtyBackends.size +
        this.#dirtyCertificates.size >
      0
    )
      this.#flushSoon();
  }

  #use(key: string, plan: ObjectPlan | undefined): void {
    const before = this.#known.get(key);
    const backendKeys = (plan?.backends ?? []).map(backendKey);
    for (const [n, spec] of (plan?.backends ?? []).entries())
      this.#addBackend(backendKeys[n]!, spec, key);
    for (const name of plan?.certificates ?? []) {
      const used = this.#certificates.get(name);
      if (used) used.users.add(key);
      else {
        this.#certificates.set(name, {
          spec: undefined,
          users: new Set([key]),
        });
        this.#dirtyCertificates.add(name);
      }
    }
    for (const name of before?.backendKeys ?? [])
      if (!backendKeys.includes(name)) this.#removeBackend(name, key);
    for (const name of before?.plan.certificates ?? [])
      if (!plan?.certificates.includes(name)) {
        const used = this.#certificates.get(name);
        used?.users.delete(key);
        if (used?.users.size !== 0) continue;
        this.#certificates.delete(name);
        this.#certificateProblems.delete(name);
        this.#dirtyCertificates.add(name);
      }
    if (plan) this.#known.set(key, { plan, backendKeys });
    else this.#known.delete(key);
  }

  #addBackend(name: string, spec: BackendSpec, user: string): void {
    const used = this.#backends.get(name);
    if (used) {
      used.users.add(user);
      return;
    }
    this.#backends.set(name, { spec, users: new Set([user]) });
    file(this.#byService, `${spec.namespace}/${spec.service}`, name);
    const authority = authorityKey(spec);
    if (authority !== undefined) file(this.#byAuthority, authority, name);
    this.#dirtyBackends.add(name);
  }

  #removeBackend(name: string, user: string): void {
    const used = this.#backends.get(name);
    used?.users.delete(user);
    if (!used || used.users.size > 0) return;
    const { spec } = used;
    this.#backends.delete(name);
    this.#backendProblems.delete(name);
    unfile(this.#byService, `${spec.namespace}/${spec.service}`, name);
    const authority = authorityKey(spec);
    if (authority !== undefined) unfile(this.#byAuthority, authority, name);
    this.#dirtyBackends.add(name);
  }

  #backendOf(key: string): { key: string; state?: BackendState } {
    const used = this.#backends.get(key);
    if (!used) return { key };
    const { spec } = used;
    const result = backendState(
      spec,
      this.#services.lister.get(spec.service, spec.namespace),
      this.#slices.lister.byIndex(
        "service",
        `${spec.namespace}/${spec.service}`,
      ),
      this.#authorityOf(spec),
    );
    const problem = "problem" in result ? result.problem : undefined;
    if (problem !== this.#backendProblems.get(key)) {
      if (problem === undefined) this.#backendProblems.delete(key);
      else this.#backendProblems.set(key, problem);
      for (const user of used.users) this.#dirtyProblems.add(user);
    }
    return "state" in result ? { key, state: result.state } : { key };
  }

  #authorityOf(spec: BackendSpec): string | undefined {
    const [kind, name = ""] = spec.authority?.split("/") ?? [];
    if (kind === "ConfigMap")
      return this.#configMaps.lister.get(name, spec.namespace)?.data?.[
        "ca.crt"
      ];
    const text = this.#secrets.lister.get(name, spec.namespace)?.data?.[
      "ca.crt"
    ];
    return text === undefined ? undefined : decoded(text);
  }

  #certificateOf(key: string): { key: string; pem?: CertificatePem } {
    if (!this.#certificates.has(key)) return { key };
    const { namespace, name } = splitKey(key);
    const secret = this.#secrets.lister.get(name, namespace);
    const certificate = secret?.data?.["tls.crt"];
    const privateKey = secret?.data?.["tls.key"];
    if (certificate === undefined || privateKey === undefined) {
      this.#noteCertificate(
        key,
        secret ? "it has no tls.crt and tls.key" : "there is no such Secret",
      );
      return { key };
    }
    return {
      key,
      pem: { certificate: decoded(certificate), key: decoded(privateKey) },
    };
  }

  #noteCertificate(key: string, problem: string | undefined): void {
    const used = this.#certificates.get(key);
    if (!used || this.#certificateProblems.get(key) === problem) return;
    if (problem === undefined) this.#certificateProblems.delete(key);
    else this.#certificateProblems.set(key, problem);
    for (const user of used.users) this.#dirtyProblems.add(user);
    this.#flushSoon();
  }

  #reportProblems(key: string): void {
    const known = this.#known.get(key);
    if (!known) return this.#options.onProblems(key, []);
    const { plan, backendKeys } = known;
    this.#options.onProblems(key, [
      ...plan.problems,
      ...backendKeys.flatMap((name) => this.#backendProblems.get(name) ?? []),
      ...plan.certificates.flatMap((name) => {
        const problem = this.#certificateProblems.get(name);
        return problem === undefined
          ? []
          : [`the certificate of the Secret ${name} is not used: ${problem}`];
      }),
    ]);
  }
}

function authorityKey({
  authority,
  namespace,
}: BackendSpec): string | undefined {
  const [kind, name] = authority?.split("/") ?? [];
  return kind === undefined ? undefined : `${kind}/${namespace}/${name}`;
}

function decoded(base64: string): string {
  return Buffer.from(base64, "base64").toString();
}

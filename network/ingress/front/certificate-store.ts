// The certificates of the proxy and which of them a client gets by the name it asks for. A certificate that can't be used
// is reported and left out; others are not touched. Connections that exist keep what they were opened with. TLS contexts
// are made at first use and bounded in number: thousands of certificates cost their text.
import { createPrivateKey, X509Certificate } from "node:crypto";
import { createSecureContext, type SecureContext } from "node:tls";
import { LRUCache } from "lru-cache";
import { secureContextOptions } from "../../../api/pki/serving-tls.ts";
import type { CertificatePem, CertificateUse } from "../messages.ts";

const maxContexts = 1000;

interface Held extends CertificatePem {
  /** DNS names of the certificate. */
  readonly names: readonly string[];
}

interface NamedUse {
  readonly use: CertificateUse;
  readonly owner: string;
}

interface SocketNames {
  readonly names: Map<string, NamedUse[]>;
  /** By what follows the star. */
  readonly oneLabel: Map<string, NamedUse[]>;
  readonly deep: Map<string, NamedUse[]>;
}

/** Throws with the reason when the pair can't be used. */
function checked({ certificate, key }: CertificatePem): Held {
  const leaf = new X509Certificate(certificate);
  const privateKey = createPrivateKey(key);
  if (!leaf.checkPrivateKey(privateKey))
    throw new Error("the private key is not the certificate's");
  const names = [...(leaf.subjectAltName ?? "").matchAll(/DNS:([^,\s]+)/g)].map(
    ([, name]) => name!.toLowerCase(),
  );
  return { certificate, key, names };
}

export class CertificateStore {
  readonly #held = new Map<string, Held>();
  readonly #uses = new Map<string, readonly CertificateUse[]>();
  /** By certificate: uses for the names that it has. */
  readonly #byCertificate = new Map<string, Set<NamedUse>>();
  readonly #sockets = new Map<string, SocketNames>();
  readonly #contexts = new LRUCache<string, SecureContext>({
    max: maxContexts,
  });

  get size(): number {
    return this.#held.size;
  }

  /** @returns what is wrong with it; it is not used then */
  setCertificate(
    key: string,
    pem: CertificatePem | undefined,
  ): string | undefined {
    for (const named of this.#byCertificate.get(key) ?? [])
      this.#eachName(named, withdraw);
    this.#held.delete(key);
    this.#contexts.delete(key);
    let problem: string | undefined;
    if (pem)
      try {
        this.#held.set(key, checked(pem));
      } catch (error) {
        problem = (error as Error).message;
      }
    for (const named of this.#byCertificate.get(key) ?? [])
      this.#eachName(named, insert);
    return problem;
  }

  /** @param uses of the object `owner` */
  setUses(owner: string, uses: readonly CertificateUse[]): void {
    for (const use of this.#uses.get(owner) ?? []) this.#remove(owner, use);
    this.#uses.delete(owner);
    if (uses.length === 0) return;
    this.#uses.set(owner, uses);
    for (const use of uses) this.#add(owner, use);
  }

  /** Undefined: none is for that name, nor for all. @param name "": no name is asked for */
  contextOf(socket: string, name: string): SecureContext | undefined {
    const found = this.#find(socket, name.toLowerCase().replace(/\.$/, ""));
    if (!found) return undefined;
    let context = this.#contexts.get(found);
    if (!context) {
      const { certificate, key } = this.#held.get(found)!;
      context = createSecureContext(
        secureContextOptions({ certificate, key: Buffer.from(key) }, {}),
      );
      this.#contexts.set(found, context);
    }
    return context;
  }

  /** Of clients that ask for no name; undefined: none was given. */
  defaultOf(socket: string): CertificatePem | undefined {
    const key = this.#usable(this.#sockets.get(socket)?.names.get(""));
    return key === undefined ? undefined : this.#held.get(key);
  }

  #find(socket: string, name: string): string | undefined {
    const names = this.#sockets.get(socket);
    if (!names) return undefined;
    const exact = this.#usable(names.names.get(name));
    if (exact !== undefined) return exact;
    let dot = name.indexOf(".");
    if (dot >= 0) {
      const one = this.#usable(names.oneLabel.get(name.slice(dot)));
      if (one !== undefined) return one;
    }
    for (; dot >= 0; dot = name.indexOf(".", dot + 1)) {
      const deep = this.#usable(names.deep.get(name.slice(dot)));
      if (deep !== undefined) return deep;
    }
    return this.#usable(names.names.get(""));
  }

  /** The first whose certificate there is. */
  #usable(uses: readonly NamedUse[] | undefined): string | undefined {
    return uses?.find(({ use }) => this.#held.has(use.certificate))?.use
      .certificate;
  }

  #add(owner: string, use: CertificateUse): void {
    const named = { use, owner };
    if (use.hosts.length === 0) {
      const all = this.#byCertificate.get(use.certificate) ?? new Set();
      this.#byCertificate.set(use.certificate, all.add(named));
    }
    this.#eachName(named, insert);
  }

  #remove(owner: string, use: CertificateUse): void {
    this.#eachName({ use, owner }, withdraw);
    const all = this.#byCertificate.get(use.certificate);
    for (const named of all ?? [])
      if (named.owner === owner && named.use === use) all!.delete(named);
    if (all?.size === 0) this.#byCertificate.delete(use.certificate);
  }

  #eachName(
    named: NamedUse,
    act: (map: Map<string, NamedUse[]>, key: string, named: NamedUse) => void,
  ): void {
    const { use } = named;
    const hosts =
      use.hosts.length > 0
        ? use.hosts
        : (this.#held.get(use.certificate)?.names ?? []);
    for (const socket of use.sockets) {
      const names = this.#namesOf(socket);
      for (const host of hosts) {
        const name = host.toLowerCase();
        if (!name.startsWith("*.")) act(names.names, name, named);
        else act(use.deep ? names.deep : names.oneLabel, name.slice(1), named);
      }
    }
  }

  #namesOf(socket: string): SocketNames {
    let names = this.#sockets.get(socket);
    if (!names) {
      names = { names: new Map(), oneLabel: new Map(), deep: new Map() };
      this.#sockets.set(socket, names);
    }
    return names;
  }
}

function insert(
  map: Map<string, NamedUse[]>,
  key: string,
  named: NamedUse,
): void {
  const list = map.get(key) ?? [];
  const at = list.findIndex(({ use }) => named.use.rank < use.rank);
  if (at < 0) list.push(named);
  else list.splice(at, 0, named);
  map.set(key, list);
}

function withdraw(
  map: Map<string, NamedUse[]>,
  key: string,
  { use, owner }: NamedUse,
): void {
  const left = (map.get(key) ?? []).filter(
    (each) => each.owner !== owner || each.use !== use,
  );
  if (left.length > 0) map.set(key, left);
  else map.delete(key);
}

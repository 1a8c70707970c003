// Which transformers the values of each resource have, by the rules of an EncryptionConfiguration, as the seal of the
// registry. The rules can be exchanged while the server runs: from then on every value is opened and sealed by the new
// ones.
//
// Invariants: a resource of a rule is never written by anything but the first provider of the rule; resources without a
// rule are written as they are, and what is encrypted of them is refused.
import type { SealLookup, ValueSeal } from "../registry/value-seal.ts";
import type { EncryptionMetrics } from "./encryption-metrics.ts";
import {
  aesCbc,
  aesGcm,
  loadSecretBox,
  secretBoxCipher,
  type KeyCipher,
  type KeyedProvider,
  type SecretBox,
} from "./key-ciphers.ts";
import {
  identity,
  keyTransformer,
  PrefixChain,
  type Transformer,
} from "./prefix-chain.ts";

export interface EncryptionKey {
  readonly name: string;
  /** Of a size that the provider takes. */
  readonly secret: Buffer;
}

export type EncryptionProvider =
  | { readonly type: "identity" }
  | { readonly type: KeyedProvider; readonly keys: readonly EncryptionKey[] };

export interface EncryptionRule {
  /** `secrets`, `deployments.apps`, `*.`, `*.apps`, `*.*` */
  readonly resources: readonly string[];
  readonly providers: readonly EncryptionProvider[];
}

/** The transformers of one version of the rules. */
export class EncryptionRules {
  readonly #chains: ReadonlyMap<string, PrefixChain>;

  private constructor(chains: ReadonlyMap<string, PrefixChain>) {
    this.#chains = chains;
  }

  /**
   * @param root what the keys of the store begin with: they are authenticated
   * Rejects for a rule that an earlier one masks.
   */
  static async of(
    rules: readonly EncryptionRule[],
    root: string,
    metrics: EncryptionMetrics,
  ): Promise<EncryptionRules> {
    const uses = (type: string): boolean =>
      rules.some(({ providers }) =>
        providers.some((provider) => provider.type === type),
      );
    const box = uses("secretbox") ? await loadSecretBox() : undefined;
    const links = new Map<string, Link[]>();
    for (const { resources, providers } of rules) {
      const made = providers.map((each) => linkOf(each, root, metrics, box));
      for (const text of resources) {
        const [group, resource] = groupResourceOf(text);
        for (const earlier of [`*.${group}`, "*.*"])
          if (links.has(earlier))
            throw new Error(
              `resource ${JSON.stringify(shown(group, resource))} is masked by earlier rule ${JSON.stringify(earlier)}`,
            );
        const name = `${resource}.${group}`;
        links.set(name, [...(links.get(name) ?? []), ...made]);
      }
    }
    return new EncryptionRules(
      new Map(
        [...links].map(([name, list]) => [
          name,
          new PrefixChain(list, "no matching prefix found", metrics),
        ]),
      ),
    );
  }

  /** Undefined: no rule names the resource. */
  chainOf(group: string, resource: string): PrefixChain | undefined {
    const chains = this.#chains;
    return (
      chains.get(`${resource}.${group}`) ??
      chains.get(`*.${group}`) ??
      chains.get("*.*")
    );
  }
}

interface Link {
  readonly prefix: string;
  readonly transformer: Transformer;
}

function linkOf(
  provider: EncryptionProvider,
  root: string,
  metrics: EncryptionMetrics,
  box: SecretBox | undefined,
): Link {
  if (provider.type === "identity")
    return { prefix: "", transformer: identity };
  const { type, keys } = provider;
  const cipherOf: Record<KeyedProvider, (key: Buffer) => KeyCipher> = {
    aescbc: aesCbc,
    aesgcm: aesGcm,
    secretbox: (key) => secretBoxCipher(key, box!),
  };
  const links = keys.map(({ name, secret }) => ({
    prefix: `${name}:`,
    transformer: keyTransformer(cipherOf[type](secret), root),
  }));
  const named = type === "secretbox" ? "Secretbox" : "AES";
  return {
    prefix: `k8s:enc:${type}:v1:`,
    transformer: new PrefixChain(
      links,
      `no matching key was found for the provided ${named} transformer`,
      metrics,
    ),
  };
}

/** `deployments.apps` → apps, deployments; `*.` → "", * */
export function groupResourceOf(text: string): [string, string] {
  const dot = text.indexOf(".");
  return dot < 0 ? ["", text] : [text.slice(dot + 1), text.slice(0, dot)];
}

const shown = (group: string, resource: string): string =>
  group === "" && resource !== "*" ? resource : `${resource}.${group}`;

export class ValueEncryption {
  #rules: EncryptionRules;

  constructor(rules: EncryptionRules) {
    this.#rules = rules;
  }

  /** From now on. */
  use(rules: EncryptionRules): void {
    this.#rules = rules;
  }

  readonly sealOf: SealLookup = (group, resource) => {
    // Events are kept in the core group.
    const stored = group === "events.k8s.io" ? "" : group;
    const known: { rules?: EncryptionRules; chain?: PrefixChain | undefined } =
      {};
    const chain = (): PrefixChain | undefined => {
      if (known.rules !== this.#rules) {
        known.chain = this.#rules.chainOf(stored, resource);
        known.rules = this.#rules;
      }
      return known.chain;
    };
    const seal: ValueSeal = {
      open: (value, place) => (chain() ?? identity).open(value, place).value,
      seal: (value, place) => (chain() ?? identity).seal(value, place),
      mayBeStale: () => chain()?.mayBeStale ?? false,
      isStale: (value, place) => (chain() ?? identity).open(value, place).stale,
    };
    return seal;
  };
}

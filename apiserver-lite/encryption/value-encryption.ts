// Which transformers the values of each resource have, by the rules of an EncryptionConfiguration, as the seal of the
// registry. The rules can be exchanged while the server runs: from then on every value is opened and sealed by the new
// ones.
//
// Invariants: a resource of a rule is never written by anything but the first provider of the rule; resources without a
// rule are written as they are, and what is encrypted of them is refused.
import type { Logger } from "pino";
import type { Clock } from "../../api/clock.ts";
import type {
  SealLookup,
  ValuePlace,
  ValueSeal,
} from "../registry/value-seal.ts";
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
import { KmsProvider, type KmsParts } from "./kms/kms-provider.ts";
import type { KmsEndpoint } from "./kms/kms-service.ts";
import {
  identity,
  keyTransformer,
  placeBelow,
  PrefixChain,
  type OpenedValue,
  type Transformer,
} from "./prefix-chain.ts";

export interface EncryptionKey {
  readonly name: string;
  /** Of a size that the provider takes. */
  readonly secret: Buffer;
}

export type EncryptionProvider =
  | { readonly type: "identity" }
  | { readonly type: KeyedProvider; readonly keys: readonly EncryptionKey[] }
  | { readonly type: "kms"; readonly endpoint: KmsEndpoint };

export interface EncryptionRule {
  /** `secrets`, `deployments.apps`, `*.`, `*.apps`, `*.*` */
  readonly resources: readonly string[];
  readonly providers: readonly EncryptionProvider[];
}

interface EncryptionParts {
  readonly metrics: EncryptionMetrics;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The transformers of one version of the rules. */
export class EncryptionRules {
  private constructor(
    private readonly chains: ReadonlyMap<string, PrefixChain>,
    /** In the order of the rules. */
    private readonly kms: readonly KmsProvider[],
  ) {}

  /**
   * Plug-ins of KMS providers are asked once; they are followed from `start` on.
   * @param root what the keys of the store begin with: they are authenticated
   * Rejects for a rule that an earlier one masks.
   */
  static async of(
    rules: readonly EncryptionRule[],
    root: string,
    parts: EncryptionParts,
  ): Promise<EncryptionRules> {
    refuseMasked(rules);
    const { metrics } = parts;
    const all = rules.flatMap(({ providers }) => providers);
    const box = all.some(({ type }) => type === "secretbox")
      ? await loadSecretBox()
      : undefined;
    const kms = new Map(
      await Promise.all(
        all.flatMap((each) =>
          each.type === "kms"
            ? [connected(each, { ...parts, metrics: metrics.kms }, root)]
            : [],
        ),
      ),
    );
    const links = new Map<string, Link[]>();
    for (const { resources, providers } of rules) {
      const made = providers.map((each) =>
        each.type === "kms"
          ? kmsLink(kms.get(each)!)
          : linkOf(each, root, metrics, box),
      );
      for (const text of resources) {
        const name = groupResourceOf(text).reverse().join(".");
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
      [...kms.values()],
    );
  }

  /** Follows the keys of KMS plug-ins from now on. */
  start(): void {
    for (const provider of this.kms) provider.start();
  }

  /** Values under keys of KMS plug-ins that are not known can't be opened from now on. */
  close(): void {
    for (const provider of this.kms) provider.close();
  }

  /** Rejects with what is wrong with the plug-ins of KMS providers. */
  async check(): Promise<void> {
    const results = await Promise.allSettled(
      this.kms.map((provider) => provider.check()),
    );
    const problems = results.flatMap((result, index) =>
      result.status === "rejected"
        ? [`kms-provider-${index}: ${(result.reason as Error).message}`]
        : [],
    );
    if (problems.length > 0)
      throw new Error(
        problems.length > 1 ? `[${problems.join(", ")}]` : problems[0],
      );
  }

  /** Are there KMS providers? */
  get asks(): boolean {
    return this.kms.length > 0;
  }

  /** How long calls of plug-ins that are under way may take, all one after another. */
  get callsMs(): number {
    return this.kms.reduce((sum, { endpoint }) => sum + endpoint.timeoutMs, 0);
  }

  /** Undefined: no rule names the resource. */
  chainOf(group: string, resource: string): PrefixChain | undefined {
    const { chains } = this;
    return (
      chains.get(`${resource}.${group}`) ??
      chains.get(`*.${group}`) ??
      chains.get("*.*")
    );
  }
}

type KmsRule = Extract<EncryptionProvider, { type: "kms" }>;

interface Link {
  readonly prefix: string;
  readonly transformer: Transformer;
}

/** Throws for a rule that an earlier one masks. */
function refuseMasked(rules: readonly EncryptionRule[]): void {
  const seen = new Set<string>();
  for (const text of rules.flatMap(({ resources }) => resources)) {
    const [group, resource] = groupResourceOf(text);
    for (const earlier of [`*.${group}`, "*.*"])
      if (seen.has(earlier))
        throw new Error(
          `resource ${JSON.stringify(shown(group, resource))} is masked by earlier rule ${JSON.stringify(earlier)}`,
        );
    seen.add(`${resource}.${group}`);
  }
}

async function connected(
  provider: KmsRule,
  parts: KmsParts,
  root: string,
): Promise<[KmsRule, KmsProvider]> {
  const placeOf = placeBelow(root);
  return [
    provider,
    await KmsProvider.connect(provider.endpoint, parts, placeOf),
  ];
}

const kmsLink = (provider: KmsProvider): Link => ({
  prefix: `k8s:enc:kms:v2:${provider.endpoint.name}:`,
  transformer: provider,
});

function linkOf(
  provider: Exclude<EncryptionProvider, KmsRule>,
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
    transformer: keyTransformer(cipherOf[type](secret), placeBelow(root)),
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

  get rules(): EncryptionRules {
    return this.#rules;
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
    const opened = (
      value: Uint8Array,
      place: ValuePlace,
    ): OpenedValue | Promise<OpenedValue> =>
      (chain() ?? identity).open(value, place);
    const seal: ValueSeal = {
      open(value, place) {
        const result = opened(value, place);
        return result instanceof Promise
          ? result.then((done) => done.value)
          : result.value;
      },
      prepare() {
        const problem = chain()?.writeProblem;
        return problem && Promise.reject(problem);
      },
      seal: (value, place) => (chain() ?? identity).seal(value, place),
      mayBeStale: () => chain()?.mayBeStale ?? false,
      isStale(value, place) {
        const result = opened(value, place);
        return result instanceof Promise
          ? result.then((done) => done.stale)
          : result.stale;
      },
    };
    return seal;
  };
}

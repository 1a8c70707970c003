// Credentials from programs (--image-credential-provider-config): which program serves an image, and how long its answer
// is kept. A program runs once for all that ask for one repository at the same time.
import type { Logger } from "pino";
import { LRUCache } from "lru-cache";
import type { Clock } from "../../api/clock.ts";
import type { CredentialProvider } from "../config/credential-provider.ts";
import type { RegistryCredentials } from "./docker-config.ts";
import type { NodeCredentials } from "./image-credentials.ts";
import { runProvider, type ProviderAnswer } from "./provider-program.ts";
import type { ProviderMetrics } from "./provider-metrics.ts";
import { registryKey, servesRepository } from "./registry-keys.ts";

interface Kept {
  readonly untilMs: number;
  readonly credentials: readonly RegistryCredentials[];
}

/** Answers kept of one program; one for each image, registry or for all, as the program says. */
const maxKept = 1000;

interface CredentialProviderOptions {
  readonly provider: CredentialProvider;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: ProviderMetrics;
}

export class CredentialProviderCache implements NodeCredentials {
  readonly #kept = new LRUCache<string, Kept>({ max: maxKept });
  readonly #running = new Map<
    string,
    Promise<readonly RegistryCredentials[]>
  >();

  constructor(private readonly options: CredentialProviderOptions) {}

  async find(repository: string): Promise<readonly RegistryCredentials[]> {
    const { provider, clock } = this.options;
    if (
      !provider.matchImages.some((pattern) =>
        servesRepository(pattern, repository),
      )
    )
      return [];
    for (const key of cacheKeys(repository)) {
      const kept = this.#kept.get(key);
      if (kept && clock.monotonic() <= kept.untilMs) return kept.credentials;
    }
    const running = this.#running.get(repository);
    if (running) return running;
    const asked = this.#ask(repository).finally(() =>
      this.#running.delete(repository),
    );
    this.#running.set(repository, asked);
    return asked;
  }

  async #ask(repository: string): Promise<readonly RegistryCredentials[]> {
    const { provider, clock, logger, metrics } = this.options;
    const startedMs = clock.monotonic();
    let answer: ProviderAnswer;
    try {
      answer = await runProvider(provider, repository, () =>
        metrics.failed(provider.name),
      );
    } catch (error) {
      logger.error(
        { provider: provider.name, image: repository, err: error },
        "a credential provider gave no credentials",
      );
      return [];
    } finally {
      metrics.ran(provider.name, (clock.monotonic() - startedMs) / 1000);
    }
    const credentials = Object.entries(answer.auth).map(
      ([location, { username, password }]) => ({
        key: registryKey(location),
        auth: { username, password },
      }),
    );
    const lifetimeMs = answer.cacheDurationMs ?? provider.defaultCacheMs;
    if (lifetimeMs > 0)
      this.#kept.set(cacheKeys(repository)[keyIndex[answer.cacheKeyType]]!, {
        untilMs: clock.monotonic() + lifetimeMs,
        credentials,
      });
    return credentials;
  }
}

const keyIndex = { Image: 0, Registry: 1, Global: 2 } as const;

/** In the order in which they are looked up. */
function cacheKeys(repository: string): readonly string[] {
  return [repository, repository.split("/")[0]!, "*"];
}

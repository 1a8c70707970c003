// Uses of service accounts' tokens, under the reference's names: by them an operator sees who still has a token of a Secret,
// or has not read a projected one again for longer than it was asked for.
import { Counters } from "../../../api/metrics/counted.ts";
import type { Family } from "../../../api/metrics/family.ts";

/** Of the Secret of a token: found invalid, made by the control plane, made by hand. */
export type LegacyTokenKind = "invalid" | "auto" | "manual";

const uses = (name: string, help: string): Counters =>
  new Counters({ name: `serviceaccount_${name}_total`, help });

export class TokenMetrics {
  readonly #legacy = uses(
    "legacy_tokens",
    "Requests with a token of a Secret whose signature is good.",
  );
  readonly #stale = uses(
    "stale_tokens",
    "Requests with a projected token that is older than was asked for.",
  );
  readonly #valid = uses(
    "valid_tokens",
    "Requests with a projected token of extended life that is not older than was asked for.",
  );
  readonly #byKind: Readonly<Record<LegacyTokenKind, Counters>> = {
    invalid: uses(
      "invalid_legacy_auto_token_uses",
      "Requests with a token of a Secret that is marked as invalid.",
    ),
    auto: uses(
      "legacy_auto_token_uses",
      "Requests with a token of a Secret that its account names.",
    ),
    manual: uses(
      "legacy_manual_token_uses",
      "Requests with a token of a Secret made by hand.",
    ),
  };

  projected(isStale: boolean): void {
    (isStale ? this.#stale : this.#valid).count();
  }

  legacy(): void {
    this.#legacy.count();
  }

  ofSecret(kind: LegacyTokenKind): void {
    this.#byKind[kind].count();
  }

  families(): Family[] {
    const { invalid, auto, manual } = this.#byKind;
    return [this.#legacy, this.#stale, this.#valid, invalid, auto, manual].map(
      (counters) => counters.family(),
    );
  }
}

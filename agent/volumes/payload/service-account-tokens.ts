// Tokens for service accounts, bound to the pod, asked for through the token subresource and kept until 80 % of their
// life is over (at most 24 hours). A failing refresh keeps the old one as long as it is valid.
import { formatTime, type Clock } from "../../../api/clock.ts";
import type { TokenRequest } from "../../../api/types/authentication-v1.ts";
import type { Pod } from "../../../api/types/core-v1.ts";
import type { Client } from "../../../client/client.ts";
import { serviceAccounts } from "../../../client/resources.ts";

interface Kept {
  token: string;
  issuedAtMs: number;
  expiresAtMs: number;
}

const maxAgeMs = 24 * 3_600_000;

/** A token holds for servers whose clocks are a minute behind. */
const toleranceMs = 30_000;

export class ServiceAccountTokens {
  readonly #client: Client | undefined;
  readonly #clock: Clock;
  readonly #kept = new Map<string, Kept>();

  constructor(client: Client | undefined, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  async get(
    pod: Pod,
    audience: string,
    expirationSeconds: number,
  ): Promise<string> {
    return (await this.#issued(pod, audience, expirationSeconds)).token;
  }

  /** With its end, as CSI drivers get it. */
  async status(
    pod: Pod,
    audience: string,
    expirationSeconds: number,
  ): Promise<{ token: string; expirationTimestamp: string }> {
    const { token, expiresAtMs } = await this.#issued(
      pod,
      audience,
      expirationSeconds,
    );
    return { token, expirationTimestamp: formatTime(expiresAtMs) };
  }

  async #issued(
    pod: Pod,
    audience: string,
    expirationSeconds: number,
  ): Promise<Kept> {
    const { name, namespace = "default", uid = "" } = pod.metadata;
    const account = pod.spec.serviceAccountName || "default";
    const key = `${uid}/${account}/${audience}/${expirationSeconds}`;
    const kept = this.#kept.get(key);
    const nowMs = this.#clock.now();
    if (kept && !needsRefresh(kept, nowMs)) return kept;
    if (!this.#client)
      throw new Error("service account tokens need an API server");
    try {
      const request: TokenRequest = {
        apiVersion: "authentication.k8s.io/v1",
        kind: "TokenRequest",
        metadata: { name: "" },
        spec: {
          audiences: audience ? [audience] : [],
          expirationSeconds,
          boundObjectRef: { apiVersion: "v1", kind: "Pod", name, uid },
        },
      };
      const answer: TokenRequest = await this.#client
        .resource(serviceAccounts)
        .createSubresource<TokenRequest>(account, namespace, "token", request);
      const token = answer.status?.token;
      if (!token) throw new Error("the API server answered without a token");
      const expiresAtMs =
        Date.parse(answer.status?.expirationTimestamp ?? "") ||
        nowMs + expirationSeconds * 1000;
      const issued = { token, issuedAtMs: nowMs, expiresAtMs };
      this.#kept.set(key, issued);
      return issued;
    } catch (error) {
      if (kept && nowMs < kept.expiresAtMs) return kept;
      const text = error instanceof Error ? error.message : String(error);
      throw new Error(`failed to fetch token: ${text}`, { cause: error });
    }
  }

  forget(uid: string): void {
    for (const key of this.#kept.keys())
      if (key.startsWith(`${uid}/`)) this.#kept.delete(key);
  }
}

function needsRefresh(
  { issuedAtMs, expiresAtMs }: Kept,
  nowMs: number,
): boolean {
  return (
    nowMs >= issuedAtMs + 0.8 * (expiresAtMs - issuedAtMs) ||
    nowMs - issuedAtMs > maxAgeMs ||
    // The clock was set back: it is not valid yet.
    nowMs < issuedAtMs - toleranceMs
  );
}

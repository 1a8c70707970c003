// Keeps the rules of ClusterRoles with an aggregationRule: the union of the roles their selectors match. Changes are
// gathered and worked off one pass at a time; a pass that failed is repeated with back-off.
import { Backoff } from "../../api/queueing/backoff.ts";
import { isDeepStrictEqual } from "node:util";
import type { Logger } from "pino";
import type { Clock, Timer } from "../../api/clock.ts";
import { isConflict, isNotFound } from "../../api/errors.ts";
import type { AnyObject } from "../../api/object.ts";
import { selectorFromObject } from "../../api/selectors.ts";
import type { LabelSelector } from "../../api/types/meta-v1.ts";
import type { PolicyRule } from "../../api/types/rbac-v1.ts";
import type { Transport } from "../../client/transport.ts";
import type { ClusterState } from "../resources/state.ts";

const GROUP = "rbac.authorization.k8s.io";
const GATHER_MS = 20;

interface RoleAggregatorOptions {
  readonly state: ClusterState;
  /** Of a superuser. */
  readonly transport: Pick<Transport, "request">;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class RoleAggregator {
  readonly #options: RoleAggregatorOptions;
  #unsubscribe: (() => void) | undefined;
  #timer: Timer | undefined;
  #running: Promise<void> | undefined;
  #again = false;
  readonly #retries = new Backoff({ baseMs: 2 * GATHER_MS, maxMs: 60_000 });
  #retryMs = GATHER_MS;

  constructor(options: RoleAggregatorOptions) {
    this.#options = options;
  }

  start(): void {
    this.#unsubscribe = this.#options.state.onChange(
      GROUP,
      "clusterroles",
      () => this.#schedule(GATHER_MS),
    );
    this.#schedule(GATHER_MS);
  }

  async stop(): Promise<void> {
    this.#unsubscribe?.();
    this.#unsubscribe = undefined;
    this.#timer?.cancel();
    this.#again = false;
    await this.#running;
  }

  #schedule(delayMs: number): void {
    if (this.#running) {
      this.#again = true;
      return;
    }
    this.#timer ??= this.#options.clock.after(delayMs, () => {
      this.#timer = undefined;
      this.#running = this.#pass().finally(() => {
        this.#running = undefined;
        if (this.#again && this.#unsubscribe) this.#schedule(this.#retryMs);
        this.#again = false;
      });
    });
  }

  async #pass(): Promise<void> {
    const { state, transport, logger } = this.#options;
    try {
      const roles = state.list(GROUP, "clusterroles");
      for (const role of roles) {
        if (!role["aggregationRule"]) continue;
        const rules = aggregatedRules(role, roles);
        if (isDeepStrictEqual(rules, role["rules"] ?? [])) continue;
        await transport.request({
          verb: "update",
          resource: { group: GROUP, version: "v1", resource: "clusterroles" },
          name: role.metadata.name,
          body: { ...role, rules },
        });
      }
      this.#retries.reset();
      this.#retryMs = GATHER_MS;
    } catch (error) {
      this.#again = true;
      this.#retryMs = this.#retries.nextMs();
      if (!isConflict(error) && !isNotFound(error))
        logger.warn({ err: error }, "can't aggregate cluster roles");
    }
  }
}

/** In the order of the selectors, by name within one, each rule once. */
export function aggregatedRules(
  role: Readonly<AnyObject>,
  roles: readonly Readonly<AnyObject>[],
): PolicyRule[] {
  const { clusterRoleSelectors = [] } = role["aggregationRule"] as {
    clusterRoleSelectors?: LabelSelector[];
  };
  const rules: PolicyRule[] = [];
  const seen = new Set<string>();
  for (const selector of clusterRoleSelectors.map((object) =>
    selectorFromObject(object),
  )) {
    const matching = roles
      .filter(
        (other) =>
          other.metadata.name !== role.metadata.name &&
          selector.matches(other.metadata.labels),
      )
      .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
    for (const rule of matching.flatMap(
      (other) => (other["rules"] ?? []) as PolicyRule[],
    )) {
      const text = JSON.stringify(rule);
      if (!seen.has(text)) rules.push(rule);
      seen.add(text);
    }
  }
  return rules;
}

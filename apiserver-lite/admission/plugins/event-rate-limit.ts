// EventRateLimit: how many events of the core group are taken, of all, by namespace, by user, and by what they are about.
// Buckets are kept for the keys that were last seen, so that memory is bounded. A dry run takes nothing.
import { LRUCache } from "lru-cache";
import type { Clock } from "../../../api/clock.ts";
import { ApiError } from "../../../api/errors.ts";
import { TokenBucket } from "../../../api/queueing/token-bucket.ts";
import type { Event } from "../../../api/types/core-v1.ts";
import { typed } from "../../resources/typed.ts";
import type { AdmissionAttributes, AdmissionPlugin } from "../plugin.ts";

const defaultCacheSize = 4096;

type EventLimitType = "Server" | "Namespace" | "User" | "SourceAndObject";

export interface EventLimit {
  readonly type: EventLimitType;
  readonly qps: number;
  readonly burst: number;
  /** Keys whose buckets are kept. 0: the default, 4096. */
  readonly cacheSize?: number;
}

const keyOf: Readonly<
  Record<EventLimitType, (attributes: AdmissionAttributes) => string>
> = {
  Server: () => "",
  Namespace: ({ namespace }) => namespace,
  User: ({ user }) => user.name,
  SourceAndObject: ({ object }) => {
    const { source = {}, involvedObject = {} } =
      typed<Partial<Event>>(object) ?? {};
    const { kind, namespace, name, uid, apiVersion } = involvedObject;
    const { component, host } = source;
    return [component, host, kind, namespace, name, uid, apiVersion].join("");
  },
};

export function createEventRateLimit(
  limits: readonly EventLimit[],
): AdmissionPlugin {
  const buckets = limits.map(
    ({ type, cacheSize }) =>
      new LRUCache<string, TokenBucket>({
        max: type === "Server" ? 1 : cacheSize || defaultCacheSize,
      }),
  );
  const accepts = (index: number, key: string, clock: Clock): boolean => {
    const { qps, burst } = limits[index]!;
    const cache = buckets[index]!;
    let bucket = cache.get(key);
    if (!bucket) cache.set(key, (bucket = new TokenBucket(clock, qps, burst)));
    return bucket.tryTake();
  };
  return {
    name: "EventRateLimit",
    validate(attributes, { clock }) {
      const { kind, operation, dryRun } = attributes;
      if (kind.group !== "" || kind.kind !== "Event" || dryRun) return;
      if (operation !== "CREATE" && operation !== "UPDATE") return;
      const refused: string[] = [];
      for (const [index, { type }] of limits.entries()) {
        const key = keyOf[type](attributes);
        if (!accepts(index, key, clock))
          refused.push(`limit reached on type ${type} for key ${key}`);
      }
      if (refused.length === 0) return;
      const all = refused.length === 1 ? refused[0] : `[${refused.join(", ")}]`;
      throw new ApiError({
        code: 429,
        reason: "TooManyRequests",
        message: `Too many requests: ${all}`,
      });
    },
  };
}

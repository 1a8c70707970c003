// A StrategyContext over a plain list of objects.
import { applyDefaults } from "../../../../api/defaults.ts";
import { parseApiVersion, type AnyObject } from "../../../../api/object.ts";
import type { StrategyContext } from "../../../../apiserver-lite/resources/strategy.ts";
import { FakeClock } from "../../../support/fake-clock.ts";

export function strategyContext(
  stored: readonly AnyObject[] = [],
  dryRun = false,
  apiVersion = "v1",
): StrategyContext {
  const plural = (kind: string): string => `${kind.toLowerCase()}s`;
  return {
    user: { name: "tester", groups: [], extra: {} },
    apiVersion,
    dryRun,
    clock: new FakeClock(),
    read: (_, resource, namespace, name) =>
      stored.find(
        ({ kind, metadata }) =>
          plural(kind!) === resource &&
          metadata.name === name &&
          (metadata.namespace ?? "") === namespace,
      ),
    list: (_, resource, namespace) =>
      stored.filter(
        ({ kind, metadata }) =>
          plural(kind!) === resource &&
          (namespace === undefined || metadata.namespace === namespace),
      ),
    pauses: () => () => undefined,
    warn: () => undefined,
    annotate: () => undefined,
  };
}

/** The object with the defaults of its kind, changed in place. */
export function withDefaults(object: AnyObject): AnyObject {
  applyDefaults(object, {
    ...parseApiVersion(object.apiVersion!),
    kind: object.kind!,
  });
  return object;
}

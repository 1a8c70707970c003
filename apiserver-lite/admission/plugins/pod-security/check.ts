// What a check of the Pod Security Standards is, and the words all of them share.
import type { Container, Pod } from "../../../../api/types/core-v1.ts";

export interface Violation {
  /** e.g. privileged */
  readonly reason: string;
  /** e.g. container "a" must not set securityContext.privileged=true */
  readonly detail: string;
}

export interface Named {
  readonly name: string;
  readonly container: Container;
}

export type Check = (
  pod: Pod,
  containers: readonly Named[],
) => Violation | undefined;

export function quoted(names: readonly string[]): string {
  return names.map((name) => JSON.stringify(name)).join(", ");
}

export function plural(word: string, names: readonly unknown[]): string {
  return names.length === 1 ? word : `${word}s`;
}

/** `container "a"`, `containers "a", "b"` */
export function listed(word: string, names: readonly string[]): string {
  return `${plural(word, names)} ${quoted(names)}`;
}

export function namesWhere(
  containers: readonly Named[],
  bad: (container: Container) => boolean,
): string[] {
  return containers
    .filter(({ container }) => bad(container))
    .map(({ name }) => name);
}

/** Where the forbidden value was set: in the pod, in containers, or in both. Empty: nowhere. */
export function settersOf(isPod: boolean, names: readonly string[]): string[] {
  return [
    ...(isPod ? ["pod"] : []),
    ...(names.length > 0 ? [listed("container", names)] : []),
  ];
}

export function sorted(values: Iterable<string>): string[] {
  return [...new Set(values)].sort();
}

/** Windows pods can't set what Linux containers are asked to. */
export function exceptOnWindows(check: Check): Check {
  return (pod, containers) =>
    pod.spec.os?.name === "windows" ? undefined : check(pod, containers);
}

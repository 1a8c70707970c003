// The border between objects of any kind and the interfaces of their kinds. A schema has checked an object before anything
// here gets it, which the compiler can't know: this file vouches for it, and no other file casts past `unknown`.
import type { AnyObject, KubeObject } from "../../api/object.ts";
import type { ResourceStrategy } from "./strategy.ts";

/** An object, a list of objects or a part of one as the interface of its kind. */
export function typed<T>(object: object): T;
export function typed<T>(object: object | undefined): T | undefined;
export function typed<T>(object: object | undefined): T | undefined {
  return object as T | undefined;
}

/** What was made as a kind's interface, as an object of any kind. */
export function untyped(object: object): AnyObject {
  return object as AnyObject;
}

/** Rules that are written for a kind's interface, as the registry runs them: on objects of that kind. */
export function strategyOf<T extends KubeObject>(
  strategy: ResourceStrategy<T>,
): ResourceStrategy {
  return strategy as unknown as ResourceStrategy;
}

// Conversion between the served versions of a kind, and from versions of the years before, by what its strategy says.
// Versions that it does not name have one shape: only their apiVersion changes.
import type { AnyObject } from "../../api/object.ts";
import type { ResourceStrategy } from "../resources/strategy.ts";

/** Never changes its argument; may return it. */
export function convertBy(
  { conversions = {} }: Pick<ResourceStrategy, "conversions">,
  object: AnyObject,
  apiVersion: string,
): AnyObject {
  const { kind, apiVersion: from } = object;
  if (from === apiVersion) return object;
  const converted = conversions[`${from} ${apiVersion}`]?.(object) ?? object;
  return { ...converted, kind, apiVersion };
}

/** Changes the object, which was just read. */
export function upgradeBy(
  { upgrades }: Pick<ResourceStrategy, "upgrades">,
  object: AnyObject,
): void {
  upgrades?.[object.apiVersion ?? ""]?.(object);
}

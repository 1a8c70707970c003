// The constraint that all devices of some requests have one attribute in common.
import type {
  Device,
  DeviceAttribute,
  DeviceConstraint,
} from "../../api/types/resource-v1beta1.ts";

export class MatchAttribute {
  readonly #name: string;
  /** Empty: all of the claim. */
  readonly #requests: ReadonlySet<string>;
  #attribute: DeviceAttribute | undefined;
  #count = 0;

  constructor({ matchAttribute = "", requests = [] }: DeviceConstraint) {
    this.#name = matchAttribute;
    this.#requests = new Set(requests);
  }

  /** False: the device does not go with those that were added before. */
  add(request: string, driver: string, device: Device): boolean {
    if (!this.#concerns(request)) return true;
    const attribute = this.#attributeOf(driver, device);
    if (!attribute) return false;
    if (this.#count === 0) this.#attribute = attribute;
    else if (!isSame(this.#attribute, attribute)) return false;
    this.#count++;
    return true;
  }

  /** Takes back an add() that was true. */
  remove(request: string): void {
    if (this.#concerns(request)) this.#count--;
  }

  #concerns(request: string): boolean {
    return this.#requests.size === 0 || this.#requests.has(request);
  }

  /** A driver's own attributes have no domain in front. */
  #attributeOf(driver: string, { basic }: Device): DeviceAttribute | undefined {
    const attributes = basic?.attributes ?? {};
    const slash = this.#name.indexOf("/");
    if (Object.hasOwn(attributes, this.#name)) return attributes[this.#name];
    const bare = this.#name.slice(slash + 1);
    return slash >= 0 &&
      this.#name.slice(0, slash) === driver &&
      Object.hasOwn(attributes, bare)
      ? attributes[bare]
      : undefined;
  }
}

function isSame(a: DeviceAttribute | undefined, b: DeviceAttribute): boolean {
  return (["string", "int", "bool", "version"] as const).some(
    (kind) => b[kind] !== undefined && a?.[kind] === b[kind],
  );
}

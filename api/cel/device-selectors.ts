// The environment of selectors of devices, and a device as their one variable. Attributes and capacities are looked up
// by domain, then by name; a domain that the device does not have is an empty map, as at the reference.
import type {
  BasicDevice,
  DeviceAttribute,
} from "../types/resource-v1beta1.ts";
import { Environment } from "./environment.ts";
import { parseQuantityValue, quantityType } from "./functions/quantities.ts";
import { parseSemver, semverLibrary } from "./functions/semver.ts";
import {
  dynDeclared,
  mapDeclared,
  objectDeclared,
  stringDeclared,
  valueDeclared,
  type DeclaredType,
} from "./schemas/declared-type.ts";
import { bindMacros } from "./syntax/macros.ts";
import { EntryMap, Failure, type Result, type Value } from "./values/value.ts";

const maxDomainBytes = 63;
const maxValueBytes = 64;
const maxEntries = 32;

/** @param expressions "stored": they have been accepted before */
export function deviceEnvironment(expressions: "new" | "stored"): Environment {
  const domains = (of: DeclaredType): DeclaredType =>
    mapDeclared(mapDeclared(of, maxEntries), maxEntries);
  const fields = {
    driver: stringDeclared(maxDomainBytes),
    attributes: domains({ ...dynDeclared, maxElements: maxValueBytes }),
    capacity: domains(valueDeclared(quantityType)),
  };
  const device = objectDeclared(
    "kubernetes.DRADevice",
    new Map(
      Object.entries(fields).map(([jsonName, reader]) => [
        jsonName,
        { jsonName, reader },
      ]),
    ),
  );
  return new Environment({
    variables: { device },
    expressions,
    functions: [semverLibrary],
    macros: bindMacros,
  });
}

/** A map in which every key has a value: an empty map where there is none. */
class Domains extends EntryMap {
  override get(key: Value): Value {
    return super.get(key) ?? new EntryMap();
  }
}

/** The variables of one device. A failure names an attribute that can't be read. */
export function deviceVariables(
  driver: string,
  { attributes = {}, capacity = {} }: BasicDevice,
): { readonly device: Value } | Failure {
  const read = <T>(
    entries: Readonly<Record<string, T>>,
    valueOf: (raw: T) => Result,
  ): Domains | Failure => {
    const domains = new Domains();
    const known = new Map<string, EntryMap>();
    for (const [name, raw] of Object.entries(entries)) {
      const value = valueOf(raw);
      if (value instanceof Failure)
        return new Failure(`attribute ${name}: ${value.message}`);
      const slash = name.indexOf("/");
      const domain = slash < 0 ? driver : name.slice(0, slash);
      const inner = known.get(domain) ?? new EntryMap();
      known.set(domain, inner);
      domains.set(domain, inner);
      inner.set(name.slice(slash + 1), value);
    }
    return domains;
  };
  const readAttributes = read(attributes, attributeValue);
  const readCapacity = read(capacity, ({ value }) => parseQuantityValue(value));
  if (readAttributes instanceof Failure) return readAttributes;
  if (readCapacity instanceof Failure) return readCapacity;
  const device = new EntryMap();
  device.set("driver", driver);
  device.set("attributes", readAttributes);
  device.set("capacity", readCapacity);
  return { device };
}

function attributeValue({
  bool,
  int,
  string,
  version,
}: DeviceAttribute): Result {
  if (int !== undefined) return BigInt(int);
  if (bool !== undefined) return bool;
  if (string !== undefined) return string;
  if (version === undefined) return new Failure("unsupported attribute value");
  const parsed = parseSemver(version);
  return parsed instanceof Failure
    ? new Failure(`parse semantic version: ${parsed.message}`)
    : parsed;
}

// metadata.managedFields as managers with their sets: decoding, encoding in the reference's order, the limit of update
// managers, and the paths that no manager owns.
import { formatTime } from "../clock.ts";
import type { FieldError } from "../errors.ts";
import type { AnyObject } from "../object.ts";
import { sameJson } from "../objects/json-equality.ts";
import { fieldErrors } from "../field-errors.ts";
import type { Steps } from "../queueing/steps.ts";
import type { ManagedFieldsEntry } from "../types/meta-v1.ts";
import {
  decodeFieldSet,
  difference,
  encodeFieldSet,
  encodingLarge,
  equalSets,
  FieldSetBuilder,
  isEmptySet,
  union,
  type FieldSet,
} from "./field-set.ts";

export interface Manager {
  readonly name: string;
  readonly operation: "Apply" | "Update";
  readonly apiVersion: string;
  readonly subresource: string;
  readonly time: string | undefined;
  readonly set: FieldSet;
}

/** By identity: name, operation, subresource, and for updates the version. */
export type Managers = ReadonlyMap<string, Manager>;

const maxUpdateManagers = 10;
const ancient = "ancient-changes";

export function managerId(
  manager: Pick<Manager, "name" | "operation" | "apiVersion" | "subresource">,
): string {
  const { name, operation, subresource } = manager;
  const version = operation === "Apply" ? "" : manager.apiVersion;
  // With the lengths no two identities have one text.
  return `${name.length} ${version.length} ${name}${operation}${version}${subresource}`;
}

/** Undefined when an entry can't be read: then the whole field counts as absent. Of two of one manager the last counts. */
export function decodeManagers(
  entries: readonly ManagedFieldsEntry[] | undefined,
): Managers | undefined {
  const managers = new Map<string, Manager>();
  for (const entry of entries ?? []) {
    const {
      manager = "",
      operation,
      apiVersion = "",
      subresource = "",
      time,
      fieldsType,
      fieldsV1,
    } = entry;
    if (operation !== "Apply" && operation !== "Update") return undefined;
    if (fieldsType !== "FieldsV1") return undefined;
    const set = decodeFieldSet(fieldsV1 ?? {});
    if (!set) return undefined;
    const decoded: Manager = {
      name: manager,
      operation,
      apiVersion,
      subresource,
      time: time ?? undefined,
      set,
    };
    managers.set(managerId(decoded), decoded);
  }
  return managers;
}

/** Does a request ask for no managers at all? */
export function isReset(
  entries: readonly ManagedFieldsEntry[] | undefined,
): boolean {
  return (
    entries?.length === 0 ||
    (entries?.length === 1 && Object.keys(entries[0]!).length === 0)
  );
}

/** A request may bring managedFields of its own; entries it leaves out or spoils are taken from the live object. */
export function managersOf(
  live: Readonly<AnyObject> | undefined,
  object: AnyObject,
  subresource: string,
): Managers {
  const stored =
    decodeManagers(live?.metadata.managedFields) ?? new Map<string, Manager>();
  if (subresource !== "") return stored;
  const given = object.metadata.managedFields;
  if (isReset(given)) return new Map();
  const known = live?.metadata.managedFields;
  if (!given || given === known || sameJson(given, known)) return stored;
  const managers = decodeManagers(given);
  return managers && managers.size > 0 ? managers : stored;
}

/** Apply before Update, then by time, name, version, subresource; empty sets are left out. */
function encodeManagers(managers: Managers): ManagedFieldsEntry[] {
  const list = capUpdates(
    [...managers.values()].filter(({ set }) => !isEmptySet(set)),
  );
  const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
  list.sort(
    (a, b) =>
      order(a.operation, b.operation) ||
      order(a.time ?? "", b.time ?? "") ||
      order(a.name, b.name) ||
      order(a.apiVersion, b.apiVersion) ||
      order(a.subresource, b.subresource),
  );
  return list.map(entryOf);
}

/** The same in steps. */
export function* encodingManagers(
  managers: Managers,
): Steps<ManagedFieldsEntry[]> {
  for (const { set } of managers.values()) yield* encodingLarge(set);
  return encodeManagers(managers);
}

/** One property after the other: spreading what is there and what is not costs an object and a map for each. */
function entryOf({
  name,
  operation,
  apiVersion,
  subresource,
  time,
  set,
}: Manager): ManagedFieldsEntry {
  const entry: ManagedFieldsEntry = {};
  if (name) entry.manager = name;
  entry.operation = operation;
  entry.apiVersion = apiVersion;
  if (time) entry.time = time;
  entry.fieldsType = "FieldsV1";
  entry.fieldsV1 = encodeFieldSet(set);
  if (subresource) entry.subresource = subresource;
  return entry;
}

/** More than ten updaters: the oldest of a version become one. */
function capUpdates(managers: Manager[]): Manager[] {
  if (managers.length <= maxUpdateManagers) return managers;
  const updates = managers
    .filter(
      ({ operation, subresource }) =>
        operation === "Update" && subresource === "",
    )
    .sort((a, b) => ((a.time ?? "") < (b.time ?? "") ? -1 : 1));
  let over = updates.length - maxUpdateManagers;
  if (over <= 0) return managers;
  const merged = new Map<string, Manager>();
  const gone = new Set<Manager>();
  for (const manager of updates) {
    if (over < 0 || (over === 0 && merged.size > 0)) break;
    const bucket = merged.get(manager.apiVersion);
    merged.set(
      manager.apiVersion,
      bucket
        ? { ...bucket, time: manager.time, set: union(bucket.set, manager.set) }
        : { ...manager, name: ancient },
    );
    gone.add(manager);
    // The first of a version only changes its name; each one after it makes the list shorter.
    if (bucket) over--;
  }
  return [
    ...managers.filter((manager) => !gone.has(manager)),
    ...merged.values(),
  ];
}

export function equalManagers(a: Managers, b: Managers): boolean {
  if (a.size !== b.size) return false;
  for (const [id, manager] of a) {
    const other = b.get(id);
    if (
      !other ||
      other.apiVersion !== manager.apiVersion ||
      !equalSets(manager.set, other.set)
    )
      return false;
  }
  return true;
}

const unowned: FieldSet = (() => {
  const set = new FieldSetBuilder();
  set.insert(["f:apiVersion"]);
  set.insert(["f:kind"]);
  set.insert(["f:metadata"]);
  const names = [
    "name",
    "namespace",
    "creationTimestamp",
    "selfLink",
    "uid",
    "clusterName",
    "generation",
    "managedFields",
    "resourceVersion",
  ];
  for (const name of names) set.insert(["f:metadata", `f:${name}`]);
  return set.build();
})();

/** Without identity and system fields, which belong to no one. */
export function stripUnowned(set: FieldSet): FieldSet {
  return difference(set, unowned);
}

export const timeText = (nowMs: number): string => formatTime(nowMs);

const maxManagerBytes = 128;
const maxSubresourceBytes = 256;

/** What is wrong with the name of a manager. */
export function managerProblems(manager: string, field: string): FieldError[] {
  const problems: FieldError[] = [];
  if (manager.length <= maxManagerBytes && /^[\x20-\x7e]*$/.test(manager))
    return problems;
  if (Buffer.byteLength(manager) > maxManagerBytes)
    problems.push(fieldErrors.tooLong(field, maxManagerBytes));
  let at = 0;
  for (const character of manager) {
    if (/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.test(character)) {
      const code = character.codePointAt(0)!.toString(16).toUpperCase();
      problems.push(
        fieldErrors.invalid(
          field,
          manager,
          `invalid character U+${code.padStart(4, "0")} (at position ${at})`,
        ),
      );
    }
    at += Buffer.byteLength(character);
  }
  return problems;
}

/** What is wrong with entries that can be read. */
export function managedFieldsProblems(
  entries: readonly ManagedFieldsEntry[] | undefined,
): FieldError[] {
  const problems: FieldError[] = [];
  for (const [index, entry] of (entries ?? []).entries()) {
    const { manager = "", subresource = "" } = entry;
    const field = `metadata.managedFields[${index}]`;
    problems.push(...managerProblems(manager, `${field}.manager`));
    if (Buffer.byteLength(subresource) > maxSubresourceBytes)
      problems.push(
        fieldErrors.tooLong(`${field}.subresource`, maxSubresourceBytes),
      );
  }
  return problems;
}

// What an apply would take from other managers: the conflicts, in the order and words of the reference, and the fields of
// client-side apply that kubectl may take over.
import { ApiError } from "../errors.ts";
import type { AnyObject } from "../object.ts";
import type { StatusCause } from "../types/meta-v1.ts";
import {
  difference,
  intersection,
  pathsOf,
  pathText,
  type FieldPath,
  type FieldSet,
} from "./field-set.ts";
import { isJsonObject } from "./json-value.ts";
import type { Manager, Managers } from "./managed-fields.ts";
import type { PatchSchema } from "./patch-schema.ts";
import { compare } from "./comparison.ts";
import { fieldsOf } from "./typed-value.ts";

/** Where client-side apply keeps what it applied. */
export const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";

/** Who applies. */
interface Applier {
  readonly manager: string;
  readonly schema: PatchSchema | undefined;
  readonly conflictVersion?: string | undefined;
}

interface Conflict {
  readonly manager: Manager;
  readonly path: FieldPath;
}

function managerText(
  { name, operation, apiVersion, subresource }: Manager,
  version = apiVersion,
): string {
  const who = `${JSON.stringify(name)}${subresource ? ` with subresource ${JSON.stringify(subresource)}` : ""}`;
  return operation === "Update" ? `${who} using ${version}` : who;
}

function conflictError(
  conflicts: readonly Conflict[],
  version: string | undefined,
): ApiError {
  const causes: StatusCause[] = conflicts.map(({ manager, path }) => ({
    reason: "FieldManagerConflict",
    message: `conflict with ${managerText(manager, version)}`,
    field: pathText(path),
  }));
  const [first] = conflicts;
  let message = `Apply failed with 1 conflict: conflict with ${managerText(first!.manager, version)}: ${pathText(first!.path)}`;
  if (conflicts.length > 1) {
    const lines: string[] = [];
    for (const manager of new Set(
      conflicts.map((conflict) => conflict.manager),
    )) {
      lines.push(`conflicts with ${managerText(manager, version)}:`);
      for (const one of conflicts)
        if (one.manager === manager) lines.push(`- ${pathText(one.path)}`);
    }
    message = `Apply failed with ${conflicts.length} conflicts: ${lines.join("\n")}`;
  }
  return new ApiError({
    code: 409,
    reason: "Conflict",
    message,
    details: { causes },
  });
}

/** By name, operation, version and subresource. */
function orderOf(a: Manager, b: Manager): number {
  if (a === b) return 0;
  const text = ({ name, operation, apiVersion, subresource }: Manager) =>
    JSON.stringify([
      name,
      operation,
      operation === "Apply" ? "" : apiVersion,
      subresource,
    ]);
  const [first, second] = [text(a), text(b)];
  return first < second ? -1 : first > second ? 1 : 0;
}

/** What is owned by others and would change, in their order. */
export function conflictsWith(
  managers: Managers,
  changedOf: (manager: Manager) => FieldSet,
  applier: string,
): Conflict[] {
  const conflicts: Conflict[] = [];
  for (const [id, manager] of managers) {
    if (id === applier) continue;
    for (const path of pathsOf(intersection(manager.set, changedOf(manager))))
      conflicts.push({ manager, path });
  }
  // Stable: the paths of one manager keep their order.
  if (conflicts.length > 1)
    conflicts.sort((a, b) => orderOf(a.manager, b.manager));
  return conflicts;
}

/** The fields that client-side apply set and no manager changed since: kubectl's server-side apply may take them over. */
function takeable(
  live: Readonly<AnyObject>,
  schema: PatchSchema | undefined,
): FieldSet | undefined {
  const text = live.metadata.annotations?.[lastApplied];
  if (!text) return undefined;
  try {
    const applied = JSON.parse(text) as unknown;
    if (!isJsonObject(applied)) return undefined;
    const { added, modified, removed } = compare(applied, live, schema);
    return difference(
      difference(difference(fieldsOf(applied, schema), modified), added),
      removed,
    );
  } catch {
    return undefined;
  }
}

/** Throws ApiError 409 with one cause a conflict. */
export function refuseConflicts(
  conflicts: Conflict[],
  live: Readonly<AnyObject>,
  applier: Applier,
): void {
  if (conflicts.length === 0) return;
  const allowed =
    applier.manager === "kubectl" ? takeable(live, applier.schema) : undefined;
  const left = allowed
    ? conflicts.filter(({ path }) => {
        let node: FieldSet | undefined = allowed;
        for (const part of path) node = node?.children.get(part);
        return !node?.member;
      })
    : conflicts;
  if (left.length > 0) throw conflictError(left, applier.conflictVersion);
}

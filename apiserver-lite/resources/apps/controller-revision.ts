// ControllerRevisions: data that never changes and a revision number that does not go below zero.
import type { ControllerRevision } from "../../../api/types/apps-v1.ts";
import { formatAge, orNone } from "../../printing/age.ts";
import { strategyOf } from "../typed.ts";
import { immutable, nonNegative } from "../field-checks.ts";
import { fieldErrors } from "../../../api/field-errors.ts";

/** "statefulset.apps/web": the owner that controls the revision. */
function controllerText({ metadata }: ControllerRevision): string {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller);
  if (!owner) return "<none>";
  const slash = owner.apiVersion.indexOf("/");
  const group = slash < 0 ? "" : `.${owner.apiVersion.slice(0, slash)}`;
  return `${owner.kind.toLowerCase()}${group}/${owner.name}`;
}

export const controllerRevisionStrategy = strategyOf<ControllerRevision>({
  countsGeneration: false,
  validate(object) {
    return nonNegative("revision", object.revision);
  },
  validateCreate(object) {
    const { data } = object;
    if (data === undefined || data === null)
      return [fieldErrors.required("data", "data is mandatory")];
    return typeof data === "object" && !Array.isArray(data)
      ? []
      : [fieldErrors.required("data", "data must be a valid JSON object")];
  },
  validateUpdate: (object, old) =>
    immutable("data", object.data, old.data, "runtime.RawExtension"),
  printRow: (revision, now) => {
    return [
      revision.metadata.name,
      orNone(controllerText(revision)),
      revision.revision,
      formatAge(revision.metadata.creationTimestamp, now),
    ];
  },
});

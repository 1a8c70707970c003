// The query parameters every write shares: dryRun, fieldManager, fieldValidation, force. All problems are reported at once,
// under the name of the options kind that belongs to the verb.
import type { FieldValidation } from "../../api/codec/json.ts";
import { errors, type FieldError } from "../../api/errors.ts";
import { managerProblems } from "../../api/patch/managed-fields.ts";
import { fieldErrors } from "../../api/field-errors.ts";
import { dryRunProblems } from "../registry/verbs/delete.ts";
import { isTrue } from "../registry/verbs/watch.ts";

interface WriteOptions {
  readonly dryRun: boolean;
  readonly fieldManager: string;
  readonly fieldValidation: FieldValidation;
  readonly force: boolean;
}

const kinds: Readonly<Record<string, string>> = {
  update: "UpdateOptions",
  patch: "PatchOptions",
};

const defaultOptions: WriteOptions = {
  dryRun: false,
  fieldManager: "",
  fieldValidation: "Warn",
  force: false,
};

/** `patchType` of a PATCH. Throws ApiError 422. */
export function writeOptionsOf(
  query: URLSearchParams,
  verb: string,
  patchType?: string,
): WriteOptions {
  if (query.size === 0 && patchType !== "apply") return defaultOptions;
  // A bare `?dryRun` asks for nothing.
  const dryRun = query.getAll("dryRun").filter((value) => value !== "");
  const fieldManager = query.get("fieldManager") ?? "";
  const problems: FieldError[] = [];
  if (patchType === "apply") {
    if (fieldManager === "")
      problems.push(
        fieldErrors.required("fieldManager", "is required for apply patch"),
      );
  } else if (patchType !== undefined && query.has("force"))
    problems.push(
      fieldErrors.forbidden(
        "force",
        "may not be specified for non-apply patch",
      ),
    );
  problems.push(
    ...managerProblems(fieldManager, "fieldManager"),
    ...dryRunProblems(dryRun),
  );
  const validation = query.get("fieldValidation") ?? "";
  if (!["", "Ignore", "Warn", "Strict"].includes(validation))
    problems.push(
      fieldErrors.notSupported("fieldValidation", validation, [
        "",
        "Ignore",
        "Strict",
        "Warn",
      ]),
    );
  if (problems.length > 0)
    throw errors.invalid(
      { group: "meta.k8s.io", kind: kinds[verb] ?? "CreateOptions" },
      "",
      problems,
    );
  return {
    dryRun: dryRun.length > 0,
    fieldManager,
    fieldValidation: (validation || "Warn") as FieldValidation,
    force: isTrue(query.get("force")),
  };
}

// The content of a patch and the problems that strict reading finds in its text: the patch is read only when there is an
// object to change, as the reference reports a missing object before a bad patch.
import { errors } from "../../../api/errors.ts";
import type { AnyObject } from "../../../api/object.ts";
import {
  applyJsonPatch,
  parseJsonPatch,
  type JsonPatch,
} from "../../../api/patch/json-patch.ts";
import {
  isJsonObject,
  jsonKind,
  type JsonObject,
} from "../../../api/patch/json-value.ts";
import { applyMergePatch } from "../../../api/patch/merge-patch.ts";
import type { Steps } from "../../../api/queueing/steps.ts";
import type { PatchSchema } from "../../../api/patch/patch-schema.ts";
import { applyStrategicMergePatch } from "../../../api/patch/strategic.ts";

export type PatchType = "json" | "merge" | "strategic" | "apply";

export interface PatchText {
  /** The parsed document. */
  readonly value: unknown;
  /** Keys given twice. */
  readonly problems: readonly string[];
}

/** Parses the patch; its result is not changed. Throws ApiError 400. */
export type ReadPatch = () => Steps<PatchText>;

/** A patch in memory has no text. */
export const patchOf =
  (value: unknown): ReadPatch =>
  () =>
    inMemory(value);

function* inMemory(value: unknown): Steps<PatchText> {
  yield;
  return { value, problems: [] };
}

/** A patch ready to be applied, as often as other writes come between. */
export interface Change {
  readonly apply: (object: AnyObject) => unknown;
  readonly problems: readonly string[];
  /** The document, for strategic patches, whose refusals show it. */
  readonly shown?: JsonObject;
}

/** `strict`: fieldValidation Warn or Strict. Throws ApiError 400, 413, 415. */
export function changeOf(
  type: Exclude<PatchType, "apply">,
  { value, problems }: PatchText,
  strict: boolean,
  schema: PatchSchema | undefined,
): Change {
  switch (type) {
    case "json": {
      const patch = parseJsonPatch(value, strict);
      return {
        apply: (object) => applyJsonPatch<unknown>(object, patch),
        problems: [
          ...problems.map((problem) => `json patch ${problem}`),
          ...patch.unknownFields,
          ...problems.flatMap((problem) => inTheResult(problem, patch)),
        ],
      };
    }
    case "merge":
      // The reference only looks at what it can't merge when it reads strictly.
      if (Array.isArray(value) && !strict)
        return { apply: () => value, problems };
      if (!isJsonObject(value)) throw notMergeable(value, strict);
      return { apply: (object) => applyMergePatch(object, value), problems };
    case "strategic": {
      if (!schema) throw noStrategicMerge();
      const document = value ?? {};
      return {
        apply: (object) => applyStrategicMergePatch(object, document, schema),
        problems,
        shown: document as JsonObject,
      };
    }
  }
}

function notMergeable(value: unknown, strict: boolean) {
  return errors.badRequest(
    strict && value !== null
      ? `error decoding patch: json: cannot unmarshal ${jsonKind(value)} into Go value of type map[string]interface {}`
      : "Invalid JSON Patch",
  );
}

function noStrategicMerge() {
  return errors.unsupportedMediaType(
    "the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml",
  );
}

/** A key twice in the value of an operation is twice in the patched text too: `duplicate field "data.a"`. */
function inTheResult(problem: string, patch: JsonPatch): string[] {
  const [, index, path] =
    /^duplicate field "\[(\d+)\]\.value\.(.*)"$/.exec(problem) ?? [];
  const operation = patch.operations[Number(index)];
  if (path === undefined || operation?.op === "test") return [];
  const [, ...parts] = (operation?.path ?? "").split("/");
  return [`duplicate field "${[...parts, path].join(".")}"`];
}

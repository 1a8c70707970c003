// The object that a write sends: decoded by the transport, accepted here. The problems that strict decoding found are
// errors, warnings or ignored, as fieldValidation says, and another kind or version than the place's is refused.
import {
  strictDecodingError,
  strictError,
  warningsOf,
  type Decoded,
} from "../../api/codec/json.ts";
import { cannotBeHandled, unknownKind } from "../../api/codec/conform.ts";
import { internalTypeName } from "../../api/codec/value-type-names.ts";
import { errors } from "../../api/errors.ts";
import { parseApiVersion, type AnyObject } from "../../api/object.ts";
import { otherKind } from "../registry/verbs/patched-object.ts";
import type { Call } from "../registry/call.ts";
import type { Types } from "../registry/kinds/kind-definition.ts";
import type { RequestBody, WantedBody } from "./request.ts";

/** Of the kind that is written here: the subresource's, or the resource's own. Throws ApiError 400, 413, 415. */
export async function bodyOf(
  call: Call,
  body: RequestBody,
): Promise<AnyObject> {
  const { endpoint, subresource } = call;
  const { apiVersion, kind, schema, protobuf } = endpoint.bodyType(subresource);
  const wanted: WantedBody = {
    apiVersion,
    kind,
    schema,
    protobuf,
    fieldValidation: call.options.fieldValidation ?? "Warn",
  };
  const decoding = body.decode(wanted);
  const decoded = decoding instanceof Promise ? await decoding : decoding;
  call.bytes = body.bytes ?? 0;
  const turn = call.nextTurn();
  if (turn) await turn;
  checkProblems(call, decoded!, wanted);
  const object = decoded!.object as AnyObject;
  if (endpoint.custom && endpoint.isObject(subresource))
    checkCustomKind(object, apiVersion, kind);
  else checkKind(object, apiVersion, kind, endpoint.types);
  object.kind = kind;
  object.apiVersion = apiVersion;
  object.metadata ??= {} as AnyObject["metadata"];
  call.options.trail?.received(object);
  return object;
}

/** Throws ApiError 400. */
function checkProblems(
  call: Call,
  { object, problems }: Decoded,
  { schema, apiVersion, fieldValidation }: WantedBody,
): void {
  if (problems.length === 0) return;
  if (fieldValidation === "Strict")
    throw schema
      ? strictError(object, schema, problems, apiVersion)
      : errors.badRequest(strictDecodingError(problems));
  if (fieldValidation === "Warn")
    for (const problem of problems)
      warningsOf(problem).forEach(call.warn, call);
}

/** Custom resources must say what they are. Throws ApiError 400 for another version, 422 for another kind. */
function checkCustomKind(
  object: AnyObject,
  apiVersion: string,
  kind: string,
): void {
  if (object.apiVersion !== apiVersion)
    throw errors.badRequest(
      `the API version in the data (${object.apiVersion ?? ""}) does not match the expected API version (${apiVersion})`,
    );
  if (object.kind !== kind) throw otherKind(object, { apiVersion, kind });
}

/** Throws ApiError 400 for an object of another kind or version. */
function checkKind(
  object: { kind?: string; apiVersion?: string },
  apiVersion: string,
  kind: string,
  types: Types,
): void {
  const found = {
    kind: object.kind || kind,
    apiVersion: object.apiVersion || apiVersion,
  };
  if (found.kind === kind && found.apiVersion === apiVersion) return;
  const { group } = parseApiVersion(apiVersion);
  const { version } = parseApiVersion(found.apiVersion);
  if (types.schemaOf(found.apiVersion, found.kind) === undefined)
    throw cannotBeHandled(
      found.kind,
      version,
      kind,
      unknownKind(found.apiVersion, found.kind),
    );
  if (found.kind !== kind)
    throw cannotBeHandled(
      found.kind,
      version,
      kind,
      `converting (${version}.${found.kind}) to (${internalTypeName(group, kind)}): unknown conversion`,
    );
  throw errors.badRequest(
    `the API version in the data (${found.apiVersion}) does not match the expected API version (${apiVersion})`,
  );
}

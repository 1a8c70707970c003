// The errors of the API: each is a Status object with the reference's code, reason, message and causes.
// Thrown by the registry and by every client transport alike, so that callers test `isNotFound(error)` whatever the transport.
import type { Status, StatusCause } from "./types/meta-v1.ts";
import { qualifiedResource, type GroupVersionResource } from "./object.ts";

/** One problem of an object, as field validation reports it. `type` is the reference's cause reason. */
export interface FieldError {
  readonly type:
    | "FieldValueRequired"
    | "FieldValueInvalid"
    | "FieldValueNotSupported"
    | "FieldValueForbidden"
    | "FieldValueDuplicate"
    | "FieldValueNotFound"
    | "FieldValueTooLong"
    | "FieldValueTooMany"
    | "FieldValueTypeInvalid"
    | "InternalError";
  /** e.g. `spec.containers[0].name` */
  readonly field: string;
  /** The text without the field path, e.g. `Required value: must have a name`. */
  readonly detail: string;
}

export class ApiError extends Error {
  readonly status: Status & { code: number };
  /** Extra response headers, e.g. Retry-After. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: Partial<Status> & { code: number },
    headers: Record<string, string> = {},
  ) {
    super(status.message ?? status.reason ?? `status ${status.code}`);
    this.name = "ApiError";
    // The reference writes a Status's fields in this order, and people compare the text.
    const { metadata = {}, message, reason, details, code } = status;
    this.status = {
      kind: "Status",
      apiVersion: "v1",
      metadata,
      status: status.status ?? "Failure",
      ...(message !== undefined && { message }),
      ...(reason !== undefined && { reason }),
      ...(details !== undefined && { details }),
      code,
    };
    this.headers = headers;
  }

  get code(): number {
    return this.status.code;
  }

  get reason(): string {
    return this.status.reason ?? "";
  }
}

type ResourceName = Pick<GroupVersionResource, "group" | "resource">;

function named(
  code: number,
  reason: string,
  message: string,
  { group, resource }: ResourceName,
  name: string,
  causes?: StatusCause[],
): ApiError {
  const details = {
    ...(name ? { name } : {}),
    ...(group ? { group } : {}),
    kind: resource,
    ...(causes ? { causes } : {}),
  };
  return new ApiError({ code, reason, message, details });
}

export const errors = {
  notFound: (resource: ResourceName, name: string): ApiError =>
    named(
      404,
      "NotFound",
      `${qualifiedResource(resource)} "${name}" not found`,
      resource,
      name,
    ),

  alreadyExists: (resource: ResourceName, name: string): ApiError =>
    named(
      409,
      "AlreadyExists",
      `${qualifiedResource(resource)} "${name}" already exists`,
      resource,
      name,
    ),

  conflict: (resource: ResourceName, name: string, why: string): ApiError =>
    named(
      409,
      "Conflict",
      `Operation cannot be fulfilled on ${qualifiedResource(resource)} "${name}": ${why}`,
      resource,
      name,
    ),

  /** A stale resourceVersion. */
  stale: (resource: ResourceName, name: string): ApiError =>
    errors.conflict(
      resource,
      name,
      "the object has been modified; please apply your changes to the latest version and try again",
    ),

  /** All problems of an object at once; `kind` goes into details as the reference does. */
  invalid: (
    gk: { group: string; kind: string },
    name: string,
    problems: readonly FieldError[],
  ): ApiError => {
    const texts = problems.map(
      (problem) => `${problem.field}: ${problem.detail}`,
    );
    // The message says everything once, the causes as often as it was found.
    const distinct = [...new Set(texts)];
    const all =
      distinct.length === 1 ? distinct[0]! : `[${distinct.join(", ")}]`;
    const qualifiedKind = gk.group === "" ? gk.kind : `${gk.kind}.${gk.group}`;
    return new ApiError({
      code: 422,
      reason: "Invalid",
      message: `${qualifiedKind} "${name}" is invalid: ${all}`,
      details: {
        ...(name ? { name } : {}),
        ...(gk.group ? { group: gk.group } : {}),
        ...(gk.kind ? { kind: gk.kind } : {}),
        causes: problems.map(({ type, field, detail }) => ({
          reason: type,
          message: detail,
          field,
        })),
      },
    });
  },

  forbidden: (resource: ResourceName, name: string, why: string): ApiError => {
    const what =
      name === ""
        ? `${qualifiedResource(resource)} is forbidden`
        : `${qualifiedResource(resource)} "${name}" is forbidden`;
    return named(403, "Forbidden", `${what}: ${why}`, resource, name);
  },

  badRequest: (message: string): ApiError =>
    new ApiError({ code: 400, reason: "BadRequest", message }),
  unauthorized: (): ApiError =>
    new ApiError({
      code: 401,
      reason: "Unauthorized",
      message: "Unauthorized",
    }),
  methodNotAllowed: (resource: ResourceName, verb: string): ApiError =>
    new ApiError({
      code: 405,
      reason: "MethodNotAllowed",
      message: `${verb} is not supported on resources of kind "${qualifiedResource(resource)}"`,
      details: {
        ...(resource.group ? { group: resource.group } : {}),
        kind: resource.resource,
      },
    }),
  notAcceptable: (message: string): ApiError =>
    new ApiError({ code: 406, reason: "NotAcceptable", message }),
  unsupportedMediaType: (message: string): ApiError =>
    new ApiError({ code: 415, reason: "UnsupportedMediaType", message }),
  tooLarge: (message: string): ApiError =>
    new ApiError({ code: 413, reason: "RequestEntityTooLarge", message }),
  /** In the words of the reference, whose store refuses it: it gives no reason. */
  tooLargeToStore: (): ApiError =>
    new ApiError({ code: 500, message: "etcdserver: request is too large" }),
  expired: (message: string): ApiError =>
    new ApiError({ code: 410, reason: "Expired", message }),
  gone: (message: string): ApiError =>
    new ApiError({ code: 410, reason: "Gone", message }),
  timeout: (message: string, retryAfterSeconds = 1): ApiError =>
    new ApiError(
      { code: 504, reason: "Timeout", message, details: { retryAfterSeconds } },
      { "Retry-After": String(retryAfterSeconds) },
    ),
  tooManyRequests: (message: string, retryAfterSeconds = 1): ApiError =>
    new ApiError(
      {
        code: 429,
        reason: "TooManyRequests",
        message,
        details: { retryAfterSeconds },
      },
      { "Retry-After": String(retryAfterSeconds) },
    ),
  unavailable: (message: string): ApiError =>
    new ApiError({ code: 503, reason: "ServiceUnavailable", message }),
  internal: (message: string): ApiError =>
    new ApiError({
      code: 500,
      reason: "InternalError",
      message: `Internal error occurred: ${message}`,
      details: { causes: [{ message }] },
    }),
};

function hasReason(error: unknown, reason: string): boolean {
  return error instanceof ApiError && error.reason === reason;
}
export const isNotFound = (error: unknown): boolean =>
  hasReason(error, "NotFound");
export const isAlreadyExists = (error: unknown): boolean =>
  hasReason(error, "AlreadyExists");
export const isConflict = (error: unknown): boolean =>
  hasReason(error, "Conflict");
export const isForbidden = (error: unknown): boolean =>
  hasReason(error, "Forbidden");
export const isInvalid = (error: unknown): boolean =>
  hasReason(error, "Invalid");
/** The client must start its watch or list again: the history is gone. */
export const isExpired = (error: unknown): boolean =>
  hasReason(error, "Expired") || hasReason(error, "Gone");

/** Of a write to an object that is no longer the one that was meant; `key` is the store's. */
export const otherUidText = (
  key: string,
  wanted: string,
  found: string | undefined,
): string =>
  `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${wanted}, UID in object meta: ${found ?? ""}`;

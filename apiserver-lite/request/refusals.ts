// 404 and 405 of paths and methods that no resource serves, the same over HTTP and in process.
import { ApiError } from "../../api/errors.ts";

/** Below a place that is served: nothing is here. */
export function pathNotFound(): ApiError {
  return new ApiError({
    code: 404,
    reason: "NotFound",
    message: "the server could not find the requested resource",
    details: {},
  });
}

export function methodNotAllowed(): ApiError {
  return new ApiError({
    code: 405,
    reason: "MethodNotAllowed",
    message: "the server does not allow this method on the requested resource",
    details: {},
  });
}

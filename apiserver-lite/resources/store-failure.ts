// The errors for clients when the store can't be reached or written.
import { ApiError, errors } from "../../api/errors.ts";
import { StoreError } from "../../storage/store.ts";

/** ApiError 504 when it was waited for in vain, 500 when it is full, 503 otherwise. Others stay what they are. */
export function storeFailure(error: unknown): unknown {
  if (!(error instanceof StoreError)) return error;
  switch (error.code) {
    case "timeout":
      return new ApiError({
        code: 504,
        reason: "Timeout",
        message:
          "Timeout: request did not complete within requested timeout - context deadline exceeded",
        details: {},
      });
    case "full":
      return errors.internal(`store: ${error.message}`);
    default:
      return errors.unavailable(`store: ${error.message}`);
  }
}

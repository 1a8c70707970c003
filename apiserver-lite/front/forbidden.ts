// The 403 of the authorization filter and of what asks the authorizer once more.
import type { AccessAttributes } from "../../api/contracts.ts";
import { ApiError } from "../../api/errors.ts";
import { forbiddenError } from "../authorization/refusal.ts";

/** 403 in the reference's words, with the header of its filter. */
export function forbidden(
  attributes: AccessAttributes,
  reason: string,
): ApiError {
  return new ApiError(forbiddenError(attributes, reason).status, headers);
}

/** The texts name what was asked for: no browser should make more of them. */
const headers = { "x-content-type-options": "nosniff" };

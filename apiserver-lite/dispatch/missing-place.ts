// What is answered where a resource has no such place, or not for the method. Built-in resources are routes of the
// reference's router; custom resources are not, so that what they don't have is named, or is no page at all.
import { errors } from "../../api/errors.ts";
import { placeOf } from "./places.ts";
import type { Endpoint } from "../registry/endpoint.ts";
import { methodNotAllowed, pathNotFound } from "../request/refusals.ts";
import type { RequestInfo } from "../request/request-info.ts";
import { pageNotFound } from "../request/route.ts";

export function nothingAt(endpoint: Endpoint, info: RequestInfo): Error {
  if (!endpoint.custom) return pathNotFound();
  return placeOf(endpoint, info)?.startsWith("/")
    ? errors.notFound(endpoint.info, info.name)
    : pageNotFound();
}

export function notAllowedAt(endpoint: Endpoint, info: RequestInfo): Error {
  if (!endpoint.custom) return methodNotAllowed();
  return placeOf(endpoint, info) === "everywhere"
    ? pageNotFound()
    : errors.methodNotAllowed(endpoint.info, info.verb);
}

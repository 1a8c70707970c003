// create: a stored object, a review (answered, never stored), or what a subresource makes of the body: the
// path's, or that of another object which the kind creates through.
import { errors } from "../../api/errors.ts";
import type { AnyObject } from "../../api/object.ts";
import { Call } from "../registry/call.ts";
import { create } from "../registry/verbs/create.ts";
import { manageFields } from "../registry/field-owners.ts";
import { admitCreated, runSubresource } from "../registry/verbs/subresource.ts";
import { bodyOf } from "./body.ts";
import { methodNotAllowed } from "../request/refusals.ts";
import { callOf, type Outcome, type RequestContext } from "./request.ts";
import { writeOptionsOf } from "./write-options.ts";

export async function performCreate(request: RequestContext): Promise<Outcome> {
  const { endpoint, subresource, query } = request;
  const call = callOf(request, writeOptionsOf(query, "create"));
  const body = await bodyOf(call, request.body);
  const { virtual } = endpoint.strategy;
  if (virtual) {
    if (endpoint.info.namespaced) place(body, call.namespace);
    await manageFields(call, undefined, body);
    const admitted = await admitCreated(call, body);
    return { status: 201, value: await virtual.create(admitted, call) };
  }
  const target = through(call, body) ?? (subresource !== "" ? call : undefined);
  if (target) {
    const value = await runSubresource(target, "create", body, call);
    return { status: 201, value };
  }
  if (!endpoint.stored) throw methodNotAllowed();
  return { status: 201, entry: await create(call, body) };
}

/** Authorization has checked the path's namespace. Throws ApiError 400. */
function place({ metadata }: AnyObject, namespace: string): void {
  metadata.namespace ||= namespace;
  if (metadata.namespace !== namespace)
    throw errors.badRequest(
      "the namespace of the provided object does not match the namespace sent on the request",
    );
}

/** The call of the subresource that a create of this kind goes through. */
function through(
  { registry, options, endpoint }: Call,
  body: AnyObject,
): Call | undefined {
  const { createsThrough } = endpoint.strategy;
  if (!createsThrough) return undefined;
  const { resource, subresource } = createsThrough;
  return new Call(registry, {
    ...options,
    endpoint: registry.endpoint(
      resource.group,
      resource.version,
      resource.resource,
    )!,
    name: body.metadata.name ?? "",
    subresource,
  });
}

// update: the whole object, a part of it (status), or a subresource's own kind.
import { errors } from "../../api/errors.ts";
import { runSubresource } from "../registry/verbs/subresource.ts";
import { update } from "../registry/verbs/update.ts";
import { bodyOf } from "./body.ts";
import { callOf, type Outcome, type RequestContext } from "./request.ts";
import { writeOptionsOf } from "./write-options.ts";

export async function performUpdate(request: RequestContext): Promise<Outcome> {
  const { endpoint, subresource, query } = request;
  const call = callOf(request, writeOptionsOf(query, "update"));
  const body = await bodyOf(call, request.body);
  if (!body.metadata.name)
    throw errors.badRequest(
      `the name of the object (${call.name} based on URL) was undeterminable: name must be provided`,
    );
  if (!endpoint.isObject(subresource))
    return { status: 200, value: await runSubresource(call, "update", body) };
  const { entry, created } = await update(call, body);
  return { status: created ? 201 : 200, entry };
}

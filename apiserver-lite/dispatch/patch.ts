// patch: of the object, a part of it, or what a subresource shows of it. The patch is parsed only once the object is
// there: a missing object is reported before a bad patch.
import { errors } from "../../api/errors.ts";
import { plainNumbers } from "../../api/exact-number.ts";
import type { Steps } from "../../api/queueing/steps.ts";
import { isJsonObject, jsonKind } from "../../api/patch/json-value.ts";
import { patch } from "../registry/verbs/patch.ts";
import type { PatchText, PatchType } from "../registry/verbs/patch-text.ts";
import { patchSubresource } from "../registry/verbs/subresource.ts";
import { callOf, type Outcome, type RequestContext } from "./request.ts";
import { writeOptionsOf } from "./write-options.ts";

export async function performPatch(request: RequestContext): Promise<Outcome> {
  const { endpoint, subresource, query, body } = request;
  const type = body.patchType!;
  const options = writeOptionsOf(query, "patch", type);
  const call = callOf(request, options);
  const parse = await body.patch(options.fieldValidation);
  call.bytes = body.bytes ?? 0;
  const reader = new PatchReader(type, parse);
  const read = (): Steps<PatchText> => reader.read();
  if (
    !endpoint.isObject(subresource) &&
    endpoint.strategy.subresources?.[subresource]
  )
    return { status: 200, value: await patchSubresource(call, type, read) };
  const { entry, created } = await patch(call, type, read);
  return { status: created ? 201 : 200, entry };
}

/**
 * Parses a patch once. A class, as a generator function made for each request would cost each a hidden class that lives,
 * with all that the function refers to, until the next full collection.
 */
class PatchReader {
  #text: PatchText | undefined;

  constructor(
    private readonly type: PatchType,
    private readonly parse: () => Steps<PatchText>,
  ) {}

  *read(): Steps<PatchText> {
    return (this.#text ??= accepted(this.type, yield* this.parse()));
  }
}

/** An applied configuration is an object or nothing. Throws ApiError 400. */
function accepted(type: PatchType, text: PatchText): PatchText {
  if (type !== "apply") return text;
  const { value, problems } = text;
  if (value !== null && !isJsonObject(value))
    throw errors.badRequest(
      `error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ${jsonKind(value)} into Go value of type map[string]interface {}`,
    );
  return { value: plainNumbers(value), problems };
}

// The options of a delete: from its body, or without one from the query, whose dryRun counts in any case.
import { UndecodableBody } from "../../api/codec/conform.ts";
import { errors } from "../../api/errors.ts";
import type { DeleteOptions } from "../../api/types/meta-v1.ts";
import type { Endpoint } from "../registry/endpoint.ts";
import { integer } from "../registry/verbs/list.ts";
import { isTrue } from "../registry/verbs/watch.ts";
import type { RequestBody, RequestContext } from "./request.ts";

const ignoreReadError = "ignoreStoreReadErrorWithClusterBreakingPotential";
const wantedKind = "DeleteOptions";

/** Throws ApiError 400, 413, 415. */
export async function deleteOptionsOf({
  query,
  body,
  endpoint,
}: Pick<
  RequestContext,
  "query" | "body" | "endpoint"
>): Promise<DeleteOptions> {
  const dryRun = query.getAll("dryRun").filter((value) => value !== "");
  const given = await decode(body, endpoint);
  if (given)
    return dryRun.includes("All") ? { ...given, dryRun: ["All"] } : given;
  const options: DeleteOptions = {};
  if (query.size === 0) return options;
  if (dryRun.length > 0) options.dryRun = dryRun;
  const grace = query.get("gracePeriodSeconds");
  if (grace !== null) options.gracePeriodSeconds = integer(grace);
  const policy = query.get("propagationPolicy");
  if (policy !== null) options.propagationPolicy = policy;
  const orphans = query.get("orphanDependents");
  if (orphans !== null) options.orphanDependents = isTrue(orphans);
  const uid = query.get("uid");
  if (uid) options.preconditions = { uid };
  if (isTrue(query.get(ignoreReadError))) options[ignoreReadError] = true;
  return options;
}

/** Throws ApiError 400 with the reference's words, which it says with a 500. */
async function decode(
  body: RequestBody,
  { types }: Endpoint,
): Promise<DeleteOptions | undefined> {
  try {
    const decoded = await body.decode({
      schema: types.schemaOf("v1", wantedKind),
      protobuf: true,
      apiVersion: "",
      kind: wantedKind,
      fieldValidation: "Ignore",
      optional: true,
    });
    if (!decoded) return undefined;
    const options = decoded.object as DeleteOptions;
    const { kind = wantedKind, apiVersion = "meta.k8s.io/v1" } = options;
    if (kind !== wantedKind)
      throw errors.badRequest(
        `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)} in scheme "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/register.go:27"`,
      );
    return options;
  } catch (error) {
    if (!(error instanceof UndecodableBody)) throw error;
    throw errors.badRequest(error.why);
  }
}

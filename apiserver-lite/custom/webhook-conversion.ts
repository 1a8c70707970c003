// Conversion between the versions of a definition by its webhook: a ConversionReview for each batch, whose answer must be
// the same objects in the version that was asked for, in the same order. What it may change is checked here with the
// reference's texts; names, uid and all other metadata but labels and annotations are kept from the original.
import { randomUUID } from "node:crypto";
import { parseForeignJson } from "../../client/webhook/foreign-json.ts";
import { ApiError } from "../../api/errors.ts";
import { parseApiVersion, type AnyObject } from "../../api/object.ts";
import type { Pause } from "../../api/queueing/steps.ts";
import { isJsonObject } from "../../api/patch/json-value.ts";
import type { WebhookConversion } from "../../api/types/apiextensions-v1.ts";
import type { DeferredConversion } from "../registry/kinds/kind-definition.ts";
import { labels } from "../resources/field-checks.ts";
import { validateAnnotations } from "../resources/object-meta.ts";
import type { TimeSlices } from "../loop/time-slices.ts";
import type { WebhookClients } from "../webhook-client/webhook-clients.ts";

/** Objects of one call. */
const maxBatch = 100;
/** Of a call, as at the reference. */
const timeoutMs = 30_000;
/** Of a batch: the call ends first, and its text is the answer. */
const batchTimeoutMs = timeoutMs + 5000;
const reviewGroup = "apiextensions.k8s.io";
const reviewVersions = ["v1", "v1beta1"];

export interface ConversionCalls {
  readonly clients: WebhookClients;
  readonly slices: TimeSlices;
}

/** @param prune takes what the schema of its version does not have out of an object */
export function webhookConversion(
  { clientConfig, conversionReviewVersions }: WebhookConversion,
  kind: string,
  { clients, slices }: ConversionCalls,
  prune: (object: AnyObject) => AnyObject,
): DeferredConversion {
  const version = conversionReviewVersions.find((one) =>
    reviewVersions.includes(one),
  );
  return {
    ...{ mode: "deferred", maxBatch, timeoutMs: batchTimeoutMs },
    async convert(objects, apiVersion, signal) {
      const refuse = (what: string): never => {
        const { group, version: from } = parseApiVersion(
          objects[0]!.apiVersion ?? "",
        );
        throw new ApiError({
          code: 500,
          message: `conversion webhook for ${group}/${from}, Kind=${kind} ${what}`,
        });
      };
      if (!version)
        return refuse("failed: no supported conversion review versions");
      const uid = randomUUID();
      const pause = slices.pauses();
      const review = await reviewText(
        { version, uid, apiVersion, objects },
        pause,
      );
      const answer = await clients
        .post(clientConfig ?? {}, review, { timeoutMs, signal })
        .catch((error: unknown) =>
          refuse(`failed: ${(error as Error).message}`),
        );
      const result = await convertedIn(answer, version, uid, pause);
      if (typeof result === "string") return refuse(`failed: ${result}`);
      if (result.length !== objects.length)
        return refuse(
          `returned ${result.length} objects, expected ${objects.length}`,
        );
      const made: AnyObject[] = [];
      for (const [index, converted] of result.entries()) {
        const problem = problemOf(converted, objects[index]!, apiVersion);
        if (problem)
          refuse(
            `returned invalid converted object at index ${index}: ${problem}`,
          );
        made.push(prune(converted as AnyObject));
        const paused = pause();
        if (paused) await paused;
      }
      return made;
    },
  };
}

/** The ConversionReview's JSON. */
async function reviewText(
  {
    version,
    uid,
    apiVersion,
    objects,
  }: {
    readonly version: string;
    readonly uid: string;
    readonly apiVersion: string;
    readonly objects: readonly Readonly<AnyObject>[];
  },
  pause: Pause,
): Promise<string> {
  const texts: string[] = [];
  for (const object of objects) {
    texts.push(JSON.stringify(object));
    const paused = pause();
    if (paused) await paused;
  }
  const head = JSON.stringify({
    kind: "ConversionReview",
    apiVersion: `${reviewGroup}/${version}`,
    request: { uid, desiredAPIVersion: apiVersion },
  });
  return `${head.slice(0, -2)},"objects":[${texts.join(",")}]}}`;
}

/** The objects of an answer, or why there are none. */
async function convertedIn(
  bytes: Buffer,
  version: string,
  uid: string,
  pause: Pause,
): Promise<unknown[] | string> {
  let review: unknown;
  try {
    review = await parseForeignJson(bytes, pause);
  } catch (error) {
    return (error as Error).message;
  }
  if (!isJsonObject(review)) return "the answer is no object";
  const { apiVersion = "", kind = "", response } = review;
  if (version === "v1") {
    const wanted = `${reviewGroup}/${version}, Kind=ConversionReview`;
    const got = parseApiVersion(String(apiVersion));
    const shown = `${got.group}/${got.version}, Kind=${String(kind)}`;
    if (shown !== wanted)
      return `expected webhook response of ${wanted}, got ${shown}`;
  }
  if (!isJsonObject(response)) return "no response provided";
  if (version === "v1" && response["uid"] !== uid)
    return `expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(response["uid"] ?? "")}`;
  const result = isJsonObject(response["result"]) ? response["result"] : {};
  const { status = "", message } = result;
  if (status !== "Success")
    return typeof message === "string" && message !== ""
      ? message
      : `response.result.status was '${String(status)}', not 'Success'`;
  const objects = response["convertedObjects"] ?? [];
  return Array.isArray(objects) ? objects : "convertedObjects is no list";
}

function problemOf(
  converted: unknown,
  original: Readonly<AnyObject>,
  apiVersion: string,
): string | undefined {
  if (!isJsonObject(converted)) return "it is no object";
  if (converted["apiVersion"] !== apiVersion)
    return `invalid groupVersion (expected ${apiVersion}, received ${String(converted["apiVersion"] ?? "")})`;
  if (converted["kind"] !== original.kind)
    return `invalid kind (expected ${original.kind}, received ${String(converted["kind"] ?? "")})`;
  const { metadata } = converted;
  if (metadata === undefined) return "missing metadata in converted object";
  if (!isJsonObject(metadata)) return "invalid metadata in converted object";
  for (const [field, shown] of [
    ["name", "name"],
    ["namespace", "namespace"],
    ["uid", "UID"],
  ] as const) {
    const [now, was] = [metadata[field] ?? "", original.metadata[field] ?? ""];
    if (now !== was)
      return `must have the same ${shown}: ${was} != ${String(now)}`;
  }
  return (
    textsProblem(metadata, "labels") ?? textsProblem(metadata, "annotations")
  );
}

function textsProblem(
  metadata: Readonly<Record<string, unknown>>,
  field: "labels" | "annotations",
): string | undefined {
  const given = metadata[field];
  if (given === undefined || given === null) return undefined;
  if (!isJsonObject(given))
    return `invalid metadata.${field} in converted object`;
  for (const [key, value] of Object.entries(given))
    if (typeof value !== "string")
      return `metadata.${field}[${key}] must be a string in a converted object`;
  const texts = given as Record<string, string>;
  const [problem] =
    field === "labels"
      ? labels("metadata.labels", texts)
      : validateAnnotations(texts, "metadata.annotation");
  return problem && `${problem.field}: ${problem.detail}`;
}

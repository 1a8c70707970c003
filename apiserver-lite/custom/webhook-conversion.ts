// Conversion between the versions of a definition by its webhook: a ConversionReview for each batch, whose answer must be
// the same objects in the version that was asked for, in the same order. What it may change is checked here with the
// reference's texts; names, uid and all other metadata but labels and annotations are kept from the original.
import { randomUUID } from "node:crypto";
import { ApiError } from "../../api/errors.ts";
import { parseApiVersion, type AnyObject } from "../../api/object.ts";
import type { Pause } from "../../api/queueing/steps.ts";
import { sameValue } from "../../api/objects/json-equality.ts";
import { isJsonObject, jsonKind } from "../../api/patch/json-value.ts";
import { valueType } from "../../api/patch/map-notation.ts";
import type { WebhookConversion } from "../../api/types/apiextensions-v1.ts";
import type { DeferredConversion } from "../registry/kinds/kind-definition.ts";
import { labels } from "../resources/field-checks.ts";
import { validateAnnotations } from "../resources/object-meta.ts";
import type { TimeSlices } from "../loop/time-slices.ts";
import type {
  ConversionFailure,
  ConversionMetrics,
} from "./conversion-metrics.ts";
import {
  checkReviewKind,
  parseReview,
} from "../webhook-client/review-envelope.ts";
import type { WebhookClients } from "../webhook-client/webhook-clients.ts";

/** Objects of one call. */
const maxBatch = 100;
/** Of a call, as at the reference. */
const timeoutMs = 30_000;
/** Of a batch: the call ends first, and its text is the answer. */
const batchTimeoutMs = timeoutMs + 5000;
const reviewGroup = "apiextensions.k8s.io";
const reviewKind = "ConversionReview";
const reviewVersions = ["v1", "v1beta1"];

export interface ConversionCalls {
  readonly clients: WebhookClients;
  readonly slices: TimeSlices;
  readonly metrics: ConversionMetrics;
}

/** @param prune takes what the schema of its version does not have out of an object */
export function webhookConversion(
  { clientConfig, conversionReviewVersions }: WebhookConversion,
  { name: definition, kind }: { readonly name: string; readonly kind: string },
  { clients, slices, metrics }: ConversionCalls,
  prune: (object: AnyObject) => AnyObject,
): DeferredConversion {
  const version = conversionReviewVersions.find((one) =>
    reviewVersions.includes(one),
  );
  return {
    ...{ mode: "deferred", maxBatch, timeoutMs: batchTimeoutMs },
    async convert(objects, apiVersion, signal, each = false) {
      const startMs = performance.now();
      const { group, version: from } = parseApiVersion(
        objects[0]!.apiVersion ?? "",
      );
      const { version: to } = parseApiVersion(apiVersion);
      const versions = { definition, from, to };
      const refuse = (what: string, failure?: ConversionFailure): never => {
        if (failure) metrics.called(versions, startMs, failure);
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
        .traced(
          "Call conversion webhook",
          () => ({ UID: uid, "desired-api-version": apiVersion }),
          () => clients.post(clientConfig ?? {}, review, { timeoutMs, signal }),
        )
        .catch((error: unknown) =>
          refuse(`failed: ${(error as Error).message}`, "call_failure"),
        );
      const result = await convertedIn(answer, version, uid, pause);
      if (typeof result === "string")
        return refuse(`failed: ${result}`, "malformed_response_failure");
      if (result.length !== objects.length)
        return refuse(
          `returned ${result.length} objects, expected ${objects.length}`,
          "partial_response_failure",
        );
      const made: AnyObject[] = [];
      for (const [index, converted] of result.entries()) {
        const problem = problemOf(converted, objects[index]!, apiVersion);
        if (problem)
          refuse(
            shownProblem(problem, index, each || objects.length === 1),
            "invalid_converted_object_failure",
          );
        made.push(prune(converted as AnyObject));
        const paused = pause();
        if (paused) await paused;
      }
      metrics.called(versions, startMs);
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
    kind: reviewKind,
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
  let review: Readonly<Record<string, unknown>>;
  try {
    review = await parseReview(bytes, pause);
    checkReviewKind(review, { group: reviewGroup, version, kind: reviewKind });
  } catch (error) {
    return (error as Error).message;
  }
  const { apiVersion, kind, response } = review;
  if (version === "v1" && (!apiVersion || !kind)) {
    const got = String(apiVersion ?? "") || "/";
    return `expected webhook response of ${reviewGroup}/v1, Kind=${reviewKind}, got ${got}, Kind=${String(kind ?? "")}`;
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

interface Problem {
  /** The object is of another type, is another one, or has bad metadata. */
  readonly of: "type" | "identity" | "metadata";
  readonly text: string;
}

/** The reference has other texts for one object than for those of a list. */
function shownProblem(
  { of, text }: Problem,
  index: number,
  alone: boolean,
): string {
  const where = `at index ${index}`;
  if (of === "metadata")
    return `returned invalid metadata${alone ? "" : ` in object ${where}`}: ${text}`;
  if (!alone) return `returned invalid converted object ${where}: ${text}`;
  return `returned invalid object${of === "type" ? ` ${where}` : ""}: ${text}`;
}

function problemOf(
  converted: unknown,
  original: Readonly<AnyObject>,
  apiVersion: string,
): Problem | undefined {
  const wrong = typeProblem(converted, original, apiVersion);
  if (wrong) return { of: "type", text: wrong };
  const { metadata } = converted as { metadata?: unknown };
  const given = isJsonObject(metadata) ? metadata : {};
  for (const [field, shown] of [
    ["name", "name"],
    ["namespace", "namespace"],
    ["uid", "UID"],
  ] as const) {
    const [now, was] = [given[field] ?? "", original.metadata[field] ?? ""];
    if (now !== was)
      return {
        of: "identity",
        text: `must have the same ${shown}: ${was} != ${String(now)}`,
      };
  }
  const bad = metadataProblem(metadata, original);
  return bad === undefined ? undefined : { of: "metadata", text: bad };
}

function typeProblem(
  converted: unknown,
  original: Readonly<AnyObject>,
  wanted: string,
): string | undefined {
  if (converted === null) return "unexpected end of JSON input";
  if (!isJsonObject(converted))
    return `json: cannot unmarshal ${jsonKind(converted)} into Go value of type map[string]interface {}`;
  const { apiVersion = "", kind = "" } = converted;
  if (apiVersion !== wanted)
    return `invalid groupVersion (expected ${wanted}, received ${String(apiVersion)})`;
  if (kind !== original.kind)
    return `invalid kind (expected ${original.kind}, received ${String(kind)})`;
  return undefined;
}

function metadataProblem(
  metadata: unknown,
  original: Readonly<AnyObject>,
): string | undefined {
  if (metadata === undefined) return "missing metadata in converted object";
  if (!isJsonObject(metadata))
    return `invalid metadata of type ${typeName(metadata)} in converted object`;
  return (
    textsProblem("labels", metadata, original) ??
    textsProblem("annotations", metadata, original)
  );
}

/** What is as it was needs no check: older objects may have what is not accepted any more. */
function textsProblem(
  field: "labels" | "annotations",
  metadata: Readonly<Record<string, unknown>>,
  original: Readonly<AnyObject>,
): string | undefined {
  const given = metadata[field];
  if (given === undefined || given === null) return undefined;
  if (!isJsonObject(given))
    return `invalid metadata.${field} of type ${typeName(given)} in converted object`;
  for (const [key, value] of Object.entries(given))
    if (typeof value !== "string")
      return `metadata.${field}[${key}] must be a string, but is ${typeName(value)} in converted object`;
  const texts = given as Record<string, string>;
  if (sameValue(texts, original.metadata[field])) return undefined;
  const problems =
    field === "labels"
      ? labels("metadata.labels", texts)
      : validateAnnotations(texts, "metadata.annotation");
  const shown = problems.map((one) => `${one.field}: ${one.detail}`);
  return shown.length > 1 ? `[${shown.join(", ")}]` : shown[0];
}

const typeName = (value: unknown): string =>
  value === null ? "<nil>" : valueType(value);

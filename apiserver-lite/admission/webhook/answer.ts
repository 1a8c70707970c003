// What a webhook answered, read and checked as the reference does. An answer that is no review of the wanted version is
// a failed call; one that does not fit its request is an invalid response.
import { conform, TypeMismatch } from "../../../api/codec/conform.ts";
import type { Pause } from "../../../api/queueing/steps.ts";
import { cutDown } from "./large-answer.ts";
import { schemaFor } from "../../../api/schema.ts";
import type { Status } from "../../../api/types/meta-v1.ts";
import {
  checkReviewKind,
  parseReview,
  UnreadableAnswer,
  type Said,
} from "../../webhook-client/review-envelope.ts";

export interface Answer {
  readonly allowed: boolean;
  /** The refusal. */
  readonly status: Partial<Status> | undefined;
  /** JSON, undefined when there is none. */
  readonly patch: Buffer | undefined;
  readonly patchType: string;
  readonly auditAnnotations: Readonly<Record<string, string>>;
  readonly warnings: readonly string[];
}

interface Asked {
  readonly uid: string;
  readonly version: "v1" | "v1beta1";
  readonly mutating: boolean;
}

/** It is a review, but no answer to the request. */
export class InvalidAnswer extends Error {}

interface ReviewResponse {
  readonly uid?: string;
  readonly allowed?: boolean;
  readonly status?: Partial<Status>;
  /** In base64. */
  readonly patch?: string;
  readonly patchType?: string;
  readonly auditAnnotations?: Record<string, string>;
  readonly warnings?: string[];
}

/** Larger ones take long to be checked as a whole. */
const largeBytes = 128 * 1024;
const group = "admission.k8s.io";
const kindName = "AdmissionReview";

/** Rejects with UnreadableAnswer and InvalidAnswer, whose messages are the reference's. */
export async function readAnswer(
  bytes: Buffer,
  asked: Asked,
  pause: Pause,
): Promise<Answer> {
  const parsed = await parseReview(bytes, pause);
  const { value, patch: decodedPatch } =
    bytes.length > largeBytes
      ? await cutDown(parsed, pause)
      : { value: parsed, patch: undefined };
  const { said, response } = reviewIn(value, asked.version);
  if (!response) throw new InvalidAnswer("webhook response was absent");
  if (asked.version === "v1") checkIdentity(said, response, asked);
  const { patch, patchType } = patchOf(response, asked);
  return {
    allowed: response.allowed ?? false,
    status: response.status,
    patch: patch && (decodedPatch ?? patch),
    patchType,
    auditAnnotations: response.auditAnnotations ?? {},
    warnings: response.warnings ?? [],
  };
}

function reviewIn(
  value: object,
  version: "v1" | "v1beta1",
): { said: Said; response: ReviewResponse | undefined } {
  const said = checkReviewKind(value as Record<string, unknown>, {
    group,
    version,
    kind: kindName,
  });
  try {
    const schema = schemaFor(group, version, kindName)!;
    const { object } = conform(value, schema, false);
    const { response } = object as { response?: ReviewResponse };
    return { said, response };
  } catch (error) {
    if (error instanceof TypeMismatch)
      throw new UnreadableAnswer(goText(error.message));
    throw error;
  }
}

function goText(mismatch: string): string {
  return mismatch.startsWith("cannot unmarshal")
    ? `json: ${mismatch}`
    : mismatch;
}

function checkIdentity(
  { apiVersion, kind }: Said,
  response: ReviewResponse,
  { uid }: Asked,
): void {
  if (response.uid !== uid)
    throw new InvalidAnswer(
      `expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(response.uid ?? "")}`,
    );
  if (apiVersion === "" || kind === "")
    throw new InvalidAnswer(
      `expected webhook response of ${group}/v1, Kind=${kindName}, got ${apiVersion || "/"}, Kind=${kind}`,
    );
}

function patchOf(
  response: ReviewResponse,
  { version, mutating }: Asked,
): Pick<Answer, "patch" | "patchType"> {
  const has = Boolean(response.patch);
  const { patchType } = response;
  if (version === "v1beta1") {
    // Types were not read then.
    return mutating && has
      ? { patch: decoded(response), patchType: "JSONPatch" }
      : { patch: undefined, patchType: "" };
  }
  if (!mutating) {
    if (has)
      throw new InvalidAnswer(
        "validating webhook may not return response.patch",
      );
    if (patchType !== undefined)
      throw new InvalidAnswer(
        "validating webhook may not return response.patchType",
      );
    return { patch: undefined, patchType: "" };
  }
  if (has && patchType === undefined)
    throw new InvalidAnswer(
      "webhook returned response.patch but not response.patchType",
    );
  if (!has && patchType !== undefined)
    throw new InvalidAnswer(
      "webhook returned response.patchType but not response.patch",
    );
  if (patchType === "")
    throw new InvalidAnswer(
      'webhook returned invalid response.patchType of ""',
    );
  return {
    patch: has ? decoded(response) : undefined,
    patchType: patchType ?? "",
  };
}

function decoded({ patch = "" }: ReviewResponse): Buffer {
  return Buffer.from(patch, "base64");
}

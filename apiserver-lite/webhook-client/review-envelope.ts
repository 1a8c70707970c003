// The envelope of a webhook's answer, AdmissionReview or ConversionReview: read as JSON and checked to be of the kind and
// version that was asked for, with the reference's texts.
import { JsonSyntaxError } from "../../api/codec/json-text.ts";
import { isJsonObject, jsonKind } from "../../api/patch/json-value.ts";
import type { Pause } from "../../api/queueing/steps.ts";
import { parseForeignJson } from "../../client/webhook/foreign-json.ts";

/** It can't be read as a review. */
export class UnreadableAnswer extends Error {}

interface ReviewKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** What the answer says of itself; "" for what it does not say. */
export interface Said {
  readonly apiVersion: string;
  readonly kind: string;
}

/** Of an answer that is no JSON: looked at for how it begins. */
const maxLeadingBytes = 1024;

/** Rejects with UnreadableAnswer. */
export async function parseReview(
  bytes: Buffer,
  pause: Pause,
): Promise<Readonly<Record<string, unknown>>> {
  if (bytes.length === 0)
    throw new UnreadableAnswer(
      "0-length response with status code: 200 and content type: application/json",
    );
  let value: unknown;
  try {
    value = await parseForeignJson(bytes, pause);
  } catch (error) {
    const problem =
      error instanceof JsonSyntaxError ? error.message : syntaxProblem(bytes);
    throw new UnreadableAnswer(
      `couldn't get version/kind; json parse error: ${problem}`,
    );
  }
  // The reference reads null as an object without fields.
  if (value === null) return {};
  if (!isJsonObject(value)) throw new UnreadableAnswer(noObjectText(value));
  return value;
}

/** What is not said counts as what was asked for. Throws UnreadableAnswer. */
export function checkReviewKind(
  { apiVersion = "", kind = "" }: Readonly<Record<string, unknown>>,
  wanted: ReviewKind,
): Said {
  for (const one of [apiVersion, kind])
    if (typeof one !== "string")
      throw new UnreadableAnswer(
        `couldn't get version/kind; json parse error: json: cannot unmarshal ${jsonKind(one)} into Go value of type string`,
      );
  const said = { apiVersion, kind } as Said;
  const wantedVersion = `${wanted.group}/${wanted.version}`;
  const given = {
    apiVersion: said.apiVersion || wantedVersion,
    kind: said.kind || wanted.kind,
  };
  if (given.apiVersion !== wantedVersion || given.kind !== wanted.kind)
    throw new UnreadableAnswer(otherKind(given, wanted));
  return said;
}

/** Of a JSON value where an object of some kind is wanted. */
export const noObjectText = (value: unknown): string =>
  `couldn't get version/kind; json parse error: json: cannot unmarshal ${jsonKind(value)} into ${otherForm}`;

const otherForm =
  'Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

/** The reference takes what is no JSON for YAML, of which most text is a string. */
function syntaxProblem(bytes: Buffer): string {
  return /^\s*[[{]/.test(bytes.toString("utf8", 0, maxLeadingBytes))
    ? "unexpected end of JSON input"
    : `json: cannot unmarshal string into ${otherForm}`;
}

function otherKind({ apiVersion, kind }: Said, wanted: ReviewKind): string {
  const known =
    (kind === wanted.kind &&
      ["v1", "v1beta1"].some(
        (one) => apiVersion === `${wanted.group}/${one}`,
      )) ||
    (kind === "Status" && apiVersion === "v1");
  const version = apiVersion.slice(apiVersion.indexOf("/") + 1);
  return known
    ? `converting (${version}.${kind}) to (${wanted.version}.${wanted.kind}): unknown conversion`
    : `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)} in scheme "pkg/util/webhook/client.go:71"`;
}

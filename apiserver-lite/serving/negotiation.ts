// Content negotiation: which encoding and which shape (object, Table, PartialObjectMetadata) an Accept header asks for,
// with q-values and fallbacks. Both dialects of the protobuf media type and of the meta group are understood.
// The order of clauses is the reference's own: a plain type goes before a wildcard even when its quality is lower, and
// q=0 does not exclude.
import { errors } from "../../api/errors.ts";
import { leadingClauses } from "../request/media-type.ts";

export type FormatName = "json" | "yaml" | "protobuf" | "cbor";

export interface Negotiated {
  readonly format: FormatName;
  /** Of the answer, in the dialect it was asked in. */
  readonly contentType: string;
  readonly as:
    "" | "Table" | "PartialObjectMetadata" | "PartialObjectMetadataList";
  readonly asVersion: "v1" | "v1beta1";
  /** meta.orbit.io was asked for. */
  readonly alias: boolean;
  /** `;pretty=1` was asked for. */
  readonly pretty: boolean;
}

/** What can be answered at a place. */
export interface Offer {
  readonly protobuf: boolean;
  /** Objects themselves have no form in protobuf, only what is said of them: custom resources. */
  readonly custom?: boolean;
  readonly cbor: boolean;
  /** Table is possible. */
  readonly table: boolean;
  /** PartialObjectMetadata and its list are possible. */
  readonly partial: boolean;
  /** A watch: YAML does not stream. */
  readonly stream?: boolean;
}

export const jsonAnswer: Negotiated = {
  format: "json",
  contentType: "application/json",
  as: "",
  asVersion: "v1",
  alias: false,
  pretty: false,
};

interface Clause {
  readonly type: string;
  readonly subtype: string;
  readonly parameters: ReadonlyMap<string, string>;
  readonly quality: number;
}

interface MediaType {
  readonly name: FormatName;
  readonly subtype: string;
  readonly streams: boolean;
}

/** As offered, best first. */
const mediaTypes: readonly MediaType[] = [
  { name: "json", subtype: "json", streams: true },
  { name: "yaml", subtype: "yaml", streams: false },
  { name: "protobuf", subtype: "vnd.kubernetes.protobuf", streams: true },
  { name: "protobuf", subtype: "vnd.orbit.protobuf", streams: true },
  { name: "cbor", subtype: "cbor", streams: true },
];

/** The types a place answers in, as its errors name them. */
export function acceptedTypes({ protobuf, cbor, stream }: Offer): string[] {
  const suffix = stream ? ";stream=watch" : "";
  return [
    `application/json${suffix}`,
    ...(stream ? [] : ["application/yaml"]),
    ...(protobuf ? [`application/vnd.kubernetes.protobuf${suffix}`] : []),
    ...(cbor ? [`application/cbor${stream ? "-seq" : ""}`] : []),
  ];
}

const maxRemembered = 256;
/** Longer headers are parsed each time: together they would be hundreds of megabytes that any client could leave here. */
const maxRememberedLength = 512;

export class Negotiator {
  readonly #known = new Map<string, Negotiated | null>();

  /** Throws ApiError 406. */
  negotiate(accept: string | undefined, offer: Offer): Negotiated {
    if (!accept || accept === "application/json" || accept === "*/*")
      return jsonAnswer;
    const found =
      accept.length > maxRememberedLength
        ? choose(accept, offer)
        : this.#remembered(accept, offer);
    if (!found) throw notAcceptable({ ...offer, stream: false });
    if (offer.stream && found.format === "yaml") throw notAcceptable(offer);
    return found;
  }

  #remembered(accept: string, offer: Offer): Negotiated | null {
    const { protobuf, custom = false, cbor, table, partial } = offer;
    const key = `${accept}|${+protobuf}${+custom}${+cbor}${+table}${+partial}`;
    let found = this.#known.get(key);
    if (found === undefined) {
      found = choose(accept, offer) ?? null;
      if (this.#known.size >= maxRemembered) this.#known.clear();
      this.#known.set(key, found);
    }
    return found;
  }
}

function notAcceptable(offer: Offer): Error {
  return errors.notAcceptable(
    `only the following media types are accepted: ${acceptedTypes(offer).join(", ")}`,
  );
}

function choose(accept: string, offer: Offer): Negotiated | undefined {
  for (const clause of parseAccept(accept))
    for (const mediaType of mediaTypes)
      if (matches(clause, mediaType)) {
        const found = answerTo(clause, mediaType, offer);
        if (found) return found;
      }
  return undefined;
}

function matches({ type, subtype }: Clause, mediaType: MediaType): boolean {
  if (type === "*") return subtype === "*";
  return (
    type === "application" && (subtype === "*" || subtype === mediaType.subtype)
  );
}

function answerTo(
  { parameters }: Clause,
  { name, subtype, streams }: MediaType,
  offer: Offer,
): Negotiated | undefined {
  if (name === "cbor" && !offer.cbor) return undefined;
  const stream = parameters.get("stream");
  if (stream && (stream !== "watch" || !streams)) return undefined;
  const plain: Negotiated = {
    ...jsonAnswer,
    format: name,
    contentType: `application/${subtype}`,
    pretty: parameters.get("pretty") === "1",
  };
  const transforms = ["as", "g", "v"].some((key) => parameters.has(key));
  if (!transforms)
    return name === "protobuf" && (!offer.protobuf || offer.custom)
      ? undefined
      : plain;
  const as = parameters.get("as");
  const group = parameters.get("g");
  const version = parameters.get("v");
  if (group !== "meta.k8s.io" && group !== "meta.orbit.io") return undefined;
  if (version !== "v1" && version !== "v1beta1") return undefined;
  if (as === "Table") {
    if (!offer.table || (name !== "json" && name !== "yaml")) return undefined;
  } else if (
    !offer.partial ||
    (as !== "PartialObjectMetadata" && as !== "PartialObjectMetadataList")
  )
    return undefined;
  return {
    ...plain,
    as,
    asVersion: version,
    alias: group === "meta.orbit.io",
  };
}

/** The clauses of an Accept header, best first. */
export function parseAccept(text: string): Clause[] {
  const clauses: Clause[] = [];
  for (const part of leadingClauses(text).split(",").slice(0, 256)) {
    const clause = parseClause(part);
    if (clause) insert(clauses, clause);
  }
  return clauses;
}

/** Before all it precedes, from the end: `precedes` is no order, so how it is sorted counts. */
function insert(clauses: Clause[], clause: Clause): void {
  let at = clauses.length;
  while (at > 0 && precedes(clause, clauses[at - 1]!)) at--;
  clauses.splice(at, 0, clause);
}

function precedes(a: Clause, b: Clause): boolean {
  return (
    a.quality > b.quality ||
    (a.type !== "*" && b.type === "*") ||
    (a.subtype !== "*" && b.subtype === "*")
  );
}

function parseClause(text: string): Clause | undefined {
  const [range = "", ...rest] = text.split(";");
  const parts = range.split("/").map((part) => part.trim());
  const [type = "", subtype = type === "*" ? "*" : ""] = parts;
  if (subtype === "" || parts.length > 2) return undefined;
  const parameters = new Map<string, string>();
  let quality = 1;
  for (const parameter of rest) {
    const [name = "", value = "", ...more] = parameter.split("=");
    if (value === "" || more.length > 0) continue;
    if (name.trim() === "q") quality = /^[\d.+-]/.test(value) ? +value || 0 : 0;
    else parameters.set(name.trim(), value.trim());
  }
  return { type, subtype, parameters, quality };
}

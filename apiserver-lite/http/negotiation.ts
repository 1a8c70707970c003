// Content negotiation: which encoding and which shape (object, Table, PartialObjectMetadata) an Accept header asks for,
// with q-values and fallbacks. Both dialects of the protobuf media type and of the meta group are understood.
import { errors } from "../../api/errors.ts";

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
}

interface Clause {
  readonly type: string;
  readonly parameters: ReadonlyMap<string, string>;
  readonly quality: number;
}

const formats: Readonly<Record<string, FormatName>> = {
  "application/json": "json",
  "application/yaml": "yaml",
  "application/vnd.kubernetes.protobuf": "protobuf",
  "application/vnd.orbit.protobuf": "protobuf",
  "application/cbor": "cbor",
};

export const jsonAnswer: Negotiated = {
  format: "json",
  contentType: "application/json",
  as: "",
  asVersion: "v1",
  alias: false,
};

/** Which formats the resource has: custom resources have no protobuf. */
export interface Offer {
  readonly protobuf: boolean;
  readonly cbor: boolean;
  /** Table and PartialObjectMetadata are possible (get, list, watch of resources). */
  readonly transforms: boolean;
}

const maxRemembered = 256;

export class Negotiator {
  readonly #known = new Map<string, Negotiated | null>();

  /** Throws ApiError 406. */
  negotiate(accept: string | undefined, offer: Offer): Negotiated {
    if (!accept || accept === "application/json" || accept === "*/*")
      return jsonAnswer;
    const key = `${accept}|${+offer.protobuf}${+offer.cbor}${+offer.transforms}`;
    let found = this.#known.get(key);
    if (found === undefined) {
      found = choose(accept, offer) ?? null;
      if (this.#known.size >= maxRemembered) this.#known.clear();
      this.#known.set(key, found);
    }
    if (!found)
      throw errors.notAcceptable(
        `only the following media types are accepted: ${acceptable(offer).join(", ")}`,
      );
    return found;
  }
}

function acceptable({ protobuf, cbor }: Offer): string[] {
  return [
    "application/json",
    "application/yaml",
    ...(protobuf ? ["application/vnd.kubernetes.protobuf"] : []),
    ...(cbor ? ["application/cbor"] : []),
  ];
}

function choose(accept: string, offer: Offer): Negotiated | undefined {
  for (const clause of parseAccept(accept)) {
    const found = match(clause, offer);
    if (found) return found;
  }
  return undefined;
}

function match(
  { type, parameters }: Clause,
  offer: Offer,
): Negotiated | undefined {
  let format = formats[type];
  let contentType = type;
  if (type === "*/*" || type === "application/*") {
    format = "json";
    contentType = "application/json";
  }
  if (!format) return undefined;
  if (format === "protobuf" && !offer.protobuf) return undefined;
  if (format === "cbor" && !offer.cbor) return undefined;
  const as = parameters.get("as") ?? "";
  if (as === "") return { ...jsonAnswer, format, contentType };
  const group = parameters.get("g");
  const version = parameters.get("v");
  if (!offer.transforms) return undefined;
  if (group !== "meta.k8s.io" && group !== "meta.orbit.io") return undefined;
  if (version !== "v1" && version !== "v1beta1") return undefined;
  if (
    as !== "Table" &&
    as !== "PartialObjectMetadata" &&
    as !== "PartialObjectMetadataList"
  )
    return undefined;
  return {
    format,
    contentType,
    as,
    asVersion: version,
    alias: group === "meta.orbit.io",
  };
}

/** Best first; equal qualities keep their order. */
function parseAccept(text: string): Clause[] {
  const clauses: Clause[] = [];
  for (const part of text.split(",").slice(0, 32)) {
    const [type = "", ...rest] = part.split(";");
    const parameters = new Map<string, string>();
    for (const parameter of rest) {
      const equals = parameter.indexOf("=");
      if (equals < 0) continue;
      parameters.set(
        parameter.slice(0, equals).trim().toLowerCase(),
        parameter.slice(equals + 1).trim(),
      );
    }
    const quality = Number(parameters.get("q") ?? 1);
    if (quality === 0) continue;
    clauses.push({ type: type.trim().toLowerCase(), parameters, quality });
  }
  return clauses
    .map((clause, index) => ({ clause, index }))
    .sort((a, b) => b.clause.quality - a.clause.quality || a.index - b.index)
    .map(({ clause }) => clause);
}

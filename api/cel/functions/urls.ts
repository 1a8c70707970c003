// URLs: absolute ones and absolute paths.
import type { Library, OverloadText } from "../checking/declarations.ts";
import {
  escapedPath,
  hostAndPort,
  parseGoUrl,
  readingQuery,
  UrlError,
  type GoUrl,
} from "./go-url.ts";
import { method, ofText } from "./opaque.ts";
import { objectType } from "../checking/types.ts";
import {
  ArrayList,
  EntryMap,
  Failure,
  OpaqueValue,
  type Result,
} from "../values/value.ts";
import { isLarge } from "../values/weight.ts";
import { finish, Pace, type Steps } from "../../queueing/steps.ts";

const name = "kubernetes.URL";
export const urlType = objectType(name);

class UrlValue extends OpaqueValue {
  readonly type = urlType;
  constructor(readonly url: GoUrl) {
    super();
  }
  override equals(other: OpaqueValue): boolean {
    return (
      other instanceof UrlValue &&
      JSON.stringify(other.url) === JSON.stringify(this.url)
    );
  }
}

function parse(text: string): UrlValue | Failure {
  try {
    // The first knows no fragments but wants what the second would let pass.
    parseGoUrl(text, true);
    return new UrlValue(parseGoUrl(text, false));
  } catch (error) {
    if (error instanceof UrlError)
      return new Failure(
        `URL parse error during conversion from string: ${error.message}`,
      );
    throw error;
  }
}

/** What is wrong with a text as a URL, undefined for a good one. */
export function urlProblem(text: string): string | undefined {
  try {
    parseGoUrl(text, true);
    return undefined;
  } catch (error) {
    if (error instanceof UrlError) return error.message;
    throw error;
  }
}

const part = (id: string, read: (url: GoUrl) => Result): OverloadText[] => [
  method<UrlValue>(id, name, "string", ({ url }) => read(url)),
];

export const urlLibrary: Library = {
  url: [ofText("string_to_url", name, parse)],
  isURL: [
    ofText("is_url_string", "bool", (text) => urlProblem(text) === undefined),
  ],
  getScheme: part("url_get_scheme", ({ scheme }) => scheme),
  getHost: part("url_get_host", ({ host }) => host),
  getHostname: part("url_get_hostname", (url) => hostAndPort(url).name),
  getPort: part("url_get_port", (url) => hostAndPort(url).port),
  getEscapedPath: part("url_get_escaped_path", escapedPath),
  getQuery: [
    {
      ...method<UrlValue>(
        "url_get_query",
        name,
        "map(string, list(string))",
        ({ url }) => finish(readQuery(url)),
      ),
      inSteps: ([value]) => {
        const { url } = value as UrlValue;
        return isLarge(url.query) ? readQuery(url) : undefined;
      },
    },
  ],
};

function* readQuery(url: GoUrl): Steps<Result> {
  const values = new EntryMap();
  const pace = new Pace(200);
  for (const [key, list] of yield* readingQuery(url, pace)) {
    values.set(key, new ArrayList(list));
    if (pace.isOver()) yield;
  }
  return values;
}

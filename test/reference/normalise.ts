// An answer without what differs between two runs: uids, versions, times, generated names, addresses and tokens.
// Headers are those that clients look at; a JSON body is kept parsed, any other as text or base64.
import type { Answer } from "./scenario.ts";

/** Answers are looked into freely. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Json = any;

export interface Shown {
  status: number;
  headers: Record<string, string | string[]>;
  body?: Json;
}

const comparedHeaders = [
  "allow",
  "cache-control",
  "content-encoding",
  "content-type",
  "location",
  "retry-after",
  "vary",
  "warning",
  "www-authenticate",
  "x-content-type-options",
  "accept-patch",
];
const uid = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g;
const time = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z\b/g;

export interface Normaliser {
  normalise(answer: Answer, keep?: (body: Json) => unknown): Shown;
  /** Remembers generated names of an answer, so that they are masked in later ones. */
  own(body: Json): void;
}

export function createNormaliser(): Normaliser {
  const uids = new Map<string, string>();
  const generated = new Map<string, string>();

  function text(value: string): string {
    let masked = value
      .replace(uid, (found) => {
        if (!uids.has(found)) uids.set(found, `<uid ${uids.size + 1}>`);
        return uids.get(found)!;
      })
      .replace(time, "<time>");
    for (const [name, mask] of generated)
      masked = masked.replaceAll(name, mask);
    return masked;
  }

  function walk(value: Json, key: string): Json {
    if (typeof value === "string") {
      if (key === "resourceVersion" && value !== "" && value !== "0")
        return "<version>";
      if (key === "continue" && value !== "") return "<continue>";
      if (key === "token" && value.length > 100) return "<token>";
      // Documentation is each server's own words; what counts is that there is some.
      if (key === "description" && value !== "") return "<description>";
      return text(value);
    }
    if (Array.isArray(value)) return value.map((each) => walk(each, key));
    if (value !== null && typeof value === "object")
      return Object.fromEntries(
        Object.entries(value as Record<string, Json>).map(([name, each]) => [
          text(name),
          walk(each, name),
        ]),
      );
    return value;
  }

  function own(body: Json): void {
    const { name, generateName } = body?.metadata ?? {};
    if (
      generateName &&
      name?.startsWith(generateName) &&
      name !== generateName &&
      !generated.has(name)
    )
      generated.set(name, `${generateName}<suffix ${generated.size + 1}>`);
  }

  return {
    own,
    normalise(answer, keep) {
      const headers: Shown["headers"] = {};
      for (const name of comparedHeaders) {
        const value = answer.headers[name];
        if (value !== undefined)
          headers[name] = Array.isArray(value) ? value.map(text) : text(value);
      }
      let { body } = answer;
      if (body === undefined && answer.bytes.length > 0)
        body = /[^\P{Cc}\n\t\r]|\uFFFD/u.test(answer.text)
          ? { base64: answer.bytes.toString("base64") }
          : answer.text;
      if (keep) body = keep(body);
      return {
        status: answer.status,
        headers,
        ...(body === undefined ? {} : { body: walk(body, "") as Json }),
      };
    },
  };
}

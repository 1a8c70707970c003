// Reads YAML text into plain trees, from js-yaml's event stream: several documents, YAML 1.1 scalars, merge keys,
// anchors with a budget (an alias copies its node; the copies of a document are bounded in nodes and in bytes before they
// are made, so "billion laughs" and one long value named again and again end in an error), lines of every field and duplicate keys with their line. Trees hold only what JSON can say.
import {
  EVENT_ID,
  getScalarValue,
  parseEvents,
  SCALAR_STYLE,
  YAMLException,
  type Event,
  type ScalarEvent,
} from "js-yaml";
import { finish, type Steps } from "../queueing/steps.ts";
import { joinPath, setOwn } from "./json-text.ts";
import { resolvePlain } from "./yaml-scalar.ts";

/** Nodes that aliases may add to a document. */
const MAX_ALIASED_NODES = 100_000;
/** Bytes of text they may add: as much as a body may have of its own. */
const MAX_ALIASED_BYTES = 3 * 1024 * 1024;
const MAX_DEPTH = 200;

export class YamlSyntaxError extends Error {
  /** From 1. */
  readonly line: number;
  /** The reason without position. */
  readonly reason: string;
  /** @param shown the line the message names, where it is another; 0: none */
  constructor(
    reason: string,
    line: number,
    readonly shown = line,
  ) {
    super(shown > 0 ? `yaml: line ${shown}: ${reason}` : `yaml: ${reason}`);
    this.reason = reason;
    this.line = line;
  }
}

/** What the reference's parser calls the commonest mistakes, and how many lines earlier it sees them. */
const reasons: Readonly<Record<string, { text: string; before?: number }>> = {
  "tab characters must not be used in indentation": {
    text: "found character that cannot start any token",
  },
  "deficient indentation": { text: "found unexpected end of stream" },
  "unexpected end of the stream within a double quoted scalar": {
    text: "found unexpected end of stream",
  },
  "unexpected end of the stream within a single quoted scalar": {
    text: "found unexpected end of stream",
  },
  "bad indentation of a mapping entry": {
    text: "did not find expected key",
    before: 1,
  },
};

export interface DuplicateKey {
  readonly path: string;
  readonly key: string;
  readonly line: number;
}

export interface YamlDocument {
  readonly value: unknown;
  /** Of the first node, from 1. */
  readonly line: number;
  readonly duplicates: readonly DuplicateKey[];
  /** By path (`spec.containers[0].name`), of the key. Empty unless asked for. */
  readonly lines: ReadonlyMap<string, number>;
}

interface YamlOptions {
  /** Default false. */
  readonly withLines?: boolean;
}

/** Throws YamlSyntaxError. An empty document is null. */
export function parseYaml(text: string, options?: YamlOptions): YamlDocument[] {
  return finish(parsingYaml(text, options));
}

/** The same in steps. */
export function* parsingYaml(
  text: string,
  { withLines = false }: YamlOptions = {},
): Steps<YamlDocument[]> {
  let events: Event[];
  try {
    events = parseEvents(text, { maxDepth: MAX_DEPTH });
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    const line = (error.mark?.line ?? 0) + 1;
    const { text: reason, before = 0 } = reasons[error.reason] ?? {
      text: error.reason,
    };
    throw new YamlSyntaxError(reason, line, line - before);
  }
  yield;
  return new Composer(text, events, withLines).documents();
}

interface Anchored {
  readonly value: unknown;
  /** Of the value, what its own aliases added included. */
  readonly nodes: number;
  readonly bytes: number;
}

class Composer {
  readonly #text: string;
  readonly #events: readonly Event[];
  readonly #withLines: boolean;
  readonly #newlines: number[] = [];
  #at = 0;
  #nodes = 0;
  #bytes = 0;
  #aliased = { nodes: 0, bytes: 0 };
  #anchors = new Map<string, Anchored>();
  #duplicates: DuplicateKey[] = [];
  #lines = new Map<string, number>();

  constructor(text: string, events: readonly Event[], withLines: boolean) {
    this.#text = text;
    this.#events = events;
    this.#withLines = withLines;
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1))
      this.#newlines.push(at);
  }

  documents(): YamlDocument[] {
    const documents: YamlDocument[] = [];
    while (this.#at < this.#events.length) {
      this.#at++;
      this.#anchors = new Map();
      this.#duplicates = [];
      this.#lines = new Map();
      this.#aliased = { nodes: 0, bytes: 0 };
      const first = this.#events[this.#at]!;
      const line = this.#lineAt(startOf(first));
      const value = first.type === EVENT_ID.POP ? null : this.#node("");
      this.#at++;
      documents.push({
        value,
        line,
        duplicates: this.#duplicates,
        lines: this.#lines,
      });
    }
    return documents;
  }

  #lineAt(offset: number): number {
    let low = 0;
    let high = this.#newlines.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#newlines[middle]! < offset) low = middle + 1;
      else high = middle;
    }
    return low + 1;
  }

  #fail(reason: string, event: Event): never {
    throw new YamlSyntaxError(reason, this.#lineAt(startOf(event)));
  }

  #node(path: string): unknown {
    const event = this.#events[this.#at++]!;
    const bytesBefore = this.#bytes;
    const before = this.#nodes++;
    let value: unknown;
    switch (event.type) {
      case EVENT_ID.SCALAR:
        value = this.#scalar(event);
        break;
      case EVENT_ID.SEQUENCE: {
        const list: unknown[] = [];
        while (this.#events[this.#at]!.type !== EVENT_ID.POP) {
          const inner = this.#withLines ? joinPath(path, list.length) : "";
          if (this.#withLines)
            this.#lines.set(
              inner,
              this.#lineAt(startOf(this.#events[this.#at]!)),
            );
          list.push(this.#node(inner));
        }
        this.#at++;
        value = list;
        break;
      }
      case EVENT_ID.MAPPING:
        value = this.#mapping(path);
        break;
      case EVENT_ID.ALIAS:
        return this.#alias(event);
      default:
        this.#fail("unexpected document structure", event);
    }
    if (event.anchorStart >= 0) {
      const name = this.#text.slice(event.anchorStart, event.anchorEnd);
      this.#anchors.set(name, {
        value,
        nodes: this.#nodes - before,
        bytes: this.#bytes - bytesBefore,
      });
    }
    return value;
  }

  #alias(event: Event & { anchorStart: number; anchorEnd: number }): unknown {
    const name = this.#text.slice(event.anchorStart, event.anchorEnd);
    const anchored = this.#anchors.get(name);
    if (!anchored)
      throw new YamlSyntaxError(
        `unknown anchor '${name}' referenced`,
        this.#lineAt(startOf(event)),
        0,
      );
    this.#nodes += anchored.nodes;
    this.#bytes += anchored.bytes;
    const aliased = this.#aliased;
    aliased.nodes += anchored.nodes;
    aliased.bytes += anchored.bytes;
    if (aliased.nodes > MAX_ALIASED_NODES || aliased.bytes > MAX_ALIASED_BYTES)
      this.#fail("document contains excessive aliasing", event);
    return copyTree(anchored.value);
  }

  #mapping(path: string): Record<string, unknown> {
    const map: Record<string, unknown> = {};
    const merges: Record<string, unknown>[] = [];
    while (this.#events[this.#at]!.type !== EVENT_ID.POP) {
      const keyEvent = this.#events[this.#at]!;
      const isMerge =
        keyEvent.type === EVENT_ID.SCALAR &&
        keyEvent.style === SCALAR_STYLE.PLAIN &&
        keyEvent.valueEnd - keyEvent.valueStart === 2 &&
        this.#text.startsWith("<<", keyEvent.valueStart);
      if (isMerge) {
        this.#at++;
        const merged = this.#node(path);
        for (const source of Array.isArray(merged) ? merged : [merged]) {
          if (
            typeof source !== "object" ||
            source === null ||
            Array.isArray(source)
          )
            this.#fail(
              "map merge requires map or sequence of maps as the value",
              keyEvent,
            );
          merges.push(source as Record<string, unknown>);
        }
        continue;
      }
      const key = this.#key(this.#node(""), keyEvent);
      const inner = joinPath(path, key);
      const twice = Object.hasOwn(map, key);
      if (twice || this.#withLines) {
        const line = this.#lineAt(startOf(keyEvent));
        if (twice) this.#duplicates.push({ path: inner, key, line });
        if (this.#withLines) this.#lines.set(inner, line);
      }
      setOwn(map, key, this.#node(inner));
    }
    this.#at++;
    for (const source of merges)
      for (const key of Object.keys(source))
        if (!Object.hasOwn(map, key)) setOwn(map, key, source[key]);
    return map;
  }

  #key(key: unknown, event: Event): string {
    if (typeof key === "string") return key;
    if (typeof key === "number" || typeof key === "boolean") return String(key);
    return this.#fail(
      `unsupported map key of type ${key === null ? "null" : typeof key}`,
      event,
    );
  }

  #scalar(event: ScalarEvent): unknown {
    const text =
      event.valueStart < 0 && event.style === SCALAR_STYLE.PLAIN
        ? ""
        : getScalarValue(this.#text, event);
    this.#bytes += Buffer.byteLength(text);
    const tag =
      event.tagStart < 0 ? "" : this.#text.slice(event.tagStart, event.tagEnd);
    if (tag === "" && event.style !== SCALAR_STYLE.PLAIN) return text;
    const value = this.#tagged(tag, text, event);
    if (typeof value === "number" && !Number.isFinite(value))
      this.#fail(`json: unsupported value: ${text}`, event);
    return value;
  }

  #tagged(tag: string, text: string, event: Event): unknown {
    if (tag === "") return resolvePlain(text);
    switch (tag.replace(/^!<tag:yaml\.org,2002:(.*)>$/, "!!$1")) {
      case "!!null":
        return null;
      case "!!bool":
      case "!!int":
      case "!!float": {
        const value = resolvePlain(text);
        const wanted = tag.endsWith("bool") ? "boolean" : "number";
        if (typeof value !== wanted)
          this.#fail(`cannot decode !!str \`${text}\` as a ${tag}`, event);
        return value;
      }
      case "!!binary":
        return Buffer.from(text, "base64").toString("utf8");
      default:
        return text;
    }
  }
}

function startOf(event: Event): number {
  switch (event.type) {
    case EVENT_ID.SCALAR:
      return Math.max(event.valueStart, event.tagStart, event.anchorStart, 0);
    case EVENT_ID.SEQUENCE:
    case EVENT_ID.MAPPING:
      return event.start;
    case EVENT_ID.ALIAS:
      return event.anchorStart;
    default:
      return 0;
  }
}

function copyTree(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(copyTree);
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value))
    setOwn(copy, key, copyTree((value as Record<string, unknown>)[key]));
  return copy;
}

// Sets of field paths, the currency of server-side apply, held as the tree that FieldsV1 is: keys "f:<name>" (field),
// `k:{"name":"a"}` (list item by its keys), `v:"x"` (item of a set); a node that is itself a member and has children says
// so with ".". Example: {"f:spec":{"f:replicas":{}},"f:data":{".":{},"f:a":{}}} holds spec.replicas, data and data.a.
// Trees are never changed once they are out of the function that made them, so they may share parts.
import { stringified } from "../escaped-json.ts";
import { Pace, type Steps } from "../queueing/steps.ts";
import { isJsonObject, type JsonObject } from "./json-value.ts";

export interface FieldSet {
  /** Is the path that leads here in the set? */
  readonly member: boolean;
  readonly children: ReadonlyMap<string, FieldSet>;
}

export type FieldPath = readonly string[];

const noChildren: ReadonlyMap<string, FieldSet> = new Map();
export const emptySet: FieldSet = { member: false, children: noChildren };
export const leaf: FieldSet = { member: true, children: noChildren };

/** Most nodes are leaves: they share the empty map until they get a child. */
interface Growing {
  member: boolean;
  children: ReadonlyMap<string, FieldSet>;
}

/** Collects paths. */
export class FieldSetBuilder {
  readonly #root: Growing = { member: false, children: noChildren };

  insert(path: FieldPath): void {
    this.#nodeAt(path).member = true;
  }

  /** Inserts the path with what is below it; nothing below it may have been inserted before. */
  graft(path: FieldPath, below: FieldSet): void {
    const node = this.#nodeAt(path);
    node.member = true;
    node.children = below.children;
  }

  build(): FieldSet {
    return this.#root;
  }

  #nodeAt(path: FieldPath): Growing {
    let node = this.#root;
    for (const part of path) {
      let next = node.children.get(part);
      if (!next) {
        if (node.children === noChildren) node.children = new Map();
        next = { member: false, children: noChildren };
        (node.children as Map<string, FieldSet>).set(part, next);
      }
      node = next;
    }
    return node;
  }
}

export function isEmptySet(set: FieldSet): boolean {
  if (set.member) return false;
  for (const child of set.children.values())
    if (!isEmptySet(child)) return false;
  return true;
}

function withChildren(
  member: boolean,
  entries: Iterable<[string, FieldSet]>,
): FieldSet {
  const children = new Map<string, FieldSet>();
  for (const [key, child] of entries)
    if (child.member || child.children.size > 0) children.set(key, child);
  return { member, children };
}

/** `a` itself when `b` adds nothing. */
export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b || (b.children.size === 0 && !b.member)) return a;
  if (a.children.size === 0 && !a.member) return b;
  let children: Map<string, FieldSet> | undefined;
  for (const [key, child] of b.children) {
    const mine = a.children.get(key);
    const both = mine ? union(mine, child) : child;
    if (both !== mine) (children ??= new Map(a.children)).set(key, both);
  }
  if (!children && (a.member || !b.member)) return a;
  return { member: a.member || b.member, children: children ?? a.children };
}

/** Paths of `a` that are not in `b`: `a` itself when it has none of them. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  if (b.children.size === 0 && !b.member) return a;
  let children: Map<string, FieldSet> | undefined;
  for (const [key, other] of b.children) {
    const child = a.children.get(key);
    if (!child) continue;
    const left = difference(child, other);
    if (left === child) continue;
    children ??= new Map(a.children);
    if (left.member || left.children.size > 0) children.set(key, left);
    else children.delete(key);
  }
  const member = a.member && !b.member;
  if (!children && member === a.member) return a;
  return { member, children: children ?? a.children };
}

export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  const shared: [string, FieldSet][] = [];
  for (const [key, child] of a.children) {
    const other = b.children.get(key);
    if (other) shared.push([key, intersection(child, other)]);
  }
  return withChildren(a.member && b.member, shared);
}

/** Without the path and everything below it. */
export function withoutTree(set: FieldSet, path: FieldPath): FieldSet {
  const [first, ...rest] = path;
  const child = first === undefined ? undefined : set.children.get(first);
  if (first === undefined || !child) return set;
  const children = new Map(set.children);
  const left = rest.length === 0 ? emptySet : withoutTree(child, rest);
  if (left.member || left.children.size > 0) children.set(first, left);
  else children.delete(first);
  return { member: set.member, children };
}

export function equalSets(a: FieldSet, b: FieldSet): boolean {
  if (a === b) return true;
  if (a.member !== b.member || a.children.size !== b.children.size)
    return false;
  if (a.children.size === 0) return true;
  for (const key of a.children.keys()) {
    const other = b.children.get(key);
    if (!other || !equalSets(a.children.get(key)!, other)) return false;
  }
  return true;
}

/** All paths: of a node first its own members, then what is inside them, as the reference lists them. */
export function pathsOf(set: FieldSet): FieldPath[] {
  const paths: FieldPath[] = [];
  const visit = (node: FieldSet, path: string[]): void => {
    const keys = inOrder([...node.children.keys()]);
    for (const key of keys)
      if (node.children.get(key)!.member) paths.push([...path, key]);
    for (const key of keys) {
      const child = node.children.get(key)!;
      if (child.children.size > 0) visit(child, [...path, key]);
    }
  };
  visit(set, []);
  return paths;
}

const ranks = "fkvi";

/** Fields first, then list items by key, then values, then indexes, each by name: the reference's order. */
function isBefore(a: string, b: string): boolean {
  if (a[0] === b[0]) return a < b;
  return ranks.indexOf(a[0]!) < ranks.indexOf(b[0]!);
}

const compareKeys = (a: string, b: string): number =>
  isBefore(a, b) ? -1 : isBefore(b, a) ? 1 : 0;

/** Longer lists are left to the engine's sort, which takes half a KiB of memory for the shortest list. */
const fewKeys = 32;

/** Sorts the list itself; most are in order, or short. */
function inOrder(keys: string[]): string[] {
  for (let at = 1; at < keys.length; at++) {
    const key = keys[at]!;
    if (!isBefore(key, keys[at - 1]!)) continue;
    if (keys.length > fewKeys) return keys.sort(compareKeys);
    let to = at;
    for (; to > 0 && isBefore(key, keys[to - 1]!); to--)
      keys[to] = keys[to - 1]!;
    keys[to] = key;
  }
  return keys;
}

/**
 * Both forms of a set that was decoded or encoded once, as most writes change few managers or none: the trees of one are
 * never changed, the documents of the other belong to stored versions and are only ever copied.
 */
const documents = new WeakMap<FieldSet, JsonObject>();
const sets = new WeakMap<JsonObject, FieldSet>();
/** The last sets that were encoded: objects made from one template have the same, and share one document. */
const recent: FieldSet[] = [];
const maxRecent = 16;

/** The document is shared: do not change it. */
export function encodeFieldSet(set: FieldSet): JsonObject {
  const known = documents.get(set);
  if (known) return known;
  const equal = recent.find((other) => equalSets(set, other));
  if (equal) return documents.get(equal)!;
  const document = encodeTree(set);
  documents.set(set, document);
  sets.set(document, set);
  if (!isLarge(set) && recent.push(set) > maxRecent) recent.shift();
  return document;
}

/** Larger sets are encoded in steps of about as many nodes. */
const manyNodes = 1000;
/** Parts that lie deeper are encoded in one go. */
const deepestStep = 6;

/** Negative when there are more than `limit` nodes: no more of them are counted. */
function nodesLeft(set: FieldSet, limit: number): number {
  let left = limit - set.children.size;
  for (const child of set.children.values()) {
    if (left < 0) break;
    if (child.children.size > 0) left = nodesLeft(child, left);
  }
  return left;
}

export const isLarge = (set: FieldSet): boolean =>
  nodesLeft(set, manyNodes) < 0;

/** Encodes a large set in steps, so that `encodeFieldSet` finds its document; does nothing for another. */
export function* encodingLarge(set: FieldSet): Steps<void> {
  if (documents.has(set) || !isLarge(set)) return;
  const document = yield* encodingTree(set, new Pace(manyNodes), 0);
  documents.set(set, document);
  sets.set(document, set);
}

function* encodingTree(
  set: FieldSet,
  pace: Pace,
  depth: number,
): Steps<JsonObject> {
  const object: JsonObject = {};
  if (set.member) object["."] = leafDocument;
  for (const key of inOrder([...set.children.keys()])) {
    const child = set.children.get(key)!;
    const { size } = child.children;
    if (size === 0) object[key] = leafDocument;
    else if (depth < deepestStep)
      object[key] = yield* encodingTree(child, pace, depth + 1);
    else object[key] = encodeTree(child);
    if (pace.isOver()) yield;
  }
  return object;
}

const texts = new WeakMap<JsonObject, string>();

/** The JSON of a document that was encoded or decoded here, made once; undefined for any other. */
export function documentText(document: object): string | undefined {
  const known = texts.get(document as JsonObject);
  if (known !== undefined || !sets.has(document as JsonObject)) return known;
  const text = stringified(document);
  texts.set(document as JsonObject, text);
  return text;
}

/** Most nodes are leaves: all documents share one. */
const leafDocument: JsonObject = Object.freeze({});

function encodeTree(set: FieldSet): JsonObject {
  const object: JsonObject = {};
  if (set.member && set.children.size > 0) object["."] = leafDocument;
  for (const key of inOrder([...set.children.keys()])) {
    const child = set.children.get(key)!;
    object[key] = child.children.size === 0 ? leafDocument : encodeTree(child);
  }
  return object;
}

/** Was it decoded or encoded here? Then it is as it should be. */
export const isKnownDocument = (value: unknown): boolean =>
  sets.has(value as JsonObject);

/** Undefined when it is no FieldsV1. */
export function decodeFieldSet(value: unknown): FieldSet | undefined {
  const decode = (node: unknown, depth: number): FieldSet | undefined => {
    if (!isJsonObject(node) || depth > 200) return undefined;
    const keys = Object.keys(node);
    if (keys.length === 0) return leaf;
    const children = new Map<string, FieldSet>();
    let member = false;
    for (const key of keys) {
      if (key === ".") member = true;
      else if (!/^[fkvi]:/.test(key)) return undefined;
      else {
        const child = decode(node[key], depth + 1);
        if (!child) return undefined;
        children.set(key, child);
      }
    }
    return { member, children };
  };
  const known = isJsonObject(value) ? sets.get(value) : undefined;
  if (known) return known;
  const root = decode(value, 0);
  if (!root) return undefined;
  if (root === leaf) return emptySet;
  sets.set(value as JsonObject, root);
  return root;
}

/** ".spec.containers[name=\"a\"].image", as conflicts name a path. */
export function pathText(path: FieldPath): string {
  return path
    .map((part) => {
      const rest = part.slice(2);
      switch (part[0]) {
        case "f":
          return `.${rest}`;
        case "k": {
          const keys = JSON.parse(rest) as Record<string, unknown>;
          const shown = Object.keys(keys)
            .sort()
            .map((key) => `${key}=${JSON.stringify(keys[key])}`);
          return `[${shown.join(",")}]`;
        }
        case "v":
          return `[=${rest}]`;
        default:
          return `[${rest}]`;
      }
    })
    .join("");
}

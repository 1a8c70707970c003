// Sets of field paths, the currency of server-side apply, held as the tree that FieldsV1 is: keys "f:<name>" (field),
// `k:{"name":"a"}` (list item by its keys), `v:"x"` (item of a set); a node that is itself a member and has children says
// so with ".". Example: {"f:spec":{"f:replicas":{}},"f:data":{".":{},"f:a":{}}} holds spec.replicas, data and data.a.
// Trees are never changed once they are out of the function that made them, so they may share parts.
import type { Steps } from "../queueing/steps.ts";
import { isJsonObject, setOwn, type JsonObject } from "./json-value.ts";

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

/** Fields first, then list items by key, then values, then indexes, each by name: the reference's order. */
function compareKeys(a: string, b: string): number {
  const rank = (key: string): number => "fkvi".indexOf(key[0]!);
  return rank(a) - rank(b) || (a < b ? -1 : a > b ? 1 : 0);
}

/** Mostly all are of one kind: then the order is that of their letters. */
function inOrder(keys: string[]): string[] {
  const kind = keys[0]?.[0];
  return keys.every((key) => key[0] === kind)
    ? keys.sort()
    : keys.sort(compareKeys);
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
const maxRecentNodes = 1000;

/** The document is shared: do not change it. */
export function encodeFieldSet(set: FieldSet): JsonObject {
  const known = documents.get(set);
  if (known) return known;
  const equal = recent.find((other) => equalSets(set, other));
  if (equal) return documents.get(equal)!;
  const document = encodeTree(set);
  documents.set(set, document);
  sets.set(document, set);
  if (nodesIn(set) <= maxRecentNodes && recent.push(set) > maxRecent)
    recent.shift();
  return document;
}

/** Sets with more members in one place are encoded in steps. */
const manyMembers = 1000;

/** Has one of the root's fields very many members, as the data of a ConfigMap may have? */
export function isWide(set: FieldSet): boolean {
  for (const child of set.children.values())
    if (child.children.size > manyMembers) return true;
  return false;
}

/** Encodes a wide set in steps, so that `encodeFieldSet` finds its document; does nothing for another. */
export function* encodingWide(set: FieldSet): Steps<void> {
  if (documents.has(set) || !isWide(set)) return;
  const document = yield* encodingTree(set);
  documents.set(set, document);
  sets.set(document, set);
}

function* encodingTree(set: FieldSet): Steps<JsonObject> {
  const object: JsonObject = {};
  if (set.member) object["."] = {};
  let encoded = 0;
  for (const key of inOrder([...set.children.keys()])) {
    const child = set.children.get(key)!;
    const many = child.children.size > manyMembers;
    setOwn(object, key, many ? yield* encodingTree(child) : encodeTree(child));
    if (++encoded % manyMembers === 0) yield;
  }
  return object;
}

const texts = new WeakMap<JsonObject, string>();

/** The JSON of a document that was encoded or decoded here, made once; undefined for any other. */
export function documentText(document: object): string | undefined {
  const known = texts.get(document as JsonObject);
  if (known !== undefined || !sets.has(document as JsonObject)) return known;
  const text = JSON.stringify(document);
  texts.set(document as JsonObject, text);
  return text;
}

function nodesIn(set: FieldSet): number {
  let nodes = 1;
  for (const child of set.children.values()) nodes += nodesIn(child);
  return nodes;
}

function encodeTree(set: FieldSet): JsonObject {
  if (set.children.size === 0) return {};
  const object: JsonObject = {};
  if (set.member) object["."] = {};
  for (const key of inOrder([...set.children.keys()]))
    setOwn(object, key, encodeTree(set.children.get(key)!));
  return object;
}

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

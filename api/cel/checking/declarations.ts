// What an environment declares: functions with their overloads, the fields of object types, and the notation in which
// libraries write an overload's types ("list(A), A" → "bool").
import {
  boolType,
  bytesType,
  doubleType,
  durationType,
  dynType,
  intType,
  listType,
  mapType,
  nullType,
  objectType,
  opaqueType,
  optionalType,
  paramType,
  stringType,
  timestampType,
  typeType,
  uintType,
  type CelType,
} from "./types.ts";
import type { Steps } from "../../queueing/steps.ts";
import type { Result, Value } from "../values/value.ts";
import type { Activation } from "../evaluation/activation.ts";

/** Arguments are values, never failures; the target comes first. */
type Implementation = (
  args: readonly Value[],
  activation: Activation,
) => Result;

/** The same in steps, for arguments that it takes long for; undefined for others. */
type LongImplementation = (args: readonly Value[]) => Steps<Result> | undefined;

export interface Overload {
  readonly id: string;
  readonly member: boolean;
  readonly arguments: readonly CelType[];
  readonly result: CelType;
  /** Names of the type parameters. */
  readonly parameters: readonly string[];
  readonly call: Implementation;
  readonly inSteps?: LongImplementation | undefined;
}

export interface FunctionDeclaration {
  readonly name: string;
  readonly overloads: readonly Overload[];
}

/** The notation of one overload: `member` functions take their target as the first argument. */
export interface OverloadText {
  readonly id: string;
  readonly member?: true;
  readonly args: string;
  readonly result: string;
  readonly call: Implementation;
  readonly inSteps?: LongImplementation | undefined;
}

export type Library = Readonly<Record<string, readonly OverloadText[]>>;

const named = new Map<string, CelType>([
  ["bool", boolType],
  ["int", intType],
  ["uint", uintType],
  ["double", doubleType],
  ["string", stringType],
  ["bytes", bytesType],
  ["null", nullType],
  ["timestamp", timestampType],
  ["duration", durationType],
  ["dyn", dynType],
  ["net.IP", opaqueType("net.IP")],
  ["net.CIDR", opaqueType("net.CIDR")],
]);

/** One type of the notation; a single capital letter is a parameter, unknown names are object types. */
function readType(text: string): CelType {
  const found = named.get(text);
  if (found) return found;
  const inner = /^(\w+)\((.*)\)$/.exec(text);
  if (inner) {
    const [first, second] = readTypes(inner[2] as string);
    switch (inner[1]) {
      case "list":
        return listType(first as CelType);
      case "map":
        return mapType(first as CelType, second as CelType);
      case "optional":
        return optionalType(first as CelType);
      case "type":
        return typeType(first);
    }
  }
  return /^[A-Z]$/.test(text) ? paramType(text) : objectType(text);
}

/** Types separated by commas. */
function readTypes(text: string): CelType[] {
  const found: CelType[] = [];
  let depth = 0;
  let start = 0;
  for (let at = 0; at <= text.length; at++) {
    const letter = text[at] ?? ",";
    if (letter === "(") depth++;
    else if (letter === ")") depth--;
    else if (letter === "," && depth === 0) {
      const part = text.slice(start, at).trim();
      if (part !== "") found.push(readType(part));
      start = at + 1;
    }
  }
  return found;
}

/** The functions of several libraries; overloads of one name come together in the order of the libraries. */
export function declareFunctions(
  libraries: readonly Library[],
): Map<string, FunctionDeclaration> {
  const declared = new Map<string, FunctionDeclaration>();
  for (const library of libraries)
    for (const [name, texts] of Object.entries(library)) {
      const overloads = texts.map((text) => readOverload(text));
      const before = declared.get(name)?.overloads ?? [];
      declared.set(name, { name, overloads: [...before, ...overloads] });
    }
  return declared;
}

function readOverload(text: OverloadText): Overload {
  const parameters = new Set(
    `${text.args}, ${text.result}`.match(/\b[A-Z]\b/g) ?? [],
  );
  return {
    id: text.id,
    member: text.member ?? false,
    arguments: readTypes(text.args),
    result: readType(text.result),
    parameters: [...parameters],
    call: text.call,
    inSteps: text.inSteps,
  };
}

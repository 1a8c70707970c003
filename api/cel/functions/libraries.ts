// The libraries of the reference's 1.32, in the order in which it declares them, and the types that they bring along.
import { type Library } from "../checking/declarations.ts";
import type { CelType } from "../checking/types.ts";
import { operatorLibrary } from "./standard-operators.ts";
import { optionalLibrary } from "./optionals.ts";
import { standardLibrary } from "./standard.ts";
import { timeLibrary } from "./times.ts";

export function librariesOf(): readonly Library[] {
  return [operatorLibrary, standardLibrary, timeLibrary, optionalLibrary];
}

/** Types of libraries that expressions can name, by their names. */
export function typesOf(): ReadonlyMap<string, CelType> {
  return libraryTypes;
}

const libraryTypes = new Map<string, CelType>();

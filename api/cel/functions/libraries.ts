// The libraries of the reference's 1.32, in the order in which it declares them, and the types that they bring along.
import { addressLibrary, cidrType, ipType } from "./addresses.ts";
import { authorizerLibrary, authorizerTypes } from "./authorizer.ts";
import { listLibrary, setLibrary } from "./lists.ts";
import { mapInsertLibrary } from "./map-insert.ts";
import { formatLibrary, formatType } from "./named-formats.ts";
import { optionalLibrary } from "./optionals.ts";
import { quantityLibrary, quantityType } from "./quantities.ts";
import { regexLibrary } from "./regex.ts";
import { operatorLibrary } from "./standard-operators.ts";
import { standardLibrary } from "./standard.ts";
import { semverType } from "./semver.ts";
import { stringLibrary } from "./strings.ts";
import { timeLibrary } from "./times.ts";
import { urlLibrary, urlType } from "./urls.ts";
import {
  declareFunctions,
  type FunctionDeclaration,
  type Library,
} from "../checking/declarations.ts";
import type { CelType } from "../checking/types.ts";

const libraries: readonly Library[] = [
  operatorLibrary,
  standardLibrary,
  timeLibrary,
  urlLibrary,
  regexLibrary,
  listLibrary,
  authorizerLibrary,
  optionalLibrary,
  quantityLibrary,
  stringLibrary,
  setLibrary,
  addressLibrary,
  formatLibrary,
  mapInsertLibrary,
];

let declared: ReadonlyMap<string, FunctionDeclaration> | undefined;

/** All functions by their names, those of further libraries among them. */
export function functionsOf(
  more: readonly Library[] = [],
): ReadonlyMap<string, FunctionDeclaration> {
  if (more.length > 0) return declareFunctions([...libraries, ...more]);
  return (declared ??= declareFunctions(libraries));
}

/** Types of libraries that expressions can name, by their names. */
export const libraryTypes: ReadonlyMap<string, CelType> = new Map(
  [ipType, cidrType].map((type) => [type.name, type]),
);

/** Object types of libraries: they have no fields. */
export const fieldlessTypes: ReadonlySet<string> = new Set(
  [urlType, quantityType, semverType, formatType, ...authorizerTypes].map(
    ({ name }) => name,
  ),
);

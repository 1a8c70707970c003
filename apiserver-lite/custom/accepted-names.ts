// Which of the names that a definition asks for it gets: no two definitions of a group share a plural, singular or short
// name, nor a kind or list kind. First come, first served; what was accepted once stays accepted.
import type { CustomResourceDefinitionNames as Names } from "../../api/types/apiextensions-v1.ts";
import { sameJson } from "../../api/objects/json-equality.ts";

interface NamesAnswer {
  /** What is accepted now; a conflict leaves what was accepted before. */
  readonly names: Names;
  /** Undefined: all are accepted. */
  readonly conflict?: { readonly reason: string; readonly message: string };
}

const noNames: Names = { plural: "", kind: "" };

/** @param others the names accepted of the group's other definitions */
export function acceptNames(
  wanted: Names,
  accepted: Names = noNames,
  others: Iterable<Names>,
): NamesAnswer {
  const resources = new Set<string>();
  const kinds = new Set<string>();
  for (const { plural, singular, shortNames = [], kind, listKind } of others) {
    for (const name of [plural, singular, ...shortNames])
      if (name) resources.add(name);
    for (const name of [kind, listKind]) if (name) kinds.add(name);
  }
  const names: Names = { ...accepted };
  let conflict: NamesAnswer["conflict"];
  const take = (
    field: "plural" | "singular" | "kind" | "listKind",
    taken: ReadonlySet<string>,
  ): void => {
    const name = wanted[field] ?? "";
    if (name !== (accepted[field] ?? "") && taken.has(name))
      conflict = {
        reason: `${field[0]!.toUpperCase()}${field.slice(1)}Conflict`,
        message: inUse(name),
      };
    else if (name !== "") names[field] = name;
  };
  take("plural", resources);
  take("singular", resources);
  const { shortNames = [] } = wanted;
  const own = new Set(accepted.shortNames);
  const taken = shortNames.filter(
    (name) => !own.has(name) && resources.has(name),
  );
  if (taken.length > 0)
    conflict = {
      reason: "ShortNamesConflict",
      message: listed(taken.map(inUse)),
    };
  else if (shortNames.length > 0) names.shortNames = shortNames;
  else delete names.shortNames;
  take("kind", kinds);
  take("listKind", kinds);
  if (wanted.categories?.length) names.categories = wanted.categories;
  else delete names.categories;
  return { names, ...(conflict ? { conflict } : {}) };
}

export function sameNames(a: Names | undefined, b: Names | undefined): boolean {
  return sameJson(a ?? noNames, b ?? noNames);
}

const inUse = (name: string): string =>
  `${JSON.stringify(name)} is already in use`;

/** As the reference joins several texts: each once, in brackets when there is more than one. */
function listed(texts: readonly string[]): string {
  const distinct = [...new Set(texts)];
  return distinct.length === 1 ? distinct[0]! : `[${distinct.join(", ")}]`;
}

// Lays what a profile says of an extension point over the defaults. A default plug-in that is named again keeps its place
// and takes the new weight; `disabled` takes defaults away, "*" all of them, and never what the profile itself enables.
//
// Worked example: defaults A(1) B(2) C; enabled: B(5) D, disabled: A  →  B(5) C D
import type { PluginSet } from "./configuration-types.ts";

export function mergePluginSets(
  defaults: PluginSet,
  own: PluginSet,
): PluginSet {
  const disabled = [...(own.disabled ?? []), ...(defaults.disabled ?? [])].map(
    ({ name }) => ({ name }),
  );
  const isDisabled = new Set(disabled.map(({ name }) => name));
  const given = own.enabled ?? [];
  // Of one that is named twice the last replaces the default; the first stays, and is found to be one too many later.
  const last = new Map(given.map((entry, index) => [entry.name, index]));
  const replaced = new Set<number>();
  const kept = isDisabled.has("*")
    ? []
    : (defaults.enabled ?? [])
        .filter(({ name }) => !isDisabled.has(name))
        .map((entry) => {
          const index = last.get(entry.name);
          if (index === undefined) return entry;
          replaced.add(index);
          return given[index]!;
        });
  const enabled = [
    ...kept,
    ...given.filter((_, index) => !replaced.has(index)),
  ];
  return {
    ...(enabled.length > 0 ? { enabled } : {}),
    ...(disabled.length > 0 ? { disabled } : {}),
  };
}

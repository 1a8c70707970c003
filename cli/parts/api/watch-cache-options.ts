// --watch-cache, --watch-cache-sizes and --default-watch-cache-size: of which resources reads are not served from memory
// as they come. Sizes other than 0 have no meaning, as at the reference: the cache holds the whole state.
import { qualifiedResource } from "../../../api/object.ts";
import type { OptionValues } from "../../options/parse.ts";
import { UsageError } from "../../options/table.ts";

/** `resource[.group]#size` → whether it is cached. */
function parseSizes(texts: readonly string[]): Map<string, boolean> {
  return new Map(
    texts.map((text) => {
      const match = /^([a-z0-9-]+(?:\.[a-z0-9.-]+)?)#(\d+)$/.exec(text);
      if (!match)
        throw new UsageError(
          `invalid argument "${text}" for "--watch-cache-sizes": must be RESOURCE[.GROUP]#SIZE`,
        );
      return [match[1]!, Number(match[2]) > 0];
    }),
  );
}

/** Undefined: all are cached. */
export function uncachedResources(
  values: OptionValues,
): ((info: { group: string; resource: string }) => boolean) | undefined {
  const sizes = parseSizes(values.list("watch-cache-sizes"));
  if (!values.flag("watch-cache")) return () => true;
  const byDefault = values.number("default-watch-cache-size") > 0;
  if (byDefault && [...sizes.values()].every(Boolean)) return undefined;
  return (info) => !(sizes.get(qualifiedResource(info)) ?? byDefault);
}

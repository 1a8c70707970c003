// --runtime-config: which built-in API versions and resources are served. `api/all`, `api/ga`, `api/beta` and `api/alpha`
// come first, in this order, then single versions (`batch/v1=false`, `v1` is the core group's), then single resources
// (`apps/v1/deployments=false`), which win over their version. Discovery, OpenAPI and registry follow the catalogue.
import {
  builtinCatalogue,
  builtinGroupVersions,
  type Catalogue,
  type GroupVersionInfo,
} from "../../../api/catalogue.ts";
import { apiVersionOf } from "../../../api/object.ts";
import type { OptionValues } from "../../options/parse.ts";
import { isServedBy, type EmulatedVersion } from "./emulated-version.ts";
import { UsageError } from "../../options/table.ts";

/** In the order they are applied. */
const sets: Readonly<Record<string, RegExp>> = {
  "api/all": /^/,
  "api/ga": /^v\d+$/,
  "api/beta": /^v\d+beta\d+$/,
  "api/alpha": /^v\d+alpha\d+$/,
};

const flags: Readonly<Record<string, boolean>> = { true: true, false: false };

function fail(text: string, why: string): never {
  throw new UsageError(
    `invalid argument "${text}" for "--runtime-config": ${why}`,
  );
}

/** Key → on or off; the last of the same key wins. */
function parseEntries(texts: readonly string[]): Map<string, boolean> {
  const entries = new Map<string, boolean>();
  for (const text of texts) {
    const [key = "", value = "true", ...rest] = text.split("=");
    const on = flags[value.toLowerCase()];
    if (rest.length > 0 || on === undefined)
      fail(text, "must be true or false");
    entries.set(key.replace(/^api\/v1(?=$|\/)/, "v1"), on!);
  }
  return entries;
}

/** What a key names: a version, or one of its resources. */
function checkKey(key: string, groupVersions: Iterable<Known>): void {
  const parts = key.split("/");
  const core = parts[0] === "v1";
  const [group, version, resource] = core ? ["", ...parts] : parts;
  const known = [...groupVersions];
  if (version === undefined || parts.length > (core ? 2 : 3))
    fail(key, "must be GROUP/VERSION, GROUP/VERSION/RESOURCE or a set of api/");
  if (!known.some((each) => each.group === group))
    fail(key, `unknown api groups ${group}`);
  const found = known.find(
    (each) => each.group === group && each.version === version,
  );
  if (!found)
    fail(key, `group version ${group}/${version} that has not been registered`);
  if (resource !== undefined && !found!.resources.includes(resource))
    fail(key, `there is no resource ${resource} in it`);
}

type Known = GroupVersionInfo & { readonly resources: readonly string[] };

/** @throws UsageError for what is not there, and for what the server itself can't do without */
export function chosenCatalogue(
  values: OptionValues,
  emulated: EmulatedVersion = "1.32",
): Catalogue {
  const entries = parseEntries(values.list("runtime-config"));
  if (entries.size === 0 && emulated === "1.32") return builtinCatalogue();
  if (entries.size === 1 && entries.get("api/all") === false)
    fail("api/all=false", "invalid key with only api/all=false");
  for (const key of entries.keys())
    if (!(key in sets)) checkKey(key, builtinGroupVersions);
  const catalogue = builtinCatalogue((info, resource) => {
    const apiVersion = apiVersionOf(info);
    if (!isServedBy(emulated, apiVersion, resource)) return false;
    let on = info.enabledByDefault;
    for (const [key, pattern] of Object.entries(sets))
      if (pattern.test(info.version)) on = entries.get(key) ?? on;
    return (
      entries.get(`${apiVersion}/${resource}`) ?? entries.get(apiVersion) ?? on
    );
  });
  for (const resource of needed)
    if (!catalogue.resource("", "v1", resource))
      throw new UsageError(
        `--runtime-config: the server itself needs ${resource} of v1`,
      );
  return catalogue;
}

/** What the server writes at its start and its admission reads. */
const needed = [
  "namespaces",
  "services",
  "endpoints",
  "configmaps",
  "serviceaccounts",
];

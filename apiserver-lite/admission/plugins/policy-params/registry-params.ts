// Objects of any served kind as parameters of policies, read from the registry in the version that the policy names.
import type { AnyObject } from "../../../../api/object.ts";
import type { Endpoint } from "../../../registry/endpoint.ts";
import type { Registry } from "../../../registry/registry.ts";
import type { ParamLookup, ParamObjects } from "../../policy/params.ts";

export function registryParams(registry: Registry): ParamLookup {
  return (group, version, kind): ParamObjects | undefined => {
    const info = registry.catalogue.kind(group, version, kind);
    const endpoint =
      info && registry.endpoint(info.group, info.version, info.resource);
    const stored = endpoint?.stored;
    if (!endpoint || !stored) return undefined;
    return {
      namespaced: info.namespaced,
      get: (namespace, name) => {
        const entry = stored.cache.get(stored.keyOf(namespace, name));
        return entry && inVersion(endpoint, entry.object);
      },
      list: (namespace) =>
        Promise.all(
          stored.cache
            .entries(namespace)
            .map((entry) => inVersion(endpoint, entry.object)),
        ),
    };
  };
}

/** A stored object is frozen: a conversion gets a copy. */
function inVersion(
  endpoint: Endpoint,
  object: Readonly<AnyObject>,
): Readonly<AnyObject> | Promise<Readonly<AnyObject>> {
  return endpoint.native
    ? object
    : endpoint.toServed(structuredClone(object) as AnyObject);
}

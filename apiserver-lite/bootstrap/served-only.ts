// What the server writes for itself leaves out resources that --runtime-config switched off.
import { errors } from "../../api/errors.ts";
import type { KubeObject } from "../../api/object.ts";
import type { Transport } from "../../client/transport.ts";
import type { Registry } from "../registry/registry.ts";

/** Of a resource that is not served nothing is found, and writes of it are taken for done. */
export function servedOnly(
  transport: Transport,
  registry: Registry,
): Pick<Transport, "request"> {
  return {
    request(request) {
      const { group, version, resource } = request.resource;
      if (registry.endpoint(group, version, resource))
        return transport.request(request);
      return request.verb === "get"
        ? Promise.reject(errors.notFound(request.resource, request.name ?? ""))
        : Promise.resolve((request.body ?? {}) as KubeObject);
    },
  };
}

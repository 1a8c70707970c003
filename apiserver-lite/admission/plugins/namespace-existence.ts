// NamespaceAutoProvision (a namespace is made when the first object for it comes) and NamespaceExists (nothing is written
// in one that is not there).
import { ApiError, errors, isAlreadyExists } from "../../../api/errors.ts";
import type { AdmissionAttributes, AdmissionPlugin } from "../plugin.ts";
import { nameOf } from "./requests.ts";

const namespaces = { group: "", resource: "namespaces" };

/** The namespace that the request needs; undefined: none. */
function wantedNamespace({
  namespace,
  kind,
}: AdmissionAttributes): string | undefined {
  const isNamespace = kind.group === "" && kind.kind === "Namespace";
  return namespace === "" || isNamespace ? undefined : namespace;
}

/** @param make creates a namespace as the server itself */
export function createNamespaceAutoProvision(
  make: (name: string) => Promise<void>,
): AdmissionPlugin {
  return {
    name: "NamespaceAutoProvision",
    writesWhole: true,
    async admit(attributes, context) {
      const { operation, dryRun, resource } = attributes;
      const name = wantedNamespace(attributes);
      if (operation !== "CREATE" || dryRun || name === undefined) return;
      if (context.read("", "namespaces", "", name)) return;
      try {
        await make(name);
      } catch (error) {
        if (isAlreadyExists(error)) return;
        if (error instanceof ApiError) throw error;
        throw errors.forbidden(
          resource,
          nameOf(attributes),
          (error as Error).message,
        );
      }
    },
  };
}

export const namespaceExists: AdmissionPlugin = {
  name: "NamespaceExists",
  validate(attributes, context) {
    const name = wantedNamespace(attributes);
    if (attributes.operation === "CONNECT" || name === undefined) return;
    if (!context.read("", "namespaces", "", name))
      throw errors.notFound(namespaces, name);
  },
};

// The reference's types, as all built-in kinds and the documents sent to them have them. The one place of the API server
// that asks the table of types for the schema of a kind.
import { parseApiVersion } from "../../../api/object.ts";
import { schemaFor } from "../../../api/schema.ts";
import type { Types } from "./kind-definition.ts";

export const builtinTypes: Types = {
  schemaOf(apiVersion, kind) {
    const { group, version } = parseApiVersion(apiVersion);
    return schemaFor(group, version, kind);
  },
};

// A built-in kind without rules of its own, in its stored form.
import { applyDefaults } from "../../../../api/defaults.ts";
import { parseApiVersion } from "../../../../api/object.ts";
import { convertObject } from "../../../../apiserver-lite/registry/conversion.ts";
import { builtinTypes } from "../../../../apiserver-lite/registry/kinds/builtin-types.ts";
import { KindForm } from "../../../../apiserver-lite/registry/kinds/kind-form.ts";
import { upgradeLegacy } from "../../../../apiserver-lite/registry/legacy-versions.ts";
import { createValueCodec } from "../../../../apiserver-lite/registry/value-codec.ts";

export function plainForm(kind: string, apiVersion: string): KindForm {
  return new KindForm(
    {
      ...{ group: "", resource: "x", kind, namespaced: true },
      strategy: {},
      types: builtinTypes,
      conversion: { mode: "immediate", convert: convertObject },
      storage: { prefix: "/registry/x", apiVersion, protobuf: true },
      versions: [],
      setDefaults: (object, version) =>
        applyDefaults(object, { ...parseApiVersion(version), kind }),
      upgrade: upgradeLegacy,
    },
    createValueCodec("protobuf"),
  );
}

// A built-in kind in its stored form, with what its own rules say of versions and nothing else of them.
import { builtinCatalogue } from "../../../../api/catalogue.ts";
import { applyDefaults } from "../../../../api/defaults.ts";
import { parseApiVersion } from "../../../../api/object.ts";
import {
  convertBy,
  upgradeBy,
} from "../../../../apiserver-lite/registry/conversion.ts";
import { builtinTypes } from "../../../../apiserver-lite/registry/kinds/builtin-types.ts";
import { KindForm } from "../../../../apiserver-lite/registry/kinds/kind-form.ts";
import { createValueCodec } from "../../../../apiserver-lite/registry/value-codec.ts";
import { createStrategies } from "../../../../apiserver-lite/resources/index.ts";
import type { ResourceStrategy } from "../../../../apiserver-lite/resources/strategy.ts";

const catalogue = builtinCatalogue();
const strategyFor = createStrategies();

export function rulesOf(kind: string, apiVersion: string): ResourceStrategy {
  const { group, version } = parseApiVersion(apiVersion);
  const info = catalogue
    .resources(group, version)
    .find((one) => one.kind === kind);
  return (info && strategyFor(group, info.resource)) ?? {};
}

export function plainForm(kind: string, apiVersion: string): KindForm {
  const rules = rulesOf(kind, apiVersion);
  return new KindForm(
    {
      ...{ group: "", resource: "x", kind, namespaced: true },
      strategy: {},
      types: builtinTypes,
      conversion: {
        mode: "immediate",
        convert: (object, version) => convertBy(rules, object, version),
      },
      storage: { prefix: "/registry/x", apiVersion, protobuf: true },
      versions: [],
      setDefaults: (object, version) =>
        applyDefaults(object, { ...parseApiVersion(version), kind }),
      upgrade: (object) => upgradeBy(rules, object),
    },
    createValueCodec("protobuf"),
  );
}

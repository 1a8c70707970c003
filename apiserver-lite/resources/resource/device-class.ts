// DeviceClasses: selectors and configuration that requests refer to by name.
import { sameValue } from "../../../api/objects/json-equality.ts";
import type { DeviceClass } from "../../../api/types/resource-v1beta1.ts";
import { formatAge } from "../../printing/age.ts";
import { joined, ofEach } from "../field-checks.ts";
import { strategyOf } from "../typed.ts";
import { atMost, opaqueProblems } from "./device-checks.ts";
import { maxConfigurations } from "./device-claim.ts";
import { loadSelectors, validateSelectors } from "./device-selector.ts";
import { sameShape } from "./resource-claim.ts";

const load = ({ spec }: DeviceClass): Promise<void> | undefined =>
  spec?.selectors?.length ? loadSelectors() : undefined;

export const deviceClassStrategy = strategyOf<DeviceClass>({
  conversions: sameShape,
  returnsDeleted: true,
  prepareForCreate: load,
  prepareForUpdate: load,
  validateCreate: (object) => problemsOf(object, undefined),
  validateUpdate: (object, old) => problemsOf(object, old),
  printRow: ({ metadata }, now) => [
    metadata.name,
    formatAge(metadata.creationTimestamp, now),
  ],
});

/** Expressions and parameters that did not change are not checked as new ones. */
function problemsOf(
  { spec }: Readonly<DeviceClass>,
  old: Readonly<DeviceClass> | undefined,
) {
  const same = (key: "selectors" | "config"): boolean =>
    old !== undefined && sameValue(spec[key], old.spec[key]);
  return joined(
    validateSelectors("spec.selectors", spec.selectors, same("selectors")),
    ofEach(spec.config, ({ opaque }, index) =>
      opaqueProblems(`spec.config[${index}]`, opaque, same("config")),
    ),
    atMost("spec.config", spec.config, maxConfigurations),
  );
}

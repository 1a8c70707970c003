// What each part's /metrics says of the program itself: its build, its feature gates, and which families its options hide.
import { buildInfo } from "../../api/metrics/build-info.ts";
import { Family } from "../../api/metrics/family.ts";
import type { OptionValues } from "../options/parse.ts";
import { gateStates, type EmulatedVersion } from "./api/emulated-version.ts";

/** @param gates those that are set; @param version the release whose gates there are */
function featureFamily(
  gates: Readonly<Record<string, boolean>>,
  version: EmulatedVersion,
): Family {
  const family = new Family(
    "kubernetes_feature_enabled",
    "gauge",
    "Whether a feature is on, by its name and stage.",
  );
  for (const { name, stage, on } of gateStates(gates, version))
    family.add({ name, stage }, on ? 1 : 0);
  return family;
}

/** What does not change is made once. @param values with the options of metrics, where the part has them */
export function programFamilies(
  values: OptionValues,
  gates: Readonly<Record<string, boolean>>,
  version: EmulatedVersion,
): () => readonly Family[] {
  let families: readonly Family[] | undefined;
  return () =>
    (families ??= [
      buildInfo(),
      featureFamily(gates, version),
      new Family(
        "disabled_metrics_total",
        "counter",
        "Metrics that options leave out.",
      ).add({}, disabledBy(values)),
      new Family(
        "hidden_metrics_total",
        "counter",
        "Metrics that are hidden for their age; there are none.",
      ).add({}, 0),
    ]);
}

const disabledBy = (values: OptionValues): number =>
  values.has("disabled-metrics")
    ? new Set(values.list("disabled-metrics").filter(Boolean)).size
    : 0;

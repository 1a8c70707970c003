// Which pods an autoscaler scales: those that the selector of its target's scale matches, as long as no other autoscaler's
// selector matches one of them.
import { parseLabelSelector, type Selector } from "../../api/selectors.ts";
import type { Pod } from "../../api/types/core-v1.ts";
import type { AutoscalerReport } from "./autoscaler-report.ts";

/**
 * Throws where the selector can't be used; the report says so then.
 * @param text of the target's scale
 * @param candidates pods of the namespace
 * @param register takes the autoscaler's selector; returns those of all autoscalers of the namespace, by key
 */
export function chosenPods(
  text: string,
  candidates: readonly Pod[],
  register: (selector: Selector) => readonly (readonly [string, Selector])[],
  report: AutoscalerReport,
): readonly Pod[] {
  const refuse = (event: string, message: string, shown = message): never => {
    report.warn(event, message);
    report.put("ScalingActive", false, {
      reason: event === "AmbiguousSelector" ? event : "InvalidSelector",
      message: shown,
    });
    throw new Error(message);
  };
  if (text === "")
    return refuse(
      "SelectorRequired",
      "selector is required",
      "the HPA target's scale is missing a selector",
    );
  let selector: Selector;
  try {
    selector = parseLabelSelector(text);
  } catch (error) {
    return refuse(
      "InvalidSelector",
      `couldn't convert selector into a corresponding internal selector object: ${(error as Error).message}`,
    );
  }
  const chosen = candidates.filter(({ metadata }) =>
    selector.matches(metadata.labels),
  );
  const owners = register(selector)
    .filter(([, other]) =>
      chosen.some(({ metadata }) => other.matches(metadata.labels)),
    )
    .map(([key]) => key)
    .sort();
  if (owners.length > 1)
    return refuse(
      "AmbiguousSelector",
      `pods by selector ${text} are controlled by multiple HPAs: [${owners.join(" ")}]`,
    );
  return chosen;
}

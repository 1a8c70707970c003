// The section `tracing` of a KubeletConfiguration: spans of what is done for each pod, and of the calls of the runtime.
import type { Logger } from "pino";
import { isGateOn } from "../../../agent/config/feature-gates.ts";
import type { Clock } from "../../../api/clock.ts";
import { fieldErrors } from "../../../api/field-errors.ts";
import type { OptionValues } from "../../options/parse.ts";
import { UsageError } from "../../options/table.ts";
import {
  startTracing,
  tracingSettings,
  type Tracing,
} from "../tracing/tracing.ts";
import { agentConfig } from "./agent-config.ts";

/** Undefined: nothing is traced. @throws UsageError */
export function createAgentTracing(
  values: OptionValues,
  parts: { clock: Clock; logger: Logger },
): Tracing | undefined {
  const given = ["tracing-endpoint", "tracing-sampling-rate-per-million"];
  if (!given.some((option) => values.isSet(option))) return undefined;
  const { nodeName, featureGates = {} } = agentConfig(values);
  if (!isGateOn({ featureGates }, "KubeletTracing"))
    throw new UsageError(
      "invalid configuration: tracing should not be configured if KubeletTracing feature flag is disabled.",
    );
  const problems: string[] = [];
  const settings = tracingSettings(
    values.text("tracing-endpoint"),
    values.number("tracing-sampling-rate-per-million"),
    (field, value, detail) => {
      const path = `tracing.${field}`;
      problems.push(
        `${path}: ${fieldErrors.invalid(path, value, detail).detail}`,
      );
    },
  );
  if (problems.length > 0) throw new UsageError(problems.join("\n"));
  // Nothing begins a trace, and no caller of the runtime is followed.
  if (settings.ratePerMillion === 0) return undefined;
  const resource = { "service.name": "kubelet", "host.name": nodeName };
  return startTracing(settings, resource, parts);
}

// What the scheduler is to do: its --config file under the options that go before it. As at the reference, beside a file the
// options of leader election count, and the deprecated ones (kubeconfig, content type, rate, profiling) do not.
import { readFileSync, writeFileSync } from "node:fs";
import { formatDuration } from "../../../api/duration.ts";
import { emitYaml } from "../../../api/codec/yaml-emit.ts";
import type {
  CompleteConfiguration,
  ExtenderConfiguration,
  SchedulerConfiguration,
} from "../../../scheduler/configuration/configuration-types.ts";
import { completeConfiguration } from "../../../scheduler/configuration/defaults.ts";
import { extenderTls } from "../../../scheduler/extenders/http-extender.ts";
import { configurationProblems } from "../../../scheduler/configuration/validation.ts";
import type { OptionValues } from "../../options/parse.ts";
import { UsageError } from "../../options/table.ts";
import { ConfigurationSection } from "../configuration-section.ts";
import {
  hasArguments,
  readConfiguration,
  schedulerApiVersion,
} from "./configuration-shape.ts";

export interface SchedulerPlan {
  /** The options with the file's values in the place of those that it decides. */
  readonly values: OptionValues;
  readonly configuration: CompleteConfiguration;
  /** As the file says; undefined: the default of the program. */
  readonly initialBackoffMs: number | undefined;
  readonly maxUnschedulableMs: number;
  readonly gates: Readonly<Record<string, boolean>>;
  /** What is accepted and has no effect. */
  readonly warnings: readonly string[];
}

/** Without meaning beside a file. */
const deprecated = [
  "kubeconfig",
  "kube-api-content-type",
  "kube-api-qps",
  "kube-api-burst",
  "profiling",
  "contention-profiling",
];

type Election = NonNullable<SchedulerConfiguration["leaderElection"]>;
const electionOptions: Readonly<Record<keyof Election, string>> = {
  leaderElect: "leader-elect",
  leaseDuration: "leader-elect-lease-duration",
  renewDeadline: "leader-elect-renew-deadline",
  retryPeriod: "leader-elect-retry-period",
  resourceLock: "leader-elect-resource-lock",
  resourceName: "leader-elect-resource-name",
  resourceNamespace: "leader-elect-resource-namespace",
};

/** Options of leader election over the file's. */
function withElection(
  given: SchedulerConfiguration,
  values: OptionValues,
): SchedulerConfiguration {
  const own: Record<string, unknown> = {};
  for (const [field, option] of Object.entries(electionOptions)) {
    if (!values.isSet(option)) continue;
    const value = values.value(option);
    own[field] = typeof value === "number" ? formatDuration(value) : value;
  }
  return {
    ...given,
    leaderElection: { ...given.leaderElection, ...(own as Election) },
  };
}

/** The other way round, for what reads options: as the file says, and where it is silent as if nothing had been given. */
function valuesOf(
  values: OptionValues,
  given: SchedulerConfiguration,
  { leaderElection }: CompleteConfiguration,
): OptionValues {
  const texts = new Map<string, string>();
  const put = (option: string, value: string | number | boolean): void => {
    if (value !== "" && value !== 0) texts.set(option, String(value));
  };
  const { kubeconfig, contentType, qps, burst } = given.clientConnection ?? {};
  put("kubeconfig", kubeconfig ?? "");
  put("kube-api-content-type", contentType ?? "");
  put("kube-api-qps", qps ?? 0);
  put("kube-api-burst", burst ?? 0);
  put("profiling", given.enableProfiling ?? "");
  for (const [field, option] of Object.entries(electionOptions) as [
    keyof Election,
    string,
  ][])
    if (given.leaderElection?.[field] !== undefined && !values.isSet(option))
      put(option, leaderElection[field] ?? "");
  return values.without(deprecated).underTexts(texts);
}

function configurationOfOptions(values: OptionValues): SchedulerConfiguration {
  return {
    clientConnection: {
      kubeconfig: values.text("kubeconfig"),
      contentType: values.text("kube-api-content-type"),
      qps: values.number("kube-api-qps"),
      burst: values.number("kube-api-burst"),
    },
    enableProfiling: values.flag("profiling"),
  };
}

function warningsOf(
  given: SchedulerConfiguration,
  { parallelism }: CompleteConfiguration,
): string[] {
  const warnings: string[] = [];
  if (given.parallelism !== undefined)
    warnings.push(`parallelism: ${parallelism}: one thread looks at all nodes`);
  if (given.clientConnection?.acceptContentTypes)
    warnings.push("clientConnection.acceptContentTypes has no effect");
  for (const [index, profile] of (given.profiles ?? []).entries())
    for (const { name } of profile.pluginConfig ?? [])
      if (!hasArguments(name))
        warnings.push(
          `profiles[${index}].pluginConfig: no plug-in ${JSON.stringify(name)} takes arguments`,
        );
  return warnings;
}

/** @throws UsageError with all problems of the file */
export async function planScheduler(
  values: OptionValues,
  gates: Readonly<Record<string, boolean>>,
): Promise<SchedulerPlan> {
  const file = values.optionalText("config");
  const complete = (given: SchedulerConfiguration): CompleteConfiguration =>
    completeConfiguration(withElection(given, values), {
      dynamicResources: gates["DynamicResourceAllocation"] ?? false,
    });
  const common = {
    gates,
    maxUnschedulableMs: values.number("pod-max-in-unschedulable-pods-duration"),
  };
  if (file === undefined)
    return {
      ...common,
      values,
      configuration: complete(configurationOfOptions(values)),
      initialBackoffMs: undefined,
      warnings: [],
    };
  const [given, configuration] = await ConfigurationSection.read(
    readText(file),
    file,
    (section) => {
      const read = readConfiguration(section);
      const completed = complete(read);
      for (const { field, detail } of configurationProblems(completed))
        section.problem(detail, field);
      for (const [index, extender] of (read.extenders ?? []).entries()) {
        const problem = extenderProblem(extender);
        if (problem)
          section.problem(problem[1], `extenders[${index}].${problem[0]}`);
      }
      return [read, completed] as const;
    },
  );
  const backoffSeconds = given.podInitialBackoffSeconds;
  return {
    ...common,
    values: valuesOf(values, given, configuration),
    configuration,
    initialBackoffMs:
      backoffSeconds === undefined ? undefined : backoffSeconds * 1000,
    warnings: warningsOf(given, configuration),
  };
}

/** What only shows when the extender is called, and should show at the start. */
function extenderProblem(
  extender: ExtenderConfiguration,
): readonly [field: string, what: string] | undefined {
  const { urlPrefix = "" } = extender;
  if (!/^https?:\/\//.test(urlPrefix) || !URL.canParse(urlPrefix))
    return ["urlPrefix", "must be a URL of http or https"];
  try {
    extenderTls(extender);
    return undefined;
  } catch (error) {
    return ["tlsConfig", (error as Error).message];
  }
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new UsageError(`--config: ${(error as Error).message}`);
  }
}

/** The whole configuration with its defaults, as a file that --config takes. */
export function writeConfiguration(
  file: string,
  { profiles, ...rest }: CompleteConfiguration,
): void {
  const text = emitYaml({
    apiVersion: schedulerApiVersion,
    kind: "KubeSchedulerConfiguration",
    ...rest,
    profiles: profiles.map(({ pluginConfig, ...profile }) => ({
      ...profile,
      pluginConfig: pluginConfig.map(({ name, args }) =>
        args
          ? {
              name,
              args: {
                apiVersion: schedulerApiVersion,
                kind: `${name}Args`,
                ...args,
              },
            }
          : { name },
      ),
    })),
  });
  try {
    writeFileSync(file, text);
  } catch (error) {
    throw new UsageError(`--write-config-to: ${(error as Error).message}`);
  }
}

// What is wrong with a completed configuration, as the reference says it: the fields' ranges, names that are given twice,
// what all profiles must have in common, extenders. Plug-ins that don't exist are found by profile-plan.ts, which is
// asked here too.
import { parseDurationMs } from "../../api/duration.ts";
import type { FieldError } from "../../api/errors.ts";
import { fieldErrors, invalidEach } from "../../api/field-errors.ts";
import { qualifiedNameProblems } from "../../api/names.ts";
import { sameJson } from "../../api/objects/json-equality.ts";
import { isExtendedResource } from "../../api/objects/resource-names.ts";
import { argumentProblems } from "./argument-validation.ts";
import {
  extensionPoints,
  type CompleteConfiguration,
  type CompleteProfile,
  type ExtenderConfiguration,
} from "./configuration-types.ts";
import { planProfile, ProfileProblem } from "./profile-plan.ts";

const apiVersion = "kubescheduler.config.k8s.io/v1";
/** Plug-ins of earlier versions. */
const removed: ReadonlySet<string> = new Set([
  "AzureDiskLimits",
  "CinderLimits",
  "EBSLimits",
  "GCEPDLimits",
]);
const wasRemoved = `was invalid in version ${JSON.stringify(apiVersion)} (KubeSchedulerConfiguration is version ${JSON.stringify(apiVersion)})`;

export function configurationProblems(
  configuration: CompleteConfiguration,
): FieldError[] {
  const {
    clientConnection,
    parallelism,
    profiles,
    percentageOfNodesToScore,
    podInitialBackoffSeconds,
    podMaxBackoffSeconds,
    extenders = [],
  } = configuration;
  const problems: FieldError[] = [];
  const burst = clientConnection.burst ?? 0;
  if (burst < 0)
    problems.push(
      fieldErrors.invalid(
        "clientConnection.burst",
        burst,
        "must be non-negative",
      ),
    );
  problems.push(...electionProblems(configuration));
  if (parallelism <= 0)
    problems.push(
      fieldErrors.invalid(
        "parallelism",
        parallelism,
        "should be an integer value greater than zero",
      ),
    );
  const byName = new Map<string, number>();
  for (const [index, profile] of profiles.entries()) {
    const path = `profiles[${index}]`;
    problems.push(...profileProblems(path, profile));
    const other = byName.get(profile.schedulerName);
    if (other !== undefined)
      problems.push(
        fieldErrors.duplicateShown(
          `${path}.schedulerName`,
          `"profiles[${other}].schedulerName"`,
        ),
      );
    byName.set(profile.schedulerName, index);
  }
  problems.push(
    ...queueSortProblems(profiles),
    ...percentageProblems("percentageOfNodesToScore", percentageOfNodesToScore),
  );
  if (podInitialBackoffSeconds <= 0)
    problems.push(
      fieldErrors.invalid(
        "podInitialBackoffSeconds",
        podInitialBackoffSeconds,
        "must be greater than 0",
      ),
    );
  if (podMaxBackoffSeconds < podInitialBackoffSeconds)
    problems.push(
      fieldErrors.invalid(
        "podMaxBackoffSeconds",
        podMaxBackoffSeconds,
        "must be greater than or equal to PodInitialBackoffSeconds",
      ),
    );
  problems.push(...extenderProblems(extenders));
  return problems;
}

function electionProblems({
  leaderElection,
}: CompleteConfiguration): FieldError[] {
  if (!leaderElection.leaderElect) return [];
  const problems: FieldError[] = [];
  const durations = (
    ["leaseDuration", "renewDeadline", "retryPeriod"] as const
  ).map((name) => [name, leaderElection[name]!] as const);
  for (const [name, text] of durations)
    if (parseDurationMs(text) <= 0)
      problems.push(
        fieldErrors.invalidShown(
          `leaderElection.${name}`,
          JSON.stringify(text),
          "must be greater than zero",
        ),
      );
  const [lease, renew] = durations.map(([, text]) => parseDurationMs(text));
  if (lease! <= renew!)
    problems.push(
      fieldErrors.invalid(
        "leaderElection.leaseDuration",
        leaderElection.renewDeadline,
        "LeaseDuration must be greater than RenewDeadline",
      ),
    );
  if (leaderElection.resourceLock !== "leases")
    problems.push(
      fieldErrors.invalid(
        "leaderElection.resourceLock",
        leaderElection.resourceLock,
        'resourceLock value must be "leases"',
      ),
    );
  return problems;
}

function percentageProblems(
  path: string,
  percentage: number | undefined,
): FieldError[] {
  return percentage !== undefined && (percentage < 0 || percentage > 100)
    ? [fieldErrors.invalid(path, percentage, "not in valid range [0-100]")]
    : [];
}

function profileProblems(path: string, profile: CompleteProfile): FieldError[] {
  const { schedulerName, plugins, pluginConfig } = profile;
  const problems: FieldError[] = [];
  if (schedulerName === "")
    problems.push(fieldErrors.required(`${path}.schedulerName`));
  problems.push(
    ...percentageProblems(
      `${path}.percentageOfNodesToScore`,
      profile.percentageOfNodesToScore,
    ),
  );
  for (const point of extensionPoints)
    for (const [index, { name }] of (plugins[point]?.enabled ?? []).entries())
      if (removed.has(name))
        problems.push(
          fieldErrors.invalid(
            `${path}.plugins.${point}.enabled[${index}]`,
            name,
            wasRemoved,
          ),
        );
  const seen = new Set<string>();
  for (const [index, { name, args }] of pluginConfig.entries()) {
    const at = `${path}.pluginConfig[${index}]`;
    if (seen.has(name)) problems.push(fieldErrors.duplicate(at, name));
    seen.add(name);
    if (removed.has(name))
      problems.push(fieldErrors.invalid(at, name, wasRemoved));
    else if (args) problems.push(...argumentProblems(`${at}.args`, name, args));
  }
  if (problems.length > 0) return problems;
  try {
    planProfile(profile);
  } catch (error) {
    if (!(error instanceof ProfileProblem)) throw error;
    return [
      {
        type: "FieldValueInvalid",
        field: `${path}.plugins`,
        detail: error.message,
      },
    ];
  }
  return [];
}

/** There is one queue, and so one order. */
function queueSortProblems(profiles: readonly CompleteProfile[]): FieldError[] {
  const problems: FieldError[] = [];
  const first = profiles[0]?.plugins.queueSort ?? {};
  const count = first.enabled?.length ?? 0;
  if (count > 1)
    problems.push(
      fieldErrors.invalid(
        "profiles[0].plugins.queueSort.Enabled",
        count,
        "only one queue sort plugin can be enabled",
      ),
    );
  for (const [index, { plugins }] of profiles.entries()) {
    const own = plugins.queueSort ?? {};
    if (!sameJson(first, own))
      problems.push(
        fieldErrors.invalid(
          `profiles[${index}].plugins.queueSort`,
          own,
          "queueSort must be the same for all profiles",
        ),
      );
  }
  return problems;
}

function extenderProblems(
  extenders: readonly ExtenderConfiguration[],
): FieldError[] {
  const problems: FieldError[] = [];
  const managed = new Set<string>();
  for (const [index, extender] of extenders.entries()) {
    const path = `extenders[${index}]`;
    const weight = extender.weight ?? 0;
    if (extender.prioritizeVerb && weight <= 0)
      problems.push(
        fieldErrors.invalid(
          `${path}.weight`,
          weight,
          "must have a positive weight applied to it",
        ),
      );
    for (const [at, { name }] of (extender.managedResources ?? []).entries()) {
      const field = `${path}.managedResources[${at}].name`;
      const malformed = invalidEach(field, name, qualifiedNameProblems(name));
      problems.push(...malformed);
      if (malformed.length === 0 && !isExtendedResource(name))
        problems.push(
          fieldErrors.invalid(
            field,
            name,
            "is an invalid extended resource name",
          ),
        );
      if (managed.has(name))
        problems.push(
          fieldErrors.invalid(
            field,
            name,
            "duplicate extender managed resource name",
          ),
        );
      managed.add(name);
    }
  }
  const binders = extenders.filter(({ bindVerb }) => bindVerb).length;
  if (binders > 1)
    problems.push(
      fieldErrors.invalid(
        "extenders",
        `found ${binders} extenders implementing bind`,
        "only one extender can implement bind",
      ),
    );
  return problems;
}

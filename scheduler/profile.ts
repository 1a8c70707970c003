// A profile as it runs: of the plug-ins that its plan names at each extension point, those that there is something to do
// for, made with the profile's arguments. Pods choose it by spec.schedulerName.
import type { Pod } from "../api/types/core-v1.ts";
import type { DynamicResources } from "./claims/dynamic-resources.ts";
import { argumentsOf } from "./configuration/defaults.ts";
import type {
  CompleteConfiguration,
  CompleteProfile,
  DefaultPreemptionArgs,
  ExtensionPoint,
} from "./configuration/configuration-types.ts";
import { planProfile, type ProfilePlan } from "./configuration/profile-plan.ts";
import { interPodAffinity } from "./filters/inter-pod-affinity.ts";
import {
  createNodeAffinityFilter,
  createNodeResourcesFitFilter,
  nodeName,
  nodePorts,
  nodeUnschedulable,
  taintToleration,
} from "./filters/node-filters.ts";
import {
  createSpreadDefaults,
  type PodOwners,
} from "./filters/spread-defaults.ts";
import { createTopologySpreadFilter } from "./filters/topology-spread.ts";
import type {
  PointStatus,
  SchedulerMetrics,
} from "./metrics/scheduler-metrics.ts";
import { Placer, type PlacementTiming } from "./placement.ts";
import type { FilterPlugin, Rejection, ScorePlugin } from "./plugin.ts";
import {
  createNodeAffinityScore,
  createPodAffinityScore,
  createTaintScore,
} from "./scores/preference-scores.ts";
import {
  createAllocationScore,
  createBalanceScore,
} from "./scores/resource-scores.ts";
import { createImageScore } from "./scores/image-locality.ts";
import { createSpreadScore } from "./scores/topology-spread-score.ts";
import type { StorageState } from "./volumes/storage-state.ts";
import { createVolumeBindingFilter } from "./volumes/volume-binding-filter.ts";
import {
  createVolumeLimitFilter,
  createVolumeRestrictionsFilter,
} from "./volumes/volume-limit-filters.ts";
import { createVolumeZoneFilter } from "./volumes/volume-zone-filter.ts";

/** What the profiles of one scheduler share. */
export interface ProfileContext {
  readonly storage: StorageState;
  /** Made when a profile needs it first. */
  readonly owners: () => PodOwners;
  /** undefined: its gate is off. */
  readonly dynamicResources: DynamicResources | undefined;
  readonly metrics?: SchedulerMetrics | undefined;
}

export interface SchedulingProfile {
  readonly name: string;
  readonly filters: readonly FilterPlugin[];
  readonly placer: Placer;
  /** undefined: its pods make no room for themselves. */
  readonly preemption: DefaultPreemptionArgs | undefined;
  /** How long the binding of volumes may take; undefined: they are not bound. */
  readonly volumeBindingMs: number | undefined;
  /** Does it look after a pod's claims of devices at the point? */
  readonly claimsAt: (point: ExtensionPoint) => boolean;
  /** Pods that have to wait until their gates are gone. */
  readonly isGated: (pod: Pod) => boolean;
}

export function createProfile(
  configuration: CompleteConfiguration,
  profile: CompleteProfile,
  context: ProfileContext,
): SchedulingProfile {
  const plan = planProfile(profile);
  const { points } = plan;
  const at = (point: ExtensionPoint, name: string): boolean =>
    points[point].includes(name);
  const filters = filtersOf(configuration, profile, plan, context);
  const { extenders = [], percentageOfNodesToScore } = configuration;
  const { bindTimeoutSeconds = 600 } = argumentsOf(profile, "VolumeBinding");
  return {
    name: profile.schedulerName,
    filters,
    placer: new Placer({
      filters,
      scores: scoresOf(profile, plan, context),
      percentageOfNodesToScore:
        profile.percentageOfNodesToScore ?? percentageOfNodesToScore,
      timing: timingOf(context.metrics, profile.schedulerName),
      extended: extenders.some(
        ({ filterVerb, prioritizeVerb }) => filterVerb || prioritizeVerb,
      ),
    }),
    preemption: at("postFilter", "DefaultPreemption")
      ? argumentsOf(profile, "DefaultPreemption")
      : undefined,
    volumeBindingMs: at("reserve", "VolumeBinding")
      ? bindTimeoutSeconds * 1000
      : undefined,
    claimsAt: (point) =>
      context.dynamicResources !== undefined && at(point, "DynamicResources"),
    isGated: at("preEnqueue", "SchedulingGates")
      ? ({ spec }) => (spec.schedulingGates?.length ?? 0) > 0
      : () => false,
  };
}

function timingOf(
  metrics: SchedulerMetrics | undefined,
  profile: string,
): PlacementTiming | undefined {
  return (
    metrics && {
      point: (point, seconds) =>
        metrics.point(point, "Success", profile, seconds),
      plugin: (plugin, point, rejection, seconds) =>
        metrics.plugin(plugin, point, statusOf(rejection), seconds),
    }
  );
}

function statusOf(rejection: Rejection | undefined): PointStatus {
  if (!rejection) return "Success";
  return rejection.unresolvable
    ? "UnschedulableAndUnresolvable"
    : "Unschedulable";
}

function filtersOf(
  { extenders = [] }: CompleteConfiguration,
  profile: CompleteProfile,
  { points }: ProfilePlan,
  { storage, owners, dynamicResources }: ProfileContext,
): FilterPlugin[] {
  const managed = extenders.flatMap(({ managedResources = [] }) =>
    managedResources.flatMap(({ name, ignoredByScheduler }) =>
      ignoredByScheduler ? [name] : [],
    ),
  );
  const made: Readonly<Record<string, () => FilterPlugin | undefined>> = {
    NodeUnschedulable: () => nodeUnschedulable,
    NodeName: () => nodeName,
    TaintToleration: () => taintToleration,
    NodeAffinity: () =>
      createNodeAffinityFilter(argumentsOf(profile, "NodeAffinity")),
    NodePorts: () => nodePorts,
    NodeResourcesFit: () =>
      createNodeResourcesFitFilter(
        argumentsOf(profile, "NodeResourcesFit"),
        managed,
      ),
    VolumeRestrictions: () => createVolumeRestrictionsFilter(storage),
    NodeVolumeLimits: () => createVolumeLimitFilter(storage),
    VolumeBinding: () => createVolumeBindingFilter(storage),
    VolumeZone: () => createVolumeZoneFilter(storage),
    PodTopologySpread: () =>
      createTopologySpreadFilter(
        createSpreadDefaults(argumentsOf(profile, "PodTopologySpread"), owners),
      ),
    InterPodAffinity: () => interPodAffinity,
    DynamicResources: () => dynamicResources?.filter,
  };
  return points.filter.flatMap((name) => made[name]!() ?? []);
}

function scoresOf(
  profile: CompleteProfile,
  { points, weights }: ProfilePlan,
  { owners }: ProfileContext,
): ScorePlugin[] {
  const made: Readonly<Record<string, (weight: number) => ScorePlugin>> = {
    TaintToleration: createTaintScore,
    NodeAffinity: (weight) =>
      createNodeAffinityScore(argumentsOf(profile, "NodeAffinity"), weight),
    NodeResourcesFit: (weight) =>
      createAllocationScore(argumentsOf(profile, "NodeResourcesFit"), weight),
    PodTopologySpread: (weight) =>
      createSpreadScore(
        createSpreadDefaults(argumentsOf(profile, "PodTopologySpread"), owners),
        weight,
      ),
    InterPodAffinity: (weight) =>
      createPodAffinityScore(argumentsOf(profile, "InterPodAffinity"), weight),
    NodeResourcesBalancedAllocation: (weight) =>
      createBalanceScore(
        argumentsOf(profile, "NodeResourcesBalancedAllocation"),
        weight,
      ),
    ImageLocality: createImageScore,
  };
  // VolumeBinding scores behind the gate VolumeCapacityPriority alone, which is not there.
  return points.score.flatMap((name) => made[name]?.(weights.get(name)!) ?? []);
}

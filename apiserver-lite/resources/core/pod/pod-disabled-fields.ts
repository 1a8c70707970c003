// Fields of a pod's spec and status whose features are switched off: they are dropped when an object is written, unless
// the stored one has them already.
import type {
  Container,
  ContainerStatus,
  PodSpec,
  PodStatus,
} from "../../../../api/types/core-v1.ts";
import { saysPodLevelResources } from "../../../../api/objects/pod-resources.ts";
import { containersOf } from "./pod-security-validation.ts";

type Mutable = Record<string, unknown>;

/** Features of pods that a gate switches on. */
export interface PodFeatures {
  /** Gate InPlacePodVerticalScaling. */
  readonly resize: boolean;
  /** Gate InPlacePodVerticalScalingAllocatedStatus, which does nothing without the other. */
  readonly allocatedStatus: boolean;
  /** Gate UserNamespacesSupport. */
  readonly userNamespaces: boolean;
  /** Gate SupplementalGroupsPolicy. */
  readonly groupsPolicy: boolean;
  /** Gate DynamicResourceAllocation. */
  readonly claims: boolean;
  /** Gate PodLevelResources. */
  readonly podResources: boolean;
  /** Gate ProcMountType. */
  readonly procMount: boolean;
  /** Gate ImageVolume. */
  readonly imageVolumes: boolean;
  /** Gate ClusterTrustBundleProjection. */
  readonly trustBundles: boolean;
}

export const defaultPodFeatures: PodFeatures = {
  resize: false,
  allocatedStatus: false,
  userNamespaces: false,
  groupsPolicy: false,
  claims: false,
  podResources: false,
  procMount: false,
  imageVolumes: false,
  trustBundles: false,
};

const ofPodSecurity = ["seLinuxChangePolicy"];

/** Deletes only what is there: deleting costs an object its shape, and with it the speed of all that reads it. */
function drop(
  object: object | undefined,
  old: object | undefined,
  names: readonly string[],
): void {
  const [now, was] = [
    object as Mutable | undefined,
    old as Mutable | undefined,
  ];
  for (const name of names)
    if (now && name in now && was?.[name] === undefined) delete now[name];
}

function dropOfContainer(
  container: Container,
  { resize, claims, procMount }: PodFeatures,
): void {
  if (!resize) drop(container, undefined, ["resizePolicy"]);
  if (!claims) drop(container.resources, undefined, ["claims"]);
  const security = container.securityContext;
  if (security?.procMount && !procMount) security.procMount = "Default";
}

const hasUnmaskedProc = (spec: Readonly<PodSpec>): boolean =>
  containersOf("", spec).some(
    ([, { securityContext }]) =>
      (securityContext?.procMount ?? "Default") !== "Default",
  );

const hasImageVolume = ({ volumes = [] }: Readonly<PodSpec>): boolean =>
  volumes.some(({ image }) => image !== undefined);

const hasTrustBundle = ({ volumes = [] }: Readonly<PodSpec>): boolean =>
  volumes.some(({ projected }) =>
    projected?.sources?.some(({ clusterTrustBundle }) => clusterTrustBundle),
  );

/** They go as a whole, and what mounts them. */
function dropImageVolumes(spec: PodSpec): void {
  const names = new Set(
    (spec.volumes ?? [])
      .filter((volume) => "image" in volume)
      .map(({ name }) => name),
  );
  if (names.size === 0) return;
  spec.volumes = spec.volumes!.filter((volume) => !("image" in volume));
  for (const [, container] of containersOf("", spec))
    if (container.volumeMounts)
      container.volumeMounts = container.volumeMounts.filter(
        ({ name }) => !names.has(name),
      );
}

/** What a pod had when the gate was on stays as it is. */
const hasResizePolicies = (spec: Readonly<PodSpec> | undefined): boolean =>
  (spec?.containers ?? []).some(
    ({ resizePolicy = [] }) => resizePolicy.length > 0,
  );

const hasClaims = (spec: Readonly<PodSpec> | undefined): boolean =>
  (spec?.resourceClaims ?? []).length > 0;

/** `spec` is a private copy and is changed; `old` is the stored one. */
export function dropDisabledFields(
  spec: PodSpec | undefined,
  features: PodFeatures,
  old?: Readonly<PodSpec>,
): void {
  if (!spec) return;
  if (!features.podResources && !saysPodLevelResources(old?.resources))
    drop(spec, undefined, ["resources"]);
  drop(spec.securityContext, old?.securityContext, ofPodSecurity);
  if (!features.userNamespaces) drop(spec, old, ["hostUsers"]);
  if (!features.groupsPolicy)
    drop(spec.securityContext, old?.securityContext, [
      "supplementalGroupsPolicy",
    ]);
  const resize = features.resize || hasResizePolicies(old);
  const claims = features.claims || hasClaims(old);
  const procMount = features.procMount || (!!old && hasUnmaskedProc(old));
  if (!claims) drop(spec, undefined, ["resourceClaims"]);
  for (const [, container] of containersOf("", spec))
    dropOfContainer(container, { ...features, resize, claims, procMount });
  if (!features.imageVolumes && !(old && hasImageVolume(old)))
    dropImageVolumes(spec);
  if (!features.trustBundles && !(old && hasTrustBundle(old)))
    for (const volume of spec.volumes ?? [])
      for (const source of volume.projected?.sources ?? [])
        drop(source, undefined, ["clusterTrustBundle"]);
}

const statusLists = [
  "containerStatuses",
  "initContainerStatuses",
  "ephemeralContainerStatuses",
] as const;

/** The agent's writes lose them as well. */
export function dropClaimStatuses(
  status: PodStatus,
  { claims }: PodFeatures,
  old: Readonly<PodSpec> | undefined,
): void {
  if (!claims && !hasClaims(old))
    drop(status, undefined, ["resourceClaimStatuses"]);
}

/** `status` is a private copy whose lists are not. The agent's own writes keep all that it reports. */
export function dropDisabledStatus(
  status: PodStatus,
  features: PodFeatures,
  old: Readonly<PodSpec> | undefined,
): void {
  const names: (keyof ContainerStatus)[] = [];
  if (!features.resize && !hasResizePolicies(old)) {
    drop(status, undefined, ["resize"]);
    names.push("resources");
  }
  if (!features.resize || !features.allocatedStatus)
    names.push("allocatedResources");
  dropClaimStatuses(status, features, old);
  const has = (container: ContainerStatus): boolean =>
    names.some((name) => name in container);
  for (const list of statusLists) {
    const containers = status[list];
    if (!containers?.some(has)) continue;
    status[list] = containers.map((container) => {
      const kept = { ...container };
      for (const name of names) delete kept[name];
      return kept;
    });
  }
}

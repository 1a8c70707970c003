// How built-in groups and versions follow each other, in numbers: groupPriorityMinimum and versionPriority of their
// APIServices, the reference's. Custom resources share one pair: their versions then follow as versions of their form do.

type Priorities = readonly [group: number, version: number];

const ofVersion: Readonly<Record<string, number>> = {
  v1: 15,
  v1beta1: 9,
  v1alpha1: 1,
};

/** Group → its priority, and its versions' where they are not as above. */
const groups: Readonly<
  Record<string, readonly [number, Readonly<Record<string, number>>?]>
> = {
  "": [18000, { v1: 1 }],
  apps: [17800],
  "events.k8s.io": [17750, { v1beta1: 5 }],
  "authentication.k8s.io": [17700],
  "authorization.k8s.io": [17600],
  autoscaling: [17500, { v2: 30 }],
  batch: [17400],
  "certificates.k8s.io": [17300],
  "networking.k8s.io": [17200],
  policy: [17100],
  "rbac.authorization.k8s.io": [17000],
  "storage.k8s.io": [16800],
  "apiextensions.k8s.io": [16700],
  "admissionregistration.k8s.io": [16700, { v1beta1: 12, v1alpha1: 9 }],
  "scheduling.k8s.io": [16600],
  "coordination.k8s.io": [16500, { v1alpha2: 12 }],
  "node.k8s.io": [16300],
  "discovery.k8s.io": [16200, { v1beta1: 12 }],
  "resource.k8s.io": [16200, { v1alpha3: 1 }],
  "flowcontrol.apiserver.k8s.io": [
    16100,
    { v1: 21, v1beta3: 18, v1beta2: 15, v1beta1: 12, v1alpha1: 9 },
  ],
  "internal.apiserver.k8s.io": [16000, { v1alpha1: 9 }],
  "storagemigration.k8s.io": [15800, { v1alpha1: 9 }],
};

const customPriorities: Priorities = [1000, 100];

/**
 * Groups that this server answers for without an APIService: an add-on brings one, and Helm refuses to take over an object
 * that is not its release's. When the add-on's goes, this server answers again. The metrics server registers itself so.
 */
const withoutRegistration: Readonly<Record<string, Priorities>> = {
  "metrics.k8s.io": [100, 100],
};

/** Of a group version that is served and is not built in, or is built in without an APIService. */
export function otherPriorities(group: string): Priorities {
  return Object.hasOwn(withoutRegistration, group)
    ? withoutRegistration[group]!
    : customPriorities;
}

/** Undefined: no built-in group version that has an APIService. */
export function builtinPriorities(
  group: string,
  version: string,
): Priorities | undefined {
  if (!Object.hasOwn(groups, group)) return undefined;
  const [ofGroup, versions = {}] = groups[group]!;
  const own = versions[version] ?? ofVersion[version];
  return own === undefined ? undefined : [ofGroup, own];
}

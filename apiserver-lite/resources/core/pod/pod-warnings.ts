// What a pod or pod template may say but had better not: told in Warning headers once it has been accepted.
import { trimEnd } from "../../../../api/trim.ts";
import { canonicalQuantity, parseQuantity } from "../../../../api/quantity.ts";
import type {
  Container,
  ContainerPort,
  NodeSelectorTerm,
  PodAffinityTerm,
  PodSpec,
  Volume,
} from "../../../../api/types/core-v1.ts";
import type { ObjectMeta } from "../../../../api/types/meta-v1.ts";
import { appArmorPrefix } from "./pod-annotations.ts";
import { containersOf } from "./pod-security-validation.ts";

const quoted = JSON.stringify;
const nanoInOne = 1_000_000_000n;
const required = "requiredDuringSchedulingIgnoredDuringExecution";
const preferred = "preferredDuringSchedulingIgnoredDuringExecution";

const topology = (part: string): string =>
  `deprecated since v1.17; use "topology.kubernetes.io/${part}" instead`;
const deprecatedLabels: Readonly<Record<string, string>> = {
  "beta.kubernetes.io/arch":
    'deprecated since v1.14; use "kubernetes.io/arch" instead',
  "beta.kubernetes.io/os":
    'deprecated since v1.14; use "kubernetes.io/os" instead',
  "failure-domain.beta.kubernetes.io/region": topology("region"),
  "failure-domain.beta.kubernetes.io/zone": topology("zone"),
  "beta.kubernetes.io/instance-type":
    'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
};

const deprecatedAnnotations: Readonly<Record<string, string>> = {
  "scheduler.alpha.kubernetes.io/critical-pod":
    'non-functional in v1.16+; use the "priorityClassName" field instead',
  "security.alpha.kubernetes.io/sysctls":
    'non-functional in v1.11+; use the "sysctls" field instead',
  "security.alpha.kubernetes.io/unsafe-sysctls":
    'non-functional in v1.11+; use the "sysctls" field instead',
};
const podSeccomp = "seccomp.security.alpha.kubernetes.io/pod";
const containerSeccomp = "container.seccomp.security.alpha.kubernetes.io/";
const seccompGone =
  'non-functional in v1.27+; use the "seccompProfile" field instead';

/** Deprecated kinds of volumes in the order they are told, `name` where the reference writes another. */
const deprecatedVolumes: readonly [
  kind: keyof Volume,
  since: string,
  name?: string,
][] = [
  ["photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"],
  ["gitRepo", "deprecated in v1.11"],
  ["scaleIO", "deprecated in v1.16, non-functional in v1.22+"],
  ["flocker", "deprecated in v1.22, non-functional in v1.25+"],
  ["storageos", "deprecated in v1.22, non-functional in v1.25+", "storageOS"],
  ["quobyte", "deprecated in v1.22, non-functional in v1.25+"],
  ["glusterfs", "deprecated in v1.25, non-functional in v1.26+"],
  ["cephfs", "deprecated in v1.28, non-functional in v1.31+"],
  ["rbd", "deprecated in v1.28, non-functional in v1.31+"],
];

export function appArmorWarning(field: string, container: string): string {
  return `${field}metadata.annotations[${appArmorPrefix}${container}]: deprecated since v1.30; use the "appArmorProfile" field instead`;
}

function* ofTerm(field: string, term: NodeSelectorTerm): Iterable<string> {
  for (const [index, { key }] of (term.matchExpressions ?? []).entries()) {
    const since = deprecatedLabels[key];
    if (since)
      yield `${field}.matchExpressions[${index}].key: ${key} is ${since}`;
  }
}

const matchesNothing = (field: string): string =>
  `${field}.labelSelector: a null labelSelector results in matching no pod`;

function* ofNodeLabels(field: string, spec: PodSpec): Iterable<string> {
  for (const key of Object.keys(spec.nodeSelector ?? {}).sort())
    if (deprecatedLabels[key])
      yield `${field}.nodeSelector[${key}]: ${deprecatedLabels[key]}`;
  const nodes = spec.affinity?.nodeAffinity;
  const path = `${field}.affinity.nodeAffinity`;
  for (const [index, term] of (
    nodes?.[required]?.nodeSelectorTerms ?? []
  ).entries())
    yield* ofTerm(`${path}.${required}.nodeSelectorTerms[${index}]`, term);
  for (const [index, { preference }] of (nodes?.[preferred] ?? []).entries())
    yield* ofTerm(`${path}.${preferred}[${index}].preference`, preference);
  for (const [index, constraint] of (
    spec.topologySpreadConstraints ?? []
  ).entries()) {
    const { topologyKey, labelSelector } = constraint;
    const at = `${field}.topologySpreadConstraints[${index}]`;
    const since = deprecatedLabels[topologyKey];
    if (since) yield `${at}.topologyKey: ${topologyKey} is ${since}`;
    if (!labelSelector) yield matchesNothing(at);
  }
}

interface Path {
  readonly path: string;
  /** How the path is shown: what a projected volume takes it from is told too. */
  readonly shown: string;
  /** Of one source of a projected volume; its own paths are judged apart from others'. */
  readonly source: string;
}

const pathsOf = (
  items: readonly { path: string }[] | undefined,
  source = "",
): Path[] =>
  (items ?? []).map(({ path }) => ({
    path: trimEnd(path, "/"),
    shown: source ? `${quoted(path)} (${source})` : quoted(path),
    source,
  }));

function projectedPaths({ projected }: Volume): Path[] {
  return (projected?.sources ?? []).flatMap((source) => [
    ...pathsOf(
      source.configMap?.items,
      source.configMap && `ConfigMap ${quoted(source.configMap.name ?? "")}`,
    ),
    ...pathsOf(
      source.secret?.items,
      source.secret && `Secret ${quoted(source.secret.name ?? "")}`,
    ),
    ...pathsOf(source.downwardAPI?.items, "DownwardAPI"),
    ...(source.serviceAccountToken
      ? pathsOf([source.serviceAccountToken], "ServiceAccountToken")
      : []),
  ]);
}

/** Each with each: volumes with more paths are not looked through. */
const maxPaths = 500;

function* overlaps(paths: readonly Path[]): Iterable<string> {
  if (paths.length > maxPaths) return;
  for (const [index, one] of paths.entries())
    for (let before = 0; before < index; before++) {
      const other = paths[before]!;
      if (
        one.path === other.path ||
        one.path.startsWith(`${other.path}/`) ||
        other.path.startsWith(`${one.path}/`)
      )
        yield `${one.shown} with ${other.shown}`;
    }
}

function* ofVolumes(
  field: string,
  volumes: readonly Volume[],
): Iterable<string> {
  for (const [index, volume] of volumes.entries())
    for (const [kind, since, name = kind] of deprecatedVolumes)
      if (volume[kind]) yield `${field}[${index}].${name}: ${since}`;
  for (const volume of volumes) {
    const { configMap, secret, downwardAPI, projected } = volume;
    const told: [string, Path[]][] = [];
    if (configMap?.items)
      told.push([
        `ConfigMap ${quoted(configMap.name ?? "")}`,
        pathsOf(configMap.items),
      ]);
    if (secret?.items)
      told.push([
        `Secret ${quoted(secret.secretName ?? "")}`,
        pathsOf(secret.items),
      ]);
    if (downwardAPI?.items)
      told.push(["DownwardAPI", pathsOf(downwardAPI.items)]);
    if (projected) told.push(["Projected", projectedPaths(volume)]);
    for (const [what, paths] of told)
      for (const overlap of overlaps(paths))
        yield `volume ${quoted(volume.name)} (${what}): overlapping paths: ${overlap}`;
    for (const source of projected?.sources ?? [])
      if (Object.values(source).filter(Boolean).length === 0)
        yield `volume ${quoted(volume.name)} (Projected) has no sources provided`;
  }
}

function* ofNamedLists(field: string, spec: PodSpec): Iterable<string> {
  const seen = new Set<string>();
  for (const [index, { ip }] of (spec.hostAliases ?? []).entries()) {
    if (seen.has(ip))
      yield `${field}.hostAliases[${index}].ip: duplicate ip ${quoted(ip)}`;
    seen.add(ip);
  }
  const secrets = (spec.imagePullSecrets ?? []).map(({ name = "" }) => name);
  const known = new Set<string>();
  for (const [index, name] of secrets.entries()) {
    if (known.has(name))
      yield `${field}.imagePullSecrets[${index}].name: duplicate name ${quoted(name)}`;
    known.add(name);
  }
  for (const [index, name] of secrets.entries())
    if (!name)
      yield `${field}.imagePullSecrets[${index}].name: invalid empty name ""`;
}

const byteResources = ["memory", "ephemeral-storage"] as const;

function* ofBytes(
  field: string,
  name: string,
  list: Readonly<Record<string, string>> | undefined,
): Iterable<string> {
  const value = list?.[name];
  if (value !== undefined && parseQuantity(value).nano % nanoInOne !== 0n)
    yield `${field}[${name}]: fractional byte value ${quoted(canonicalQuantity(value))} is invalid, must be an integer`;
}

function* ofContainer(field: string, container: Container): Iterable<string> {
  const { resources, env = [] } = container;
  for (const name of byteResources) {
    yield* ofBytes(`${field}.resources.limits`, name, resources?.limits);
    yield* ofBytes(`${field}.resources.requests`, name, resources?.requests);
  }
  const names = new Set<string>();
  for (const [index, { name, value = "", valueFrom }] of env.entries()) {
    const before = `$(${name})`;
    const extends_ = !valueFrom && value !== before && value.includes(before);
    if (names.has(name) && !extends_)
      yield `${field}.env[${index}]: hides previous definition of ${quoted(name)}, which may be dropped when using apply`;
    names.add(name);
  }
}

/** Two definitions of a port, as far as they get into each other's way. */
function relation(one: ContainerPort, other: ContainerPort): string {
  const [a, b] = [one.hostPort ?? 0, other.hostPort ?? 0];
  const [x, y] = [one.hostIP ?? "", other.hostIP ?? ""];
  if (a === b && x === y) return "duplicate";
  if (a === 0 || b === 0) return "overlapping";
  return a === b && (x === "") !== (y === "") ? "dangerously ambiguous" : "";
}

/** Definitions of one port that later ones are compared with. */
const maxSamePorts = 500;

function* ofPorts(field: string, spec: PodSpec): Iterable<string> {
  const seen = new Map<string, [string, ContainerPort][]>();
  for (const [path, { ports }] of containersOf(field, spec))
    for (const [index, port] of (ports ?? []).entries()) {
      const at = `${path}.ports[${index}]`;
      const id = `${port.containerPort}/${port.protocol}`;
      const same = seen.get(id);
      for (const [where, other] of same ?? []) {
        const how = relation(port, other);
        if (how) yield `${at}: ${how} port definition with ${where}`;
      }
      if (!same) seen.set(id, [[at, port]]);
      else if (same.length < maxSamePorts) same.push([at, port]);
    }
}

function* ofPodTerms(field: string, spec: PodSpec): Iterable<string> {
  for (const kind of ["podAffinity", "podAntiAffinity"] as const) {
    const affinity = spec.affinity?.[kind];
    const path = `${field}.affinity.${kind}`;
    const terms: [string, PodAffinityTerm][] = [
      ...(affinity?.[required] ?? []).map(
        (term, index): [string, PodAffinityTerm] => [
          `${path}.${required}[${index}]`,
          term,
        ],
      ),
      ...(affinity?.[preferred] ?? []).map(
        ({ podAffinityTerm }, index): [string, PodAffinityTerm] => [
          `${path}.${preferred}[${index}].podAffinityTerm`,
          podAffinityTerm,
        ],
      ),
    ];
    for (const [at, { labelSelector }] of terms)
      if (!labelSelector) yield matchesNothing(at);
  }
}

/**
 * `field` is "" for a pod and "spec.template." for a workload's template. Annotations of AppArmor are told of templates
 * only: pods get the field from them, and a warning at once.
 */
export function* podWarnings(
  field: string,
  spec: PodSpec,
  meta: Pick<ObjectMeta, "annotations"> | undefined,
): Iterable<string> {
  const path = `${field}spec`;
  const annotations = meta?.annotations ?? {};
  const annotated = `${field}metadata.annotations`;
  yield* ofNodeLabels(path, spec);
  for (const [key, why] of Object.entries(deprecatedAnnotations))
    if (key in annotations) yield `${annotated}[${key}]: ${why}`;
  yield* ofVolumes(`${path}.volumes`, spec.volumes ?? []);
  yield* ofNamedLists(path, spec);
  for (const name of byteResources)
    yield* ofBytes(`${path}.overhead`, name, spec.overhead);
  const context = spec.securityContext;
  if (podSeccomp in annotations && !context?.seccompProfile)
    yield `${annotated}[${podSeccomp}]: ${seccompGone}`;
  for (const [at, container] of containersOf(path, spec)) {
    const { name, securityContext } = container;
    const key = `${containerSeccomp}${name}`;
    if (key in annotations && !securityContext?.seccompProfile)
      yield `${annotated}[${key}]: ${seccompGone}`;
    if (
      field &&
      `${appArmorPrefix}${name}` in annotations &&
      !context?.appArmorProfile &&
      !securityContext?.appArmorProfile
    )
      yield appArmorWarning(field, name);
    yield* ofContainer(at, container);
  }
  yield* ofPorts(path, spec);
  if ((spec.terminationGracePeriodSeconds ?? 0) < 0)
    yield `${path}.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1`;
  yield* ofPodTerms(path, spec);
}

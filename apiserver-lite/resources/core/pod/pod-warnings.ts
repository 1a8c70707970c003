// Warnings for accepted fields of a pod or pod template that its author should avoid: the answer has them as headers.
import { trimEnd } from "../../../../api/patterns/trim.ts";
import { canonicalQuantity, parseQuantity } from "../../../../api/quantity.ts";
import type {
  Container,
  ContainerPort,
  PodAffinityTerm,
  PodSpec,
  Volume,
} from "../../../../api/types/core-v1.ts";
import type { ObjectMeta } from "../../../../api/types/meta-v1.ts";
import {
  deprecatedNodeLabels,
  expressionWarnings,
} from "../node-label-warnings.ts";
import { appArmorPrefix } from "./pod-annotations.ts";
import { containersOf } from "./pod-security-validation.ts";

const quoted = JSON.stringify;
const nanoInOne = 1_000_000_000n;
const required = "requiredDuringSchedulingIgnoredDuringExecution";
const preferred = "preferredDuringSchedulingIgnoredDuringExecution";

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

/** Deprecated kinds of volumes in the order of the warnings, `name` where the reference writes another. */
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

const deprecatedKinds: ReadonlySet<string> = new Set(
  deprecatedVolumes.map(([kind]) => kind),
);

export function appArmorWarning(field: string, container: string): string {
  return `${field}metadata.annotations[${appArmorPrefix}${container}]: deprecated since v1.30; use the "appArmorProfile" field instead`;
}

const matchesNothing = (field: string): string =>
  `${field}.labelSelector: a null labelSelector results in matching no pod`;

function* ofNodeLabels(field: string, spec: PodSpec): Iterable<string> {
  for (const key of Object.keys(spec.nodeSelector ?? {}).sort())
    if (deprecatedNodeLabels[key])
      yield `${field}.nodeSelector[${key}]: ${deprecatedNodeLabels[key]}`;
  const nodes = spec.affinity?.nodeAffinity;
  const path = `${field}.affinity.nodeAffinity`;
  for (const [index, term] of (
    nodes?.[required]?.nodeSelectorTerms ?? []
  ).entries())
    yield* expressionWarnings(
      `${path}.${required}.nodeSelectorTerms[${index}]`,
      term,
    );
  for (const [index, { preference }] of (nodes?.[preferred] ?? []).entries())
    yield* expressionWarnings(
      `${path}.${preferred}[${index}].preference`,
      preference,
    );
  for (const [index, constraint] of (
    spec.topologySpreadConstraints ?? []
  ).entries()) {
    const { topologyKey, labelSelector } = constraint;
    const at = `${field}.topologySpreadConstraints[${index}]`;
    const since = deprecatedNodeLabels[topologyKey];
    if (since) yield `${at}.topologyKey: ${topologyKey} is ${since}`;
    if (!labelSelector) yield matchesNothing(at);
  }
}

/** A file of a volume. */
interface Path {
  readonly path: string;
  /** What lies below begins with this. */
  readonly below: string;
  /** As it was written. */
  readonly raw: string;
  /** Of one source of a projected volume. */
  readonly source?: readonly [kind: string, name?: string];
}

function addPaths(
  paths: Path[],
  items: readonly { path: string }[] | undefined,
  source?: Path["source"],
): void {
  for (const { path: raw } of items ?? []) {
    const path = trimEnd(raw, "/");
    paths.push({ path, below: `${path}/`, raw, ...(source && { source }) });
  }
}

/** `ConfigMap "a"`; some kinds have no name. */
const shownSource = ([kind, name]: NonNullable<Path["source"]>): string =>
  name === undefined ? kind : `${kind} ${quoted(name)}`;

/** What a projected volume takes a path from is shown too. */
const shownPath = ({ raw, source }: Path): string =>
  source ? `${quoted(raw)} (${shownSource(source)})` : quoted(raw);

function projectedPaths({ projected }: Volume): Path[] {
  const paths: Path[] = [];
  for (const source of projected?.sources ?? []) {
    const {
      configMap,
      secret,
      downwardAPI,
      serviceAccountToken,
      clusterTrustBundle,
    } = source;
    if (configMap)
      addPaths(paths, configMap.items, ["ConfigMap", configMap.name ?? ""]);
    if (secret) addPaths(paths, secret.items, ["Secret", secret.name ?? ""]);
    if (downwardAPI) addPaths(paths, downwardAPI.items, ["DownwardAPI"]);
    if (serviceAccountToken)
      addPaths(paths, [serviceAccountToken], ["ServiceAccountToken"]);
    if (clusterTrustBundle)
      addPaths(paths, [clusterTrustBundle], ["ClusterTrustBundle"]);
  }
  return paths;
}

/** Each with each: volumes with more paths are not looked through. */
const maxPaths = 500;

function* overlaps(paths: readonly Path[]): Iterable<string> {
  for (let at = 1; at < paths.length; at++) {
    const one = paths[at]!;
    for (let before = 0; before < at; before++) {
      const other = paths[before]!;
      if (
        one.path === other.path ||
        one.path.startsWith(other.below) ||
        other.path.startsWith(one.below)
      )
        yield `${shownPath(one)} with ${shownPath(other)}`;
    }
  }
}

function* ofPaths(
  { name }: Volume,
  source: NonNullable<Path["source"]>,
  paths: readonly Path[],
): Iterable<string> {
  if (paths.length > maxPaths) return;
  for (const overlap of overlaps(paths))
    yield `volume ${quoted(name)} (${shownSource(source)}): overlapping paths: ${overlap}`;
}

function* ofItems(
  volume: Volume,
  items: readonly { path: string }[],
  ...source: NonNullable<Path["source"]>
): Iterable<string> {
  const paths: Path[] = [];
  addPaths(paths, items);
  yield* ofPaths(volume, source, paths);
}

function* ofVolumes(
  field: string,
  volumes: readonly Volume[],
): Iterable<string> {
  for (let index = 0; index < volumes.length; index++) {
    if (!isDeprecated(volumes[index]!)) continue;
    for (const [kind, since, name = kind] of deprecatedVolumes)
      if (volumes[index]![kind]) yield `${field}[${index}].${name}: ${since}`;
  }
  for (const volume of volumes) {
    const { configMap, secret, downwardAPI, projected } = volume;
    if (configMap?.items)
      yield* ofItems(
        volume,
        configMap.items,
        "ConfigMap",
        configMap.name ?? "",
      );
    if (secret?.items)
      yield* ofItems(volume, secret.items, "Secret", secret.secretName ?? "");
    if (downwardAPI?.items)
      yield* ofItems(volume, downwardAPI.items, "DownwardAPI");
    if (projected) {
      yield* ofPaths(volume, ["Projected"], projectedPaths(volume));
      for (const source of projected.sources ?? [])
        if (saysNothing(source))
          yield `volume ${quoted(volume.name)} (Projected) has no sources provided`;
    }
  }
}

function isDeprecated(volume: Volume): boolean {
  for (const name in volume) if (deprecatedKinds.has(name)) return true;
  return false;
}

function saysNothing(source: object): boolean {
  for (const kind in source)
    if (source[kind as keyof typeof source]) return false;
  return true;
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

function fractionalBytes(
  field: string,
  name: string,
  list: Readonly<Record<string, string>> | undefined,
): string | undefined {
  const value = list?.[name];
  return value !== undefined && parseQuantity(value).nano % nanoInOne !== 0n
    ? `${field}[${name}]: fractional byte value ${quoted(canonicalQuantity(value))} is invalid, must be an integer`
    : undefined;
}

function* ofContainer(field: string, container: Container): Iterable<string> {
  const { resources, env = [] } = container;
  for (const name of byteResources)
    for (const part of ["limits", "requests"] as const) {
      const list = resources?.[part];
      const at = `${field}.resources.${part}`;
      const warning = list && fractionalBytes(at, name, list);
      if (warning) yield warning;
    }
  const names = new Set<string>();
  for (let index = 0; index < env.length; index++) {
    const { name, value = "", valueFrom } = env[index]!;
    const before = `$(${name})`;
    const extendsIt = (): boolean =>
      !valueFrom && value !== before && value.includes(before);
    if (names.has(name) && !extendsIt())
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

const shownPort = ({
  name = "",
  hostPort = 0,
  hostIP,
  ...port
}: ContainerPort) =>
  `{Name:${name} HostPort:${hostPort} ContainerPort:${port.containerPort} Protocol:${port.protocol} HostIP:${hostIP}}`;

/** Definitions of one port that later ones are compared with. */
const maxSamePorts = 500;

function* ofPorts(field: string, spec: PodSpec): Iterable<string> {
  const seen = new Map<string, [string, ContainerPort][]>();
  for (const [path, { ports = [] }] of containersOf(field, spec))
    for (let index = 0; index < ports.length; index++) {
      const port = ports[index]!;
      const at = `${path}.ports[${index}]`;
      if (port.hostIP && !port.hostPort)
        yield `${at}: hostIP set without hostPort: ${shownPort(port)}`;
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
 * `field` is "" for a pod and "spec.template." for a workload's template. Only templates get the warning about AppArmor's
 * annotations: pods get the field from them, and a warning at once.
 */
export function* podWarnings(
  field: string,
  spec: PodSpec,
  meta: Pick<ObjectMeta, "annotations"> | undefined,
): Iterable<string> {
  const path = `${field}spec`;
  const annotations = meta?.annotations ?? {};
  const annotated = `${field}metadata.annotations`;
  if (spec.nodeSelector || spec.affinity || spec.topologySpreadConstraints)
    yield* ofNodeLabels(path, spec);
  for (const key in deprecatedAnnotations)
    if (key in annotations)
      yield `${annotated}[${key}]: ${deprecatedAnnotations[key]}`;
  if (spec.volumes) yield* ofVolumes(`${path}.volumes`, spec.volumes);
  if (spec.hostAliases || spec.imagePullSecrets)
    yield* ofNamedLists(path, spec);
  for (const name of byteResources) {
    const warning = fractionalBytes(`${path}.overhead`, name, spec.overhead);
    if (warning) yield warning;
  }
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
  if (spec.affinity) yield* ofPodTerms(path, spec);
}

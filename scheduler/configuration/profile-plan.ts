// Which plug-ins a completed profile runs at each extension point, in which order and with which weights: what it names
// for the point itself comes before what multiPoint names for all points that a plug-in has. Problems have the reference's
// texts.
//
// Order at a point: plug-ins of multiPoint that the point names too (in the point's order), the rest of multiPoint (in its
// order), the rest of the point's. A plug-in that the point names takes the point's weight.
import {
  extensionPoints,
  type CompleteProfile,
  type ExtensionPoint,
  type PluginSet,
} from "./configuration-types.ts";
import { pointsOf } from "./plugin-catalogue.ts";

export interface ProfilePlan {
  readonly points: Readonly<Record<ExtensionPoint, readonly string[]>>;
  /** Of the plug-ins that score. */
  readonly weights: ReadonlyMap<string, number>;
}

/** A profile that can't be run; the message says why. */
export class ProfileProblem extends Error {}

/** The reference's name of what a plug-in must be for the point: `PreFilterPlugin`. */
const typeOf = (point: ExtensionPoint): string =>
  `${point[0]!.toUpperCase()}${point.slice(1)}Plugin`;

function checked(point: ExtensionPoint, { enabled = [] }: PluginSet): string[] {
  const names: string[] = [];
  for (const { name } of enabled) {
    const points = pointsOf(name);
    if (!points)
      throw new ProfileProblem(
        `${typeOf(point)} ${JSON.stringify(name)} does not exist`,
      );
    if (!points.includes(point))
      throw new ProfileProblem(
        `plugin ${JSON.stringify(name)} does not extend ${typeOf(point)} plugin`,
      );
    if (names.includes(name)) throw registeredTwice(name, point);
    names.push(name);
  }
  return names;
}

const registeredTwice = (name: string, point: ExtensionPoint): ProfileProblem =>
  new ProfileProblem(
    `plugin ${JSON.stringify(name)} already registered as ${JSON.stringify(typeOf(point))}`,
  );

function expanded(
  point: ExtensionPoint,
  own: readonly string[],
  { disabled = [] }: PluginSet,
  multiPoint: PluginSet,
): readonly string[] {
  const isDisabled = new Set(disabled.map(({ name }) => name));
  const known = multiPoint.enabled ?? [];
  if (known.length === 0 || isDisabled.has("*")) return own;
  const added: string[] = [];
  const overridden = new Set<string>();
  for (const { name } of known) {
    const points = pointsOf(name);
    if (!points)
      throw new ProfileProblem(
        `${typeOf(point)} ${JSON.stringify(name)} does not exist`,
      );
    if (!points.includes(point) || isDisabled.has(name)) continue;
    if (own.includes(name)) overridden.add(name);
    else if (added.includes(name)) throw registeredTwice(name, point);
    else added.push(name);
  }
  return [
    ...own.filter((name) => overridden.has(name)),
    ...added,
    ...own.filter((name) => !overridden.has(name)),
  ];
}

/** @throws ProfileProblem */
export function planProfile({
  plugins,
  schedulerName,
}: CompleteProfile): ProfilePlan {
  const own = new Map(
    extensionPoints.map((point) => [
      point,
      checked(point, plugins[point] ?? {}),
    ]),
  );
  const { multiPoint = {} } = plugins;
  const points = Object.fromEntries(
    extensionPoints.map((point) => [
      point,
      expanded(point, own.get(point)!, plugins[point] ?? {}, multiPoint),
    ]),
  ) as Record<ExtensionPoint, readonly string[]>;
  const quoted = JSON.stringify(schedulerName);
  if (points.queueSort.length !== 1)
    throw new ProfileProblem(
      `only one queue sort plugin required for profile with scheduler name ${quoted}, but got ${points.queueSort.length}`,
    );
  if (points.bind.length === 0)
    throw new ProfileProblem(
      `at least one bind plugin is needed for profile with scheduler name ${quoted}`,
    );
  refuseHalves(points);
  const weights = new Map<string, number>();
  for (const { name, weight } of [
    ...(plugins.score?.enabled ?? []),
    ...(multiPoint.enabled ?? []),
  ])
    if (pointsOf(name)?.includes("score") && !weights.has(name))
      weights.set(name, weight || 1);
  return { points, weights };
}

/** Plug-ins whose parts at these points are one here, by the reference too where the first only prepares the second. */
const wholes: readonly {
  readonly first: ExtensionPoint;
  readonly second: ExtensionPoint;
  /** Whose first part decides something by itself. */
  readonly firstAlone: readonly string[];
  /** Whose second part fails for every pod without the first. */
  readonly secondAlone: readonly string[];
}[] = [
  {
    first: "preFilter",
    second: "filter",
    firstAlone: [
      "NodeAffinity",
      "VolumeBinding",
      "VolumeZone",
      "DynamicResources",
    ],
    secondAlone: [
      "NodeResourcesFit",
      "VolumeRestrictions",
      "VolumeBinding",
      "PodTopologySpread",
      "InterPodAffinity",
      "DynamicResources",
    ],
  },
  {
    first: "preScore",
    second: "score",
    firstAlone: [],
    secondAlone: ["PodTopologySpread", "InterPodAffinity"],
  },
  {
    first: "reserve",
    second: "preBind",
    firstAlone: ["VolumeBinding", "DynamicResources"],
    secondAlone: ["VolumeBinding", "DynamicResources"],
  },
];

/** What can't be had in part is refused: a pod must not pass a check because half of a plug-in is off. */
function refuseHalves(
  points: Readonly<Record<ExtensionPoint, readonly string[]>>,
): void {
  for (const { first, second, firstAlone, secondAlone } of wholes) {
    const [before, after] = [points[first], points[second]];
    const half =
      before.find(
        (name) => firstAlone.includes(name) && !after.includes(name),
      ) ??
      after.find(
        (name) => secondAlone.includes(name) && !before.includes(name),
      );
    if (half)
      throw new ProfileProblem(
        `plugin ${JSON.stringify(half)} has to be enabled at both ${first} and ${second}, or at neither`,
      );
  }
}

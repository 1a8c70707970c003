// The fields of a KubeSchedulerConfiguration and of the plug-ins' arguments, and the strict reading of a file by them: a
// field that is not here, or of another type, is a problem that names file, line and field.
import { isBase64 } from "../../../api/codec/conform.ts";
import { parseDurationMs } from "../../../api/duration.ts";
import { normaliseApiVersion } from "../../../api/dialect.ts";
import type {
  PluginArguments,
  SchedulerConfiguration,
} from "../../../scheduler/configuration/configuration-types.ts";
import { isMap } from "../../options/kubelet-configuration/configuration-document.ts";
import type { ConfigurationSection } from "../configuration-section.ts";

type Scalar =
  "text" | "int32" | "int64" | "number" | "flag" | "duration" | "base64";
/** A list is written as an array with the shape of its items; `arguments` depends on the plug-in's name beside it. */
type Shape = Scalar | "arguments" | readonly [Shape] | Fields;
interface Fields {
  readonly [field: string]: Shape;
}

export const schedulerApiVersion = "kubescheduler.config.k8s.io/v1";

const pluginSet: Shape = {
  enabled: [{ name: "text", weight: "int32" }],
  disabled: [{ name: "text", weight: "int32" }],
};
const resources: Shape = [{ name: "text", weight: "int64" }];
const shapePoints: Shape = [{ utilization: "int32", score: "int32" }];
const labelRequirements: Shape = [
  { key: "text", operator: "text", values: ["text"] },
];
const nodeSelectorTerm: Shape = {
  matchExpressions: labelRequirements,
  matchFields: labelRequirements,
};

const argumentShapes: Readonly<Record<keyof PluginArguments, Fields>> = {
  DefaultPreemption: {
    minCandidateNodesPercentage: "int32",
    minCandidateNodesAbsolute: "int32",
  },
  InterPodAffinity: {
    hardPodAffinityWeight: "int32",
    ignorePreferredTermsOfExistingPods: "flag",
  },
  NodeAffinity: {
    addedAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [nodeSelectorTerm],
      },
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: "int32", preference: nodeSelectorTerm },
      ],
    },
  },
  NodeResourcesBalancedAllocation: { resources },
  NodeResourcesFit: {
    ignoredResources: ["text"],
    ignoredResourceGroups: ["text"],
    scoringStrategy: {
      type: "text",
      resources,
      requestedToCapacityRatio: { shape: shapePoints },
    },
  },
  PodTopologySpread: {
    defaultConstraints: [
      {
        maxSkew: "int32",
        topologyKey: "text",
        whenUnsatisfiable: "text",
        labelSelector: {
          matchExpressions: labelRequirements,
        },
        minDomains: "int32",
        nodeAffinityPolicy: "text",
        nodeTaintsPolicy: "text",
        matchLabelKeys: ["text"],
      },
    ],
    defaultingType: "text",
  },
  VolumeBinding: { bindTimeoutSeconds: "int64", shape: shapePoints },
};

/** Does a plug-in of this name take arguments? */
export const hasArguments = (name: string): name is keyof PluginArguments =>
  Object.hasOwn(argumentShapes, name);

const configurationShape: Fields = {
  parallelism: "int32",
  leaderElection: {
    leaderElect: "flag",
    leaseDuration: "duration",
    renewDeadline: "duration",
    retryPeriod: "duration",
    resourceLock: "text",
    resourceName: "text",
    resourceNamespace: "text",
  },
  clientConnection: {
    kubeconfig: "text",
    acceptContentTypes: "text",
    contentType: "text",
    qps: "number",
    burst: "int32",
  },
  enableProfiling: "flag",
  enableContentionProfiling: "flag",
  percentageOfNodesToScore: "int32",
  podInitialBackoffSeconds: "int64",
  podMaxBackoffSeconds: "int64",
  profiles: [
    {
      schedulerName: "text",
      percentageOfNodesToScore: "int32",
      plugins: {
        preEnqueue: pluginSet,
        queueSort: pluginSet,
        preFilter: pluginSet,
        filter: pluginSet,
        postFilter: pluginSet,
        preScore: pluginSet,
        score: pluginSet,
        reserve: pluginSet,
        permit: pluginSet,
        preBind: pluginSet,
        bind: pluginSet,
        postBind: pluginSet,
        multiPoint: pluginSet,
      },
      pluginConfig: [{ name: "text", args: "arguments" }],
    },
  ],
  extenders: [
    {
      urlPrefix: "text",
      filterVerb: "text",
      preemptVerb: "text",
      prioritizeVerb: "text",
      weight: "int64",
      bindVerb: "text",
      enableHTTPS: "flag",
      tlsConfig: {
        insecure: "flag",
        serverName: "text",
        certFile: "text",
        keyFile: "text",
        caFile: "text",
        certData: "base64",
        keyData: "base64",
        caData: "base64",
      },
      httpTimeout: "duration",
      nodeCacheCapable: "flag",
      managedResources: [{ name: "text", ignoredByScheduler: "flag" }],
      ignorable: "flag",
    },
  ],
  delayCacheUntilActive: "flag",
};

const isText = (value: unknown): value is string => typeof value === "string";

/** What a value must be, and whether it is. */
const scalars: Readonly<
  Record<Scalar, readonly [must: string, is: (value: unknown) => boolean]>
> = {
  text: ["a string", isText],
  int32: [
    "a whole number of 32 bits",
    (value) =>
      Number.isInteger(value) && (value as number) === ((value as number) | 0),
  ],
  int64: ["a whole number", Number.isSafeInteger],
  number: ["a number", (value) => typeof value === "number"],
  flag: ["true or false", (value) => typeof value === "boolean"],
  duration: [
    "a duration, such as 15s",
    (value) => isText(value) && isDuration(value),
  ],
  base64: [
    "base64",
    (value) => isText(value) && isBase64(value.replace(/\s/g, "")),
  ],
};

function isDuration(text: string): boolean {
  try {
    parseDurationMs(text);
    return true;
  } catch {
    return false;
  }
}

/** @returns undefined for what is not given, and for what is wrong, which is reported to the section */
function readValue(
  section: ConfigurationSection,
  shape: Scalar | Fields,
): unknown {
  const { value } = section;
  if (value === undefined || value === null) return undefined;
  if (typeof shape === "object") return readFields(section, shape);
  const [must, is] = scalars[shape];
  if (is(value)) return value;
  section.problem(`must be ${must}`);
  return undefined;
}

function readFields(
  section: ConfigurationSection,
  fields: Fields,
  given = section.fields(Object.keys(fields)),
): Record<string, unknown> {
  const entries = Object.entries(fields).flatMap(([name, shape]) => {
    if (given[name] === undefined || given[name] === null) return [];
    const value =
      shape === "arguments"
        ? readArguments(section.child(name), given["name"])
        : Array.isArray(shape)
          ? readList(section, name, (shape as readonly [Shape])[0])
          : readValue(section.child(name), shape as Scalar | Fields);
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(entries);
}

const readList = (
  section: ConfigurationSection,
  name: string,
  shape: Shape,
): unknown[] =>
  section.items(name).flatMap((item) => {
    if (item.value === undefined || item.value === null) {
      item.problem("must not be null");
      return [];
    }
    const value = readValue(item, shape as Scalar | Fields);
    return value === undefined ? [] : [value];
  });

/** Arguments may say what they are. Those of plug-ins that take none, and of plug-ins that are not there, are not looked at. */
function readArguments(
  section: ConfigurationSection,
  plugin: unknown,
): unknown {
  if (!isText(plugin) || !hasArguments(plugin)) return undefined;
  const { value } = section;
  if (isMap(value)) {
    const kind = value["kind"] ?? `${plugin}Args`;
    const apiVersion = value["apiVersion"] ?? schedulerApiVersion;
    if (
      kind !== `${plugin}Args` ||
      normaliseApiVersion(String(apiVersion)) !== schedulerApiVersion
    )
      section.problem(
        `args for plugin ${plugin} were not of type ${plugin}Args.${schedulerApiVersion.split("/")[0]}, got ${String(kind)} of ${String(apiVersion)}`,
      );
  }
  const shape = argumentShapes[plugin];
  const known = ["apiVersion", "kind", ...Object.keys(shape)];
  return readFields(section, shape, section.fields(known));
}

export function readConfiguration(
  section: ConfigurationSection,
): SchedulerConfiguration {
  const known = Object.keys(configurationShape);
  const object = section.object(
    "KubeSchedulerConfiguration",
    [schedulerApiVersion],
    known,
  );
  return object ? readFields(section, configurationShape, object) : {};
}

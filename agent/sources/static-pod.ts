// A Pod of a manifest turned into a static pod of this node: defaults, node name, the name's suffix, the uid from its
// content, the annotations that mark it. The same content gives the same uid, so an unchanged file changes nothing.
import { createHash } from "node:crypto";
import {
  applyDefaults,
  createDefaulter,
  type Defaulter,
} from "../../api/defaults.ts";
import { formatTime } from "../../api/clock.ts";
import { dnsLabelProblems, dnsSubdomainProblems } from "../../api/names.ts";
import type { Pod } from "../../api/types/core-v1.ts";
import { FieldProblems } from "./manifest-reader.ts";
import {
  configHashAnnotation,
  configSeenAnnotation,
  configSourceAnnotation,
} from "../pods/shape/labels.ts";

interface StaticPodOptions {
  nodeName: string;
  source: "file" | "http";
  /** The file or URL it came from; part of the uid. */
  origin: string;
  nowMs: number;
  /** The API server's own rules, where there is one: a pod that they refuse is not run. */
  validateSpec?: PodSpecValidator | undefined;
  /** Gate PodLevelResources; false: the field is dropped. */
  podLevelResources: boolean;
}

/** Any name of a file will do; 128 characters leave room for what is put before and behind it. */
const plainUid = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$/;

/** Made with the first pod that needs it. */
let withPodLevel: Defaulter | undefined;

function setDefaults(pod: Pod, podLevelResources: boolean): void {
  const kind = { group: "", version: "v1", kind: "Pod" };
  if (!podLevelResources) delete pod.spec.resources;
  if (!pod.spec.resources) return applyDefaults(pod, kind);
  withPodLevel ??= createDefaulter({ PodLevelResources: true });
  withPodLevel(pod, kind);
}

export type PodSpecValidator = (
  field: string,
  spec: Pod["spec"],
) => readonly { field: string; detail: string }[];

/** Throws with the field and what is wrong. `manifest` is not changed. */
export function staticPod(manifest: Pod, options: StaticPodOptions): Pod {
  const problems = manifestProblems(manifest);
  if (problems.length > 0) throw new FieldProblems(problems);
  const pod = structuredClone(manifest);
  const hash = createHash("md5")
    .update(
      `${options.nodeName}\0${options.origin}\0${JSON.stringify(manifest)}`,
    )
    .digest("hex");
  const suffix = `-${options.nodeName.toLowerCase()}`;
  pod.apiVersion = "v1";
  pod.kind = "Pod";
  pod.metadata = {
    ...pod.metadata,
    name: pod.metadata.name + suffix,
    namespace: pod.metadata.namespace || "default",
    uid: pod.metadata.uid || hash,
    creationTimestamp: formatTime(options.nowMs),
    annotations: {
      ...pod.metadata.annotations,
      [configHashAnnotation]: hash,
      [configSeenAnnotation]: new Date(options.nowMs).toISOString(),
      [configSourceAnnotation]: options.source,
    },
  };
  delete (pod as { status?: unknown }).status;
  pod.spec.nodeName = options.nodeName;
  // A static pod stays whatever befalls its node.
  const tolerations = pod.spec.tolerations ?? [];
  if (
    !tolerations.some(
      ({ operator, effect, key }) =>
        operator === "Exists" && effect === "NoExecute" && !key,
    )
  )
    pod.spec.tolerations = [
      ...tolerations,
      { operator: "Exists", effect: "NoExecute" },
    ];
  setDefaults(pod, options.podLevelResources);
  const refused = options.validateSpec?.("spec", pod.spec) ?? [];
  if (refused.length > 0) throw new FieldProblems(refused);
  return pod;
}

/** The few things without which nothing can be run; the rest the schema checked. */
function manifestProblems(pod: Pod): { field: string; detail: string }[] {
  const problems: { field: string; detail: string }[] = [];
  const add = (field: string, detail: string): void => {
    problems.push({ field, detail });
  };
  // Directories and files of the agent's are named by these.
  const checkName = (
    field: string,
    name: string,
    problemsOf = dnsLabelProblems,
  ): void => {
    for (const problem of problemsOf(name))
      add(field, `Invalid value: "${name}": ${problem}`);
  };
  const metadata = (pod.metadata ?? {}) as Partial<Pod["metadata"]>;
  const { name, namespace, uid } = metadata;
  if (name) checkName("metadata.name", name, dnsSubdomainProblems);
  else add("metadata.name", "Required value: name or generateName is required");
  if (namespace) checkName("metadata.namespace", namespace);
  if (uid && !plainUid.test(uid))
    add(
      "metadata.uid",
      `Invalid value: ${JSON.stringify(uid)}: must be letters, digits, '-', '_' and '.' and begin with a letter or digit`,
    );
  const spec = (pod.spec ?? {}) as Partial<Pod["spec"]>;
  const lists = {
    "spec.initContainers": spec.initContainers ?? [],
    "spec.containers": spec.containers ?? [],
  };
  if (lists["spec.containers"].length === 0)
    add("spec.containers", "Required value");
  const volumes = new Set((spec.volumes ?? []).map(({ name }) => name));
  const names = new Set<string>();
  for (const [list, containers] of Object.entries(lists))
    containers.forEach((container, index) => {
      const field = `${list}[${index}]`;
      if (!container.name) add(`${field}.name`, "Required value");
      else if (names.has(container.name))
        add(`${field}.name`, `Duplicate value: "${container.name}"`);
      else checkName(`${field}.name`, container.name);
      names.add(container.name);
      if (!container.image) add(`${field}.image`, "Required value");
      (container.volumeMounts ?? []).forEach((mount, mountIndex) => {
        if (!volumes.has(mount.name))
          add(
            `${field}.volumeMounts[${mountIndex}].name`,
            `Not found: "${mount.name}"`,
          );
      });
    });
  (spec.volumes ?? []).forEach((volume, index) => {
    const field = `spec.volumes[${index}].name`;
    if (volume.name) checkName(field, volume.name);
    else add(field, "Required value");
  });
  return problems;
}

// A Pod of a manifest turned into a static pod of this node: defaults, node name, the name's suffix, the uid from its
// content, the annotations that mark it. The same content gives the same uid, so an unchanged file changes nothing.
import { createHash } from "node:crypto";
import {
  applyDefaults,
  createDefaulter,
  type Defaulter,
} from "../../api/defaults.ts";
import { formatTime } from "../../api/clock.ts";
import { dnsSubdomainProblems } from "../../api/names.ts";
import type { AnyObject } from "../../api/object.ts";
import type { Pod } from "../../api/types/core-v1.ts";
import type { FieldProblem, ObjectRules } from "./field-problem.ts";
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
  rules: ObjectRules;
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

/** `manifest` is not changed. @throws FieldProblems with all that is wrong; no directory is named by what they refuse */
export function staticPod(manifest: Pod, options: StaticPodOptions): Pod {
  const problems = [
    ...identityProblems(manifest),
    ...clusterProblems(manifest),
  ];
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
  const refused = options.rules(pod as unknown as AnyObject);
  if (refused.length > 0) throw new FieldProblems(refused);
  return pod;
}

/** What the rules see in another form, or not at all, once the pod has the node's suffix and its uid. */
function identityProblems({ metadata }: Partial<Pod>): FieldProblem[] {
  const { name, uid } = metadata ?? { name: "" };
  const problems: FieldProblem[] = [];
  if (!name)
    problems.push({
      field: "metadata.name",
      detail: "Required value: name or generateName is required",
    });
  else
    for (const problem of dnsSubdomainProblems(name))
      problems.push({
        field: "metadata.name",
        detail: `Invalid value: "${name}": ${problem}`,
      });
  if (uid && !plainUid.test(uid))
    problems.push({
      field: "metadata.uid",
      detail: `Invalid value: ${JSON.stringify(uid)}: must be letters, digits, '-', '_' and '.' and begin with a letter or digit`,
    });
  return problems;
}

/** What only a pod can have that the API server knows. The texts are the reference's. */
function clusterProblems({ spec }: Partial<Pod>): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const refuse = (field: string, what: string): void =>
    void problems.push({ field, detail: `static pods may not use ${what}` });
  if ((spec?.resourceClaims ?? []).length > 0)
    refuse("spec.resourceClaims", "ResourceClaims");
  for (const [index, { projected }] of (spec?.volumes ?? []).entries())
    if (projected?.sources?.some((source) => source.clusterTrustBundle))
      refuse(
        `spec.volumes[${index}].projected`,
        "ClusterTrustBundle projected volume sources",
      );
  return problems;
}

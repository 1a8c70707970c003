// A Pod of a manifest turned into a static pod of this node: defaults, node name, the name's suffix, the uid from its
// content, the annotations that mark it. The same content gives the same uid, so an unchanged file changes nothing.
import { createHash } from "node:crypto";
import { applyDefaults } from "../../api/defaults.ts";
import { formatTime } from "../../api/clock.ts";
import { dnsSubdomainProblems } from "../../api/names.ts";
import type { Pod } from "../../api/types/core-v1.ts";
import {
  configHashAnnotation,
  configSeenAnnotation,
  configSourceAnnotation,
} from "../pods/labels.ts";

export interface StaticPodOptions {
  nodeName: string;
  source: "file" | "http";
  /** The file or URL it came from; part of the uid. */
  origin: string;
  nowMs: number;
}

/** Throws with the field and what is wrong. `manifest` is not changed. */
export function staticPod(manifest: Pod, options: StaticPodOptions): Pod {
  const problems = manifestProblems(manifest);
  if (problems.length > 0) throw new Error(problems.join("; "));
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
  applyDefaults(pod, { group: "", version: "v1", kind: "Pod" });
  return pod;
}

/** The few things without which nothing can be run; the rest the schema checked. */
function manifestProblems(pod: Pod): string[] {
  const problems: string[] = [];
  const metadata = (pod.metadata ?? {}) as Partial<Pod["metadata"]>;
  if (!metadata.name)
    problems.push(
      "metadata.name: Required value: name or generateName is required",
    );
  else
    for (const problem of dnsSubdomainProblems(metadata.name))
      problems.push(
        `metadata.name: Invalid value: "${metadata.name}": ${problem}`,
      );
  const containers = pod.spec?.containers ?? [];
  if (containers.length === 0) problems.push("spec.containers: Required value");
  const names = new Set<string>();
  const all = [
    ...containers.map((container, index) => ({
      container,
      field: `spec.containers[${index}]`,
    })),
    ...(pod.spec?.initContainers ?? []).map((container, index) => ({
      container,
      field: `spec.initContainers[${index}]`,
    })),
  ];
  for (const { container, field } of all) {
    if (!container.name) problems.push(`${field}.name: Required value`);
    else if (names.has(container.name))
      problems.push(`${field}.name: Duplicate value: "${container.name}"`);
    names.add(container.name);
    if (!container.image) problems.push(`${field}.image: Required value`);
  }
  const volumes = new Set((pod.spec?.volumes ?? []).map(({ name }) => name));
  for (const { container, field } of all)
    for (const [index, mount] of (container.volumeMounts ?? []).entries())
      if (!volumes.has(mount.name))
        problems.push(
          `${field}.volumeMounts[${index}].name: Not found: "${mount.name}"`,
        );
  for (const [index, volume] of (pod.spec?.volumes ?? []).entries())
    if (
      Object.keys(volume).some((key) =>
        ["secret", "configMap", "persistentVolumeClaim"].includes(key),
      ) &&
      !volume.name
    )
      problems.push(`spec.volumes[${index}].name: Required value`);
  return problems;
}

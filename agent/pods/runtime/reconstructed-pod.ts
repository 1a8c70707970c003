// A Pod as far as the runtime knows it, for pods that no source has any more.
import type { Pod } from "../../../api/types/core-v1.ts";
import { containerRecord } from "../shape/labels.ts";
import type { RuntimePod } from "./runtime-pods.ts";

/** A Pod rebuilt from labels and annotations alone. */
export function runtimePodAsPod(found: RuntimePod): Pod | undefined {
  if (found.sandboxes.length + found.containers.length === 0) return undefined;
  const newest = new Map(
    found.containers
      .map((container) => [container.name, container])
      .reverse() as [string, (typeof found.containers)[number]][],
  );
  const records = [...newest.values()].map((container) => ({
    container,
    record: containerRecord(container.annotations),
  }));
  const of = (sidecar: boolean): typeof records =>
    records.filter(
      ({ record }) =>
        (record.kind === "sidecar") === sidecar && record.kind !== "init",
    );
  const grace = records
    .map(({ record }) => record.terminationGraceSeconds)
    .find((value) => value !== undefined);
  const annotations = found.sandboxes[0]?.annotations ?? {};
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: found.name,
      namespace: found.namespace,
      uid: found.uid,
      annotations,
    },
    spec: {
      containers: of(false).map(({ container }) => ({
        name: container.name,
        image: container.image,
      })),
      initContainers: of(true).map(({ container }) => ({
        name: container.name,
        image: container.image,
        restartPolicy: "Always",
      })),
      restartPolicy: records[0]?.record.restartPolicy ?? "Always",
      ...(grace === undefined ? {} : { terminationGracePeriodSeconds: grace }),
    },
  };
}

// A pod of a Job: tracked by a finalizer, labelled with its Job, and, in Indexed mode, with its index in annotation,
// label, name, hostname and environment.
import type { Job } from "../../api/types/batch-v1.ts";
import type { Container, Pod } from "../../api/types/core-v1.ts";
import { controllerReference } from "../../api/objects/owner-references.ts";
import { jobs } from "../../client/resources.ts";
import { podFromTemplate } from "../workloads/pod-control.ts";
import { indexAnnotation } from "./completion-indexes.ts";
import { failureAnnotations } from "./index-failures.ts";

export const trackingFinalizer = "batch.kubernetes.io/job-tracking";
const indexVariable = "JOB_COMPLETION_INDEX";

/** @param replaced the failed pod of that index whose place it takes */
export function jobPod(
  job: Job,
  index: number | undefined,
  replaced?: Pod,
): Pod {
  const pod = podFromTemplate(
    job.spec.template,
    job,
    controllerReference(jobs, job),
  );
  const { name, uid = "" } = job.metadata;
  const text = index === undefined ? undefined : String(index);
  const metadata = {
    ...pod.metadata,
    finalizers: [...(pod.metadata.finalizers ?? []), trackingFinalizer],
    labels: {
      ...pod.metadata.labels,
      "batch.kubernetes.io/controller-uid": uid,
      "batch.kubernetes.io/job-name": name,
      "controller-uid": uid,
      "job-name": name,
      ...(text === undefined ? {} : { [indexAnnotation]: text }),
    },
  };
  if (text === undefined) return { ...pod, metadata };
  const withIndex = (container: Container): Container => ({
    ...container,
    env: [
      ...(container.env ?? []).filter((one) => one.name !== indexVariable),
      {
        name: indexVariable,
        valueFrom: {
          fieldRef: {
            apiVersion: "v1",
            fieldPath: `metadata.labels['${indexAnnotation}']`,
          },
        },
      },
    ],
  });
  return {
    ...pod,
    metadata: {
      ...metadata,
      generateName: `${name}-${text}-`,
      annotations: {
        ...metadata.annotations,
        [indexAnnotation]: text,
        ...failureAnnotations(job, replaced),
      },
    },
    spec: {
      ...pod.spec,
      hostname: `${name}-${text}`,
      containers: pod.spec.containers.map(withIndex),
      ...(pod.spec.initContainers
        ? { initContainers: pod.spec.initContainers.map(withIndex) }
        : {}),
    },
  };
}

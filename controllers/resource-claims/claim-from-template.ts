// The ResourceClaim that is made for one claim of a pod from its template. Pure.
import type { Pod } from "../../api/types/core-v1.ts";
import type {
  ResourceClaim,
  ResourceClaimTemplate,
} from "../../api/types/resource-v1beta1.ts";

/** Names the pod's claim for which a claim was made. */
export const podClaimAnnotation = "resource.kubernetes.io/pod-claim-name";
/** Leaves room for five random characters in a name of 63. */
const maxBaseLength = 57;

export function claimFromTemplate(
  { metadata }: Pod,
  podClaim: string,
  { spec }: ResourceClaimTemplate,
): ResourceClaim {
  const { name, namespace, uid } = metadata;
  return {
    apiVersion: "resource.k8s.io/v1beta1",
    kind: "ResourceClaim",
    metadata: {
      generateName: generatedNameBase(name, podClaim),
      name: "",
      namespace,
      ownerReferences: [
        {
          apiVersion: "v1",
          kind: "Pod",
          name,
          uid: uid ?? "",
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
      annotations: {
        ...spec.metadata?.annotations,
        [podClaimAnnotation]: podClaim,
      },
      ...(spec.metadata?.labels ? { labels: spec.metadata.labels } : {}),
    },
    spec: spec.spec,
  };
}

/** Both names are cut by the same share where they are too long together. */
function generatedNameBase(pod: string, claim: string): string {
  const base = `${pod}-${claim}-`;
  if (base.length <= maxBaseLength) return base;
  const share = (text: string, whole: number): string =>
    text.slice(0, Math.floor((text.length * maxBaseLength) / whole));
  const shortened = `${share(pod, base.length)}-`;
  return shortened + share(claim, base.length);
}

export function asksForAdminAccess({ spec }: ResourceClaimTemplate): boolean {
  return (spec.spec.devices?.requests ?? []).some(
    ({ adminAccess }) => adminAccess === true,
  );
}

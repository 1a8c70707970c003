// Tokens of service accounts that the agent of a node asks for: bound to a pod of its own and, behind the gate
// ServiceAccountNodeAudienceRestriction, for an audience that a volume of the pod needs. An agent that was broken into
// then gets no tokens that other services of the cluster would take.
import { errors } from "../../../api/errors.ts";
import { claimNameOf } from "../../../api/objects/volumes/pod-claims.ts";
import type {
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  Volume,
} from "../../../api/types/core-v1.ts";
import type { CSIDriver } from "../../../api/types/storage-v1.ts";
import type { StrategyContext } from "../../resources/strategy.ts";
import { typed } from "../../resources/typed.ts";
import type { AdmissionAttributes } from "../plugin.ts";
import { refuse } from "./requests.ts";

interface TokenSpec {
  readonly boundObjectRef?: {
    readonly apiVersion?: string;
    readonly kind?: string;
    readonly name?: string;
    readonly uid?: string;
  };
  readonly audiences?: readonly string[];
}

const specOf = ({ object }: AdmissionAttributes): TokenSpec =>
  (object?.["spec"] ?? {}) as TokenSpec;

const boundPod = (
  { namespace }: AdmissionAttributes,
  name: string,
  context: StrategyContext,
): Pod | undefined => typed<Pod>(context.read("", "pods", namespace, name));

/** Throws ApiError 403 for what is not bound to a pod of the agent's node, 404 without the pod. */
export function admitToken(
  node: string,
  attributes: AdmissionAttributes,
  context: StrategyContext,
): void {
  const reference = specOf(attributes).boundObjectRef;
  if (
    reference?.kind !== "Pod" ||
    reference.apiVersion !== "v1" ||
    !reference.name
  )
    refuse(attributes, "node requested token not bound to a pod");
  if (!reference.uid)
    refuse(attributes, "node requested token with a pod binding without a uid");
  const pod = boundPod(attributes, reference.name, context);
  if (!pod)
    throw errors.notFound({ group: "", resource: "pods" }, reference.name);
  if (pod.metadata.uid !== reference.uid)
    refuse(
      attributes,
      `the UID in the bound object reference (${reference.uid}) does not match the UID in record. The object might have been deleted and then recreated`,
    );
  if (pod.spec.nodeName !== node)
    refuse(
      attributes,
      "node requested token bound to a pod scheduled on a different node",
    );
}

/**
 * Throws ApiError 403 for an audience that no volume of the pod needs. Of the request as it was sent: later the server's own
 * audiences take the place of none. What is bound to no pod is refused by admitToken.
 */
export function admitAudience(
  attributes: AdmissionAttributes,
  context: StrategyContext,
): void {
  const { boundObjectRef: reference, audiences = [] } = specOf(attributes);
  const pod = boundPod(attributes, reference?.name ?? "", context);
  const problem = pod && audienceProblem(pod, audiences, context);
  if (problem) refuse(attributes, problem);
}

/** Why the pod needs no such token. */
function audienceProblem(
  pod: Pod,
  audiences: readonly string[],
  context: StrategyContext,
): string | undefined {
  if (audiences.length > 1) return "node may only request 0 or 1 audiences";
  const [audience = ""] = audiences;
  const needs = (pod.spec.volumes ?? []).some(
    (volume) =>
      isProjected(volume, audience) ||
      driverAudiences(pod, volume, context).includes(audience),
  );
  return needs
    ? undefined
    : `audience ${JSON.stringify(audience)} not found in pod spec volume`;
}

const isProjected = ({ projected }: Volume, audience: string): boolean =>
  projected?.sources?.some(
    ({ serviceAccountToken: token }) =>
      token && (token.audience ?? "") === audience,
  ) ?? false;

/** Of the tokens that the volume's driver is called with. Empty for what is not there: the agent can't mount it either. */
function driverAudiences(
  pod: Pod,
  volume: Volume,
  context: StrategyContext,
): readonly string[] {
  const name = volume.csi?.driver ?? driverOfClaim(pod, volume, context);
  if (name === undefined) return [];
  const driver = typed<CSIDriver>(
    context.read("storage.k8s.io", "csidrivers", "", name),
  );
  return (driver?.spec.tokenRequests ?? []).map(({ audience }) => audience);
}

function driverOfClaim(
  pod: Pod,
  volume: Volume,
  context: StrategyContext,
): string | undefined {
  const { namespace = "" } = pod.metadata;
  const claimName = claimNameOf(pod, volume);
  if (claimName === undefined) return undefined;
  const claim = typed<PersistentVolumeClaim>(
    context.read("", "persistentvolumeclaims", namespace, claimName),
  );
  const volumeName = claim?.spec?.volumeName;
  return volumeName
    ? typed<PersistentVolume>(
        context.read("", "persistentvolumes", "", volumeName),
      )?.spec?.csi?.driver
    : undefined;
}

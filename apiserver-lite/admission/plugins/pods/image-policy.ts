// ImagePolicyWebhook: a webhook of a kubeconfig decides about the images of pods. Its answers are kept for a while, and a
// bounded number of them. Where it can't be asked, pods are refused, or let pass with a mark (`defaultAllow`).
import { LRUCache } from "lru-cache";
import { errors } from "../../../../api/errors.ts";
import type { Pod } from "../../../../api/types/core-v1.ts";
import { askedAgain } from "../../../../client/webhook/asked-again.ts";
import type { StrategyContext } from "../../../resources/strategy.ts";
import { typed } from "../../../resources/typed.ts";
import type { AdmissionAttributes, AdmissionPlugin } from "../../plugin.ts";
import { nameOf } from "../requests.ts";

const keptAnswers = 1024;
const auditPrefix = "imagepolicywebhook.image-policy.k8s.io/";
const failedOpen = "alpha.image-policy.k8s.io/failed-open";

export interface ImagePolicyOptions {
  /** Sends a review; the text of a 2xx answer. */
  readonly post: (body: string) => Promise<string>;
  readonly allowTtlMs: number;
  readonly denyTtlMs: number;
  readonly retryBackoffMs: number;
  readonly defaultAllow: boolean;
}

interface ReviewStatus {
  readonly allowed: boolean;
  readonly reason: string;
  readonly auditAnnotations: Readonly<Record<string, string>>;
}

export function createImagePolicyWebhook(
  options: ImagePolicyOptions,
): AdmissionPlugin {
  const kept = new LRUCache<string, ReviewStatus>({ max: keptAnswers });
  const review = async (
    spec: object,
    context: StrategyContext,
  ): Promise<ReviewStatus> => {
    const key = JSON.stringify(spec);
    const known = kept.get(key);
    if (known) return known;
    const status = statusIn(await posted(key, options, context));
    const ttl = status.allowed ? options.allowTtlMs : options.denyTtlMs;
    if (ttl > 0) kept.set(key, status, { ttl });
    return status;
  };
  return {
    name: "ImagePolicyWebhook",
    async validate(attributes, context) {
      const images = imagesOf(attributes);
      if (!images) return;
      const pod = typed<Pod>(attributes.object!);
      const refuse = (why: string): never => {
        throw errors.forbidden(attributes.resource, nameOf(attributes), why);
      };
      let status: ReviewStatus;
      try {
        status = await review(
          specOf(pod, images, attributes.namespace),
          context,
        );
      } catch (error) {
        if (!options.defaultAllow) return refuse((error as Error).message);
        context.annotate(`${auditPrefix}failed-open`, "true");
        pod.metadata.annotations = {
          ...pod.metadata.annotations,
          [failedOpen]: "true",
        };
        return;
      }
      for (const [name, value] of Object.entries(status.auditAnnotations))
        context.annotate(auditPrefix + name, value);
      if (!status.allowed)
        refuse(
          status.reason === ""
            ? "one or more images rejected by webhook backend"
            : `image policy webhook backend denied one or more images: ${status.reason}`,
        );
    },
  };
}

/** undefined: the request brings none. */
function imagesOf({
  operation,
  resource,
  subresource,
  object,
}: AdmissionAttributes): string[] | undefined {
  if (operation !== "CREATE" && operation !== "UPDATE") return undefined;
  if (resource.group !== "" || resource.resource !== "pods" || !object)
    return undefined;
  const { spec } = typed<Pod>(object);
  const images = (containers: readonly { image?: string }[] = []): string[] =>
    containers.map(({ image }) => image ?? "");
  if (subresource === "ephemeralcontainers")
    return images(spec.ephemeralContainers);
  return subresource === ""
    ? [...images(spec.containers), ...images(spec.initContainers)]
    : undefined;
}

function specOf(
  { metadata }: Pod,
  images: readonly string[],
  namespace: string,
): object {
  const annotations = Object.fromEntries(
    Object.entries(metadata.annotations ?? {})
      .filter(([key]) => key.includes(".image-policy.k8s.io/"))
      .sort(),
  );
  return {
    containers: images.map((image) => ({ image })),
    ...(Object.keys(annotations).length > 0 ? { annotations } : {}),
    namespace,
  };
}

function posted(
  spec: string,
  { post, retryBackoffMs }: ImagePolicyOptions,
  { clock }: StrategyContext,
): Promise<string> {
  const body = `{"kind":"ImageReview","apiVersion":"imagepolicy.k8s.io/v1alpha1","metadata":{"creationTimestamp":null},"spec":${spec},"status":{"allowed":false}}`;
  return askedAgain(() => post(body), clock, retryBackoffMs);
}

/** Throws an Error for what is no review. */
function statusIn(text: string): ReviewStatus {
  const { kind, status } = JSON.parse(text) as {
    kind?: unknown;
    status?: Partial<ReviewStatus>;
  };
  if (kind !== "ImageReview" || typeof status !== "object")
    throw new Error("the webhook's answer is no ImageReview");
  const { allowed, reason, auditAnnotations } = status;
  return {
    allowed: allowed === true,
    reason: typeof reason === "string" ? reason : "",
    auditAnnotations: auditAnnotations ?? {},
  };
}

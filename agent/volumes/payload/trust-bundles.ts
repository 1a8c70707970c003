// Certificates of ClusterTrustBundles for a projection: of one bundle by its name, or of all of a signer that a selector
// matches, each certificate once. Their order says nothing: it is the certificates' own, so that the same bundles always
// give the same file.
import { isNotFound } from "../../../api/errors.ts";
import { selectorFromObject } from "../../../api/selectors.ts";
import type { ClusterTrustBundle } from "../../../api/types/certificates-v1alpha1.ts";
import type { ClusterTrustBundleProjection } from "../../../api/types/core-v1.ts";
import type { Client } from "../../../client/client.ts";
import { clusterTrustBundles } from "../../../client/resources.ts";

const certificate =
  /-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]+)-----END CERTIFICATE-----/g;

export async function trustAnchors(
  client: Client,
  projection: ClusterTrustBundleProjection,
): Promise<Buffer> {
  const bundles = await selected(client, projection);
  const anchors = new Set(
    bundles.flatMap(({ spec }) =>
      [...spec.trustBundle.matchAll(certificate)].map((match) =>
        match[1]!.replace(/\s+/g, ""),
      ),
    ),
  );
  const text = [...anchors].sort().map((base64) => {
    const lines = base64.match(/.{1,64}/g) ?? [];
    return `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`;
  });
  return Buffer.from(text.join(""));
}

async function selected(
  client: Client,
  projection: ClusterTrustBundleProjection,
): Promise<readonly ClusterTrustBundle[]> {
  const { name, signerName, labelSelector, optional } = projection;
  const api = client.resource(clusterTrustBundles);
  if (name !== undefined)
    try {
      return [await api.get(name)];
    } catch (error) {
      if (isNotFound(error) && optional) return [];
      const text = error instanceof Error ? error.message : String(error);
      throw new Error(`while getting ClusterTrustBundle: ${text}`, {
        cause: error,
      });
    }
  if (signerName === undefined)
    throw new Error(
      "ClusterTrustBundle projection requires either name or signerName to be set",
    );
  // No selector matches nothing, an empty one everything.
  const { items } = labelSelector ? await api.list() : { items: [] };
  const matching = items.filter(
    ({ metadata, spec }) =>
      spec.signerName === signerName &&
      selectorFromObject(labelSelector!).matches(metadata.labels),
  );
  if (matching.length === 0 && !optional)
    throw new Error(
      "combination of signerName and labelSelector matched zero ClusterTrustBundles",
    );
  return matching;
}

// Files of volumes whose content comes from the API: where they are read from, and the rules of items, optional and modes
// that configMap and secret share.
import type {
  ClusterTrustBundleProjection,
  ConfigMap,
  KeyToPath,
  Pod,
  Secret,
} from "../../../api/types/core-v1.ts";
import type { NodeResources } from "../../pods/shape/field-paths.ts";
import type { PayloadFile } from "../files/atomic-writer.ts";

export interface PayloadSource {
  configMap(namespace: string, name: string): Promise<ConfigMap | undefined>;
  secret(namespace: string, name: string): Promise<Secret | undefined>;
  nodeResources(): NodeResources;
  /** Certificates of the bundles that a projection selects, as PEM; absent: the gate is off, or there is no API server. */
  trustAnchors?(projection: ClusterTrustBundleProjection): Promise<Buffer>;
  /** A token for the pod's service account. */
  serviceAccountToken(
    pod: Pod,
    audience: string,
    expirationSeconds: number,
  ): Promise<string>;
}

/** By path relative to the volume. */
export type Files = Map<string, PayloadFile>;

export const defaultFileMode = 0o644;

/** Rejects with the text for the FailedMount event. */
export interface KeySelection {
  items: readonly KeyToPath[] | undefined;
  optional: boolean | undefined;
  mode: number;
}

/** All keys, or the ones the items name at the paths they give. */
export function addKeys(
  files: Files,
  data: ReadonlyMap<string, Buffer>,
  { items, optional, mode }: KeySelection,
  kind: "configmap" | "secret",
): void {
  if (!items || items.length === 0) {
    for (const [key, bytes] of data) files.set(key, { data: bytes, mode });
    return;
  }
  for (const item of items) {
    const bytes = data.get(item.key);
    if (bytes) files.set(item.path, { data: bytes, mode: item.mode ?? mode });
    else if (!optional)
      throw new Error(
        kind === "secret"
          ? `references non-existent secret key: ${item.key}`
          : `configmap references non-existent config key: ${item.key}`,
      );
  }
}

// projected volumes: configMaps, secrets, fields of the pod and tokens of its service account in one directory.
import type { Pod, VolumeProjection } from "../../../api/types/core-v1.ts";
import { addConfigMap } from "./config-map.ts";
import { addDownward } from "./downward-api.ts";
import { defaultFileMode, type Files, type PayloadSource } from "./payload.ts";
import type { PayloadType } from "./payload-plugin.ts";
import { addSecret } from "./secret.ts";

/** `forgetTokens`: those of a pod that is gone. */
export function projectedType(
  forgetTokens: (uid: string) => void,
): PayloadType {
  return {
    field: "projected",
    type: "projected",
    async files(pod, source, from) {
      const { sources = [], defaultMode = defaultFileMode } = source.projected!;
      const files: Files = new Map();
      const failures = new Set<string>();
      for (const projection of sources)
        await addProjection(files, pod, projection, from, defaultMode).catch(
          (error: Error) => failures.add(error.message),
        );
      if (failures.size > 0) throw new Error(together([...failures]));
      return files;
    },
    unmount(uid) {
      forgetTokens(uid);
      return Promise.resolve();
    },
  };
}

/** All that is amiss at once, as the reference says it. */
function together(failures: readonly string[]): string {
  return failures.length === 1 ? failures[0]! : `[${failures.join(", ")}]`;
}

async function addProjection(
  files: Files,
  pod: Pod,
  projection: VolumeProjection,
  source: PayloadSource,
  mode: number,
): Promise<void> {
  const namespace = pod.metadata.namespace ?? "default";
  if (projection.configMap) {
    const { name = "", items, optional } = projection.configMap;
    await addConfigMap(files, source, namespace, name, {
      items,
      optional,
      mode,
    });
  } else if (projection.secret) {
    const { name = "", items, optional } = projection.secret;
    await addSecret(files, source, namespace, name, { items, optional, mode });
  } else if (projection.downwardAPI)
    addDownward(files, pod, projection.downwardAPI.items ?? [], source, mode);
  else if (projection.serviceAccountToken) {
    const {
      path,
      audience = "",
      expirationSeconds = 3600,
    } = projection.serviceAccountToken;
    files.set(path, {
      data: Buffer.from(
        await source.serviceAccountToken(pod, audience, expirationSeconds),
      ),
      ...readerAccess(pod, mode),
    });
  } else if (projection.clusterTrustBundle) {
    if (!source.trustAnchors)
      throw new Error(
        "clusterTrustBundle projections need the feature gate ClusterTrustBundleProjection and an API server",
      );
    const { path } = projection.clusterTrustBundle;
    const data = await source.trustAnchors(projection.clusterTrustBundle);
    files.set(path, { data, ...readerAccess(pod, mode) });
  }
}

/** Tokens and certificates are their reader's alone: the one user all containers run as owns it, or the group's bits are added later. */
function readerAccess(
  { spec }: Pod,
  mode: number,
): { mode: number; userId?: number } {
  const users = new Set(
    [...spec.containers, ...(spec.initContainers ?? [])].map(
      ({ securityContext }) =>
        securityContext?.runAsUser ?? spec.securityContext?.runAsUser,
    ),
  );
  const [userId] = users.size === 1 ? users : [];
  if (userId !== undefined) return { mode: 0o600, userId };
  return {
    mode: spec.securityContext?.fsGroup === undefined ? mode : 0o600,
  };
}

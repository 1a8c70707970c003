// The files of configMap, secret, downwardAPI and projected volumes, by the rules of items, optional and modes.
import type {
  ConfigMap,
  DownwardAPIVolumeFile,
  KeyToPath,
  Pod,
  Secret,
  Volume,
  VolumeProjection,
} from "../../api/types/core-v1.ts";
import {
  podFieldValue,
  resourceFieldValue,
  type NodeResources,
} from "../pods/shape/field-paths.ts";
import type { PayloadFile } from "./files/atomic-writer.ts";

export interface PayloadSource {
  configMap(namespace: string, name: string): Promise<ConfigMap | undefined>;
  secret(namespace: string, name: string): Promise<Secret | undefined>;
  nodeResources(): NodeResources;
  /** A token for the pod's service account. */
  serviceAccountToken(
    pod: Pod,
    audience: string,
    expirationSeconds: number,
  ): Promise<string>;
}

type Files = Map<string, PayloadFile>;

const defaultFileMode = 0o644;

/** undefined: the volume is of another kind. Rejects with the text for the FailedMount event. */
export async function volumePayload(
  pod: Pod,
  volume: Volume,
  source: PayloadSource,
): Promise<Files | undefined> {
  const namespace = pod.metadata.namespace ?? "default";
  const files: Files = new Map();
  if (volume.configMap) {
    const {
      name = "",
      items,
      optional,
      defaultMode = defaultFileMode,
    } = volume.configMap;
    await addConfigMap(
      files,
      source,
      namespace,
      name,
      items,
      optional,
      defaultMode,
    );
  } else if (volume.secret) {
    const {
      secretName = "",
      items,
      optional,
      defaultMode = defaultFileMode,
    } = volume.secret;
    await addSecret(
      files,
      source,
      namespace,
      secretName,
      items,
      optional,
      defaultMode,
    );
  } else if (volume.downwardAPI) {
    const { items, defaultMode = defaultFileMode } = volume.downwardAPI;
    addDownward(files, pod, items ?? [], source, defaultMode);
  } else if (volume.projected) {
    const { sources = [], defaultMode = defaultFileMode } = volume.projected;
    for (const projection of sources)
      await addProjection(files, pod, projection, source, defaultMode);
  } else return undefined;
  return files;
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
    await addConfigMap(files, source, namespace, name, items, optional, mode);
  } else if (projection.secret) {
    const { name = "", items, optional } = projection.secret;
    await addSecret(files, source, namespace, name, items, optional, mode);
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
      ...tokenAccess(pod, mode),
    });
  } else if (projection.clusterTrustBundle)
    throw new Error("clusterTrustBundle projections are not supported");
}

/** A token is its reader's alone: the one user all containers run as owns it, or the group's bits are added later. */
function tokenAccess(
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

async function addConfigMap(
  files: Files,
  source: PayloadSource,
  namespace: string,
  name: string,
  items: readonly KeyToPath[] | undefined,
  optional: boolean | undefined,
  mode: number,
): Promise<void> {
  const found = await source.configMap(namespace, name);
  if (!found && !optional) throw new Error(`configmap "${name}" not found`);
  const data = new Map<string, Buffer>();
  for (const [key, text] of Object.entries(found?.data ?? {}))
    data.set(key, Buffer.from(text));
  for (const [key, text] of Object.entries(found?.binaryData ?? {}))
    data.set(key, Buffer.from(text, "base64"));
  addKeys(files, data, items, optional, mode, "configmap");
}

async function addSecret(
  files: Files,
  source: PayloadSource,
  namespace: string,
  name: string,
  items: readonly KeyToPath[] | undefined,
  optional: boolean | undefined,
  mode: number,
): Promise<void> {
  const found = await source.secret(namespace, name);
  if (!found && !optional) throw new Error(`secret "${name}" not found`);
  const data = new Map(
    Object.entries(found?.data ?? {}).map(([key, text]) => [
      key,
      Buffer.from(text, "base64"),
    ]),
  );
  addKeys(files, data, items, optional, mode, "secret");
}

function addKeys(
  files: Files,
  data: ReadonlyMap<string, Buffer>,
  items: readonly KeyToPath[] | undefined,
  optional: boolean | undefined,
  mode: number,
  kind: string,
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
        `${kind} references non-existent ${kind === "secret" ? "secret" : "config"} key: ${item.key}`,
      );
  }
}

function addDownward(
  files: Files,
  pod: Pod,
  items: readonly DownwardAPIVolumeFile[],
  source: PayloadSource,
  mode: number,
): void {
  for (const item of items) {
    const text = item.fieldRef
      ? podFieldValue(pod, item.fieldRef)
      : item.resourceFieldRef
        ? resourceFieldValue(
            pod,
            undefined,
            item.resourceFieldRef,
            source.nodeResources(),
          )
        : "";
    files.set(item.path, { data: Buffer.from(text), mode: item.mode ?? mode });
  }
}

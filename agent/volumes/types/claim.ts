// persistentVolumeClaim and generic ephemeral volumes: the persistent volume that the claim is bound to, mounted by the
// plug-in of its own type.
import type {
  PersistentVolume,
  PersistentVolumeClaim,
} from "../../../api/types/core-v1.ts";
import { isOwnedByPod } from "../../../api/objects/volumes/pod-claims.ts";
import type { Client } from "../../../client/client.ts";
import {
  persistentVolumeClaims,
  persistentVolumes,
} from "../../../client/resources.ts";
import type { ExclusiveVolumes } from "../exclusive-volumes.ts";
import { podContainers } from "../../pods/shape/pod-shape.ts";
import {
  servedBy,
  VolumeFailure,
  VolumePending,
  type MountedVolume,
  type VolumePlugin,
  type VolumeRequest,
} from "../volume-plugin.ts";

/** Of a pod's volume: its claim, and whether the pod asks for it read-only. */
type ClaimOf = (request: VolumeRequest) => { name: string; readOnly: boolean };

/** `plugins`: of every type that persistent volumes may have. */
export function claimPlugins(
  {
    claims: client,
    exclusive,
  }: { claims: Client; exclusive: Pick<ExclusiveVolumes, "hold"> },
  plugins: readonly VolumePlugin[],
): VolumePlugin[] {
  const resolve = async (
    request: VolumeRequest,
    { name, readOnly }: ReturnType<ClaimOf>,
  ): Promise<{ plugin: VolumePlugin; request: VolumeRequest }> => {
    const { claim, volume } = await boundVolume(client, request, name);
    const source = volume.spec ?? {};
    const plugin = servedBy(plugins, source, "persistent");
    if (!plugin)
      throw new Error(
        `persistent volume "${volume.metadata.name}" is of a type that is not supported by this node agent`,
      );
    return {
      plugin,
      request: {
        ...request,
        source,
        persistentVolume: volume,
        claim,
        readOnly,
      },
    };
  };
  /** Volumes whose type follows the API, by the pod's uid. */
  const changing = new Map<string, Set<string>>();
  const remember = (request: VolumeRequest): void => {
    const names = changing.get(uidOf(request)) ?? new Set();
    changing.set(uidOf(request), names.add(request.name));
  };
  const pluginFor = (
    field: VolumePlugin["field"],
    claimOf: ClaimOf,
  ): VolumePlugin => ({
    field,
    serves: ["pod"],
    async mount(request): Promise<MountedVolume> {
      const wanted = claimOf(request);
      const found = await resolve(request, wanted);
      checkMode(found.request);
      const volume = found.request.persistentVolume!;
      const failed = (error: unknown): never => {
        throw namedFor(volume, error);
      };
      await exclusive.hold(uidOf(request), volume).catch(failed);
      const mounted = await found.plugin.mount(found.request).catch(failed);
      if (found.plugin.refresh) remember(request);
      return {
        ...mounted,
        readOnly: wanted.readOnly || mounted.readOnly,
        ...groupOf(found.request.persistentVolume),
      };
    },
    async refresh(request) {
      // Nothing is read from the API for volumes that never change.
      if (!changing.get(uidOf(request))?.has(request.name)) return;
      const found = await resolve(request, claimOf(request));
      await found.plugin.refresh?.(found.request);
    },
    unmount(uid) {
      changing.delete(uid);
      return Promise.resolve();
    },
  });
  return [
    pluginFor("persistentVolumeClaim", ({ source }) => {
      const { claimName, readOnly = false } = source.persistentVolumeClaim!;
      return { name: claimName, readOnly };
    }),
    pluginFor("ephemeral", ({ pod, name }) => ({
      name: `${pod.metadata.name}-${name}`,
      readOnly: false,
    })),
  ];
}

/** A failure names the persistent volume, as at the reference. */
function namedFor(
  { metadata, spec }: PersistentVolume,
  error: unknown,
): unknown {
  if (error instanceof VolumeFailure || error instanceof VolumePending)
    return error;
  return new VolumeFailure(
    spec?.volumeMode === "Block"
      ? "MapVolume.SetUpDevice"
      : "MountVolume.SetUp",
    metadata.name,
    error instanceof Error ? error.message : String(error),
  );
}

/** Its containers must want of it what it is: files, or a device. */
function checkMode({ pod, name, persistentVolume }: VolumeRequest): void {
  const mode = persistentVolume?.spec?.volumeMode ?? "Filesystem";
  const other = mode === "Block" ? "volumeMounts" : "volumeDevices";
  for (const { container } of podContainers(pod))
    if (container[other]?.some((wanted) => wanted.name === name))
      throw new Error(
        `volume ${name} has volumeMode ${mode}, but is specified in ${other}`,
      );
}

const groupAnnotation = "pv.beta.kubernetes.io/gid";

/** What is no number is passed over, as at the reference. */
function groupOf(
  volume: PersistentVolume | undefined,
): Pick<MountedVolume, "groupId"> {
  const text = volume?.metadata.annotations?.[groupAnnotation] ?? "";
  return /^\d{1,9}$/.test(text) ? { groupId: Number(text) } : {};
}

const uidOf = ({ pod }: VolumeRequest): string => pod.metadata.uid ?? "";

async function boundVolume(
  client: Client,
  { pod, source }: VolumeRequest,
  name: string,
): Promise<{ claim: PersistentVolumeClaim; volume: PersistentVolume }> {
  const namespace = pod.metadata.namespace ?? "default";
  const claim = await client
    .resource(persistentVolumeClaims)
    .get(name, namespace);
  if (source.ephemeral && !isOwnedByPod(claim, pod))
    throw new Error(
      `PVC ${namespace}/${name} was not created for pod ${namespace}/${pod.metadata.name} (pod is not owner)`,
    );
  const volumeName = claim.spec?.volumeName;
  if (claim.status?.phase !== "Bound" || !volumeName)
    throw new Error(`persistentvolumeclaim "${name}" is not bound`);
  const volume = await client.resource(persistentVolumes).get(volumeName);
  const uid = volume.spec?.claimRef?.uid;
  if (uid !== undefined && claim.metadata.uid !== uid)
    throw new Error(`the PVC ${namespace}/${name} is not bound to its volume`);
  return { claim, volume };
}

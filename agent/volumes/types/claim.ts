// persistentVolumeClaim and generic ephemeral volumes: the persistent volume that the claim is bound to, mounted by the
// plug-in of its own type.
import type { PersistentVolume } from "../../../api/types/core-v1.ts";
import type { Client } from "../../../client/client.ts";
import {
  persistentVolumeClaims,
  persistentVolumes,
} from "../../../client/resources.ts";
import {
  servedBy,
  type MountedVolume,
  type VolumePlugin,
  type VolumeRequest,
} from "../volume-plugin.ts";

/** `plugins`: of every type that persistent volumes may have. */
export function claimPlugins(
  client: Client | undefined,
  plugins: readonly VolumePlugin[],
): VolumePlugin[] {
  const mount = async (
    request: VolumeRequest,
    claim: string,
    readOnly: boolean,
  ): Promise<MountedVolume> => {
    const namespace = request.pod.metadata.namespace ?? "default";
    const volume = await boundVolume(client, namespace, claim);
    const source = volume.spec ?? {};
    const plugin = servedBy(plugins, source, "persistent");
    if (!plugin)
      throw new Error(
        `persistent volume "${volume.metadata.name}" is of a type that is not supported by this node agent`,
      );
    const mounted = await plugin.mount({
      ...request,
      source,
      persistentVolume: volume,
    });
    return { ...mounted, readOnly: readOnly || mounted.readOnly };
  };
  return [
    {
      field: "persistentVolumeClaim",
      serves: ["pod"],
      mount: (request) => {
        const { claimName, readOnly = false } =
          request.source.persistentVolumeClaim!;
        return mount(request, claimName, readOnly);
      },
    },
    {
      field: "ephemeral",
      serves: ["pod"],
      mount: (request) =>
        mount(request, `${request.pod.metadata.name}-${request.name}`, false),
    },
  ];
}

async function boundVolume(
  client: Client | undefined,
  namespace: string,
  name: string,
): Promise<PersistentVolume> {
  if (!client) throw new Error("persistent volume claims need an API server");
  const claim = await client
    .resource(persistentVolumeClaims)
    .get(name, namespace);
  const volumeName = claim.spec?.volumeName;
  if (claim.status?.phase !== "Bound" || !volumeName)
    throw new Error(`persistentvolumeclaim "${name}" is not bound`);
  return await client.resource(persistentVolumes).get(volumeName);
}

// iscsi: a logical unit of a target, in a pod or as a persistent volume, as a file system or as a block device. A unit that
// no pod uses is detached; its target's sessions end with its last unit.
import type { Secret, SecretReference } from "../../../api/types/core-v1.ts";
import type { AgentConfig } from "../../config/agent-config.ts";
import { mountDevice } from "../files/devices.ts";
import { isMountPoint, unmountIdle } from "../files/mounts.ts";
import { bindVolume } from "../files/volume-directory.ts";
import { KeyedTurns } from "../keyed-turns.ts";
import { secretTexts } from "../payload/secret.ts";
import type { VolumePlugin, VolumeRequest } from "../volume-plugin.ts";
import { pluginDirectory, volumePath } from "../volume-paths.ts";
import { IscsiInitiator } from "./iscsi-initiator.ts";
import { IscsiRecords } from "./iscsi-records.ts";
import { targetOf, unitKey, type Target } from "./iscsi-target.ts";

interface IscsiOptions {
  readonly config: Pick<AgentConfig, "rootDirectory" | "memoryDirectory">;
  readonly secret: (
    namespace: string,
    name: string,
  ) => Promise<Pick<Secret, "data"> | undefined>;
  readonly initiator?: Pick<IscsiInitiator, "attach" | "detach">;
}

type Source = NonNullable<VolumeRequest["source"]["iscsi"]>;

export function iscsiPlugin(options: IscsiOptions): VolumePlugin {
  const { config, initiator = new IscsiInitiator() } = options;
  const records = new IscsiRecords(
    pluginDirectory(config, "kubernetes.io~iscsi"),
  );
  /** By target: its units share sessions. */
  const turns = new KeyedTurns();

  async function secretOf(
    { pod, persistentVolume }: VolumeRequest,
    source: Source,
  ): Promise<Record<string, string> | undefined> {
    if (!source.chapAuthDiscovery && !source.chapAuthSession) return undefined;
    const { name, namespace } = (source.secretRef ?? {}) as SecretReference;
    // A pod's volume names one of the pod's own namespace.
    const where =
      (persistentVolume && namespace) || (pod.metadata.namespace ?? "default");
    const found =
      name === undefined ? undefined : await options.secret(where, name);
    if (!found)
      throw new Error(
        `CHAP is asked for, and there is no secret ${where}/${name ?? ""}`,
      );
    return secretTexts(found);
  }

  async function mountFileSystem(
    request: VolumeRequest,
    source: Source,
    target: Target,
    device: string,
    readOnly: boolean,
  ): Promise<string> {
    const { pod, name, persistentVolume } = request;
    const whole = records.mountPath(unitKey(target));
    await mountDevice(device, whole, source.fsType ?? "ext4", [
      ...(readOnly ? ["ro"] : []),
      ...(persistentVolume?.spec?.mountOptions ?? []),
    ]);
    const volume = persistentVolume?.metadata.name ?? name;
    const uid = pod.metadata.uid ?? "";
    const bound = volumePath(config, uid, "iscsi", volume);
    await bindVolume(whole, bound);
    return bound;
  }

  async function detachUnused(): Promise<void> {
    for (const key of await records.units()) {
      if ((await records.users(key)).length > 0) continue;
      const target = await records.target(key);
      if (!target) {
        await records.remove(key);
        continue;
      }
      await turns.run(target.iqn, async () => {
        // A pod may have come meanwhile.
        if ((await records.users(key)).length > 0) return;
        const whole = records.mountPath(key);
        if (await isMountPoint(whole)) await unmountIdle(whole);
        await initiator.detach(target, await records.isLast(key, target));
        await records.remove(key);
      });
    }
  }

  return {
    field: "iscsi",
    serves: ["pod", "persistent"],
    async mount(request) {
      const { pod, name, persistentVolume } = request;
      const source = request.source.iscsi!;
      const target = targetOf(
        persistentVolume?.metadata.name ?? name,
        source,
        await secretOf(request, source),
      );
      const readOnly = source.readOnly === true || request.readOnly === true;
      return await turns.run(target.iqn, async () => {
        await records.add(target, pod.metadata.uid ?? "");
        const device = await initiator.attach(target);
        if (persistentVolume?.spec?.volumeMode === "Block")
          return { path: device, device: true, readOnly };
        return {
          path: await mountFileSystem(
            request,
            source,
            target,
            device,
            readOnly,
          ),
          readOnly,
          fsGroup: "by-policy",
          usage: "file-system",
        };
      });
    },
    unmount: (uid) => records.forget(uid),
    released: detachUnused,
  };
}

// nfs: a directory of another machine, in a pod or as a persistent volume. The kernel's client is asked through mount(8),
// whose helper Debian has in nfs-common.
import { access } from "node:fs/promises";
import type { AgentConfig } from "../../config/agent-config.ts";
import { isMountPoint, mountRemote } from "../files/mounts.ts";
import { ensureVolumeDirectory } from "../files/volume-directory.ts";
import type { VolumePlugin } from "../volume-plugin.ts";
import { volumePath } from "../volume-paths.ts";

const helpers = ["/sbin/mount.nfs", "/usr/sbin/mount.nfs"];

/** A name or an address, of IPv6 with or without brackets: mount(8) must find neither an option nor a tag of a device. */
const serverForm = /^\[?[\w.:%][\w.:%-]*\]?$/;

function checkServer(server: string): void {
  if (!serverForm.test(server))
    throw new Error(
      `nfs: server ${JSON.stringify(server)} is neither a host name nor an address`,
    );
}

async function checkHelper(): Promise<void> {
  for (const path of helpers)
    if (
      await access(path).then(
        () => true,
        () => false,
      )
    )
      return;
  throw new Error(
    "nfs volumes need mount.nfs, which is not installed on this node (Debian: nfs-common)",
  );
}

export function nfsPlugin(
  config: Pick<AgentConfig, "rootDirectory" | "memoryDirectory">,
): VolumePlugin {
  return {
    field: "nfs",
    serves: ["pod", "persistent"],
    async mount({ pod, name, source, persistentVolume, readOnly }) {
      const { server, path, readOnly: ownReadOnly } = source.nfs!;
      const target = volumePath(
        config,
        pod.metadata.uid ?? "",
        "nfs",
        persistentVolume?.metadata.name ?? name,
      );
      checkServer(server);
      const isReadOnly = ownReadOnly === true || readOnly === true;
      if (!(await isMountPoint(target))) {
        await checkHelper();
        await ensureVolumeDirectory(target, 0o750);
        const host = /^[^[].*:/.test(server) ? `[${server}]` : server;
        await mountRemote("nfs", `${host}:${path}`, target, [
          ...(isReadOnly ? ["ro"] : []),
          ...(persistentVolume?.spec?.mountOptions ?? []),
        ]);
      }
      return {
        path: target,
        readOnly: isReadOnly,
        usage: "remote-file-system",
      };
    },
  };
}

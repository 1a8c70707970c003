// Where volumes lie, as the ecosystem's tools expect it:
//
//   <root>/pods/<uid>/volumes/kubernetes.io~<type>/<name>
//   <root>/pods/<uid>/volume-subpaths/<volume>/<container>/<index>
//   <root>/pods/<uid>/plugins/set-up/<name>         the volume has its owner and rights
//   <root>/pods/<uid>/plugins/held/<volume>         the pod has a volume that one pod has at a time
//   <memory>/<uid>/kubernetes.io~<type>/<name>      on a tmpfs; <memory> is <root>/memory unless it is set
import { join } from "node:path";
import type { AgentConfig } from "../config/agent-config.ts";

type Directories = Pick<AgentConfig, "rootDirectory" | "memoryDirectory">;

export function podsDirectory({ rootDirectory }: Directories): string {
  return join(rootDirectory, "pods");
}

export function podDirectory(config: Directories, uid: string): string {
  return join(podsDirectory(config), uid);
}

export function memoryDirectory(config: Directories): string {
  return config.memoryDirectory ?? join(config.rootDirectory, "memory");
}

export function volumesDirectory(config: Directories, uid: string): string {
  return join(podDirectory(config, uid), "volumes");
}

/** `type`: as the reference's plug-in is called, e.g. empty-dir. */
export function volumePath(
  config: Directories,
  uid: string,
  type: string,
  name: string,
): string {
  return join(volumesDirectory(config, uid), `kubernetes.io~${type}`, name);
}

/** `<root>/plugins`, where drivers have their sockets, too. */
export function pluginsDirectory({
  rootDirectory,
}: Pick<Directories, "rootDirectory">): string {
  return join(rootDirectory, "plugins");
}

/** What a type of volumes keeps for the node, not for one pod: `<root>/plugins/<name>`. */
export function pluginDirectory(
  config: Pick<Directories, "rootDirectory">,
  name: string,
): string {
  return join(pluginsDirectory(config), name);
}

/** The node's volumes of the built-in class. */
export function localPathRoot({
  rootDirectory,
}: Pick<Directories, "rootDirectory">): string {
  return join(rootDirectory, "local-path");
}

export function subPathsDirectory(config: Directories, uid: string): string {
  return join(podDirectory(config, uid), "volume-subpaths");
}

/** The pod's volumes that were set up: see set-up-marks.ts. */
export function setUpMarksDirectory(config: Directories, uid: string): string {
  return join(podDirectory(config, uid), "plugins", "set-up");
}

export function heldVolumesDirectory(config: Directories, uid: string): string {
  return join(podDirectory(config, uid), "plugins", "held");
}

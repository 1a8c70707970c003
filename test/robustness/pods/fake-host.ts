// What an agent makes for pods on its machine beside the runtime: directories, cgroups, volumes. Kept by uid, so that a
// test sees what is left; each change is an action of the agent, at which it can be killed.
import { qosClass } from "../../../api/objects/pod-qos.ts";
import type { Pod } from "../../../api/types/core-v1.ts";
import type { Action } from "./fake-node.ts";

export class FakeHost {
  readonly directories = new Set<string>();
  /** The quality of service below which each pod's is. */
  readonly cgroups = new Map<string, string>();
  readonly volumes = new Set<string>();

  /** Names what is there, as `directory u`. */
  left(): string[] {
    return [
      ...[...this.directories].map((uid) => `directory ${uid}`),
      ...[...this.cgroups.keys()].map((uid) => `cgroup ${uid}`),
      ...[...this.volumes].map((uid) => `volumes ${uid}`),
    ];
  }
}

interface NamedPod {
  metadata: { uid?: string };
}

/** `directory`: a real one, for the few files that are written past the fakes. */
export function hostParts(host: FakeHost, act: Action, directory: string) {
  const uidOf = ({ metadata }: NamedPod): string => metadata.uid ?? "";
  const nothing = (): Promise<void> => Promise.resolve();
  return {
    volumes: {
      mount: (pod: NamedPod) =>
        act("volumes.mount", () => void host.volumes.add(uidOf(pod))),
      containerMounts: () => Promise.resolve([]),
      containerDevices: () => [],
      groupsOf: () => [],
      unmount: (uid: string) =>
        act("volumes.unmount", () => void host.volumes.delete(uid)),
      uids: () => Promise.resolve([...host.volumes]),
      releaseOthers: () => Promise.resolve(),
    },
    cgroups: {
      createPod: (pod: Pod) =>
        act("cgroups.createPod", () => {
          host.cgroups.set(uidOf(pod), qosClass(pod));
          return `/pod${uidOf(pod)}`;
        }),
      removePod: (uid: string, qos?: string) =>
        act("cgroups.removePod", () => {
          if (qos === undefined || host.cgroups.get(uid) === qos)
            host.cgroups.delete(uid);
        }),
    },
    files: {
      prepare: (pod: NamedPod) =>
        act("files.prepare", () => void host.directories.add(uidOf(pod))),
      uids: () => Promise.resolve([...host.directories]),
      nextLogNumber: () => Promise.resolve(0),
      containerLogDirectory: () => Promise.resolve(directory),
      writeHosts: () => Promise.resolve(""),
      terminationLog: () => Promise.resolve(`${directory}/last-words`),
      linkContainerLog: nothing,
      unlinkContainerLog: nothing,
      removeLogs: () => act("files.removeLogs", () => undefined),
      removePodDirectory: (uid: string) =>
        act(
          "files.removePodDirectory",
          () => void host.directories.delete(uid),
        ),
    },
  };
}

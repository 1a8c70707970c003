// The figures of the machine, of each pod's cgroup, of its sandbox and of its containers, for /metrics/cadvisor. They come
// from cgroups and from /proc alone: the runtime is not asked. The network of a pod is its sandbox's, as at cAdvisor.
import { uptime } from "node:os";
import { readFile, statfs } from "node:fs/promises";
import { join } from "node:path";
import type { ContainerFigures } from "../../../api/contracts.ts";
import type { Clock } from "../../../api/clock.ts";
import type { Pod } from "../../../api/types/core-v1.ts";
import { sandboxImageName } from "../../../cri/sandbox-image/image.ts";
import type { CgroupManager } from "../../cgroups/cgroup-manager.ts";
import type { RuntimePod } from "../../pods/runtime/runtime-pods.ts";
import {
  cgroupChildren,
  cgroupProcesses,
  readCgroupFigures,
} from "./cgroup-figures.ts";
import {
  deviceCounts,
  deviceOf,
  interfacesOf,
  machineInterfaces,
} from "./devices.ts";
import { usedSwapBytes } from "./machine-figures.ts";
import { processFigures } from "./process-figures.ts";

interface ContainerFiguresOptions {
  /** Where the cgroup file systems are mounted. */
  readonly mount: string;
  readonly rootDirectory: string;
  readonly pods: () => readonly Pod[];
  readonly runtimePods: () => readonly RuntimePod[];
  readonly cgroups: Pick<CgroupManager, "podPath">;
  readonly clock: Clock;
}

type Named = Pick<
  ContainerFigures,
  "container" | "image" | "name" | "startedAtMs"
>;

const pod: Named = { container: "", image: "", name: "" };

export async function containerFigures(
  options: ContainerFiguresOptions,
): Promise<ContainerFigures[]> {
  const byUid = new Map(options.runtimePods().map((each) => [each.uid, each]));
  const ofPods = await Promise.all(
    options
      .pods()
      .map((each) => podFigures(options, each, byUid.get(each.metadata.uid!))),
  );
  return [await rootFigures(options), ...ofPods.flat()];
}

async function rootFigures(
  options: ContainerFiguresOptions,
): Promise<ContainerFigures> {
  const { mount, rootDirectory, clock } = options;
  const [figures, interfaces, device, space, diskstats, meminfo] =
    await Promise.all([
      readCgroupFigures(mount, "/"),
      interfacesOf("self"),
      deviceOf(rootDirectory),
      statfs(rootDirectory).catch(() => undefined),
      readFile("/proc/diskstats", "utf8").catch(() => ""),
      readFile("/proc/meminfo", "utf8").catch(() => ""),
    ]);
  const counts = deviceCounts(device, diskstats);
  return {
    ...pod,
    id: "/",
    namespace: "",
    pod: "",
    epochMs: clock.now(),
    startedAtMs: clock.now() - uptime() * 1000,
    // Version 2's root has no file of its own for it.
    memorySwapBytes: usedSwapBytes(meminfo),
    ...figures,
    ...(interfaces ? { interfaces: machineInterfaces(interfaces) } : {}),
    ...(space
      ? {
          filesystems: [
            {
              device,
              limitBytes: space.blocks * space.bsize,
              usageBytes: (space.blocks - space.bfree) * space.bsize,
              inodes: space.files,
              inodesFree: space.ffree,
              ...(counts ? { counts } : {}),
            },
          ],
        }
      : {}),
  };
}

async function podFigures(
  options: ContainerFiguresOptions,
  { metadata, spec, ...rest }: Pod,
  running: RuntimePod | undefined,
): Promise<ContainerFigures[]> {
  const { mount, clock, cgroups } = options;
  const path = cgroups.podPath({ metadata, spec, ...rest });
  const names = namesById(running);
  const children = await cgroupChildren(mount, path);
  const containers = await Promise.all(
    children.flatMap((child) => {
      const named = names.get(containerOf(child));
      if (!named) return [];
      const id = join(path, child);
      return [cgroupProcesses(mount, id).then((pids) => ({ id, named, pids }))];
    }),
  );
  // Where nothing runs in the sandbox itself (CRI-O), its network is that of its containers.
  const connected = [...containers]
    .sort((a, b) => a.named.container.localeCompare(b.named.container))
    .flatMap(({ pids }) => pids)[0];
  const read = async (
    id: string,
    named: Named,
    pids: readonly number[] = [],
  ): Promise<ContainerFigures[]> => {
    const figures = await readCgroupFigures(mount, id);
    if (!figures) return [];
    const interfaces =
      named.image === sandboxImageName &&
      !spec.hostNetwork &&
      connected !== undefined
        ? await interfacesOf(connected)
        : undefined;
    return [
      {
        ...named,
        id,
        namespace: metadata.namespace ?? "default",
        pod: metadata.name,
        epochMs: clock.now(),
        ...figures,
        ...(named.image === "" ? {} : await processFigures(pids)),
        ...(interfaces ? { interfaces } : {}),
      },
    ];
  };
  const found = await Promise.all([
    read(path, pod),
    ...containers.map(({ id, named, pids }) => read(id, named, pids)),
  ]);
  return found.flat();
}

/**
 * The id in the name of a container's cgroup; the driver of systemd and some runtimes put words around it. CRI-O's monitors
 * (crio-conmon-ID) are none of the container's.
 */
function containerOf(child: string): string {
  if (child.startsWith("crio-conmon-")) return "";
  return /[0-9a-f]{64}/.exec(child)?.[0] ?? child;
}

function namesById(
  running: RuntimePod | undefined,
): ReadonlyMap<string, Named> {
  const names = new Map<string, Named>();
  for (const { id, createdAtMs } of running?.sandboxes ?? [])
    names.set(id, {
      container: "",
      image: sandboxImageName,
      name: id,
      startedAtMs: createdAtMs,
    });
  for (const {
    id,
    name,
    image,
    imageRef,
    startedAtMs,
  } of running?.containers ?? [])
    names.set(id, {
      container: name,
      image: image || imageRef,
      name: id,
      startedAtMs,
    });
  return names;
}

// What looks after the node beside its pods: its shares, its pressure, what is left over, and logs.
import { ArchiveDirectory } from "./images/archive-directory.ts";
import { mountedImages } from "../cri/images/mounted-images.ts";
import { isGateOn } from "./config/feature-gates.ts";
import { ImageGarbage } from "../eviction/image-garbage.ts";
import type { AgentParts, Wired } from "./agent-parts.ts";
import { Housekeeping } from "./housekeeping.ts";
import { LogBudget } from "./logs/log-budget.ts";
import { LogRotation } from "./logs/log-rotation.ts";
import { machineCapacity } from "./node/machine.ts";
import { NodeAllocatable } from "./node/node-allocatable.ts";
import { SystemOom } from "./node/system-oom.ts";
import { PressureControl } from "./node/pressure.ts";
import { ContainerGarbage } from "./pods/clean/container-garbage.ts";
import { isOwn, isStaticPod } from "./pods/shape/labels.ts";
import { evictPod } from "./pods/worker/evict.ts";

export function wireUpkeep(
  parts: Wired,
): Pick<
  AgentParts,
  "allocatable" | "pressure" | "housekeeping" | "rotation" | "systemOom"
> {
  const { settings: config, runtime, clock, logger, events } = parts;
  const { node, runtimePods, workers } = parts;
  const logged = () =>
    runtimePods
      .list()
      .flatMap(({ containers }) => containers)
      .filter(({ logPath }) => logPath);
  const rotation = new LogRotation({
    logs: runtime.logs,
    containers: () => logged().filter(({ state }) => state === "running"),
    budget: new LogBudget({
      budget: config.containerLogBudget,
      directory: config.podLogsDirectory,
      logPaths: () =>
        logged()
          .filter((each) => isOwn(each, config.rootDirectory))
          .map(({ logPath }) => logPath),
      logger,
    }),
    maxSizeBytes: config.containerLogMaxSizeBytes,
    maxFiles: config.containerLogMaxFiles,
    intervalMs: config.containerLogMonitorIntervalMs,
    maxWorkers: config.containerLogMaxWorkers,
    clock,
    logger,
  });
  const allocatable = new NodeAllocatable({
    ...parts,
    config,
    capacity: () => machineCapacity(config.rootDirectory),
  });
  const images = new ImageGarbage({
    runtime,
    mounted: isGateOn(config, "ImageVolume")
      ? () => mountedImages(runtime)
      : undefined,
    sandboxImage: config.sandboxImage,
    clock,
    logger,
    highThresholdPercent: config.imageGcHighThresholdPercent,
    lowThresholdPercent: config.imageGcLowThresholdPercent,
    minimumAgeMs: config.minimumImageTtlMs,
    maximumAgeMs: config.maximumImageAgeMs,
    onFailure: (reason, message) => events.node("Warning", reason, message),
  });
  parts.metrics.add(() => images.families());
  const containers = wireContainerGarbage(parts);
  const pressure = new PressureControl({
    config,
    runtime,
    images,
    containers,
    pods: () =>
      workers
        .live()
        .filter(({ phase }) => phase === "syncing")
        .map(({ pod }) => pod),
    events,
    cgroups: parts.cgroups,
    isEnded: (uid) =>
      !workers.live().some(({ pod }) => pod.metadata.uid === uid),
    evict: (pod, eviction) => evictPod(parts, pod, eviction),
    clock,
    logger,
    onChange: (changed) => node.setPressure(changed),
    onDiskSpace: (bytes) => rotation.spaceLeft(bytes),
  });
  const housekeeping = new Housekeeping({
    ...parts,
    images,
    containers,
    isKnown: (uid) => workers.has(uid) || runtimePods.uids().includes(uid),
  });
  parts.metrics.add(() => housekeeping.families());
  parts.changes.onEvery(() => rotation.soon());
  const systemOom = new SystemOom(parts);
  return { allocatable, pressure, housekeeping, rotation, systemOom };
}

function wireContainerGarbage(parts: Wired): ContainerGarbage {
  const { settings: config, runtimePods, workers, hostFiles: files } = parts;
  return new ContainerGarbage({
    ...parts,
    files,
    pods: () =>
      runtimePods
        .list()
        .filter(({ sandboxes, containers }) =>
          [...sandboxes, ...containers].some((made) =>
            isOwn(made, config.rootDirectory),
          ),
        ),
    isOver: (uid) => {
      const worker = workers.get(uid);
      return worker?.phase === "terminated" && !isStaticPod(worker.pod);
    },
    isEvicted: (uid) => workers.get(uid)?.evicted ?? false,
    forgetRemoved: (uid) => runtimePods.markDirty(uid),
    maximum: config.maximumDeadContainers,
    minimumAgeMs: config.minimumContainerTtlMs,
  });
}

/** undefined: there is no directory of image archives. */
export function wireArchives(parts: Wired): ArchiveDirectory | undefined {
  const { imagesDirectory } = parts.settings;
  if (imagesDirectory === undefined) return undefined;
  return new ArchiveDirectory({
    ...parts,
    directory: imagesDirectory,
    onImported: () => parts.workers.wakeAll(),
    onProblem(file, message) {
      parts.logger.error({ file }, message);
      parts.events.node(
        "Warning",
        "InvalidImageArchive",
        message.slice(0, 1024),
      );
    },
  });
}

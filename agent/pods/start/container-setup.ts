// A container's configuration put together: environment, mounts, files on the host, resources and security.
import { join } from "node:path";
import type {
  Container,
  EphemeralContainer,
  Pod,
} from "../../../api/types/core-v1.ts";
import type {
  ContainerConfig,
  ImageSummary,
  Mount,
  SandboxStatus,
} from "../../../cri/runtime.ts";
import type { AgentConfig } from "../../config/agent-config.ts";
import type { ContainerDevices } from "../../resources/devices/container-devices.ts";
import {
  containerResources,
  type ResourceLimits,
} from "../../resources/linux-resources.ts";
import type { Pinning } from "../../resources/resource-managers.ts";
import { latestContainer, type RuntimePod } from "../runtime/runtime-pods.ts";
import type { ContainerKind } from "../shape/labels.ts";
import type { MountedImages } from "../../volumes/container-mounts.ts";
import { containerConfig } from "./container-config.ts";
import { containerEnvironment, type EnvironmentSource } from "./environment.ts";
import type { HostFiles } from "./host-files.ts";
import { mountsReadOnlyBelow, type NodeFeatures } from "./node-features.ts";

interface ContainerVolumes {
  /** The container's volume mounts; the volumes are mounted already. `lookup` resolves $(VAR) of subPathExpr; `recursive`: read-only may cover what is mounted below. */
  containerMounts(
    pod: Pod,
    container: Container,
    lookup: (name: string) => string | undefined,
    recursive: boolean,
    images: MountedImages,
  ): Promise<Mount[]>;
  /** Those that all containers of the pod are in, because of its volumes. */
  groupsOf(pod: Pod): readonly number[];
  /** Its block volumes. */
  containerDevices(pod: Pod, container: Container): ContainerConfig["devices"];
}

interface DevicesOfContainers {
  /** Rejects with a message fit for the container's state. */
  devicesOf(pod: Pod, container: Container): Promise<ContainerDevices>;
}

export interface SetupContext {
  readonly environment: EnvironmentSource;
  readonly volumes: ContainerVolumes;
  readonly devices: DevicesOfContainers;
  readonly files: Pick<
    HostFiles,
    "writeHosts" | "terminationLog" | "containerLogDirectory"
  >;
  readonly resourceLimits: ResourceLimits;
  readonly resources: {
    /** The CPUs and NUMA nodes to which the container is bound. */
    pinning(pod: Pod, container: Container): Pinning;
  };
  /** Of the runtime. */
  readonly features: () => NodeFeatures;
  readonly config: Pick<AgentConfig, "seccompDefault" | "rootDirectory">;
}

interface SetupInputs {
  /** With the addresses in its status. */
  pod: Pod;
  container: Container;
  kind: ContainerKind;
  restartCount: number;
  image: ImageSummary;
  /** Of image volumes. */
  images: MountedImages;
  sandbox: SandboxStatus;
  runtimePod: RuntimePod;
}

/** Rejects with a message fit for the container's state. */
export async function setUpContainer(
  context: SetupContext,
  inputs: SetupInputs,
): Promise<ContainerConfig> {
  const { pod, container, kind, restartCount, image, sandbox, runtimePod } =
    inputs;
  const environment = await containerEnvironment(
    pod,
    container,
    context.environment,
  );
  const values = new Map(environment.map(({ name, value }) => [name, value]));
  const devices = await context.devices.devicesOf(pod, container);
  const [mounts, hostsFile, terminationLog] = await Promise.all([
    context.volumes.containerMounts(
      pod,
      container,
      (name) => values.get(name),
      mountsReadOnlyBelow(context.features(), sandbox.runtimeHandler),
      inputs.images,
    ),
    context.files.writeHosts(
      pod,
      (pod.status?.podIPs ?? []).map(({ ip }) => ip),
    ),
    context.files.terminationLog(
      pod,
      container.name,
      `${restartCount}-${sandbox.id.slice(0, 8)}`,
    ),
    context.files.containerLogDirectory(pod, container.name),
  ]);
  const targetName = (container as EphemeralContainer).targetContainerName;
  const target = targetName
    ? latestContainer(runtimePod, targetName)
    : undefined;
  if (kind === "ephemeral" && targetName && !target)
    throw new Error(`unable to find target container ${targetName}`);
  const targetId = kind === "ephemeral" ? target?.id : undefined;
  return containerConfig({
    pod,
    container,
    kind,
    restartCount,
    image,
    environment,
    mounts,
    devices,
    volumeDevices: context.volumes.containerDevices(pod, container),
    volumeGroups: context.volumes.groupsOf(pod),
    hostsFile,
    terminationLog,
    resources: {
      ...containerResources(pod, container, context.resourceLimits),
      ...context.resources.pinning(pod, container),
    },
    seccomp: {
      byDefault: context.config.seccompDefault,
      profileDirectory: join(context.config.rootDirectory, "seccomp"),
    },
    owner: context.config.rootDirectory,
    ...(targetId === undefined ? {} : { targetId }),
  });
}

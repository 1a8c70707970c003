// A container's ContainerConfig from the pod, its resolved image, its environment and its mounts.
import type { Container, Pod } from "../../../api/types/core-v1.ts";
import type {
  ContainerConfig,
  ImageSummary,
  LinuxResources,
  Mount,
} from "../../../cri/runtime.ts";
import type { ContainerDevices } from "../../resources/devices/container-devices.ts";
import { expand } from "../shape/expansion.ts";
import {
  containerAnnotations,
  containerLabels,
  type ContainerKind,
} from "../shape/labels.ts";
import { containerSecurity, type SeccompSettings } from "./security-context.ts";

interface ContainerInputs {
  pod: Pod;
  container: Container;
  kind: ContainerKind;
  restartCount: number;
  image: ImageSummary;
  environment: { name: string; value: string }[];
  /** Volume mounts with their host paths resolved, subPaths too. */
  mounts: Mount[];
  devices: ContainerDevices;
  /** Volumes with volumeMode Block. */
  volumeDevices: ContainerConfig["devices"];
  /** Of volumes that have a group of their own. */
  volumeGroups: readonly number[];
  hostsFile: string | undefined;
  terminationLog: string;
  resources: LinuxResources;
  seccomp: SeccompSettings;
  /** Recorded as whose container it is. */
  owner: string;
  /** Container whose PID namespace an ephemeral container joins. */
  targetId?: string;
}

/** Throws with the text for CreateContainerConfigError. */
export function containerConfig(inputs: ContainerInputs): ContainerConfig {
  const { pod, container, kind, restartCount, image, environment, hostsFile } =
    inputs;
  const { devices } = inputs;
  const values = new Map(environment.map(({ name, value }) => [name, value]));
  const lookup = (name: string): string | undefined => values.get(name);
  const mounts = [...devices.mounts, ...inputs.mounts];
  const mounted = new Set(mounts.map(({ containerPath }) => containerPath));
  if (hostsFile && !mounted.has("/etc/hosts"))
    mounts.push({
      containerPath: "/etc/hosts",
      hostPath: hostsFile,
      readonly: false,
      propagation: "private",
      selinuxRelabel: true,
    });
  mounts.push({
    containerPath: container.terminationMessagePath ?? "/dev/termination-log",
    hostPath: inputs.terminationLog,
    readonly: false,
    propagation: "private",
    selinuxRelabel: true,
  });
  const security = containerSecurity(pod, container, image, inputs.seccomp);
  security.supplementalGroups = [
    ...new Set([...security.supplementalGroups, ...inputs.volumeGroups]),
  ];
  if (inputs.targetId !== undefined && security.pid === "container") {
    security.pid = "target";
    security.targetId = inputs.targetId;
  }
  return {
    name: container.name,
    attempt: restartCount,
    image: container.image ?? "",
    imageRef: image.id,
    command: (container.command ?? []).map((text) => expand(text, lookup)),
    args: (container.args ?? []).map((text) => expand(text, lookup)),
    workingDir: container.workingDir ?? "",
    // The pod's own variables are the stronger ones.
    env: [
      ...devices.env.filter(({ name }) => !values.has(name)),
      ...environment,
    ],
    mounts,
    devices: [...devices.devices, ...inputs.volumeDevices],
    ...(devices.cdiDevices.length > 0
      ? { cdiDevices: [...devices.cdiDevices] }
      : {}),
    labels: containerLabels(pod, container),
    annotations: {
      ...devices.annotations,
      ...containerAnnotations(pod, container, kind, restartCount, inputs.owner),
    },
    logPath: `${container.name}/${restartCount}.log`,
    stdin: container.stdin ?? false,
    stdinOnce: container.stdinOnce ?? false,
    tty: container.tty ?? false,
    resources: inputs.resources,
    security,
  };
}

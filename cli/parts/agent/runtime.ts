// Which container runtime a node uses, chosen once: the one asked for; else the one recorded in the data directory; else,
// at the very first start, the machine's containerd when it answers, or a private one below the data directory.
// Invariant: pods run in the recorded runtime alone. A recorded runtime that is late or down is waited for and never
// replaced by another that happens to answer: its pods may run, and would run twice. A change by option first ends and
// removes this node's pods in the old runtime, and fails as long as the old one can't be asked.
import * as path from "node:path";
import { endPods } from "../../../agent/pods/end/end-pods.ts";
import { isOwn } from "../../../agent/pods/shape/labels.ts";
import { systemClock, type Clock } from "../../../api/clock.ts";
import { AddressLeases } from "../../../cri/cni/address-leases.ts";
import { cniFileName } from "../../../cri/cni/configuration.ts";
import type { PodNetworkOptions } from "../../../cri/cni/network.ts";
import { socketPath } from "../../../cri/endpoint.ts";
import { openRuntime, runtimeKind } from "../../../cri/open-runtime.ts";
import { ForgottenShims } from "../../../cri/private-containerd/forgotten-shims.ts";
import type { SupervisedContainerd } from "../../../cri/private-containerd/supervised-containerd.ts";
import type { Runtime } from "../../../cri/runtime.ts";
import type { GrpcTracing } from "../../../grpc/channel.ts";
import { DependencyError, UsageError } from "../../options/table.ts";
import {
  cgroupDriver,
  type CgroupDriver,
  type DriverChoice,
} from "./cgroup-driver.ts";
import { letMappedUsersThrough } from "./mapped-users.ts";
import { recordMachineFile, recordNatTables } from "./machine-files.ts";
import {
  defaultEndpoint,
  dockerDirectory,
  endpointFile,
  normalEndpoint,
  privateRuntime,
  privateRuntimeDirectory,
  readEndpoint,
  socketAnswers,
  writeEndpoint,
} from "./runtime-endpoint.ts";

export interface RuntimeChoice extends DriverChoice {
  /** As given: a socket or "private"; empty when none was asked for. */
  endpoint: string;
  /** Of the images; undefined: the runtime's. */
  imageEndpoint?: string | undefined;
  /** The agent's: by it its pods are recognised. */
  rootDirectory: string;
  /** Ranges of pod addresses for the CNI configuration; empty: not known yet. */
  podCidrs: readonly string[];
  /** As the runtime's PodNetworkOptions. */
  setPodRules?: (podCidrs: readonly string[]) => Promise<void>;
  /** How large packets of pods may be. */
  podMtu?: {
    value(): Promise<number | undefined>;
    /** Called when it is another than before, for pods that are made from then on. */
    onChange(listener: () => void): void;
  };
  /** The cgroup above all pods; a private containerd lives beside it. */
  cgroupRoot: string;
  /** Pods may have user namespaces of their own. */
  mapsUsers: boolean;
  requestTimeoutMs: number;
  trace?: GrpcTracing | undefined;
  clock?: Clock;
  /** Where the machine's own containerd would listen, and its network configuration. */
  machine?: { endpoint: string; cniDirectory: string };
}

export interface ChosenRuntime {
  readonly runtime: Runtime;
  readonly endpoint: string;
  /** True when the containerd is ours. */
  readonly isPrivate: boolean;
  /** Who makes the containers' cgroups. */
  readonly cgroupDriver: CgroupDriver;
  /** Ends the connection. A private containerd and its pods go on, to be adopted at the next start. */
  stop(): Promise<void>;
}

const machineDefaults = {
  endpoint: defaultEndpoint,
  cniDirectory: "/etc/cni/net.d",
};

async function startPrivate({
  dataDirectory,
  cgroupRoot,
  systemdCgroup,
  logger,
}: RuntimeChoice): Promise<SupervisedContainerd> {
  const { superviseContainerd } =
    await import("../../../cri/private-containerd/supervised-containerd.ts");
  return superviseContainerd({
    directory: privateRuntimeDirectory(dataDirectory),
    cgroup: `${cgroupRoot}-runtime`,
    systemdCgroup,
    logger,
  }).catch((error: Error) => {
    throw new DependencyError(`the container runtime: ${error.message}`);
  });
}

async function privateEndpoint(dataDirectory: string): Promise<string> {
  const { privateContainerdEndpoint } =
    await import("../../../cri/private-containerd/private-containerd.ts");
  return privateContainerdEndpoint(privateRuntimeDirectory(dataDirectory));
}

/** Ends this node's pods in the runtime it used so far, before it uses another. */
async function leaveRuntime(
  choice: RuntimeChoice,
  old: { endpoint: string; isPrivate: boolean },
  wanted: string,
): Promise<void> {
  const { logger, dataDirectory, rootDirectory } = choice;
  const { endpoint } = old;
  logger.warn(
    { from: endpoint, to: wanted },
    "another container runtime is asked for: ending the pods in the one used so far",
  );
  const containerd = old.isPrivate ? await startPrivate(choice) : undefined;
  if (!containerd && !(await socketAnswers(endpoint)))
    throw new DependencyError(
      `--container-runtime-endpoint: pods may still run in the runtime used so far, ${endpoint}, which does not answer: start it, or, when it is gone for good, remove ${endpointFile(dataDirectory)}`,
    );
  const runtime = await openRuntime({
    endpoint,
    logger,
    ensureSandboxImage: false,
  });
  await runtime.start();
  try {
    const { ended, failed } = await endPods({
      runtime,
      rootDirectory,
      remove: true,
      clock: choice.clock ?? systemClock,
      logger,
    });
    if (failed > 0)
      throw new DependencyError(
        `--container-runtime-endpoint: ${failed} pods in the runtime used so far, ${endpoint}, could not be ended`,
      );
    logger.info({ endpoint, pods: ended }, "left the old container runtime");
  } finally {
    await runtime.stop();
    await containerd?.stop();
  }
}

/** Before anything is recorded or left for it. */
function checkEndpoint(endpoint: string): void {
  try {
    runtimeKind(endpoint);
  } catch (error) {
    throw new UsageError(
      `--container-runtime-endpoint: ${(error as Error).message}`,
    );
  }
}

/** Docker's images are its containers' alone, and are served in its own API. */
function checkImageEndpoint(imageEndpoint: string, endpoint: string): void {
  try {
    if (socketPath(imageEndpoint) === socketPath(endpoint)) return;
    if (
      [imageEndpoint, endpoint].some((each) => runtimeKind(each) === "docker")
    )
      throw new Error(
        "Docker and another image service don't work together: only runtimes that speak CRI can have one",
      );
  } catch (error) {
    throw new UsageError(
      `--image-service-endpoint: ${(error as Error).message}`,
    );
  }
}

/** The endpoint to use from now on; "" for the private containerd. Pods of another one are ended. */
async function decide(choice: RuntimeChoice): Promise<string> {
  const { dataDirectory, logger, machine = machineDefaults } = choice;
  if (choice.endpoint !== "" && choice.endpoint !== privateRuntime)
    checkEndpoint(choice.endpoint);
  const recorded = await readEndpoint(dataDirectory);
  const own = await privateEndpoint(dataDirectory);
  const asked =
    choice.endpoint === privateRuntime
      ? own
      : normalEndpoint(choice.endpoint) || undefined;
  const wanted =
    asked ??
    recorded ??
    ((await socketAnswers(machine.endpoint)) ? machine.endpoint : own);
  if (recorded !== undefined && recorded !== wanted)
    await leaveRuntime(
      choice,
      { endpoint: recorded, isPrivate: recorded === own },
      wanted,
    );
  if (recorded !== wanted) await writeEndpoint(dataDirectory, wanted);
  if (wanted === own) return "";
  if (!(await socketAnswers(wanted)))
    logger.warn(
      { endpoint: wanted },
      "the container runtime does not answer yet: waiting for it",
    );
  return wanted;
}

/**
 * @param leases where the addresses in use are kept; undefined: where the plug-in keeps them
 * @param configuration has the ranges that were configured last
 */
function cniOptions(
  { setPodRules, podMtu }: RuntimeChoice,
  directory: string,
  leases: string | undefined,
  configuration: { ranges: readonly string[] },
): PodNetworkOptions {
  return {
    directory,
    ...(setPodRules
      ? {
          setPodRules(ranges) {
            configuration.ranges = ranges;
            return setPodRules(ranges);
          },
        }
      : {}),
    ...(podMtu ? { mtu: () => podMtu.value() } : {}),
    name: "orbit",
    // Below the data directory where it can be, so that clusters on one machine share nothing.
    ...(leases === undefined ? {} : { ipamDirectory: leases }),
  };
}

/** Those that a containerd forgot when it was killed are ended. */
function forgottenSandboxes(
  { clock = systemClock, logger }: RuntimeChoice,
  containerd: SupervisedContainerd,
  runtime: Runtime,
): ForgottenShims {
  const shims = new ForgottenShims({
    socket: socketPath(containerd.endpoint),
    containerdPid: () => containerd.current.pid,
    ...{ runtime, clock, logger },
  });
  containerd.onRestart(() => shims.start());
  shims.start();
  return shims;
}

export async function chooseRuntime(
  choice: RuntimeChoice,
): Promise<ChosenRuntime> {
  const { logger, dataDirectory, podCidrs, requestTimeoutMs } = choice;
  let endpoint = await decide(choice);
  const isPrivate = endpoint === "";
  let cniDirectory = (choice.machine ?? machineDefaults).cniDirectory;
  let foreignDirectory: string | undefined;
  let leases: string | undefined;
  let pluginDirectory: string | undefined;
  let sandboxSeccompProfile: string | undefined;
  let containerd: SupervisedContainerd | undefined;
  let onFile: PodNetworkOptions["onFile"];
  if (isPrivate) {
    containerd = await startPrivate(choice);
    endpoint = containerd.endpoint;
    if (choice.mapsUsers) await letMappedUsersThrough(dataDirectory, endpoint);
    cniDirectory = containerd.cniConfigurationDirectory;
    pluginDirectory = containerd.current.cniBinaryDirectory;
    sandboxSeccompProfile = containerd.current.sandboxSeccompProfile;
    leases = path.join(privateRuntimeDirectory(dataDirectory), "cni/leases");
    logger.info(
      { endpoint, adopted: containerd.adopted },
      "using a private containerd",
    );
  } else if (runtimeKind(endpoint) === "docker") {
    logger.info({ endpoint }, "using the container runtime");
    // Docker itself does not look at the machine's directory: only another program's configuration counts there.
    foreignDirectory = cniDirectory;
    cniDirectory = path.join(dockerDirectory(dataDirectory), "cni/net.d");
    leases = path.join(dockerDirectory(dataDirectory), "cni/leases");
  } else {
    logger.info({ endpoint }, "using the container runtime");
    onFile = (file) => recordMachineFile(dataDirectory, file);
  }
  const configuration = { ranges: podCidrs };
  const { rootDirectory } = choice;
  const { imageEndpoint } = choice;
  if (imageEndpoint !== undefined) checkImageEndpoint(imageEndpoint, endpoint);
  const runtime = await openRuntime({
    endpoint,
    imageEndpoint,
    logger: logger.child({ part: "runtime" }),
    requestTimeoutMs,
    trace: choice.trace,
    stateDirectory: dockerDirectory(dataDirectory),
    ...(sandboxSeccompProfile === undefined ? {} : { sandboxSeccompProfile }),
    isOwn: (annotations) => isOwn({ annotations }, rootDirectory),
    cni: {
      ...cniOptions(choice, cniDirectory, leases, configuration),
      ...(foreignDirectory === undefined ? {} : { foreignDirectory }),
      ...(pluginDirectory === undefined ? {} : { pluginDirectory }),
      ...(onFile === undefined ? {} : { onFile }),
    },
  });
  const recorded = recordNatTables(dataDirectory);
  await runtime.start();
  await recorded;
  const asked = isPrivate ? undefined : runtime;
  const driver = await cgroupDriver(choice, asked).catch(async (error) => {
    await runtime.stop();
    await containerd?.release();
    throw error;
  });
  if (podCidrs.length > 0)
    await runtime
      .updatePodCidrs(podCidrs)
      .catch((err: unknown) =>
        logger.warn(
          { err, file: cniFileName },
          "the CNI configuration could not be written",
        ),
      );
  choice.podMtu?.onChange(() => {
    if (configuration.ranges.length > 0)
      runtime
        .updatePodCidrs(configuration.ranges)
        .catch((err: unknown) =>
          logger.warn({ err }, "pods keep the size of packets they had"),
        );
  });
  const addressLeases = new AddressLeases({
    runtime,
    configurationDirectory: cniDirectory,
    clock: choice.clock ?? systemClock,
    logger,
  });
  addressLeases.start();
  const forgotten =
    containerd && forgottenSandboxes(choice, containerd, runtime);
  return {
    runtime,
    endpoint,
    isPrivate,
    cgroupDriver: driver,
    async stop() {
      await addressLeases.stop();
      await forgotten?.stop();
      await containerd?.release();
      await runtime.stop();
    },
  };
}

// What the pod workers are given: for each of their steps the parts that it needs.
import { cpus, totalmem } from "node:os";
import type { Ground, PodRooms, Reporting } from "./agent-parts.ts";
import { isGateOn } from "./config/feature-gates.ts";
import type { NodeAdmission } from "./node/node-admission.ts";
import { networkProblem } from "./node/runtime-health.ts";
import { createHookRunner } from "./pods/end/lifecycle-hooks.ts";
import { BackOff } from "./pacing/back-off.ts";
import { CredentialProviderCache } from "./images/credential-providers.ts";
import { DockerConfigFiles } from "./images/docker-config-files.ts";
import { ImageCredentials } from "./images/image-credentials.ts";
import { ImageManager } from "./images/image-manager.ts";
import { ProviderMetrics } from "./images/provider-metrics.ts";
import { pullLimit } from "./images/pull-limit.ts";
import { PullProgress } from "./images/pull-progress.ts";
import { PodResizer, type ResizerContext } from "./pods/resize/pod-resizer.ts";
import type { SetupContext } from "./pods/start/container-setup.ts";
import type { PodStartContext } from "./pods/start/pod-start.ts";
import type { PodUsersContext } from "./pods/start/pod-users.ts";
import { runtimeHandler } from "./pods/start/runtime-handler.ts";
import { Turns } from "./pacing/turns.ts";
import type { WorkersContext } from "./pods/worker/pod-workers.ts";
import { machineHugepageSizes } from "./cgroups/hugepage-sizes.ts";
import type { ResourceLimits } from "./resources/linux-resources.ts";
import { memoryControl } from "./resources/memory-control.ts";
import { lowestOomScoreAdj } from "./resources/process-limits.ts";

export function workersContext(
  ground: Ground,
  { node, reports }: Reporting,
  rooms: PodRooms,
  admission: NodeAdmission,
): WorkersContext {
  const { settings: config, runtime, client, clock, logger, events } = ground;
  const { tracer } = ground;
  const { objects } = ground;
  const { runtimePods, volumes, probes, cgroups } = rooms;
  const { hostFiles: files, resources, claims, moves } = rooms;
  const nodeIPs = (): readonly string[] => node.addresses;
  const images = wireImages(ground);
  const hooks = countedHooks(ground);
  const restartBackOff = restartDelays(config);
  const end = { runtime, runtimePods, clock, hooks, events, nodeIPs, logger };
  const resourceLimits = limitsOf(config, node);
  const resize = podResizer(ground, node, rooms, {
    admission,
    resourceLimits,
    restartBackOff,
  });
  const users: PodUsersContext = {
    features: () => node.runtimeFeatures,
    userNamespaces: rooms.userNamespaces,
  };
  const start: PodStartContext = {
    sandboxes: {
      runtime,
      runtimePods,
      runtimeHandler: (pod) => runtimeHandler(client, pod),
      users,
      turns: new Turns(Math.max(8, cpus().length * 2)),
      ...{ moves, events },
    },
    containers: {
      runtime,
      runtimePods,
      images,
      users,
      setup: {
        environment: {
          configMap: (namespace, name) => objects.configMap(namespace, name),
          secret: (namespace, name) => objects.secret(namespace, name),
          services: (namespace) => objects.services(namespace),
          nodeResources: rooms.nodeResources,
        },
        volumes,
        devices: containerDevicesOf(rooms),
        features: () => node.runtimeFeatures,
        ...{ files, resourceLimits, resources, config, events },
      },
      files,
      status: reports.statuses,
      restartBackOff,
      moves,
      ending: end,
      logger,
      metrics: ground.podMetrics,
    },
    volumes,
    claims,
    files,
    cgroups,
    config: withLocalDns(ground),
    events,
    nodeIPs,
    podNetwork: ground.podNetwork,
  };
  return {
    runtimePods,
    rootDirectory: config.rootDirectory,
    sync: {
      runtimePods,
      admission,
      allocation: allocationOf(rooms),
      probes,
      restartBackOff,
      ...(resize ? { resize } : {}),
      networkProblem: () => networkProblem(node.runtimeState),
      ...{ start, events, clock },
    },
    end,
    tearDown: {
      ...{ volumes, probes, claims, cgroups },
      users: rooms.userNamespaces,
      admission: {
        release: (uid) => {
          resources.release(uid);
          admission.release(uid);
        },
      },
    },
    clean: { runtimePods, files, images, restartBackOff },
    deadContainers: {
      runtime,
      files,
      keptPerContainer: config.maximumDeadContainersPerContainer,
      minimumAgeMs: config.minimumContainerTtlMs,
      clock,
      logger,
    },
    report: {
      status: reports.statuses,
      // Known for sure once the runtime was asked for its version.
      get runtimeName() {
        return runtime.name;
      },
      readiness: probes,
      holdsDevices: (uid) => claims.areUsedBy(uid),
      features: () => node.runtimeFeatures,
      resize,
      nodeIPs,
      clock,
      metrics: ground.podMetrics,
    },
    ...{ clock, logger, tracer, metrics: ground.podMetrics },
  };
}

/** The DNS server of a node without an API server, from when there is one; pods have it from their start on. */
function withLocalDns({
  settings,
  local,
  objects,
}: Ground): PodStartContext["config"] {
  if (!local || settings.clusterDns.length > 0) return settings;
  const address = (): string | undefined => objects.dnsServiceAddress();
  return {
    ...settings,
    get clusterDns() {
      return [address() ?? []].flat();
    },
    get clusterDomain() {
      return settings.clusterDomain || (address() ? "cluster.local" : "");
    },
  };
}

function countedHooks({
  runtime,
  clock,
  events,
  metrics,
}: Ground): ReturnType<typeof createHookRunner> {
  const hooks = createHookRunner(runtime, clock, events);
  metrics.add(() => hooks.families());
  return hooks;
}

/** Gate KubeletCrashLoopBackOffMax bounds the delays otherwise. */
function restartDelays({ maxRestartPeriodMs }: Ground["settings"]): BackOff {
  return new BackOff(
    Math.min(10_000, maxRestartPeriodMs),
    maxRestartPeriodMs,
    600_000,
  );
}

function wireImages(ground: Ground): ImageManager {
  const { settings: config, runtime, clock, events, logger } = ground;
  const credentials = wireCredentials(ground);
  return new ImageManager({
    runtime,
    clock,
    events,
    serialized: config.serializeImagePulls,
    maxParallel: config.maxParallelImagePulls,
    credentials: (pod, image) => credentials.find(pod, image),
    mayPull: pullLimit(clock, config.registryQps, config.registryBurst),
    progress: new PullProgress({ runtime, clock, logger }),
    metrics: ground.podMetrics,
  });
}

/** Of device plug-ins, and of claims. */
function containerDevicesOf({
  devices,
  claims,
}: PodRooms): SetupContext["devices"] {
  return {
    async devicesOf(pod, container) {
      const found = await devices.devicesOf(pod, container);
      const cdiDevices = claims.cdiDevices(pod, container);
      return cdiDevices.length > 0
        ? { ...found, cdiDevices: [...found.cdiDevices, ...cdiDevices] }
        : found;
    },
  };
}

function wireCredentials({
  settings: config,
  clock,
  logger,
  events,
  objects,
  metrics: counted,
}: Ground): ImageCredentials {
  const metrics = new ProviderMetrics();
  if (config.imageCredentialProviders.length > 0)
    counted.add(() => metrics.families());
  return new ImageCredentials({
    secret: (namespace, name) => objects.secret(namespace, name),
    node: [
      new DockerConfigFiles({
        rootDirectory: config.rootDirectory,
        clock,
        logger,
      }),
      ...config.imageCredentialProviders.map(
        (provider) =>
          new CredentialProviderCache({ provider, clock, logger, metrics }),
      ),
    ],
    events,
  });
}

function podResizer(
  { settings: config, runtime, events }: Ground,
  node: Reporting["node"],
  { allocated, cgroups }: PodRooms,
  shared: Pick<
    ResizerContext,
    "admission" | "resourceLimits" | "restartBackOff"
  >,
): PodResizer | undefined {
  if (!allocated) return undefined;
  return new PodResizer({
    ...shared,
    runtime,
    allocated,
    cgroups,
    files: { mount: config.cgroupMount },
    node: () => node.node,
    events,
    reportsAllocated: isGateOn(
      config,
      "InPlacePodVerticalScalingAllocatedStatus",
    ),
    guaranteedRefusal: guaranteedRefusal(config),
  });
}

/** A pod that runs already counts in its class's cgroup. */
function allocationOf({
  resources,
  cgroups,
}: PodRooms): WorkersContext["sync"]["allocation"] {
  return {
    async admit(pod, runs = false) {
      if (runs) await cgroups.adoptPod(pod);
      return await resources.admit(pod, runs);
    },
    release: (uid) => resources.release(uid),
  };
}

function limitsOf(
  config: Ground["settings"],
  node: Reporting["node"],
): ResourceLimits {
  return {
    config,
    machineMemoryBytes: totalmem(),
    lowestOomScoreAdj: lowestOomScoreAdj(),
    hugepageSizes: machineHugepageSizes(),
    memory: memoryControl(
      config,
      totalmem(),
      () => node.allocatableMemoryBytes,
    ),
  };
}

/** What was pinned to containers can't be changed while they run. */
function guaranteedRefusal({
  cpuManagerPolicy,
  memoryManagerPolicy,
}: Ground["settings"]): string | undefined {
  const pinned =
    cpuManagerPolicy === "static"
      ? "CPU"
      : memoryManagerPolicy === "Static"
        ? "Memory"
        : undefined;
  return (
    pinned &&
    `Resize is infeasible for Guaranteed Pods alongside ${pinned} Manager static policy`
  );
}

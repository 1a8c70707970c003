// Makes the parts of one agent and gives each what it needs of the others, from the ground up: no part is handed a later
// one. Where something below has to be heard above, it is listened to (pod changes, the node's registration).
import { cpus, totalmem, uptime } from "node:os";
import { join } from "node:path";
import { systemClock } from "../api/clock.ts";
import type { AnyObject, KubeObject } from "../api/object.ts";
import { EventRecorder } from "../client/event-recorder.ts";
import { MemoryObjects } from "../client/memory-objects.ts";
import type { AgentOptions } from "./agent-options.ts";
import type { AgentParts, Ground, PodRooms, Reporting } from "./agent-parts.ts";
import { CgroupManager } from "./cgroups/cgroup-manager.ts";
import { WorkloadBackOff } from "../eviction/workload-back-off.ts";
import { MoveLock } from "./cgroups/move-lock.ts";
import { CgroupMetrics } from "./cgroups/measured-driver.ts";
import { chooseCgroupDriver } from "./cgroups/choose-driver.ts";
import { resolveAgentConfig } from "./config/agent-config.ts";
import { isGateOn } from "./config/feature-gates.ts";
import { allSinks, logSink, recorderSink } from "./events/event-sinks.ts";
import { PodEvents } from "./events/pod-events.ts";
import { MetricSources } from "./metrics/metric-sources.ts";
import { NodeStartup } from "./metrics/node-startup.ts";
import { PodMetrics } from "./metrics/pod-metrics.ts";
import { workerFamilies } from "./metrics/worker-families.ts";
import { RuntimeMetrics } from "./metrics/observed-runtime.ts";
import { NodeLease } from "./node/lease.ts";
import { NodeAdmission } from "./node/node-admission.ts";
import { NodeReporter } from "./node/node-reporter.ts";
import { PluginRegistration } from "./plugin-registration/plugin-registration.ts";
import { isAppArmorEnabled } from "./node/app-armor.ts";
import { AllocatedResources } from "./pods/resize/allocated-resources.ts";
import { PodChanges } from "./pods/runtime/pod-changes.ts";
import { networkedSandboxes } from "./pods/runtime/networked-sandboxes.ts";
import { runningContainers } from "./pods/runtime/running-containers.ts";
import { RuntimePods } from "./pods/runtime/runtime-pods.ts";
import type { NodeResources } from "./pods/shape/field-paths.ts";
import { HostFiles } from "./pods/start/host-files.ts";
import { PodWorkers } from "./pods/worker/pod-workers.ts";
import { ProbeManager } from "./probes/probe-manager.ts";
import { ApiReporting } from "./reporting/api-reporting.ts";
import { wireClaims, wireDevices, wirePodResources } from "./device-wiring.ts";
import { subordinateIds } from "./resources/users/subordinate-ids.ts";
import { UserNamespaces } from "./resources/users/user-namespaces.ts";
import { refusing } from "./config/start-refusal.ts";
import { wireResources, withReservedCpus } from "./resources/wire-resources.ts";
import { RuntimeAdoption } from "./runtime-adoption.ts";
import { LocalEvents } from "./sources/local/local-events.ts";
import { LocalObjects } from "./sources/local/local-objects.ts";
import { checkedLocalObject } from "./sources/local/object-rules.ts";
import { FieldProblems } from "./sources/manifest-reader.ts";
import { PodSources } from "./sources/pod-sources.ts";
import {
  objectCacheMs,
  ReferencedObjects,
} from "./sources/referenced-objects.ts";
import { wireShutdown } from "./shutdown/wire-shutdown.ts";
import { wireViews } from "./view-wiring.ts";
import { terminationMessage } from "./status/termination-message.ts";
import { wireVolumes } from "./volume-wiring.ts";
import { wireArchives, wireUpkeep } from "./upkeep-wiring.ts";
import { workersContext } from "./worker-wiring.ts";

export function wireAgent(options: AgentOptions): AgentParts {
  const ground = wireGround(options);
  const reporting = wireReporting(options, ground);
  const rooms = wirePodRooms(ground, reporting);
  const admission = new NodeAdmission({
    nodeName: ground.settings.nodeName,
    node: () => reporting.node.node,
    pressure: () => reporting.node.pressure,
    pressureBackOff: new WorkloadBackOff(ground.clock),
    shuttingDown: () => reporting.node.shuttingDown,
    heldDevices: () => rooms.devices.heldCounts(),
    allowedUnsafeSysctls: ground.settings.allowedUnsafeSysctls,
    hasAppArmor: isAppArmorEnabled(),
    keepsGroupsPolicy: () =>
      reporting.node.runtimeFeatures.supplementalGroupsPolicy,
  });
  ground.metrics.add(() => admission.families());
  const workers = new PodWorkers(
    workersContext(ground, reporting, rooms, admission),
  );
  ground.metrics.add(() =>
    workerFamilies(
      workers.list(),
      workers.live(),
      reporting.reports.mirrors?.size,
    ),
  );
  rooms.changes.onEvery((uid) => workers.wake(uid));
  const parts = { ...ground, ...reporting, ...rooms, workers };
  const sources = wireSources(options, ground, reporting, workers);
  rooms.devices.collect(
    (uid) =>
      sources.complete &&
      !workers.has(uid) &&
      !rooms.runtimePods.uids().includes(uid),
  );
  const upkeep = wireUpkeep(parts);
  const shutdown = wireShutdown({
    ...parts,
    onMachineFile: options.onMachineFile,
    onChange: (active) => reporting.node.setShuttingDown(active),
  });
  const adoption = new RuntimeAdoption({
    ...parts,
    sources,
    mirrors: reporting.reports.mirrors,
    admission,
    housekeeping: upkeep.housekeeping,
    resyncEveryMs: ground.settings.syncFrequencyMs,
  });
  reporting.node.onRuntimeRecovered(() => adoption.resync());
  return {
    ...parts,
    ...upkeep,
    shutdown,
    ...wireViews({ ...parts, sources }),
    podResources: wirePodResources(parts),
    archives: wireArchives(parts),
    sources,
    adoption,
    manifestProblem: (origin, message) =>
      manifestProblem(ground, origin, message),
  };
}

function wireGround(options: AgentOptions): Ground {
  const { client, logger, clock = systemClock } = options;
  const settings = withReservedCpus(resolveAgentConfig(options.config));
  const { nodeName } = settings;
  const recorder =
    client &&
    new EventRecorder({
      client,
      clock,
      logger,
      component: "kubelet",
      host: nodeName,
      rateLimit: { perSecond: settings.eventQps, burst: settings.eventBurst },
    });
  const node: KubeObject = {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: nodeName, uid: nodeName },
  };
  const localEvents = new LocalEvents(clock, nodeName);
  const events = new PodEvents(
    recorder
      ? recorderSink(recorder, logger, clock)
      : allSinks(logSink(logger, clock), localEvents),
    () => node,
  );
  const local = client
    ? undefined
    : new LocalObjects({
        objects: options.localObjects ?? new MemoryObjects(),
        config: settings,
        events: localEvents,
        onProblem: (file, message) =>
          manifestProblem({ logger, events }, file, message),
        clock,
        logger,
      });
  const reader = client ?? local!.client;
  const objects = new ReferencedObjects({
    client: reader,
    isLocal: client === undefined,
    clock,
    logger,
    changeDetection: settings.objectChangeDetection,
  });
  const plugins = new PluginRegistration({
    directory: join(settings.rootDirectory, "plugins_registry"),
    clock,
    logger,
  });
  const metrics = new MetricSources();
  const calls = new RuntimeMetrics();
  metrics.add(() => plugins.families());
  metrics.add(() => calls.families());
  const podMetrics = new PodMetrics();
  metrics.add(() => podMetrics.families());
  const startup = new NodeStartup(clock, {
    machineSeconds: uptime(),
    programSeconds: performance.now() / 1000,
  });
  metrics.add(() => startup.families());
  return {
    settings,
    runtime: calls.observe(options.runtime),
    client,
    local,
    reader,
    clock,
    ...{ logger, tracer: options.tracer },
    recorder,
    events,
    objects,
    plugins,
    ...{ metrics, podMetrics, startup },
    podNetwork: options.podNetwork,
  };
}

function wireReporting(
  { onPodRanges }: AgentOptions,
  ground: Ground,
): Reporting {
  const { settings: config, client, local, clock, logger } = ground;
  const node = new NodeReporter({
    ...ground,
    config,
    ...(onPodRanges ? { onPodRanges } : {}),
  });
  const reports = new ApiReporting({
    client,
    local,
    nodeOwner: () => node.owner,
    metrics: ground.podMetrics,
    clock,
    logger,
  });
  node.onRegistered(() => reports.mirrors?.reconcile());
  const lease =
    client && config.registerNode
      ? new NodeLease({
          client,
          nodeName: config.nodeName,
          durationSeconds: config.nodeLeaseDurationSeconds,
          clock,
          logger,
          owner: () => node.owner,
        })
      : undefined;
  return { node, lease, reports };
}

function wirePodRooms(ground: Ground, { node, reports }: Reporting): PodRooms {
  const { settings: config, runtime, clock, logger } = ground;
  const { events, metrics, podNetwork } = ground;
  const changes = new PodChanges();
  const runtimePods: RuntimePods = new RuntimePods({
    runtime,
    clock,
    logger,
    lastMessage: (status) => terminationMessage(status, runtime.logs),
    onChange: (uid) => changes.notify(uid),
    metrics: ground.podMetrics,
    onSandboxes: () =>
      podNetwork?.present(
        networkedSandboxes(runtimePods, config.rootDirectory),
      ),
  });
  const nodeResources = (): NodeResources => ({
    cpuMillis: cpus().length * 1000,
    memoryBytes: totalmem(),
    ephemeralStorageBytes: node.capacity?.storageBytes ?? 0,
  });
  const { volumes, csi } = wireVolumes(ground, node, nodeResources);
  ground.objects.setCacheTime(() => objectCacheMs(node.node));
  ground.objects.onChange((uid) => {
    volumes.outdated(uid);
    changes.notify(uid);
  });
  const probes = new ProbeManager({
    runtime,
    clock,
    logger,
    events,
    nodeIPs: () => node.addresses,
    previousStatus: (pod) => reports.statuses.get(pod),
    onChange: (uid) => changes.notify(uid),
  });
  const resources = refusing(() =>
    wireResources(config, ground, () => runningContainers(runtimePods.list())),
  );
  metrics.add(() => resources.metrics());
  const cgroupMetrics = new CgroupMetrics();
  metrics.add(() => cgroupMetrics.families());
  const devices = wireDevices(ground, node, runtimePods, resources);
  return {
    changes,
    runtimePods,
    volumes,
    csi,
    probes,
    cgroups: new CgroupManager(
      async () => cgroupMetrics.measure(await chooseCgroupDriver(config)),
      config,
      node,
    ),
    moves: new MoveLock(config.cgroupMount, clock),
    hostFiles: new HostFiles(config),
    resources,
    devices,
    claims: wireClaims(ground),
    nodeResources,
    allocated: isGateOn(config, "InPlacePodVerticalScaling")
      ? new AllocatedResources(config.rootDirectory, logger)
      : undefined,
    userNamespaces: isGateOn(config, "UserNamespacesSupport")
      ? new UserNamespaces({
          rootDirectory: config.rootDirectory,
          ids: () => subordinateIds(config.maxPods),
          pods: () => runtimePods.list(),
        })
      : undefined,
  };
}

function wireSources(
  { onOtherManifests, rules }: AgentOptions,
  ground: Ground,
  { reports }: Reporting,
  workers: PodWorkers,
): PodSources {
  const { local } = ground;
  reports.mirrors?.keepWhile((name) => workers.staticPodEnds(name));
  workers.onGone((pod) => reports.mirrors?.ended(pod));
  return new PodSources({
    ...ground,
    config: ground.settings,
    pods: workers,
    mirrors: reports.mirrors,
    onServed: (uid, status) => reports.statuses.served(uid, status),
    takeOther: local
      ? (object) => checkedLocalObject(object, rules)
      : onOtherManifests
        ? (object) => object
        : refuseOther,
    onOthers(byFile) {
      local?.directory.set(byFile);
      onOtherManifests?.(
        new Map(
          [...byFile].map(([file, others]) => [
            file,
            others.map(({ object }) => object),
          ]),
        ),
      );
    },
    onProblem: (origin, message) => manifestProblem(ground, origin, message),
    rules,
  });
}

/** A cluster's objects are in its API server alone. */
function refuseOther({ kind = "" }: AnyObject): never {
  throw new FieldProblems([
    {
      field: "kind",
      detail: `Unsupported value: "${kind}": with an API server only Pods of the directory are of use`,
    },
  ]);
}

function manifestProblem(
  { logger, events }: Pick<Ground, "logger" | "events">,
  origin: string,
  message: string,
): void {
  logger.error({ file: origin }, message);
  events.node("Warning", "InvalidManifest", message.slice(0, 1024));
}

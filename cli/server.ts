// `orbit server`: a whole cluster in one process. Puts the parts together and starts in parallel what can be: the PKI and
// the store, then the API server, beside it the container runtime; then controllers, scheduler and agent on the
// in-process transport. Ready: the API serves and this node is Ready.
import * as os from "node:os";
import * as path from "node:path";
import type { Logger } from "pino";
import { systemClock, type Clock } from "../api/clock.ts";
import type { Pod } from "../api/types/core-v1.ts";
import { createClient } from "../client/create-client.ts";
import {
  type ClusterPki,
  PkiKeeper,
  superuser,
  validatePodSpec,
  writeKubeconfig,
} from "../apiserver-lite/index.ts";
import { beginDaemon } from "./daemon.ts";
import {
  failureMetrics,
  notifySystemd,
  startWatchdog,
  stopOnSignals,
  type FailureCount,
  type Stoppable,
} from "./lifecycle.ts";
import { agentOptions } from "./options/agent.ts";
import {
  parseKubeletConfiguration,
  readConfigurationText,
} from "./options/configuration-file.ts";
import { controllerManagerOptions } from "./options/controller-manager.ts";
import type { OptionValues } from "./options/parse.ts";
import { schedulerOptions } from "./options/scheduler.ts";
import { serverOptions } from "./options/server.ts";
import { UsageError } from "./options/table.ts";
import {
  addressInRange,
  advertisedAddress,
  localAddress,
  machineAddresses,
  nodePodCidr,
  urlHost,
} from "./parts/addresses.ts";
import { agentConfig } from "./parts/agent/agent-config.ts";
import {
  agentValues,
  clusterDomain,
  partArguments,
} from "./parts/agent/agent-values.ts";
import type { Store } from "../storage/store.ts";
import type { AgentPart } from "./parts/agent/agent.ts";
import { givenServingPair } from "./parts/option-files.ts";
import { startApiPart } from "./parts/api/apiserver.ts";
import { controllerOptions } from "./parts/controller-options.ts";
import { startHealthPort, type HealthPort } from "./parts/health-port.ts";
import { makeDirectory } from "./parts/directories.ts";
import { ManifestObjects } from "../controllers/manifests/manifest-objects.ts";
import { waitForNodeReady } from "./parts/node-ready.ts";
import { PartMetrics } from "./parts/part-metrics.ts";
import { signingAuthorities } from "./parts/signing-authorities.ts";
import { scheduledSnapshots } from "./parts/api/snapshots.ts";
import { metricsFilter } from "./parts/metrics-options.ts";
import { servingTlsOf } from "./parts/serving-tls.ts";
import { chooseStore } from "./parts/api/store.ts";

const defaultDataDirectory = "/var/lib/orbit";
function warnOfPartArguments(
  logger: Logger,
  ...parts: readonly OptionValues[]
): void {
  const options = parts.flatMap((part) => part.withoutEffect());
  if (options.length > 0)
    logger.warn(
      { options },
      "these options of parts are accepted but have no effect yet",
    );
}

/** A KubeletConfiguration's fields, below what the options say. */
async function withKubeletConfiguration(
  values: OptionValues,
  file: string | undefined,
  logger: Logger,
): Promise<OptionValues> {
  if (!file) return values;
  const read = await parseKubeletConfiguration(
    readConfigurationText(file),
    file,
    agentOptions,
  );
  if (read.withoutEffect.length > 0)
    logger.warn(
      { options: read.withoutEffect },
      "these fields of --config are accepted but have no effect yet",
    );
  return values.withFile(read.values);
}

/** The agent's own default for a port without authentication is another than the server's. */
function closedByDefault(agent: OptionValues): OptionValues {
  return agent.isSet("read-only-port")
    ? agent
    : agent.under(new Map([["read-only-port", 0]]));
}

/** Logs of pods stand in the usual place for the machine's main cluster, else under the data directory. */
function logDirectories(dataDirectory: string): {
  podLogsDirectory?: string;
  containerLogsDirectory?: string;
} {
  if (dataDirectory === defaultDataDirectory) return {};
  return {
    podLogsDirectory: path.join(dataDirectory, "log/pods"),
    containerLogsDirectory: path.join(dataDirectory, "log/containers"),
  };
}

function statusLine(pods: readonly Pod[] | undefined): string {
  if (!pods) return "ready";
  const running = pods.filter(({ status }) => status?.phase === "Running");
  return `ready; ${running.length} of ${pods.length} pods run`;
}

interface RunningServer extends Stoppable {
  readonly port: number;
  /** One line for `systemctl status`. */
  status(): string;
  /** Why only a new start can help. */
  fatal(): Error | undefined;
}

/** Starts everything; resolves when it is ready. What was started is stopped again when something fails. */
async function startServer(
  values: OptionValues,
  logger: Logger,
  failures: FailureCount = { uncaught: 0 },
  clock: Clock = systemClock,
): Promise<RunningServer> {
  const disabled = new Set(values.list("disable"));
  const dataDirectory = path.resolve(values.text("data-dir"));
  const stops: (() => Promise<void> | void)[] = [];
  let runningAgent: AgentPart | undefined;
  let runningStore: Store | undefined;
  const stop = async (): Promise<void> => {
    for (const each of stops.splice(0).reverse()) {
      try {
        await each();
      } catch (err) {
        logger.error({ err }, "a part did not stop cleanly");
      }
    }
  };
  try {
    return {
      port: await startParts(),
      status: () => statusLine(runningAgent?.agent.pods()),
      fatal: () => runningStore?.fatal,
      stop,
    };
  } catch (error) {
    // A part that does not end must not keep the failure from being told.
    await Promise.race([
      stop(),
      new Promise((resolve) => setTimeout(resolve, 5000)),
    ]);
    throw error;
  }

  async function startParts(): Promise<number> {
    const serviceCidr =
      values.list("service-cluster-ip-range")[0] ?? "10.43.0.0/16";
    const podCidr = nodePodCidr(
      values.list("cluster-cidr")[0] ?? "10.42.0.0/16",
      "cluster-cidr",
    );
    const bindAddress = values.text("bind-address");
    const ownServing = givenServingPair(values);
    const agentArguments = partArguments(values, "agent-arg", agentOptions);
    const controllerArguments = partArguments(
      values,
      "controller-manager-arg",
      controllerManagerOptions,
    );
    const schedulerArguments = partArguments(
      values,
      "scheduler-arg",
      schedulerOptions,
    );
    warnOfPartArguments(
      logger,
      agentArguments,
      controllerArguments,
      schedulerArguments,
    );
    const forAgent = closedByDefault(
      await withKubeletConfiguration(
        agentValues(values, agentArguments, dataDirectory),
        values.optionalText("config"),
        logger,
      ),
    );
    const nodeName = agentConfig(forAgent).nodeName;
    makeDirectory("data-dir", dataDirectory, 0o700);
    if (!disabled.has("agent"))
      makeDirectory("manifests", values.text("manifests"), 0o755);
    const kubeconfigFile = values.text("write-kubeconfig");
    if (kubeconfigFile !== "")
      makeDirectory(
        "write-kubeconfig",
        path.dirname(path.resolve(kubeconfigFile)),
        0o755,
      );
    // Modules of the later parts are read while the earlier ones wait for the disk.
    const controllersModule = disabled.has("controllers")
      ? undefined
      : import("../controllers/manager.ts");
    const schedulerModule = disabled.has("scheduler")
      ? undefined
      : import("../scheduler/scheduler.ts");
    const agentModule = disabled.has("agent")
      ? undefined
      : import("./parts/agent/agent.ts");

    const writeAdminKubeconfig = (pki: ClusterPki, port: number): void => {
      if (kubeconfigFile === "") return;
      writeKubeconfig(kubeconfigFile, {
        server: `https://${urlHost(localAddress(bindAddress))}:${port}`,
        certificateAuthority: pki.clusterCa.certificate,
        client: pki.admin,
        clusterName: values.text("cluster-name"),
      });
    };
    let onRenewed: (pki: ClusterPki) => void = () => undefined;
    const keeper = new PkiKeeper({
      directory: path.join(dataDirectory, "pki"),
      hosts: () => [
        ...new Set([
          os.hostname(),
          nodeName,
          ...machineAddresses(),
          advertisedAddress(
            bindAddress,
            values.optionalText("advertise-address"),
          ),
          ...values.list("tls-san"),
        ]),
      ],
      serviceAddresses: [
        addressInRange(serviceCidr, 1, "service-cluster-ip-range"),
      ],
      clusterDomain,
      clock,
      logger,
      onRenewed: (pki) => onRenewed(pki),
    });
    const pki = keeper.start();
    stops.push(() => keeper.stop());

    const store = await chooseStore({
      values,
      kind: values.text("store"),
      dataDirectory,
      clock,
      logger,
    });
    runningStore = store;
    const snapshots = await scheduledSnapshots({
      values,
      kind: values.text("store"),
      dataDirectory,
      clock,
      logger,
    });
    const api = await startApiPart({
      values,
      store,
      moreMetrics: () => [
        failureMetrics(failures),
        ...(snapshots?.metrics() ?? []),
      ],
      serving: ownServing ?? pki.serving,
      whole: true,
      pki,
      clock,
      logger,
    });
    stops.push(() => api.stop());
    if (snapshots) {
      snapshots.start();
      stops.push(() => snapshots.stop());
    }
    const { port } = api.server;
    try {
      writeAdminKubeconfig(pki, port);
    } catch (error) {
      throw new UsageError(`--write-kubeconfig: ${(error as Error).message}`);
    }
    logger.info(
      {
        url: `https://${urlHost(localAddress(bindAddress))}:${port}`,
        kubeconfig: values.text("write-kubeconfig"),
      },
      "the API server serves",
    );

    const clientFor = (name: string): ReturnType<typeof createClient> => {
      const client = createClient(
        api.server.transport({ ...superuser, name }, name),
        { clock, logger },
      );
      stops.push(() => client.close());
      return client;
    };
    /** A part's own port, where the user wants one: the cluster itself says who may use it. */
    const ports: HealthPort[] = [];
    const servePort = async (
      optionName: string,
      what: string,
      metrics: PartMetrics,
      partOptions: OptionValues,
    ): Promise<void> => {
      const number = values.number(optionName);
      if (number === 0) return;
      // What holds for all ports of the server, below the part's own options.
      const portOptions = values
        .pick(controllerManagerOptions, [
          "tls-min-version",
          "tls-cipher-suites",
          "disabled-metrics",
          "allow-metric-labels",
          "allow-metric-labels-manifest",
        ])
        .under(partOptions);
      const filter = await metricsFilter(portOptions);
      const health = await startHealthPort({
        // On loopback unless the part's own option says otherwise.
        address: partOptions.isSet("bind-address")
          ? partOptions.text("bind-address")
          : "127.0.0.1",
        port: number,
        servingTls: servingTlsOf(portOptions, (message) =>
          logger.warn(message),
        ),
        tls: { ...pki.serving, clientCa: pki.clusterCa.certificate },
        alwaysAllow: partOptions.list("authorization-always-allow-paths"),
        tokens: api.security.tokens,
        authorizer: api.security.authorizer,
        healthy: () => Promise.resolve(),
        metrics: () => metrics.families(),
        ...(filter ? { metricsFilter: filter } : {}),
        what,
      });
      ports.push(health);
      stops.push(() => health.stop());
    };
    if (controllersModule) {
      const { createControllerManager } = await controllersModule;
      const options = controllerArguments;
      const metrics = new PartMetrics();
      const manager = createControllerManager({
        metrics,
        client: clientFor("system:kube-controller-manager"),
        clock,
        logger: logger.child({ part: "controllers" }),
        options: {
          enableGarbageCollector: values.flag("enable-garbage-collector"),
          ...controllerOptions(options),
          leaderElect: false,
          rootCa: pki.clusterCa.certificate,
          clusterSigningCa: pki.clusterCa,
          ...signingAuthorities(options),
        },
      });
      await manager.start();
      stops.push(() => manager.stop());
      await servePort(
        "controllers-port",
        "the controllers' port",
        metrics,
        options,
      );
    }
    if (schedulerModule) {
      const { createScheduler } = await schedulerModule;
      const options = schedulerArguments;
      const metrics = new PartMetrics();
      const scheduler = createScheduler({
        client: clientFor("system:kube-scheduler"),
        clock,
        logger: logger.child({ part: "scheduler" }),
        onAttempt: (result, durationMs) => metrics.attempt(result, durationMs),
      });
      await scheduler.start();
      stops.push(() => scheduler.stop());
      await servePort(
        "scheduler-port",
        "the scheduler's port",
        metrics,
        options,
      );
    }
    let agent: AgentPart | undefined;
    if (agentModule) {
      const client = clientFor(`system:node:${nodeName}`);
      const objects = new ManifestObjects({
        client,
        dataDirectory,
        clock,
        logger: logger.child({ part: "manifests" }),
        onProblem: (file, message) =>
          agent?.agent.manifestProblem(file, message),
      });
      stops.push(() => objects.stop());
      const { startAgentPart } = await agentModule;
      const node = waitForNodeReady(client, nodeName);
      agent = await startAgentPart({
        values: forAgent,
        endpoint: values.isSet("container-runtime-endpoint")
          ? values.text("container-runtime-endpoint")
          : "",
        dataDirectory,
        podCidr,
        client,
        config: logDirectories(dataDirectory),
        certificateDirectory: path.join(dataDirectory, "pki"),
        cluster: {
          ca: pki.clusterCa,
          authorizer: api.security.authorizer,
          tokens: api.security.tokens,
        },
        clock,
        logger,
        onOtherManifests: (byFile) => objects.set(byFile),
        validatePodSpec,
      });
      const started = agent;
      runningAgent = started;
      stops.push(() => started.stop());
      stops.push(() => node.stop());
      await node.ready;
    }
    onRenewed = (renewed) => {
      api.updatePki(ownServing ? { ...renewed, serving: ownServing } : renewed);
      agent?.renewCertificate(renewed.clusterCa);
      for (const each of ports)
        each.updateTls({
          ...renewed.serving,
          clientCa: renewed.clusterCa.certificate,
        });
      writeAdminKubeconfig(renewed, port);
    };
    for (const part of ["proxy", "dns"])
      if (!disabled.has(part))
        logger.debug({ missing: part }, "this part is not there yet");
    return port;
  }
}

export async function runServer(
  argv: readonly string[],
): Promise<number | undefined> {
  const start = await beginDaemon(argv, {
    table: serverOptions,
    usage: "orbit server [options]",
    about: "A whole cluster on this machine.",
  });
  if (!start) return 0;
  const { values, logger } = start;
  // A signal while it starts ends what was started so far.
  let interrupted = false;
  const running: { current?: RunningServer } = {};
  stopOnSignals(
    {
      async stop() {
        interrupted = true;
        await running.current?.stop();
      },
    },
    logger,
  );
  running.current = await startServer(values, logger, start.failures);
  if (interrupted) return undefined;
  const server = running.current;
  startWatchdog(logger, {
    status: () => server.status(),
    fatal: () => server.fatal(),
  });
  start.ready();
  notifySystemd(`READY=1\nSTATUS=${server.status()}`, logger);
  return undefined;
}

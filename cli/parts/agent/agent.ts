// The node agent as a part: the runtime, the agent itself and its ports.
import * as path from "node:path";
import type { Logger } from "pino";
import {
  createAgent,
  type Agent,
  type AgentOptions,
} from "../../../agent/agent.ts";
import {
  resolveAgentConfig,
  type AgentConfig,
} from "../../../agent/config/agent-config.ts";
import {
  isGateOn,
  type AgentGate,
} from "../../../agent/config/feature-gates.ts";
import type {
  Authorizer,
  NodeAgentView,
  TokenAuthenticator,
} from "../../../api/contracts.ts";
import type { CertificatePair } from "../../../api/pki/certificate.ts";
import {
  createAgentServer,
  type AgentServer,
  type AgentServerTls,
} from "../../../server/agent-server.ts";
import type { UtilChains } from "../../../network/iptables/util-chains.ts";
import { agentOptions } from "../../options/agent.ts";
import { DependencyError, UsageError } from "../../options/table.ts";
import { agentServingPair } from "../agent-certificate.ts";
import { givenServingPair, readAuthorityFile } from "../option-files.ts";
import type { Clock } from "../../../api/clock.ts";
import type { AnyObject } from "../../../api/object.ts";
import type { Client } from "../../../client/client.ts";
import type { ClientMetrics } from "../../../client/metrics/client-metrics.ts";
import type { CertificateMetrics } from "../../../agent/metrics/certificate-metrics.ts";
import { ServingCertificateKeeper } from "../../../agent/certificates/serving-certificate.ts";
import type { OptionValues } from "../../options/parse.ts";
import { agentConfig, checkAgentOptions } from "./agent-config.ts";
import { shownConfiguration } from "./shown-configuration.ts";
import { setVerbosity } from "../../logging.ts";
import { createAgentTracing } from "./agent-tracing.ts";
import { emulatedVersionOf } from "../api/emulated-version.ts";
import { metricsFilter } from "../metrics-options.ts";
import { programFamilies } from "../program-families.ts";
import { recordMachineFile } from "./machine-files.ts";
import { credentialProviders } from "./credential-providers.ts";
import { checkHost, enterCgroup, gatherProcesses } from "./host-checks.ts";
import { chooseRuntime, type RuntimeChoice } from "./runtime.ts";
import { servingTlsOf } from "../serving-tls.ts";
import { zpageOptions } from "../zpages.ts";

/** How a cluster in the same process lets the agent's ports be used. */
interface AgentCluster {
  /** Signs the serving certificate and the clients' certificates. */
  ca: CertificatePair;
  authorizer: Authorizer;
  tokens?: TokenAuthenticator;
}

interface AgentPartOptions {
  values: OptionValues;
  /** "" unless the user asked for one. */
  endpoint: string;
  dataDirectory: string;
  /** Ranges of pod addresses; empty: the Node will have them. */
  podCidrs: readonly string[];
  /** Has the rules of the node's own pod network for these ranges; rejects when there can't be any. */
  setPodRules: (ranges: readonly string[]) => Promise<void>;
  /** The Node has its ranges, or others than before. */
  onPodRanges?: (ranges: readonly string[]) => void;
  /** Absent: static pods only. */
  client?: Client;
  /** What it asks. */
  clientMetrics?: ClientMetrics;
  certificateMetrics?: CertificateMetrics;
  clock: Clock;
  logger: Logger;
  /** What only the composition knows: directories of logs and the like. */
  config?: Partial<AgentConfig>;
  certificateDirectory: string;
  /** Given by a cluster in this process; without it the options decide. */
  cluster?: AgentCluster;
  onOtherManifests?: (
    byFile: ReadonlyMap<string, readonly AnyObject[]>,
  ) => void;
  validatePodSpec?: AgentOptions["validatePodSpec"];
  localObjects?: AgentOptions["localObjects"];
  podNetwork?: AgentOptions["podNetwork"];
  podMtu?: RuntimeChoice["podMtu"];
}

export interface AgentPart {
  readonly agent: Agent;
  readonly server: AgentServer | undefined;
  /** Serves with a certificate for the addresses of the moment. */
  renewCertificate(ca: CertificatePair): void;
  stop(): Promise<void>;
}

function servingTls(
  options: AgentPortOptions,
  ca: CertificatePair | undefined,
): AgentServerTls {
  const { values, clock } = options;
  const pair =
    givenServingPair(values) ??
    agentServingPair({
      directory: options.certificateDirectory,
      nodeName: agentConfig(values).nodeName,
      clock,
      ...(ca ? { authority: ca } : {}),
    });
  const clientCaFile = values.optionalText("client-ca-file");
  const clientCa = clientCaFile
    ? readAuthorityFile("client-ca-file", clientCaFile)
    : ca?.certificate;
  return {
    certificate: pair.certificate,
    key: pair.key,
    ...(clientCa ? { clientCa } : {}),
  };
}

async function chooseAuthorizer({
  values,
  cluster,
  client,
}: AgentPortOptions): Promise<Authorizer | undefined> {
  if (cluster) return cluster.authorizer;
  if (values.text("authorization-mode") !== "Webhook") return undefined;
  if (!client)
    throw new UsageError(
      "--authorization-mode=Webhook (authorization.mode) needs --kubeconfig: an agent alone has AlwaysAllow, with --anonymous-auth=false and --client-ca-file",
    );
  const { createWebhookAuthorizer, reviewerOf } =
    await import("../../../client/access/access-reviewer.ts");
  return createWebhookAuthorizer({
    review: reviewerOf(client),
    authorizedTtlMs: values.number(
      "authorization-webhook-cache-authorized-ttl",
    ),
    unauthorizedTtlMs: values.number(
      "authorization-webhook-cache-unauthorized-ttl",
    ),
  });
}

async function chooseTokens({
  values,
  cluster,
  client,
}: AgentPortOptions): Promise<TokenAuthenticator | undefined> {
  if (cluster) return cluster.tokens;
  if (!values.flag("authentication-token-webhook")) return undefined;
  if (!client)
    throw new UsageError(
      "--authentication-token-webhook (authentication.webhook.enabled) needs --kubeconfig: an agent alone checks client certificates (--client-ca-file), and no tokens",
    );
  const { createTokenReviewer, tokenReviewerOf } =
    await import("../../../client/access/token-reviewer.ts");
  return createTokenReviewer({
    review: tokenReviewerOf(client),
    ttlMs: values.number("authentication-token-webhook-cache-ttl"),
  });
}

/**
 * Where the ports listen. Without --address nothing that everybody may use is open to the network: the read-only port is
 * on loopback, and the main port too while neither authentication nor authorization is asked for.
 */
function agentAddresses(
  values: OptionValues,
  open: boolean,
): { address: string; readOnlyAddress: string } {
  if (values.isSet("address")) {
    const address = values.text("address");
    return { address, readOnlyAddress: address };
  }
  return {
    address: open ? "127.0.0.1" : values.text("address"),
    readOnlyAddress: "127.0.0.1",
  };
}

/** Whether everybody who reaches the port may do everything. */
function isOpen(
  { values, cluster }: AgentPortOptions,
  authorizer: Authorizer | undefined,
): boolean {
  return !cluster && !authorizer && values.flag("anonymous-auth");
}

/** What the ports need of the options. */
type AgentPortOptions = Pick<
  AgentPartOptions,
  | "values"
  | "cluster"
  | "client"
  | "clientMetrics"
  | "certificateMetrics"
  | "config"
  | "clock"
  | "logger"
  | "certificateDirectory"
>;

/** @throws UsageError, DependencyError; undefined with --enable-server=false */
export async function openAgentPorts(
  options: AgentPortOptions,
  view: NodeAgentView,
): Promise<AgentServer | undefined> {
  const { values, clock, cluster } = options;
  if (!values.flag("enable-server")) return undefined;
  const authorizer = await chooseAuthorizer(options);
  const tokens = await chooseTokens(options);
  const filter = await metricsFilter(values);
  const readOnlyPort = values.number("read-only-port");
  const healthzPort = values.number("healthz-port");
  const { featureGates = {} } = agentConfig(values);
  const isOn = (gate: AgentGate): boolean => isGateOn({ featureGates }, gate);
  const program = programFamilies(
    values,
    { ...featureGates, ...options.config?.featureGates },
    emulatedVersionOf(values),
  );
  const open = isOpen(options, authorizer);
  const addresses = agentAddresses(values, open);
  if (open)
    options.logger.warn(
      { address: addresses.address, port: values.number("port") },
      "everybody who reaches the node agent's port may run commands in pods: set --client-ca-file and --anonymous-auth=false, or --authorization-mode=Webhook",
    );
  const server = createAgentServer({
    view: {
      ...view,
      config: () =>
        shownConfiguration({
          ...{ values, settings: view.config() },
          address: addresses.address,
          inCluster: cluster !== undefined,
        }),
    },
    logger: options.logger.child({ part: "agent-server" }),
    clock,
    tls: servingTls(options, cluster?.ca),
    servingTls: servingTlsOf(values, (message) => options.logger.warn(message)),
    debuggingHandlers: values.flag("enable-debugging-handlers"),
    profiling: values.flag("profiling"),
    ...(values.flag("enable-debug-flags-handler") ? { setVerbosity } : {}),
    logs: {
      directory: "/var/log",
      enabled: values.flag("enable-system-log-handler"),
      queries: values.flag("enable-system-log-query") && isOn("NodeLogQuery"),
    },
    checkpoints: isOn("ContainerCheckpoint"),
    logStreams: isOn("PodLogsQuerySplitStreams"),
    fineGrainedAccess: isOn("KubeletFineGrainedAuthz"),
    programMetrics: () => [
      ...program(),
      ...(options.clientMetrics?.families() ?? []),
      ...(options.certificateMetrics?.families() ?? []),
    ],
    zpages: zpageOptions("kubelet", values, agentOptions, isOn),
    anonymous: cluster ? false : values.flag("anonymous-auth"),
    ...addresses,
    port: values.number("port"),
    healthzAddress: values.text("healthz-bind-address"),
    streamingIdleTimeoutMs: values.number("streaming-connection-idle-timeout"),
    ...(authorizer ? { authorizer } : {}),
    ...(tokens ? { tokens } : {}),
    ...(filter ? { metricsFilter: filter } : {}),
    ...(readOnlyPort > 0 ? { readOnlyPort } : {}),
    ...(healthzPort > 0 ? { healthzPort } : {}),
  });
  await server.start().catch((error: Error) => {
    throw new DependencyError(`the node agent's ports: ${error.message}`);
  });
  return server;
}

/** Undefined: the agent's own certificate, or the user's, is used for good. */
function keepServingCertificate(
  options: AgentPartOptions,
  server: AgentServer,
  agent: Agent,
): ServingCertificateKeeper | undefined {
  const { values, client, clock, logger } = options;
  if (
    !client ||
    options.cluster ||
    !values.flag("rotate-server-certificates") ||
    values.isSet("tls-cert-file")
  )
    return undefined;
  const keeper = new ServingCertificateKeeper({
    client,
    nodeName: agentConfig(values).nodeName,
    directory: options.certificateDirectory,
    addresses: () =>
      (agent.node()?.status?.addresses ?? []).flatMap(({ type, address }) =>
        type === "InternalIP" ? [address] : [],
      ),
    onCertificate: (pair) =>
      server.updateTls({ ...servingTls(options, undefined), ...pair }),
    ...{ clock, logger, metrics: options.certificateMetrics },
  });
  keeper.start();
  return keeper;
}

async function startUtilChains(
  values: OptionValues,
  clock: Clock,
  logger: Logger,
): Promise<UtilChains | undefined> {
  if (!values.flag("make-iptables-util-chains")) return undefined;
  const module = await import("../../../network/iptables/util-chains.ts");
  const chains = new module.UtilChains({ clock, logger });
  chains.start();
  return chains;
}

export async function startAgentPart(
  options: AgentPartOptions,
): Promise<AgentPart> {
  const { values, clock, client, dataDirectory, podCidrs } = options;
  checkAgentOptions(values);
  const tracing = createAgentTracing(values, options);
  checkHost(values, options.logger, options.cluster === undefined);
  await enterCgroup(values);
  const logger = options.logger.child({ part: "agent" });
  const gathering = await gatherProcesses(values, clock, logger);
  const config = {
    ...agentConfig(values),
    imageCredentialProviders: await credentialProviders(values),
    podRanges: podCidrs,
    imagesDirectory: path.join(dataDirectory, "images"),
    ...options.config,
  };
  const settings = resolveAgentConfig(config);
  const chosen = await chooseRuntime({
    endpoint: options.endpoint,
    imageEndpoint: values.optionalText("image-service-endpoint"),
    dataDirectory,
    rootDirectory: values.text("root-dir"),
    cgroupRoot: settings.cgroupRoot,
    systemdCgroup: config.cgroupDriver === "systemd",
    driverFromRuntime: isGateOn(settings, "KubeletCgroupDriverFromCRI"),
    mapsUsers: isGateOn(settings, "UserNamespacesSupport"),
    clock,
    podCidrs,
    setPodRules: options.setPodRules,
    ...(options.podMtu ? { podMtu: options.podMtu } : {}),
    requestTimeoutMs: values.number("runtime-request-timeout"),
    trace: tracing?.grpc,
    logger,
  });
  const agent = createAgent({
    runtime: chosen.runtime,
    config: { ...config, cgroupDriver: chosen.cgroupDriver },
    clock,
    logger,
    tracer: tracing?.tracer,
    ...(client ? { client } : {}),
    onMachineFile: (file) => recordMachineFile(dataDirectory, file),
    ...(options.onOtherManifests
      ? { onOtherManifests: options.onOtherManifests }
      : {}),
    ...(options.onPodRanges ? { onPodRanges: options.onPodRanges } : {}),
    ...(options.localObjects ? { localObjects: options.localObjects } : {}),
    ...(options.podNetwork ? { podNetwork: options.podNetwork } : {}),
    ...(options.validatePodSpec
      ? { validatePodSpec: options.validatePodSpec }
      : {}),
  });
  let server: AgentServer | undefined;
  try {
    server = await openAgentPorts(options, agent);
    await agent.start();
  } catch (error) {
    gathering?.stop();
    await server?.stop();
    await chosen.stop();
    await tracing?.stop();
    throw error;
  }
  const keeper = server && keepServingCertificate(options, server, agent);
  const utilChains = await startUtilChains(values, clock, logger);
  return {
    agent,
    server,
    renewCertificate(ca) {
      server?.updateTls(servingTls(options, ca));
    },
    async stop() {
      keeper?.stop();
      gathering?.stop();
      await utilChains?.stop();
      await server?.stop();
      await agent.stop();
      await chosen.stop();
      await tracing?.stop();
    },
  };
}

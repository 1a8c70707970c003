// The node agent's ports as the options ask for them: who may use them, by which certificate, on which addresses.
import type { Logger } from "pino";
import type { AgentConfig } from "../../../agent/config/agent-config.ts";
import {
  isGateOn,
  type AgentGate,
} from "../../../agent/config/feature-gates.ts";
import type { CertificateMetrics } from "../../../agent/metrics/certificate-metrics.ts";
import type { Clock } from "../../../api/clock.ts";
import type {
  Authorizer,
  NodeAgentView,
  TokenAuthenticator,
} from "../../../api/contracts.ts";
import type { CertificatePair } from "../../../api/pki/certificate.ts";
import type { NamedPair } from "../../../api/pki/serving-tls.ts";
import type { Client } from "../../../client/client.ts";
import type { ClientMetrics } from "../../../client/metrics/client-metrics.ts";
import {
  createAgentServer,
  type AgentServer,
  type AgentServerTls,
} from "../../../server/agent-server.ts";
import { setVerbosity } from "../../logging.ts";
import { agentOptions } from "../../options/agent.ts";
import type { OptionValues } from "../../options/parse.ts";
import { DependencyError, UsageError } from "../../options/table.ts";
import { agentServingPair } from "../serving/made-pair.ts";
import { emulatedVersionOf } from "../api/emulated-version.ts";
import { metricsFilter } from "../metrics-options.ts";
import {
  readParts,
  type FollowedCertificatesParts,
} from "../serving/followed-certificates.ts";
import {
  authorityFiles,
  namedFiles,
  pairFiles,
} from "../serving/serving-source.ts";
import { programFamilies } from "../program-families.ts";
import { servingTlsOf } from "../serving/serving-tls.ts";
import { zpageOptions } from "../zpages.ts";
import { agentConfig } from "./agent-config.ts";
import { shownConfiguration } from "./shown-configuration.ts";

/** How a cluster in the same process lets the agent's ports be used. */
interface AgentCluster {
  /** Signs the serving certificate and the clients' certificates. */
  ca: CertificatePair;
  authorizer: Authorizer;
  tokens?: TokenAuthenticator;
}

export interface AgentPortOptions {
  readonly values: OptionValues;
  readonly cluster?: AgentCluster;
  /** Absent: the agent is alone. */
  readonly client?: Client;
  /** What it asks. */
  readonly clientMetrics?: ClientMetrics;
  readonly certificateMetrics?: CertificateMetrics;
  /** What only the composition knows: directories of logs and the like. */
  readonly config?: Partial<AgentConfig>;
  /** The socket of the runtime in use. */
  readonly runtimeEndpoint?: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Of the certificate that the agent makes for itself where none is given. */
  readonly certificateDirectory: string;
}

/** What the options' files hold. */
export interface AgentPortFiles {
  readonly serving: CertificatePair | undefined;
  readonly named: readonly NamedPair[];
  readonly clientCa: string | undefined;
}

export const agentPortFiles = (
  values: OptionValues,
): FollowedCertificatesParts<AgentPortFiles> => ({
  serving: pairFiles(values, "tls-cert-file", "tls-private-key-file"),
  named: namedFiles(values),
  clientCa: authorityFiles(values, "client-ca-file"),
});

/** @param ca the cluster's authority */
export function servingTls(
  { values, clock, certificateDirectory }: AgentPortOptions,
  ca: CertificatePair | undefined,
  files: AgentPortFiles,
): AgentServerTls {
  const pair =
    files.serving ??
    agentServingPair({
      directory: certificateDirectory,
      nodeName: agentConfig(values).nodeName,
      clock,
      ...(ca ? { authority: ca } : {}),
    });
  const clientCa = files.clientCa ?? ca?.certificate;
  return {
    ...{ certificate: pair.certificate, key: pair.key, named: files.named },
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
  // Those of `orbit server` are not among the agent's own options.
  const featureGates = {
    ...agentConfig(values).featureGates,
    ...options.config?.featureGates,
  };
  const isOn = (gate: AgentGate): boolean => isGateOn({ featureGates }, gate);
  const program = programFamilies(
    values,
    featureGates,
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
          runtimeEndpoint: options.runtimeEndpoint,
          inCluster: cluster !== undefined,
        }),
    },
    logger: options.logger.child({ part: "agent-server" }),
    clock,
    tls: servingTls(options, cluster?.ca, readParts(agentPortFiles(values))),
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

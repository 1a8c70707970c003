// How a node agent that runs alone reaches its cluster: by --kubeconfig, which is made first with --bootstrap-kubeconfig or
// with --server and --token where it is missing; its client certificate is renewed with --rotate-certificates, and always
// where it joined by token.
import { existsSync } from "node:fs";
import * as path from "node:path";
import type { Logger } from "pino";
import { systemClock } from "../../../api/clock.ts";
import type { Client } from "../../../client/client.ts";
import { CertificateMetrics } from "../../../agent/metrics/certificate-metrics.ts";
import { ClientMetrics } from "../../../client/metrics/client-metrics.ts";
import type { OptionValues } from "../../options/parse.ts";
import { UsageError, type OptionValue } from "../../options/table.ts";
import { clientContentType } from "../client-content-type.ts";
import { clientRateLimit } from "../client-rate-limit.ts";
import { makeDirectory } from "../directories.ts";
import { agentConfig } from "./agent-config.ts";
import { reconnecting } from "../connection/own-addresses.ts";

interface AgentConnection {
  readonly client: Client;
  readonly clientMetrics: ClientMetrics;
  readonly certificateMetrics: CertificateMetrics;
  /** By --server and --token. */
  readonly joined: boolean;
  /** The cluster's authority, or else where its API server is. */
  readonly clusterIdentity: string;
  /** Called after each change of the machine's links. */
  linksChanged(): Promise<void>;
  close(): Promise<void>;
}

/** A connection that is dead, or a server that hangs, is left before the node's lease runs out. */
const failoverTimeoutMs = 10_000;

/**
 * The agent's options as a node that joins by --server has them: its ports ask the API server who may use them, and its
 * kubeconfig lies in its directory.
 */
export function joiningValues(
  values: OptionValues,
  certificateDirectory: string,
): OptionValues {
  if (values.list("server").length === 0) return values;
  if (values.isSet("bootstrap-kubeconfig"))
    throw new UsageError(
      "--server and --bootstrap-kubeconfig exclude each other",
    );
  const joined = new Map<string, OptionValue>([
    ["anonymous-auth", false],
    ["authentication-token-webhook", true],
    ["authorization-mode", "Webhook"],
    ["read-only-port", 0],
    ["rotate-certificates", true],
    ["rotate-server-certificates", true],
    ["client-ca-file", path.resolve(certificateDirectory, "cluster-ca.crt")],
    ["kubeconfig", path.join(values.text("root-dir"), "kubeconfig")],
  ]);
  for (const name of joined.keys()) if (values.isSet(name)) joined.delete(name);
  return values.under(joined);
}

/** Makes the kubeconfig where it is missing. */
async function join(
  values: OptionValues,
  kubeconfig: string,
  certificateDirectory: string,
  logger: Logger,
): Promise<readonly string[]> {
  const { joinCluster, serverUrls } =
    await import("../../join/join-cluster.ts");
  const servers = serverUrls(values.list("server"));
  makeDirectory("cert-dir", certificateDirectory, 0o700);
  makeDirectory("kubeconfig", path.dirname(path.resolve(kubeconfig)), 0o755);
  await joinCluster({
    servers,
    token: values.optionalText("token"),
    pins: values.list("discovery-token-ca-cert-hash"),
    unsafeWithoutPin: values.flag(
      "discovery-token-unsafe-skip-ca-verification",
    ),
    nodeName: agentConfig(values).nodeName,
    kubeconfig,
    certificateDirectory,
    logger,
  });
  return servers;
}

/** Undefined without --kubeconfig and --server: static pods only. The modules of the client are read only where there is one. */
export async function connectAgent(
  values: OptionValues,
  certificateDirectory: string,
  logger: Logger,
): Promise<AgentConnection | undefined> {
  const kubeconfig = values.optionalText("kubeconfig");
  const bootstrapKubeconfig = values.optionalText("bootstrap-kubeconfig");
  const joined = values.list("server").length > 0;
  if (!kubeconfig) {
    if (bootstrapKubeconfig)
      throw new UsageError(
        "--bootstrap-kubeconfig needs --kubeconfig: where the kubeconfig is written",
      );
    return undefined;
  }
  const { nodeName, featureGates = {} } = agentConfig(values);
  const contentType = clientContentType(values, featureGates);
  const certificates = {
    nodeName,
    directory: certificateDirectory,
    clock: systemClock,
    logger,
  };
  const [
    { createHttpTransport },
    { FailoverTransport },
    { createClient },
    { readKubeconfig },
  ] = await Promise.all([
    import("../../../client/http-transport.ts"),
    import("../../../client/failover-transport.ts"),
    import("../../../client/create-client.ts"),
    import("../connect.ts"),
  ]);
  if (bootstrapKubeconfig && !existsSync(kubeconfig)) {
    makeDirectory("cert-dir", certificateDirectory, 0o700);
    makeDirectory("kubeconfig", path.dirname(path.resolve(kubeconfig)), 0o755);
    const { bootstrapClientCertificate } =
      await import("../../../agent/certificates/client-certificate.ts");
    await bootstrapClientCertificate(
      await readKubeconfig(bootstrapKubeconfig, "bootstrap-kubeconfig"),
      kubeconfig,
      certificates,
    );
  }
  const given = joined
    ? await join(values, kubeconfig, certificateDirectory, logger)
    : [];
  const connection = await readKubeconfig(kubeconfig, "kubeconfig");
  const servers =
    given.length > 0
      ? given
      : [values.optionalText("master") ?? connection.server];
  const clientMetrics = new ClientMetrics();
  const certificateMetrics = new CertificateMetrics(systemClock);
  const transport = new FailoverTransport({
    servers,
    tls: connection.tls ?? {},
    open: (server) =>
      createHttpTransport({
        ...connection,
        server,
        ...clientRateLimit(values),
        contentType,
        metrics: clientMetrics,
        ...(joined ? { requestTimeoutMs: failoverTimeoutMs } : {}),
        logger,
      }),
    logger,
  });
  const clusterIdentity = connection.tls?.ca ?? connection.server;
  const linksChanged = reconnecting(logger, () => transport.reconnect());
  const made = { clientMetrics, certificateMetrics, joined, linksChanged };
  const client = createClient(transport, { clock: systemClock, logger });
  if (!values.flag("rotate-certificates"))
    return {
      ...{ client, ...made, clusterIdentity },
      close: () => client.close(),
    };
  const { ClientCertificateKeeper } =
    await import("../../../agent/certificates/client-certificate.ts");
  const keeper = new ClientCertificateKeeper(
    client,
    connection.tls ?? {},
    (tls) => transport.updateTls(tls),
    certificates,
    certificateMetrics,
  );
  keeper.start();
  return {
    ...{ client, ...made, clusterIdentity },
    async close() {
      keeper.stop();
      await client.close();
    },
  };
}

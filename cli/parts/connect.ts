// The client of a part that runs alone: by --kubeconfig and --master, else by the pod's service account.
import type { Logger } from "pino";
import { systemClock } from "../../api/clock.ts";
import type { Client } from "../../client/client.ts";
import { createClient } from "../../client/create-client.ts";
import {
  createHttpTransport,
  type HttpTransportOptions,
} from "../../client/http-transport.ts";
import {
  inClusterConnection,
  loadKubeconfig,
  type KubeconfigConnection,
} from "../../client/kubeconfig.ts";
import type { ClientMetrics } from "../../client/metrics/client-metrics.ts";
import type { OptionValues } from "../options/parse.ts";
import { UsageError } from "../options/table.ts";
import { clientContentType } from "./client-content-type.ts";
import { clientRateLimit } from "./client-rate-limit.ts";
import { LastingConnections } from "./connection/lasting-connections.ts";

/** @param gates the part's feature gates */
export async function connectClient(
  values: OptionValues,
  logger: Logger,
  gates: Readonly<Record<string, boolean>> = {},
  metrics?: ClientMetrics,
): Promise<Client> {
  const connection = await partConnection(values, logger, gates);
  const connections = new LastingConnections(logger);
  return createClient(connections.open({ ...connection, metrics }), {
    clock: systemClock,
    logger,
  });
}

/** Where and how a part that runs alone reaches the API server. */
export async function partConnection(
  values: OptionValues,
  logger: Logger,
  gates: Readonly<Record<string, boolean>>,
): Promise<HttpTransportOptions> {
  const contentType = clientContentType(values, gates);
  const file = values.optionalText("kubeconfig");
  const master = values.optionalText("master");
  const connection = await (
    file
      ? loadKubeconfig({ path: file })
      : master
        ? Promise.resolve({ server: master, namespace: "default" })
        : inClusterConnection()
  ).catch((error: Error) => {
    throw new UsageError(`--kubeconfig: ${error.message}`);
  });
  return {
    ...connection,
    server: master ?? connection.server,
    ...clientRateLimit(values),
    contentType,
    logger,
  };
}

/** The connection that a kubeconfig describes; an unreadable one is a UsageError that names the option. */
export async function readKubeconfig(
  file: string,
  optionName: string,
): Promise<KubeconfigConnection> {
  return loadKubeconfig({ path: file }).catch((error: Error) => {
    throw new UsageError(`--${optionName}: ${error.message}`);
  });
}

/** A client by the kubeconfig that the option `optionName` names. */
export async function clientOfKubeconfig(
  file: string,
  optionName: string,
  logger: Logger,
): Promise<Client> {
  const connection = await readKubeconfig(file, optionName);
  return createClient(createHttpTransport({ ...connection, logger }), {
    clock: systemClock,
    logger,
  });
}

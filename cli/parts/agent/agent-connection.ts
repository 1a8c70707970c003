// How a node agent that runs alone reaches its cluster: by --kubeconfig, which is made first with --bootstrap-kubeconfig
// where it is missing; its client certificate is renewed with --rotate-certificates.
import { existsSync } from "node:fs";
import * as path from "node:path";
import type { Logger } from "pino";
import { systemClock } from "../../../api/clock.ts";
import type { Client } from "../../../client/client.ts";
import type { OptionValues } from "../../options/parse.ts";
import { UsageError } from "../../options/table.ts";
import { clientRateLimit } from "../client-rate-limit.ts";
import { makeDirectory } from "../directories.ts";
import { agentConfig } from "./agent-config.ts";

interface AgentConnection {
  readonly client: Client;
  /** By --server and --token. */
  readonly joined: boolean;
  close(): Promise<void>;
}

/** Undefined without --kubeconfig: static pods only. The modules of the client are read only where there is one. */
export async function connectAgent(
  values: OptionValues,
  certificateDirectory: string,
  logger: Logger,
): Promise<AgentConnection | undefined> {
  const kubeconfig = values.optionalText("kubeconfig");
  const bootstrapKubeconfig = values.optionalText("bootstrap-kubeconfig");
  if (!kubeconfig) {
    if (bootstrapKubeconfig)
      throw new UsageError(
        "--bootstrap-kubeconfig needs --kubeconfig: where the kubeconfig is written",
      );
    return undefined;
  }
  const certificates = {
    nodeName: agentConfig(values).nodeName,
    directory: certificateDirectory,
    clock: systemClock,
    logger,
  };
  const [{ createHttpTransport }, { createClient }, { readKubeconfig }] =
    await Promise.all([
      import("../../../client/http-transport.ts"),
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
  const connection = await readKubeconfig(kubeconfig, "kubeconfig");
  const transport = createHttpTransport({
    ...connection,
    server: values.optionalText("master") ?? connection.server,
    ...clientRateLimit(values),
    logger,
  });
  const client = createClient(transport, { clock: systemClock, logger });
  if (!values.flag("rotate-certificates"))
    return { client, joined: false, close: () => client.close() };
  const { ClientCertificateKeeper } =
    await import("../../../agent/certificates/client-certificate.ts");
  const keeper = new ClientCertificateKeeper(
    client,
    connection.tls ?? {},
    (tls) => transport.updateTls(tls),
    certificates,
  );
  keeper.start();
  return {
    client,
    joined: false,
    async close() {
      keeper.stop();
      await client.close();
    },
  };
}

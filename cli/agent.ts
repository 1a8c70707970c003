// `orbit agent` (orbitlet): the node agent alone; with --kubeconfig a member of any conforming cluster, else static pods only.
import { systemClock } from "../api/clock.ts";
import type { Client } from "../client/client.ts";
import { beginDaemon } from "./daemon.ts";
import { notifySystemd, startWatchdog, stopOnSignals } from "./lifecycle.ts";
import { agentOptions } from "./options/agent.ts";
import {
  parseKubeletConfiguration,
  readConfigurationText,
} from "./options/configuration-file.ts";
import { parseOptions, type OptionValues } from "./options/parse.ts";
import { UsageError, type OptionValue } from "./options/table.ts";
import { agentConfig } from "./parts/agent/agent-config.ts";
import { clientRateLimit } from "./parts/client-rate-limit.ts";
import { makeDirectory } from "./parts/directories.ts";

/** As at the reference, a configuration file closes the ports where it and the flags say nothing. */
const defaultsWithFile: ReadonlyMap<string, OptionValue> = new Map<
  string,
  OptionValue
>([
  ["anonymous-auth", false],
  ["authentication-token-webhook", true],
  ["authorization-mode", "Webhook"],
  ["read-only-port", 0],
]);

/** The agent's options with those of its --config file below them. */
export async function readAgentOptions(
  argv: readonly string[],
): Promise<{ values: OptionValues; withoutEffect: readonly string[] }> {
  const values = parseOptions(agentOptions, argv);
  values.refuseUnbuilt();
  const file = values.optionalText("config");
  if (!file) return { values, withoutEffect: values.withoutEffect() };
  const read = await parseKubeletConfiguration(
    readConfigurationText(file),
    file,
    agentOptions,
  );
  const merged = values.withFile(
    new Map([...defaultsWithFile, ...read.values]),
  );
  return {
    values: merged,
    withoutEffect: [...merged.withoutEffect(), ...read.withoutEffect],
  };
}

export async function runAgent(
  argv: readonly string[],
): Promise<number | undefined> {
  const start = await beginDaemon(argv, {
    table: agentOptions,
    usage: "orbitlet [options]",
    about: "The node agent: runs the pods of this machine.",
    read: readAgentOptions,
  });
  if (!start) return 0;
  const { values, logger } = start;
  const rootDirectory = values.text("root-dir");
  makeDirectory("root-dir", rootDirectory, 0o700);
  const certificateDirectory = values.isSet("cert-dir")
    ? values.text("cert-dir")
    : `${rootDirectory}/pki`;
  let client: Client | undefined;
  let keeper: { stop(): void } | undefined;
  const kubeconfig = values.optionalText("kubeconfig");
  const bootstrapKubeconfig = values.optionalText("bootstrap-kubeconfig");
  if (bootstrapKubeconfig && !kubeconfig)
    throw new UsageError(
      "--bootstrap-kubeconfig needs --kubeconfig: where the kubeconfig is written",
    );
  if (kubeconfig) {
    const certificates = {
      nodeName: agentConfig(values).nodeName,
      directory: certificateDirectory,
      clock: systemClock,
      logger,
    };
    if (bootstrapKubeconfig) {
      const { bootstrapClientCertificate } =
        await import("./parts/client-certificate.ts");
      await bootstrapClientCertificate(
        bootstrapKubeconfig,
        kubeconfig,
        certificates,
      );
    }
    const [{ loadKubeconfig }, { createHttpTransport }, { createClient }] =
      await Promise.all([
        import("../client/kubeconfig.ts"),
        import("../client/http-transport.ts"),
        import("../client/create-client.ts"),
      ]);
    const connection = await loadKubeconfig({ path: kubeconfig }).catch(
      (error: Error) => {
        throw new UsageError(`--kubeconfig: ${error.message}`);
      },
    );
    const server = values.optionalText("master") ?? connection.server;
    const transport = createHttpTransport({
      ...connection,
      server,
      ...clientRateLimit(values),
      logger,
    });
    client = createClient(transport, { clock: systemClock, logger });
    if (values.flag("rotate-certificates")) {
      const { ClientCertificateKeeper } =
        await import("./parts/client-certificate.ts");
      const made = new ClientCertificateKeeper(
        client,
        connection.tls ?? {},
        (tls) => transport.updateTls(tls),
        certificates,
      );
      made.start();
      keeper = made;
    }
  }
  const { startAgentPart } = await import("./parts/agent/agent.ts");
  const part = await startAgentPart({
    values,
    endpoint: values.isSet("container-runtime-endpoint")
      ? values.text("container-runtime-endpoint")
      : "",
    dataDirectory: rootDirectory,
    certificateDirectory,
    podCidr: values.optionalText("pod-cidr") ?? "10.42.0.0/24",
    clock: systemClock,
    logger,
    ...(client ? { client } : {}),
  });
  const stopWatchdog = startWatchdog(logger);
  stopOnSignals(
    {
      async stop() {
        stopWatchdog();
        keeper?.stop();
        await part.stop();
        await client?.close();
      },
    },
    logger,
  );
  start.ready();
  notifySystemd("READY=1\nSTATUS=ready", logger);
  return undefined;
}

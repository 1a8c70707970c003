// The node agent as a part: the runtime, the agent itself and its ports (agent-ports.ts).
import * as path from "node:path";
import type { Logger } from "pino";
import {
  createAgent,
  type Agent,
  type AgentOptions,
} from "../../../agent/agent.ts";
import { ServingCertificateKeeper } from "../../../agent/certificates/serving-certificate.ts";
import { resolveAgentConfig } from "../../../agent/config/agent-config.ts";
import { isGateOn } from "../../../agent/config/feature-gates.ts";
import { StartRefusal } from "../../../agent/config/start-refusal.ts";
import type { Clock } from "../../../api/clock.ts";
import type { AnyObject } from "../../../api/object.ts";
import type { CertificatePair } from "../../../api/pki/certificate.ts";
import { objectProblems } from "../../../apiserver-lite/object-rules.ts";
import type { UtilChains } from "../../../network/iptables/util-chains.ts";
import type { AgentServer } from "../../../server/agent-server.ts";
import type { OptionValues } from "../../options/parse.ts";
import { UsageError } from "../../options/table.ts";
import { agentConfig } from "./agent-config.ts";
import { openAgentPorts, type AgentPortOptions } from "./agent-ports.ts";
import { createAgentTracing } from "./agent-tracing.ts";
import { checkAgentOptions } from "./checks/agent-checks.ts";
import { credentialProviders } from "./credential-providers.ts";
import { checkHost, enterCgroup, gatherProcesses } from "./host-checks.ts";
import { recordMachineFile } from "./machine-files.ts";
import { recordAgentDirectory } from "./runtime-endpoint.ts";
import { chooseRuntime, type RuntimeChoice } from "./runtime.ts";
import { ServingFiles } from "./serving-files.ts";

interface AgentPartOptions extends AgentPortOptions {
  /** "" unless the user asked for one. */
  endpoint: string;
  dataDirectory: string;
  /** Ranges of pod addresses; empty: the Node will have them. */
  podCidrs: readonly string[];
  /** Has the rules of the node's own pod network for these ranges; rejects when there can't be any. */
  setPodRules: (ranges: readonly string[]) => Promise<void>;
  /** The Node has its ranges, or others than before. */
  onPodRanges?: (ranges: readonly string[]) => void;
  onOtherManifests?: (
    byFile: ReadonlyMap<string, readonly AnyObject[]>,
  ) => void;
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

/** Undefined: the agent's own certificate, or the user's, is used for good. */
function keepServingCertificate(
  options: AgentPartOptions,
  serving: ServingFiles,
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
    onCertificate: (pair) => serving.use(pair),
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
  await recordAgentDirectory(
    dataDirectory,
    path.resolve(values.text("root-dir")),
  );
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
  let agent: Agent;
  let server: AgentServer | undefined;
  try {
    agent = createAgent({
      runtime: chosen.runtime,
      rules: objectProblems,
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
    });
    server = await openAgentPorts(
      { ...options, runtimeEndpoint: chosen.endpoint },
      agent,
    );
    await agent.start();
  } catch (error) {
    gathering?.stop();
    await server?.stop();
    await chosen.stop();
    await tracing?.stop();
    throw error instanceof StartRefusal ? new UsageError(error.message) : error;
  }
  const serving = server && new ServingFiles(options, server);
  serving?.start();
  const keeper = serving && keepServingCertificate(options, serving, agent);
  const utilChains = await startUtilChains(values, clock, logger);
  return {
    agent,
    server,
    renewCertificate(ca) {
      serving?.renew(ca);
    },
    async stop() {
      keeper?.stop();
      serving?.stop();
      gathering?.stop();
      await utilChains?.stop();
      await server?.stop();
      await agent.stop();
      await chosen.stop();
      await tracing?.stop();
    },
  };
}

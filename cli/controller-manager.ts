// `orbit controller-manager`: the controllers alone, against any conforming API server.
import { systemClock } from "../api/clock.ts";
import { createClient } from "../client/create-client.ts";
import { ClientMetrics } from "../client/metrics/client-metrics.ts";
import { createControllerManager } from "../controllers/manager.ts";
import type { ControllerOptions } from "../controllers/options.ts";
import { beginDaemon } from "./daemon.ts";
import { notifySystemd, stopOnSignals } from "./lifecycle.ts";
import { controllerManagerOptions } from "./options/controller-manager.ts";
import type { OptionValues } from "./options/parse.ts";
import { DependencyError, UsageError } from "./options/table.ts";
import { gatesOfPart } from "./parts/api/emulated-version.ts";
import { readAuthorityFile } from "./parts/option-files.ts";
import { partConnection } from "./parts/connect.ts";
import { LastingConnections } from "./parts/connection/lasting-connections.ts";
import { accountClients } from "./parts/controllers/account-clients.ts";
import { controllerOptions } from "./parts/controllers/controller-options.ts";
import { controllerManagerIpamPlan } from "./parts/network/node-ipam-plan.ts";
import { leaderLease } from "./parts/leader-lease.ts";
import { leaderMigration } from "./parts/controllers/leader-migration.ts";
import { openOwnPort } from "./parts/serving/own-port.ts";
import { PartMetrics } from "./parts/part-metrics.ts";
import {
  signingAuthorities,
  tokenSigner,
} from "./parts/signing-authorities.ts";

/** What the options say about the controllers, files read. */
async function chosenOptions(
  values: OptionValues,
  warn: (text: string) => void,
): Promise<Partial<ControllerOptions>> {
  // Refused whether there is an election or not.
  leaderLease(values, "kube-controller-manager");
  const nodeIpam = controllerManagerIpamPlan(values);
  const migration = await leaderMigration(values);
  const rootCaFile = values.optionalText("root-ca-file");
  return {
    ...controllerOptions(values),
    ...signingAuthorities(values),
    ...tokenSigner(values),
    featureGates: gatesOfPart(values, warn),
    leaderElect: values.flag("leader-elect"),
    ...(nodeIpam ? { nodeIpam } : {}),
    ...(migration ? { leaderMigration: migration } : {}),
    ...(rootCaFile
      ? { rootCa: readAuthorityFile("root-ca-file", rootCaFile) }
      : {}),
  };
}

export async function runControllerManager(
  argv: readonly string[],
): Promise<number | undefined> {
  const start = await beginDaemon(argv, {
    table: controllerManagerOptions,
    usage: "orbit controller-manager [options]",
    about: "The controllers, against any conforming API server.",
  });
  if (!start) return 0;
  const { values, logger } = start;
  const options = await chosenOptions(values, (text) => logger.warn(text));
  const asked = new ClientMetrics();
  const gates = options.featureGates ?? {};
  const connection = {
    ...(await partConnection(values, logger, gates)),
    metrics: asked,
  };
  const environment = { clock: systemClock, logger };
  const connections = new LastingConnections(logger);
  const client = createClient(connections.open(connection), environment);
  const metrics = new PartMetrics();
  metrics.add("client", () => asked.families());
  let manager;
  try {
    manager = createControllerManager({
      client,
      ...(values.flag("use-service-account-credentials")
        ? {
            clientOf: accountClients(
              client,
              connection,
              environment,
              (options) => connections.open(options),
            ),
          }
        : {}),
      clock: systemClock,
      logger,
      metrics,
      options,
    });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
  // The port first: a candidate that does not lead is healthy too.
  const ownPort = await openOwnPort(values, logger, {
    name: "controller-manager",
    what: "the controllers' port",
    metrics,
  });
  await manager.start().catch((error: Error) => {
    throw new DependencyError(error.message);
  });
  let stopping = false;
  stopOnSignals(
    {
      async stop() {
        stopping = true;
        await ownPort.stop();
        await manager.stop();
        await client.close();
        await connections.stop();
      },
    },
    logger,
  );
  void manager.lost.then(() => {
    if (stopping) return;
    logger.error("leadership was lost: ending");
    process.exit(1);
  });
  logger.info(
    options.leaderElect
      ? "a candidate for leadership; the controllers run while this process leads"
      : `${manager.running.length} controllers run`,
  );
  notifySystemd("READY=1", logger);
  // Timers do not keep the process alive: the candidacy and the informers have to.
  setInterval(() => undefined, 0x7fffffff);
  return undefined;
}

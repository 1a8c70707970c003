// `orbit proxy`: the service proxy alone, against any conforming API server, with kube-proxy's ports and options.
import * as os from "node:os";
import type { Logger } from "pino";
import { systemClock } from "../api/clock.ts";
import { eachFamily, nodeRanges } from "./parts/network/proxy-node.ts";
import type { Node } from "../api/types/core-v1.ts";
import { nodes } from "../client/resources.ts";
import { applyConntrackSettings } from "../network/proxy/conntrack-settings.ts";
import { nftCommand } from "../network/nft/nft-command.ts";
import { ProxyPorts } from "../network/proxy/proxy-ports.ts";
import { ServiceProxy } from "../network/proxy/proxy.ts";
import { beginDaemon } from "./daemon.ts";
import { notifySystemd, stopOnSignals } from "./lifecycle.ts";
import type { OptionValues } from "./options/parse.ts";
import { proxyOptions } from "./options/proxy.ts";
import { DependencyError, UsageError } from "./options/table.ts";
import { connectClient } from "./parts/connect.ts";
import { nodePortAddresses } from "./parts/network/network-plan.ts";

function nodeNameOf(values: OptionValues): string {
  return (values.optionalText("hostname-override") ?? os.hostname())
    .trim()
    .toLowerCase();
}

/** `HOST:PORT`; undefined: empty, no port. */
function address(
  values: OptionValues,
  name: string,
): { host: string; port: number } | undefined {
  const text = values.text(name);
  if (text === "" || text === "0") return undefined;
  const at = text.lastIndexOf(":");
  const host = text.slice(0, at).replace("[", "").replace("]", "");
  const port = Number(text.slice(at + 1));
  if (at === -1 || !Number.isInteger(port) || port < 0 || port > 65_535)
    throw new UsageError(
      `invalid argument "${text}" for "--${name}": must be an address and a port, such as 127.0.0.1:10249`,
    );
  return port === 0 ? undefined : { host: host || "0.0.0.0", port };
}

async function openPorts(
  values: OptionValues,
  ports: ProxyPorts,
  logger: Logger,
): Promise<void> {
  for (const [name, open] of [
    ["healthz-bind-address", "openHealth"],
    ["metrics-bind-address", "openMetrics"],
  ] as const) {
    const at = address(values, name);
    if (!at) continue;
    await ports[open](at.host, at.port).catch((error: Error) => {
      if (values.flag("bind-address-hard-fail"))
        throw new DependencyError(`--${name}: ${error.message}`);
      logger.error({ err: error, ...at }, `--${name}: the port is not open`);
    });
  }
}

const conntrack = (values: OptionValues, logger: Logger): Promise<unknown> =>
  applyConntrackSettings(
    {
      maxPerCore: values.number("conntrack-max-per-core"),
      min: values.number("conntrack-min"),
      tcpEstablishedMs: values.number("conntrack-tcp-timeout-established"),
      tcpCloseWaitMs: values.number("conntrack-tcp-timeout-close-wait"),
      udpMs: values.number("conntrack-udp-timeout"),
      udpStreamMs: values.number("conntrack-udp-timeout-stream"),
      tcpBeLiberal: values.flag("conntrack-tcp-be-liberal"),
    },
    logger,
  );

/** Named by the node: on one machine there is one proxy of its name. */
const tableOf = (nodeName: string): string =>
  `orbit-proxy-alone-${nodeName.replace(/[^0-9a-z]+/g, "-")}`;

async function cleanUp(nodeName: string): Promise<number> {
  const run = nftCommand();
  for (const ip of eachFamily) {
    const table = `${ip} ${tableOf(nodeName)}`;
    // Declared first, so that one that is not there is no error.
    await run(`table ${table}\ndelete table ${table}\n`).catch(
      (error: Error) => {
        throw new DependencyError(error.message);
      },
    );
  }
  return 0;
}

export async function runProxy(
  argv: readonly string[],
): Promise<number | undefined> {
  const start = await beginDaemon(argv, {
    table: proxyOptions,
    usage: "orbit proxy [options]",
    about: "The service proxy, against any conforming API server.",
  });
  if (!start) return 0;
  const { values, logger } = start;
  const nodeName = nodeNameOf(values);
  const nodePortRanges = nodePortAddresses(values, []);
  for (const name of ["healthz-bind-address", "metrics-bind-address"])
    address(values, name);
  if (values.flag("cleanup")) return cleanUp(nodeName);
  await conntrack(values, logger);
  if (values.flag("init-only")) return 0;
  const client = await connectClient(values, logger);
  const clock = systemClock;
  const keep = setInterval(() => undefined, 0x7fffffff);
  const byNode =
    values.text("detect-local-mode") === "NodeCIDR" ||
    values.list("cluster-cidr").length === 0;
  const podRanges = byNode
    ? await nodeRanges(client, nodeName, logger)
    : values.list("cluster-cidr");
  const proxy = new ServiceProxy({
    client,
    nodeName,
    tableName: tableOf(nodeName),
    podRanges,
    serviceRanges: [],
    nodePortRanges,
    masqueradeAll: values.flag("masquerade-all"),
    clock,
    logger,
  });
  const informer = client.informer(nodes, {
    fieldSelector: `metadata.name=${nodeName}`,
  });
  const dispose = informer.addHandler({});
  const ports = new ProxyPorts({
    inStep: () => proxy.inStep,
    nodeEligible: () => isEligible(informer.lister.get(nodeName)),
    metrics: () => proxy.metrics.families(),
    clock,
  });
  await openPorts(values, ports, logger);
  stopOnSignals(
    {
      async stop() {
        clearInterval(keep);
        dispose();
        ports.stop();
        await proxy.stop();
        await client.close();
      },
    },
    logger,
  );
  await proxy.start();
  start.ready({ node: nodeName, table: tableOf(nodeName) });
  notifySystemd("READY=1\nSTATUS=ready", logger);
  return undefined;
}

/** As the reference: a Node that is being deleted, by whom or by an autoscaler, takes no new connections. */
function isEligible(node: Node | undefined): boolean {
  if (!node) return true;
  return (
    !node.metadata.deletionTimestamp &&
    !node.spec?.taints?.some(
      ({ key }) => key === "ToBeDeletedByClusterAutoscaler",
    )
  );
}

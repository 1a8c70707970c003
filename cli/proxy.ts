// `orbit proxy`: the service proxy alone, against any conforming API server, with kube-proxy's ports, options and file.
import { watch, type FSWatcher } from "node:fs";
import type { Logger } from "pino";
import { systemClock } from "../api/clock.ts";
import { nodeRanges } from "./parts/network/proxy-node.ts";
import type { Node } from "../api/types/core-v1.ts";
import type { Client } from "../client/client.ts";
import { nodes } from "../client/resources.ts";
import { removeServiceRules } from "../network/proxy/backends.ts";
import { chooseProxyMode } from "../network/proxy/proxy-mode.ts";
import { ProxyPorts } from "../network/proxy/proxy-ports.ts";
import { ServiceProxy } from "../network/proxy/proxy.ts";
import { beginDaemon } from "./daemon.ts";
import { notifySystemd, stopOnSignals } from "./lifecycle.ts";
import type { OptionValues } from "./options/parse.ts";
import { proxyOptions } from "./options/proxy.ts";
import { DependencyError } from "./options/table.ts";
import { connectClient } from "./parts/connect.ts";
import { proxyMode } from "./parts/network/network-plan.ts";
import { readProxyOptions } from "./parts/network/proxy-configuration.ts";
import {
  applyKernelSettings,
  proxySettings,
  type ProxySettings,
} from "./parts/network/proxy-settings.ts";

async function openPorts(
  values: OptionValues,
  { health, metrics }: ProxySettings,
  ports: ProxyPorts,
  logger: Logger,
): Promise<void> {
  for (const [name, open, at] of [
    ["healthz-bind-address", "openHealth", health],
    ["metrics-bind-address", "openMetrics", metrics],
  ] as const) {
    if (!at) continue;
    await ports[open](at.host, at.port).catch((error: Error) => {
      if (values.flag("bind-address-hard-fail"))
        throw new DependencyError(`--${name}: ${error.message}`);
      logger.error({ err: error, ...at }, `--${name}: the port is not open`);
    });
  }
}

/** Named by the node: on one machine there is one proxy of its name. */
const tableOf = (nodeName: string): string =>
  `orbit-proxy-alone-${nodeName.replace(/[^0-9a-z]+/g, "-")}`;

async function cleanUp(nodeName: string): Promise<number> {
  for (const mode of ["nftables", "iptables"] as const)
    await removeServiceRules(mode, tableOf(nodeName)).catch((error: Error) => {
      throw new DependencyError(error.message);
    });
  return 0;
}

/** As the reference: a proxy ends when its configuration changes, to be started again with the new one. */
function endOnChange(
  file: string | undefined,
  logger: Logger,
): FSWatcher | undefined {
  if (file === undefined) return undefined;
  return watch(file, () => {
    logger.error({ file }, "the configuration file has changed: ending");
    process.exit(1);
  });
}

async function serviceProxy(
  values: OptionValues,
  settings: ProxySettings,
  client: Client,
  logger: Logger,
): Promise<{ proxy: ServiceProxy; mode: "nftables" | "iptables" }> {
  const { nodeName, nodePortRanges, local } = settings;
  const mode = await chooseProxyMode(proxyMode(values));
  const proxy = new ServiceProxy({
    mode,
    client,
    nodeName,
    tableName: tableOf(nodeName),
    podRanges: local.podRanges ?? (await nodeRanges(client, nodeName, logger)),
    ...(local.podInterface === undefined
      ? {}
      : { podInterface: local.podInterface }),
    serviceRanges: [],
    nodePortRanges,
    masqueradeAll: values.flag("masquerade-all"),
    masqueradeBit: values.number("iptables-masquerade-bit"),
    loopbackNodePorts: values.flag("iptables-localhost-nodeports"),
    clock: systemClock,
    logger,
  });
  return { proxy, mode };
}

export async function runProxy(
  argv: readonly string[],
): Promise<number | undefined> {
  const start = await beginDaemon(argv, {
    table: proxyOptions,
    usage: "orbit proxy [options]",
    about: "The service proxy, against any conforming API server.",
    read: readProxyOptions,
  });
  if (!start) return 0;
  const { values, logger } = start;
  const settings = proxySettings(values);
  const { nodeName } = settings;
  if (values.flag("cleanup")) return cleanUp(nodeName);
  await applyKernelSettings(values, logger);
  if (values.flag("init-only")) return 0;
  const client = await connectClient(values, logger);
  const keep = setInterval(() => undefined, 0x7fffffff);
  const watcher = endOnChange(values.optionalText("config"), logger);
  const { proxy, mode } = await serviceProxy(values, settings, client, logger);
  const informer = client.informer(nodes, {
    fieldSelector: `metadata.name=${nodeName}`,
  });
  const dispose = informer.addHandler({});
  const ports = new ProxyPorts({
    mode,
    proxy,
    nodeEligible: () => isEligible(informer.lister.get(nodeName)),
    clock: systemClock,
  });
  await openPorts(values, settings, ports, logger);
  stopOnSignals(
    {
      async stop() {
        clearInterval(keep);
        watcher?.close();
        dispose();
        ports.stop();
        await proxy.stop();
        await client.close();
      },
    },
    logger,
  );
  await proxy.start();
  await proxy.settled();
  start.ready({ node: nodeName, mode, table: tableOf(nodeName) });
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

// Which options of `orbit server` a cluster of the library takes. It has no directory, no node and no network, and its
// address and state are given: an option about these is refused by name, so that a test never runs with less than it asked
// for.
import { agentOptions } from "../options/agent.ts";
import { apiServerOptions } from "../options/apiserver.ts";
import type { OptionValues } from "../options/parse.ts";
import { serverOptions } from "../options/server.ts";
import { allOptions, UsageError } from "../options/table.ts";

const noNode = "no node agent runs in it; use `orbit server`";
const noNetwork = "it has no network; use `orbit server`";
const inMemory = "its state is in memory";
const noPartPorts = "its controllers and its scheduler open no ports";

const reasons: Readonly<Record<string, string>> = {
  "data-dir": inMemory,
  store: inMemory,
  "encryption-provider-config": inMemory,
  "encryption-provider-config-automatic-reload": inMemory,
  manifests: "it reads no directory",
  "write-kubeconfig": "use the text cluster.kubeconfig",
  "cluster-name": "the cluster of its kubeconfig is called orbit",
  disable: "use controllers: false or scheduler: false",
  "secure-port": "use the option port",
  "bind-address": "it listens on 127.0.0.1 alone",
  "tls-san": "its certificate names 127.0.0.1 and localhost",
  "controllers-port": noPartPorts,
  "scheduler-port": noPartPorts,
  "agent-arg": noNode,
  "container-runtime-endpoint": noNode,
  "cgroup-root": noNode,
  "read-only-port": noNode,
  "cluster-cidr": noNetwork,
  "proxy-mode": noNetwork,
  "nodeport-addresses": noNetwork,
  "masquerade-all": noNetwork,
};

const ofTheApiServer = new Set(
  allOptions(apiServerOptions).map(({ name }) => name),
);
const ofTheAgent = new Set(allOptions(agentOptions).map(({ name }) => name));

function reasonAgainst(name: string): string | undefined {
  if (Object.hasOwn(reasons, name)) return reasons[name];
  if (name.startsWith("etcd-")) return inMemory;
  return ofTheAgent.has(name) && !ofTheApiServer.has(name) ? noNode : undefined;
}

/** Throws a UsageError that names the first option that such a cluster does not take. */
export function checkLibraryOptions(values: OptionValues): void {
  for (const { name } of allOptions(serverOptions)) {
    const reason = values.isSet(name) ? reasonAgainst(name) : undefined;
    if (reason !== undefined)
      throw new UsageError(
        `--${name}: startCluster() does not take it: ${reason}`,
      );
  }
}

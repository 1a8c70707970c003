// The cluster of the library (index.ts): in memory, on a free port of the loopback, without root and without a node.
import * as os from "node:os";
import * as path from "node:path";
import { mkdtempSync, rmSync } from "node:fs";
import { pino, type Logger } from "pino";
import {
  kubeconfigText,
  loadClusterPki,
  type ClusterPki,
} from "../../apiserver-lite/index.ts";
import { systemClock, type Clock } from "../../api/clock.ts";
import type { Client } from "../../client/client.ts";
import { createMemoryStore } from "../../storage/memory/memory-store.ts";
import { parseOptions } from "../options/parse.ts";
import { serverOptions } from "../options/server.ts";
import { scheduledSnapshots } from "../parts/api/snapshots.ts";
import { composeCluster, loadParts } from "./compose-cluster.ts";
import { checkLibraryOptions } from "./library-options.ts";
import { loadBalancerPlan } from "./load-balancer-plan.ts";
import { planParts } from "./server-plan.ts";
import { Started } from "./started.ts";

export interface ClusterOptions {
  /** Run the controllers (Deployments make pods, namespaces empty themselves …). Default true. */
  controllers?: boolean;
  /** Run the scheduler. Default true. */
  scheduler?: boolean;
  /** A node agent needs root and a container runtime: use `orbit server`. Only false is accepted. */
  agent?: false;
  /** Default: a free port of the loopback. */
  port?: number;
  /**
   * Further options of `orbit server`, e.g. ["--authorization-mode=AlwaysAllow"]. One about what such a cluster does not
   * have (directories, the node, its network) rejects the start by name.
   */
  args?: readonly string[];
  clock?: Clock;
  /** Default: silent. */
  logger?: Logger;
}

export interface Cluster {
  /** https://127.0.0.1:… */
  readonly url: string;
  /** The text of a kubeconfig of an administrator. */
  readonly kubeconfig: string;
  /** PEM of the authority that signed the server's certificate. */
  readonly certificateAuthority: string;
  /** An administrator's, in this process: no HTTP, and informers share the server's own cache. */
  readonly client: Client;
  stop(): Promise<void>;
}

/** The PKI is made in a directory; nothing of it is needed there afterwards. */
function temporaryPki(clock: Clock): ClusterPki {
  const directory = mkdtempSync(path.join(os.tmpdir(), "orbit-cluster-"));
  try {
    return loadClusterPki({
      directory,
      hosts: [],
      serviceAddresses: [],
      nowMs: clock.now(),
    });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Resolves when the API is ready. */
export async function startCluster(
  options: ClusterOptions = {},
): Promise<Cluster> {
  const { clock = systemClock, logger = pino({ level: "silent" }) } = options;
  const values = parseOptions(serverOptions, options.args ?? []);
  values.refuseUnbuilt();
  checkLibraryOptions(values);
  const wanted = { ...options, agent: false, network: false };
  const parts = await planParts(values, logger);
  const modules = loadParts((part) => wanted[part] !== false);
  const kind = "memory";
  // Refuses these options by name: the state is in memory.
  await scheduledSnapshots({ values, kind, clock, logger, dataDirectory: "" });
  const loadBalancer = loadBalancerPlan(values, undefined);
  const pki = temporaryPki(clock);
  const started = new Started(logger);
  try {
    const cluster = await composeCluster({
      values,
      ...parts,
      store: createMemoryStore({ clock }),
      pki,
      modules,
      loadBalancer,
      partPorts: false,
      bindAddress: "127.0.0.1",
      port: options.port ?? 0,
      clock,
      logger,
      started,
    });
    const url = `https://127.0.0.1:${cluster.port}`;
    const certificateAuthority = pki.clusterCa.certificate;
    return {
      url,
      certificateAuthority,
      client: cluster.clientFor("kubernetes-admin"),
      stop: () => started.stop(),
      kubeconfig: kubeconfigText({
        server: url,
        certificateAuthority,
        client: pki.admin,
      }),
    };
  } catch (error) {
    await started.stop();
    throw error;
  }
}

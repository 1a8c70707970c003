// The library: a whole Kubernetes API inside a test or a program, in memory, without root, ready in well under a second.
// Any number of clusters may run in one process.
//
//   const cluster = await startCluster();
//   await cluster.client.resource(configMaps).create({ apiVersion: "v1", kind: "ConfigMap", metadata: { … } });
//   await cluster.stop();
import * as os from "node:os";
import * as path from "node:path";
import { mkdtempSync, rmSync } from "node:fs";
import { pino, type Logger } from "pino";
import { systemClock, type Clock } from "./api/clock.ts";
import {
  kubeconfigText,
  loadClusterPki,
  superuser,
} from "./apiserver-lite/index.ts";
import { startApiPart } from "./cli/parts/api/apiserver.ts";
import { scheduledSnapshots } from "./cli/parts/api/snapshots.ts";
import { parseOptions } from "./cli/options/parse.ts";
import { serverOptions } from "./cli/options/server.ts";
import type { Client } from "./client/client.ts";
import { createClient } from "./client/create-client.ts";
import { createMemoryStore } from "./storage/memory/memory-store.ts";

export { kubernetesVersion, orbitVersion } from "./cli/version.ts";
export * from "./client/resources.ts";
export type {
  Client,
  ResourceClient,
  ResourceRef,
  ListOptions,
  WatchOptions,
  WriteOptions,
  Patch,
  WatchEvent,
} from "./client/client.ts";
export type { Clock } from "./api/clock.ts";
export {
  ApiError,
  isAlreadyExists,
  isConflict,
  isForbidden,
  isInvalid,
  isNotFound,
} from "./api/errors.ts";

export interface ClusterOptions {
  /** Run the controllers (Deployments make pods, namespaces empty themselves …). Default true. */
  controllers?: boolean;
  /** Run the scheduler. Default true. */
  scheduler?: boolean;
  /** A node agent needs root and a container runtime: use `orbit server`. Only false is accepted. */
  agent?: false;
  /** Default: a free port of the loopback. */
  port?: number;
  /** Further options of `orbit server`, e.g. ["--authorization-mode=AlwaysAllow"]. */
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

/** Resolves when the API is ready. */
export async function startCluster(
  options: ClusterOptions = {},
): Promise<Cluster> {
  const { clock = systemClock, logger = pino({ level: "silent" }) } = options;
  const values = parseOptions(serverOptions, options.args ?? []);
  values.refuseUnbuilt();
  // Refuses these options by name: the state is in memory.
  const kind = "memory";
  await scheduledSnapshots({
    ...{ values, kind, clock, logger },
    dataDirectory: "",
  });
  // The PKI wants a directory; nothing of it is needed after the start.
  const directory = mkdtempSync(path.join(os.tmpdir(), "orbit-cluster-"));
  const stops: (() => Promise<void>)[] = [];
  const stop = async (): Promise<void> => {
    for (const each of stops.splice(0).reverse()) await each();
  };
  try {
    const pki = loadClusterPki({
      directory,
      hosts: [],
      serviceAddresses: [],
      nowMs: clock.now(),
    });
    const api = await startApiPart({
      values,
      store: createMemoryStore({ clock }),
      serving: pki.serving,
      pki,
      clock,
      logger,
      bindAddress: "127.0.0.1",
      port: options.port ?? 0,
    });
    stops.push(() => api.stop());
    const clientOf = (name: string): Client => {
      const client = createClient(
        api.server.transport({ ...superuser, name }, name),
        { clock, logger },
      );
      stops.push(() => client.close());
      return client;
    };
    const client = clientOf("kubernetes-admin");
    if (options.controllers !== false) {
      const { createControllerManager } =
        await import("./controllers/manager.ts");
      const manager = createControllerManager({
        client: clientOf("system:kube-controller-manager"),
        clock,
        logger,
        options: {
          leaderElect: false,
          rootCa: pki.clusterCa.certificate,
          clusterSigningCa: pki.clusterCa,
        },
      });
      await manager.start();
      stops.push(() => manager.stop());
    }
    if (options.scheduler !== false) {
      const { createScheduler } = await import("./scheduler/scheduler.ts");
      const scheduler = createScheduler({
        client: clientOf("system:kube-scheduler"),
        clock,
        logger,
      });
      await scheduler.start();
      stops.push(() => scheduler.stop());
    }
    const url = `https://127.0.0.1:${api.server.port}`;
    const certificateAuthority = pki.clusterCa.certificate;
    return {
      url,
      certificateAuthority,
      client,
      stop,
      kubeconfig: kubeconfigText({
        server: url,
        certificateAuthority,
        client: pki.admin,
      }),
    };
  } catch (error) {
    await stop();
    throw error;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

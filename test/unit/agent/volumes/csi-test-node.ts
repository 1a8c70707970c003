// An agent's volumes with a real CSI driver, without containers: the volume manager, the registration of plug-ins and an API
// in memory. close() ends what is mounted.
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import type * as grpc from "@grpc/grpc-js";
import { systemClock } from "../../../../api/clock.ts";
import type {
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
} from "../../../../api/types/core-v1.ts";
import type { CSIDriver } from "../../../../api/types/storage-v1.ts";
import { createClient } from "../../../../client/create-client.ts";
import {
  csiDrivers,
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
} from "../../../../client/resources.ts";
import { PluginRegistration } from "../../../../agent/plugin-registration/plugin-registration.ts";
import { CsiNodeObject } from "../../../../agent/volumes/csi/csi-node.ts";
import { CsiVolumes } from "../../../../agent/volumes/csi/csi-plugin.ts";
import { CsiMetrics } from "../../../../agent/volumes/csi/csi-metrics.ts";
import { CsiRegistry } from "../../../../agent/volumes/csi/csi-registry.ts";
import { VolumesInUse } from "../../../../agent/volumes/csi/volumes-in-use.ts";
import { VolumeManager } from "../../../../agent/volumes/volume-manager.ts";
import { CsiHostPathDriver } from "../../../support/plugins/csi-driver.ts";
import { silent, testNode, passes } from "../../../support/control-plane.ts";
import { MemoryApi } from "../../../support/memory-api.ts";
import {
  makeTempDirectory,
  removeTempDirectory,
} from "../../../support/temp-directory.ts";

export const driverName = "hostpath.example.com";

type DriverOptions = Partial<
  ConstructorParameters<typeof CsiHostPathDriver>[0]
>;

export class CsiTestNode {
  readonly root = makeTempDirectory("orbit-csi-");
  readonly api = new MemoryApi(systemClock);
  agent = startAgent(this.root, this.api);
  /** The last that was made. */
  driver!: CsiHostPathDriver;
  readonly #drivers: CsiHostPathDriver[] = [];

  async start(): Promise<void> {
    await this.agent.client.resource(nodes).create(testNode("n1"));
    await this.agent.start();
  }

  async restartAgent(): Promise<void> {
    await this.agent.stop();
    this.agent = startAgent(this.root, this.api);
    await this.agent.start();
  }

  async close(): Promise<void> {
    await this.agent.stop();
    for (const each of this.#drivers) each.stop();
    for (const line of this.mounted().reverse())
      execFileSync("umount", ["-l", line.split(" ")[4]!]);
    removeTempDirectory(this.root);
  }

  newDriver(options: DriverOptions = {}): CsiHostPathDriver {
    this.driver = new CsiHostPathDriver({
      name: driverName,
      directory: path.join(this.root, `driver-${this.#drivers.length}`),
      registry: path.join(this.root, "agent/plugins_registry"),
      ...options,
    });
    this.#drivers.push(this.driver);
    return this.driver;
  }

  /** Starts a driver that the agent takes. */
  async registered(options: DriverOptions = {}): Promise<void> {
    const driver = this.newDriver(options);
    await driver.start();
    await passes(() => expect(driver.notified).toContain(""));
  }

  async object(spec: CSIDriver["spec"]): Promise<void> {
    await this.agent.client
      .resource(csiDrivers)
      .create({ metadata: { name: driverName }, spec });
  }

  /** A volume of 1 GiB and a claim of that name that is bound to it. */
  async bound(
    name: string,
    extra: Partial<PersistentVolume["spec"]> = {},
  ): Promise<void> {
    const { client } = this.agent;
    await client.resource(persistentVolumes).create({
      metadata: { name: `pv-${name}` },
      spec: {
        accessModes: ["ReadWriteOnce"],
        capacity: { storage: "1Gi" },
        csi: { driver: driverName, volumeHandle: name, fsType: "ext4" },
        ...extra,
      },
    });
    const claim: PersistentVolumeClaim = {
      metadata: { name, namespace: "default" },
      spec: { volumeName: `pv-${name}` },
      status: { phase: "Bound", capacity: { storage: "1Gi" } },
    };
    await client.resource(persistentVolumeClaims).create(claim);
  }

  /** On the host, of the pod's first volume. */
  async pathIn(pod: Pod): Promise<string> {
    const [mount] = await this.agent.volumes.containerMounts(
      pod,
      pod.spec.containers[0]!,
      () => undefined,
      false,
    );
    return mount!.hostPath;
  }

  /** Lines of mountinfo. */
  mounted(): string[] {
    return fs
      .readFileSync("/proc/self/mountinfo", "utf8")
      .split("\n")
      .filter((line) => line.split(" ")[4]?.startsWith(this.root));
  }
}

/** @param claimName Of its volume `v`, which its container has at /v. */
export const podWith = (
  uid: string,
  claimName: string,
  extra: Partial<Pod["spec"]> = {},
): Pod => ({
  metadata: { name: `p-${uid}`, namespace: "default", uid },
  spec: {
    containers: [
      {
        name: "c",
        volumeMounts: [{ name: "v", mountPath: "/v" }],
      },
    ],
    volumes: [{ name: "v", persistentVolumeClaim: { claimName } }],
    ...extra,
  },
});

function startAgent(root: string, api: MemoryApi) {
  const client = createClient(api, { clock: systemClock, logger: silent });
  const logger = silent;
  let tokens = 0;
  const events: string[] = [];
  const stale: string[] = [];
  const clock = systemClock;
  const config = {
    rootDirectory: path.join(root, "agent"),
    memoryDirectory: undefined,
    nodeName: "n1",
  };
  const plugins = new PluginRegistration({
    directory: path.join(root, "agent/plugins_registry"),
    clock,
    logger,
  });
  const csiMetrics = new CsiMetrics();
  const registry = new CsiRegistry({
    metrics: csiMetrics,
    node: new CsiNodeObject({
      client,
      nodeName: "n1",
      owner: () => ({ apiVersion: "v1", kind: "Node", name: "n1", uid: "u" }),
    }),
    logger,
  });
  plugins.registerHandler("CSIPlugin", registry);
  const csi = new CsiVolumes({
    config,
    client,
    registry,
    inUse: new VolumesInUse({ client, nodeName: "n1" }),
    health: false,
    events: {
      event: ({ kind, metadata }, _type, reason, message) =>
        void events.push(`${kind} ${metadata.name} ${reason} ${message}`),
    },
    secret: (namespace, name) =>
      Promise.resolve(name === "there" ? { password: namespace } : undefined),
    token: (_pod, audience) =>
      Promise.resolve({
        token: `for ${audience}`,
        expirationTimestamp: `t${++tokens}`,
      }),
    clock,
    logger,
  });
  const volumes = new VolumeManager({
    config,
    client,
    claims: client,
    clock,
    logger,
    source: {
      configMap: () => Promise.resolve(undefined),
      secret: () => Promise.resolve(undefined),
      nodeResources: () => ({
        cpuMillis: 1,
        memoryBytes: 1,
        ephemeralStorageBytes: 1,
      }),
      serviceAccountToken: () => Promise.resolve(""),
    },
    objects: { hold: () => undefined, release: () => undefined },
    forgetTokens: () => undefined,
    onStale: (_pod, message) => stale.push(message),
    csi: csi.plugin,
  });
  return {
    client,
    csi,
    volumes,
    registry,
    csiMetrics,
    events,
    stale,
    async start() {
      await volumes.start();
      await csi.start();
      await plugins.start();
    },
    async stop() {
      await plugins.stop();
      await csi.stop();
      await volumes.stop();
      await client.close();
    },
  };
}

/** An error with which a driver answers a call. */
export const refusal = (code: grpc.status, details: string) =>
  Object.assign(new Error(details), { code, details });

// What a driver is asked for one volume of a pod: who it is and what it can, then to stage and to publish the
// volume, and what to grow it takes, with the objects' contexts, secrets and tokens. Keeps nothing; csi-plugin.ts decides what is asked when.
import { dirname, join } from "node:path";
import { makeDirectory } from "../../../cri/directories.ts";
import type { Clock } from "../../../api/clock.ts";
import { isNotFound } from "../../../api/errors.ts";
import type { CSIDriver } from "../../../api/types/storage-v1.ts";
import type { Pod } from "../../../api/types/core-v1.ts";
import type { Client } from "../../../client/client.ts";
import { csiDrivers } from "../../../client/resources.ts";
import {
  VolumeFailure,
  type VolumeRequest,
  type VolumeUsage,
} from "../volume-plugin.ts";
import { publishContext } from "./csi-attachment.ts";
import { CsiCallError, type CsiDriver } from "./csi-driver.ts";
import type { ExpandedVolume } from "./csi-expansion.ts";
import { nodeCapability, type StageRequest } from "./csi-protocol.ts";
import type { CsiPaths } from "./csi-records.ts";
import type { CsiRegistry } from "./csi-registry.ts";
import {
  capabilityOf,
  checkLifecycle,
  podInfo,
  usageOf,
  type CsiVolume,
} from "./csi-volume.ts";

export interface CsiCallsOptions {
  readonly nodeName: string;
  readonly client: Client | undefined;
  readonly registry: CsiRegistry;
  readonly clock: Clock;
  /** Gate CSIVolumeHealth: drivers are asked how their volumes are. */
  readonly health: boolean;
  /** Data of a Secret, decoded. */
  readonly secret: (
    namespace: string,
    name: string,
  ) => Promise<Readonly<Record<string, string>> | undefined>;
  readonly token: (
    pod: Pod,
    audience: string,
    expirationSeconds: number | undefined,
  ) => Promise<{ token: string; expirationTimestamp: string }>;
}

/** What could not be done where a call's secret is absent, in the reference's words. */
const secretSteps = {
  stageSecret: (secret: string) =>
    `fetching NodeStageSecretRef ${secret} failed`,
  publishSecret: (secret: string) =>
    `fetching NodePublishSecretRef ${secret} failed`,
  expandSecret: (secret: string) =>
    `expander.NodeExpand failed to get NodeExpandSecretRef ${secret}`,
};

/** What a call needs, put together once a mount. */
export interface Prepared {
  readonly volume: CsiVolume;
  readonly driver: CsiDriver;
  readonly object: CSIDriver | undefined;
  readonly capabilities: ReadonlySet<number>;
  readonly context: Readonly<Record<string, string>>;
  readonly attachable: boolean;
}

/** What the caller keeps of a call. */
interface Keeping {
  /** Right before the driver is asked. */
  before(): Promise<void>;
  /** The driver refused for good: it has done nothing, and does nothing any more. */
  refused(): Promise<void>;
}

export const stageDirectory = "globalmount";
export const targetDirectory = "mount";

export class CsiCalls {
  readonly #options: CsiCallsOptions;
  readonly #paths: CsiPaths;

  constructor(options: CsiCallsOptions, paths: CsiPaths) {
    this.#options = options;
    this.#paths = paths;
  }

  /** Where the driver publishes the volume for the pod. */
  target(volume: CsiVolume, { metadata }: Pod): string {
    const uid = metadata.uid ?? "";
    return volume.block
      ? this.#paths.blockPublish(volume.name, uid)
      : join(this.#paths.podVolume(uid, volume.name), targetDirectory);
  }

  /** Where the driver stages it. */
  staging(volume: CsiVolume): string {
    return volume.block
      ? this.#paths.blockStaging(volume.name)
      : join(this.#paths.staged(volume.driver, volume.handle), stageDirectory);
  }

  /** undefined when the driver is not there. */
  async usage(
    { volume, capabilities }: Pick<Prepared, "volume" | "capabilities">,
    path: string,
  ): Promise<VolumeUsage | undefined> {
    const driver = this.#options.registry.find(volume.driver);
    if (!driver) return undefined;
    const answer = await driver.stats(
      volume.handle,
      path,
      volume.ephemeral ? "" : this.staging(volume),
    );
    const { condition, ...usage } = usageOf(answer);
    return condition &&
      this.#options.health &&
      capabilities.has(nodeCapability.condition)
      ? { ...usage, condition }
      : usage;
  }

  /** Rejects while the driver is not there or the volume is not attached (for a while with VolumePending). */
  async prepare(volume: CsiVolume, pod: Pod): Promise<Prepared> {
    const { client, registry, nodeName, clock } = this.#options;
    let driver: CsiDriver;
    try {
      driver = registry.driver(volume.driver);
    } catch (error) {
      const text = (error as Error).message;
      throw volume.ephemeral
        ? new Error(
            `kubernetes.io/csi: mounter.SetUpAt failed to get CSI client: ${text}`,
          )
        : new VolumeFailure(
            "MountVolume.MountDevice",
            volume.name,
            `kubernetes.io/csi: attacher.MountDevice failed to create newCsiDriverClient: ${text}`,
          );
    }
    const object = await this.driverObject(volume.driver);
    checkLifecycle(volume, object);
    const attachable =
      !volume.ephemeral && object?.spec.attachRequired !== false;
    if (attachable && !client)
      throw new Error("volumes that are attached need an API server");
    const context =
      attachable && client
        ? await publishContext({ client, nodeName, clock }, volume, pod)
        : {};
    const capabilities = await driver.capabilities();
    return { volume, driver, object, capabilities, context, attachable };
  }

  async driverObject(name: string): Promise<CSIDriver | undefined> {
    return await this.#options.client
      ?.resource(csiDrivers)
      .get(name)
      .catch((error: unknown) => {
        if (isNotFound(error)) return undefined;
        throw error;
      });
  }

  /** @param group fsGroup of the pod that it is staged for */
  async stage(
    prepared: Prepared,
    group: number | undefined,
    keeping: Keeping,
  ): Promise<void> {
    const { volume, driver, capabilities } = prepared;
    if (!capabilities.has(nodeCapability.stageUnstage))
      return await keeping.before();
    const step = volume.block
      ? "MapVolume.SetUpDevice"
      : "MountVolume.MountDevice";
    try {
      const request = await this.#request(prepared, group, "stageSecret");
      await keeping.before();
      await makeDirectory(this.staging(volume), 0o750);
      await driver.stage(request);
    } catch (error) {
      if (error instanceof CsiCallError && error.isFinal)
        await keeping.refused();
      throw new VolumeFailure(step, volume.name, (error as Error).message);
    }
  }

  async #request(
    { volume, capabilities, context }: Prepared,
    group: number | undefined,
    secret: keyof typeof secretSteps,
  ): Promise<StageRequest> {
    return {
      volume_id: volume.handle,
      publish_context: context,
      staging_target_path: this.staging(volume),
      volume_capability: capabilityOf(volume, capabilities, group),
      secrets: await this.#secret(volume, secret),
      volume_context: volume.attributes,
    };
  }

  async #secret(
    volume: CsiVolume,
    which: keyof typeof secretSteps,
  ): Promise<Readonly<Record<string, string>>> {
    const ref = volume[which];
    if (!ref) return {};
    const { namespace, name } = ref;
    const found = await this.#options.secret(namespace, name);
    if (!found)
      throw new Error(
        `${secretSteps[which](`${namespace}/${name}`)}: kubernetes.io/csi: failed to find the secret ${name} in the namespace ${namespace} with error: secrets "${name}" not found`,
      );
    return found;
  }

  async publish(
    prepared: Prepared,
    pod: Pod,
    keeping?: Keeping,
  ): Promise<void> {
    const { volume, driver, object, capabilities } = prepared;
    const group = pod.spec.securityContext?.fsGroup;
    const staged =
      !volume.ephemeral && capabilities.has(nodeCapability.stageUnstage);
    const target = this.target(volume, pod);
    const step = volume.block ? "MapVolume.MapPodDevice" : "MountVolume.SetUp";
    try {
      const request = await this.#request(prepared, group, "publishSecret");
      const tokens = await this.#tokens(object, pod);
      await keeping?.before();
      await makeDirectory(dirname(target), 0o750);
      await driver.publish({
        ...request,
        staging_target_path: staged ? request.staging_target_path : "",
        target_path: target,
        readonly: volume.readOnly,
        volume_context: {
          ...volume.attributes,
          ...(object?.spec.podInfoOnMount
            ? podInfo(pod, volume.ephemeral)
            : {}),
          ...tokens,
        },
      });
    } catch (error) {
      if (error instanceof CsiCallError && error.isFinal)
        await keeping?.refused();
      throw new VolumeFailure(step, volume.name, (error as Error).message);
    }
  }

  async #tokens(
    object: CSIDriver | undefined,
    pod: Pod,
  ): Promise<Record<string, string>> {
    const wanted = object?.spec.tokenRequests ?? [];
    if (wanted.length === 0) return {};
    const tokens: Record<string, unknown> = {};
    for (const { audience, expirationSeconds } of wanted)
      tokens[audience] = await this.#options.token(
        pod,
        audience,
        expirationSeconds,
      );
    return {
      "csi.storage.k8s.io/serviceAccount.tokens": JSON.stringify(tokens),
    };
  }

  /** undefined: the driver does not grow volumes on the node. */
  expansion(
    prepared: Prepared,
    request: VolumeRequest,
  ): ExpandedVolume | undefined {
    const { volume, driver, capabilities } = prepared;
    if (!request.claim || !capabilities.has(nodeCapability.expand))
      return undefined;
    return {
      uniqueName: volume.uniqueName,
      readOnly: volume.readOnly,
      driver,
      request,
      arguments: async () => ({
        volume_id: volume.handle,
        volume_path: this.target(volume, request.pod),
        staging_target_path: capabilities.has(nodeCapability.stageUnstage)
          ? this.staging(volume)
          : "",
        volume_capability: capabilityOf(volume, capabilities, undefined),
        secrets: await this.#secret(volume, "expandSecret"),
      }),
    };
  }
}

// The volumes of an agent and the CSI drivers they use: made together, as drivers are plug-ins, a type of volumes and a part
// of what the node reports.
import type { Ground, PodRooms } from "./agent-parts.ts";
import { isGateOn } from "./config/feature-gates.ts";
import { VolumeMetrics } from "./volumes/volume-metrics.ts";
import type { NodeReporter } from "./node/node-reporter.ts";
import { CsiMetrics } from "./volumes/csi/csi-metrics.ts";
import { CsiNodeObject } from "./volumes/csi/csi-node.ts";
import { CsiVolumes } from "./volumes/csi/csi-plugin.ts";
import { CsiRegistry } from "./volumes/csi/csi-registry.ts";
import { VolumesInUse } from "./volumes/csi/volumes-in-use.ts";
import { secretTexts } from "./volumes/payload/secret.ts";
import { ServiceAccountTokens } from "./volumes/payload/service-account-tokens.ts";
import { trustAnchors } from "./volumes/payload/trust-bundles.ts";
import { VolumeManager } from "./volumes/volume-manager.ts";

/** Of a token that a driver asks for without saying so. */
const defaultTokenSeconds = 3600;

export function wireVolumes(
  ground: Ground,
  node: NodeReporter,
  nodeResources: PodRooms["nodeResources"],
): Pick<PodRooms, "volumes" | "csi"> {
  const { settings: config, client, reader, clock, logger } = ground;
  const { objects, plugins, events } = ground;
  const metrics = new VolumeMetrics();
  ground.metrics.add(() => metrics.families());
  const tokens = new ServiceAccountTokens(client, clock);
  const { nodeName } = config;
  const csiNode =
    client && config.registerNode
      ? new CsiNodeObject({ client, nodeName, owner: () => node.owner })
      : undefined;
  const csiMetrics = new CsiMetrics();
  ground.metrics.add(() => csiMetrics.families());
  const registry = new CsiRegistry({
    node: csiNode,
    metrics: csiMetrics,
    logger,
  });
  plugins.registerHandler("CSIPlugin", registry);
  const inUse = new VolumesInUse({ client, nodeName });
  node.onRegistered(() => {
    Promise.all([csiNode?.ensure(), inUse.registered()]).catch(
      (error: unknown) =>
        logger.warn({ err: error }, "can't report the node's CSI volumes"),
    );
  });
  const csi = new CsiVolumes({
    config,
    client,
    registry,
    inUse,
    health: isGateOn(config, "CSIVolumeHealth"),
    events: events.sink,
    secret: async (namespace, name) => {
      const found = await objects.secret(namespace, name);
      return found && secretTexts(found);
    },
    token: (pod, audience, expirationSeconds = defaultTokenSeconds) =>
      tokens.status(pod, audience, expirationSeconds),
    clock,
    logger,
  });
  const volumes = new VolumeManager({
    config,
    client,
    claims: reader,
    images: isGateOn(config, "ImageVolume"),
    ...{ clock, logger, metrics },
    source: {
      configMap: (namespace, name) => objects.configMap(namespace, name),
      secret: (namespace, name) => objects.secret(namespace, name),
      nodeResources,
      serviceAccountToken: (pod, audience, expirationSeconds) =>
        tokens.get(pod, audience, expirationSeconds),
      ...(client && isGateOn(config, "ClusterTrustBundleProjection")
        ? {
            trustAnchors: (projection) => trustAnchors(client, projection),
          }
        : {}),
    },
    objects,
    forgetTokens: (uid) => tokens.forget(uid),
    onStale: (pod, message) =>
      events.pod(pod, "Warning", "FailedMount", message),
    onShared: (pod, message) =>
      events.pod(pod, "Warning", "AlreadyMountedVolume", message),
    csi: csi.plugin,
  });
  return { volumes, csi };
}

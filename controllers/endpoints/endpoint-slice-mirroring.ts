// Mirrors Endpoints that people make by hand (for Services without a selector) into EndpointSlices, so that readers need
// to know only those.
import { isNotFound } from "../../api/errors.ts";
import { objectKey, splitKey } from "../../api/object.ts";
import type { Endpoints, EndpointAddress } from "../../api/types/core-v1.ts";
import type { Endpoint, EndpointSlice } from "../../api/types/discovery-v1.ts";
import { sameJson } from "../../api/objects/json-equality.ts";
import { controllerReference } from "../../api/objects/owner-references.ts";
import { endpoints, endpointSlices, services } from "../../client/resources.ts";
import type { Controller, ControllerContext } from "../context.ts";
import { isNamespaceTerminating } from "../workloads/pod-control.ts";
import { Reconciler } from "../reconciler.ts";
import {
  managedByLabel,
  serviceIndex,
  serviceNameLabel,
} from "./endpoint-slice-controller.ts";
import { MirroringMetrics } from "./mirroring-metrics.ts";
import { planSlices } from "./slice-plan.ts";
import type { WantedGroup } from "./slice-plan.ts";
import { triggerTimeAnnotation } from "./trigger-times.ts";

const managedBy = "endpointslicemirroring-controller.k8s.io";
const skipLabel = "endpointslice.kubernetes.io/skip-mirror";
const leaderAnnotation = "control-plane.alpha.kubernetes.io/leader";
const maxPerSlice = 1000;

export function createEndpointSliceMirroringController(
  context: ControllerContext,
): Controller {
  const { client, options } = context;
  const endpointsInformer = client.informer(endpoints);
  const serviceInformer = client.informer(services);
  const sliceInformer = client.informer(endpointSlices, {
    indexes: { service: serviceIndex },
  });
  const recorder = context.recorder("endpoint-slice-mirroring-controller");
  const reconciler = new Reconciler({
    name: "endpointslice-mirroring-controller",
    context,
    concurrency: options.mirroringConcurrentServiceEndpointSyncs,
    reconcile: (key) => metrics.timed(() => reconcile(key)),
  });
  const { queue } = reconciler;
  const metrics = new MirroringMetrics(context.clock);
  context.metrics?.add("endpointslicemirroring", () => metrics.families());

  async function reconcile(key: string): Promise<void> {
    const { name, namespace } = splitKey(key);
    const object = endpointsInformer.lister.get(name, namespace);
    const service = serviceInformer.lister.get(name, namespace);
    const existing = sliceInformer.lister
      .byIndex("service", key)
      .filter(
        ({ metadata }) => metadata.labels?.[managedByLabel] === managedBy,
      );
    const mirrored =
      object && service && !service.spec.selector && mayMirror(object);
    const { groups, skipped } = mirrored
      ? groupsOf(object, options.mirroringMaxEndpointsPerSubset)
      : { groups: [], skipped: 0 };
    if (object && skipped > 0)
      recorder.event(
        object,
        "Warning",
        "TooManyAddressesToMirror",
        `A max of ${options.mirroringMaxEndpointsPerSubset} addresses can be mirrored to EndpointSlices per Endpoints subset. ${skipped} addresses were skipped`,
      );
    const plan = planSlices(groups, existing, maxPerSlice, (slice) =>
      withMeta(slice, object!),
    );
    if (mirrored)
      metrics.planned(key, groups, plan, {
        existing: existing.length,
        ...{ maxPerSlice, skipped },
      });
    else metrics.forget(key);
    const resource = client.resource(endpointSlices);
    for (const slice of plan.update) {
      await resource.update(slice);
      metrics.written("update");
    }
    for (const part of plan.create)
      try {
        await resource.create({
          apiVersion: "discovery.k8s.io/v1",
          kind: "EndpointSlice",
          metadata: {
            generateName: `${name}-`,
            namespace,
            labels: labelsFor(object!),
            annotations: annotationsFor(object!),
            ownerReferences: [controllerReference(endpoints, object!)],
          } as EndpointSlice["metadata"],
          ...part,
        });
        metrics.written("create");
      } catch (error) {
        if (isNamespaceTerminating(error)) return;
        throw error;
      }
    for (const { metadata } of plan.delete)
      try {
        await resource.delete(metadata.name, metadata.namespace);
        metrics.written("delete");
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
  }

  const lookAt = (slice: EndpointSlice): void => {
    if (slice.metadata.labels?.[managedByLabel] === managedBy)
      for (const key of serviceIndex(slice)) queue.add(key);
  };
  return reconciler
    .watchAll(endpointsInformer, (object) =>
      queue.addAfter(
        objectKey(object),
        options.mirroringEndpointsliceUpdatesBatchPeriodMs,
      ),
    )
    .watch(serviceInformer, {
      onAdd: (service) => queue.add(objectKey(service)),
      onUpdate: (old, service) => {
        if (!old.spec.selector !== !service.spec.selector)
          queue.add(objectKey(service));
      },
      onDelete: (service) => queue.add(objectKey(service)),
    })
    .watch(sliceInformer, {
      onUpdate: (_, slice) => lookAt(slice),
      onDelete: lookAt,
    });
}

/** @param maxPerSubset addresses that are mirrored of each subset */
function groupsOf(
  object: Endpoints,
  maxPerSubset: number,
): {
  groups: WantedGroup[];
  skipped: number;
} {
  let skipped = 0;
  const groups = new Map<string, WantedGroup>();
  for (const subset of object.subsets ?? []) {
    const ports = (subset.ports ?? []).map((port) => ({
      ...port,
      name: port.name ?? "",
      protocol: port.protocol ?? "TCP",
    }));
    const all: [EndpointAddress, boolean][] = [
      ...(subset.addresses ?? []).map(
        (a) => [a, true] as [EndpointAddress, boolean],
      ),
      ...(subset.notReadyAddresses ?? []).map(
        (a) => [a, false] as [EndpointAddress, boolean],
      ),
    ];
    const bounded = all.slice(0, maxPerSubset);
    skipped += all.length - bounded.length;
    for (const [address, ready] of bounded) {
      const addressType = address.ip.includes(":") ? "IPv6" : "IPv4";
      const id = JSON.stringify([addressType, ports]);
      let group = groups.get(id);
      if (!group)
        groups.set(id, (group = { addressType, ports, endpoints: [] }));
      group.endpoints.push(endpointOf(address, ready));
    }
  }
  return { groups: [...groups.values()], skipped };
}

function mayMirror({ metadata }: Endpoints): boolean {
  return (
    metadata.labels?.[skipLabel] !== "true" &&
    metadata.annotations?.[leaderAnnotation] === undefined &&
    !metadata.deletionTimestamp
  );
}

function endpointOf(address: EndpointAddress, ready: boolean): Endpoint {
  return {
    addresses: [address.ip],
    conditions: { ready },
    ...(address.hostname ? { hostname: address.hostname } : {}),
    ...(address.nodeName ? { nodeName: address.nodeName } : {}),
    ...(address.targetRef ? { targetRef: address.targetRef } : {}),
  };
}

function labelsFor({ metadata }: Endpoints): Record<string, string> {
  return {
    ...metadata.labels,
    [serviceNameLabel]: metadata.name,
    [managedByLabel]: managedBy,
  };
}

/** What is said about the endpoints themselves; when they changed and how they were applied is not. */
function annotationsFor({ metadata }: Endpoints): Record<string, string> {
  const {
    [triggerTimeAnnotation]: _,
    "kubectl.kubernetes.io/last-applied-configuration": __,
    ...annotations
  } = metadata.annotations ?? {};
  return annotations;
}

function withMeta(slice: EndpointSlice, object: Endpoints): EndpointSlice {
  const labels = labelsFor(object);
  const annotations = annotationsFor(object);
  return sameJson(labels, slice.metadata.labels) &&
    sameJson(annotations, slice.metadata.annotations ?? {})
    ? slice
    : { ...slice, metadata: { ...slice.metadata, labels, annotations } };
}

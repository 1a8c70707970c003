// Keeps the EndpointSlices of every Service with a selector: one endpoint a pod and address family, with its conditions,
// node and zone, at most --max-endpoints-per-slice in each, and with hints of zones where the Service asks for them.
import { isNotFound } from "../../api/errors.ts";
import { objectKey, splitKey } from "../../api/object.ts";
import { selectorFromMap } from "../../api/selectors.ts";
import type { Pod, Service } from "../../api/types/core-v1.ts";
import type { EndpointSlice } from "../../api/types/discovery-v1.ts";
import { sameJson } from "../../api/objects/json-equality.ts";
import {
  controllerReference,
  isControlledBy,
} from "../../api/objects/owner-references.ts";
import type { Lister } from "../../client/informer.ts";
import {
  endpointSlices,
  nodes,
  pods,
  services,
} from "../../client/resources.ts";
import type { Controller, ControllerContext } from "../context.ts";
import { isNamespaceTerminating } from "../workloads/pod-control.ts";
import { Reconciler } from "../reconciler.ts";
import { ServiceHints } from "./service-hints.ts";
import { isHeadless, mayServe } from "./service-pods.ts";
import { SliceMetrics } from "./slice-metrics.ts";
import { planSlices } from "./slice-plan.ts";
import { TriggerTimes, withTriggerTime } from "./trigger-times.ts";
import {
  asksForHints,
  wantedGroups,
  withKnownHints,
  zoneLabel,
} from "./wanted-endpoints.ts";
import { watchServicePods } from "./watch-service-pods.ts";

export const serviceNameLabel = "kubernetes.io/service-name";
export const managedByLabel = "endpointslice.kubernetes.io/managed-by";
export const headlessLabel = "service.kubernetes.io/headless";
const managedBy = "endpointslice-controller.k8s.io";

/** Slices by the service they are of. */
export function serviceIndex(slice: EndpointSlice): readonly string[] {
  const name = slice.metadata.labels?.[serviceNameLabel];
  return name ? [`${slice.metadata.namespace}/${name}`] : [];
}

const isOurs = ({ metadata }: EndpointSlice): boolean =>
  metadata.labels?.[managedByLabel] === managedBy;

export function createEndpointSliceController(
  context: ControllerContext,
): Controller {
  const { client, options } = context;
  const serviceInformer = client.informer(services);
  const podInformer = client.informer(pods);
  const nodeInformer = client.informer(nodes);
  const sliceInformer = client.informer(endpointSlices, {
    indexes: { service: serviceIndex },
  });
  const reconciler = new Reconciler({
    name: "endpointslice-controller",
    context,
    concurrency: options.concurrentServiceEndpointSyncs,
    reconcile: (key) => metrics.sync(() => reconcile(key)),
  });
  const metrics = new SliceMetrics();
  context.metrics?.add("endpointslice", () => metrics.families());
  const { queue } = reconciler;
  const triggers = new TriggerTimes();
  const hints = new ServiceHints(
    nodeInformer.lister,
    context.recorder("endpoint-slice-controller"),
    (key) => queue.add(key),
  );
  async function reconcile(key: string): Promise<void> {
    const { name, namespace } = splitKey(key);
    const service = serviceInformer.lister.get(name, namespace);
    const existing = sliceInformer.lister
      .byIndex("service", key)
      .filter(isOurs);
    // Those of a deleted service go with it by their owner reference.
    if (!service) {
      hints.forget(key);
      metrics.forget(key);
      return triggers.forget(key);
    }
    if (service.metadata.deletionTimestamp) return;
    if (service.spec.type === "ExternalName" || !service.spec.selector) {
      for (const slice of existing) await remove(slice);
      return;
    }
    const serving = servingPods(service, podInformer.lister);
    const time = triggers.next(key, service, serving);
    const wanted = wantedGroups(service, serving, (nodeName) =>
      nodeInformer.lister.get(nodeName),
    );
    const plan = planSlices(
      asksForHints(service) ? withKnownHints(wanted, existing) : wanted,
      existing,
      options.maxEndpointsPerSlice,
      (slice) => withMeta(slice, service),
      (slice) => isControlledBy(slice, service),
    );
    hints.apply(key, service, plan, existing);
    metrics.planned(key, service, wanted, plan, {
      existing: existing.length,
      maxPerSlice: options.maxEndpointsPerSlice,
    });
    const resource = client.resource(endpointSlices);
    for (const slice of plan.update) {
      await resource.update(stamped(slice, time));
      metrics.written("update");
    }
    for (const part of plan.create) {
      try {
        await resource.create(stamped(newSlice(service, part), time));
        metrics.written("create");
      } catch (error) {
        if (isNamespaceTerminating(error)) return;
        throw error;
      }
    }
    for (const slice of plan.delete) await remove(slice);
    const { length } = [...plan.update, ...plan.create, ...plan.delete];
    metrics.changed(service, length, asksForHints(service));
  }

  async function remove(slice: EndpointSlice): Promise<void> {
    const { name, namespace } = slice.metadata;
    try {
      await client.resource(endpointSlices).delete(name, namespace);
      metrics.written("delete");
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  reconciler.watch(sliceInformer, {
    onUpdate: (old, slice) => {
      // Changed by another.
      if (
        isOurs(slice) &&
        old.metadata.resourceVersion !== slice.metadata.resourceVersion
      )
        for (const key of serviceIndex(slice)) queue.add(key);
    },
    onDelete: (slice) => {
      if (isOurs(slice)) for (const key of serviceIndex(slice)) queue.add(key);
    },
  });
  return watchServicePods(
    reconciler,
    serviceInformer,
    podInformer,
    context.options.endpointsliceUpdatesBatchPeriodMs,
  ).watch(nodeInformer, {
    onAdd: () => hints.nodesMoved(),
    onUpdate: (old, node) => {
      hints.nodeChanged(old, node);
      const zone = node.metadata.labels?.[zoneLabel];
      if (old.metadata.labels?.[zoneLabel] !== zone)
        for (const service of serviceInformer.lister.list())
          queue.add(objectKey(service));
    },
    onDelete: () => hints.nodesMoved(),
  });
}

function servingPods({ metadata, spec }: Service, lister: Lister<Pod>): Pod[] {
  const selector = selectorFromMap(spec.selector);
  return lister
    .list(metadata.namespace)
    .filter((pod) => mayServe(pod) && selector.matches(pod.metadata.labels));
}

function labelsFor(service: Service): Record<string, string> {
  const { [headlessLabel]: _, ...own } = service.metadata.labels ?? {};
  return {
    ...own,
    [serviceNameLabel]: service.metadata.name,
    [managedByLabel]: managedBy,
    ...(isHeadless(service) ? { [headlessLabel]: "" } : {}),
  };
}

function withMeta(slice: EndpointSlice, service: Service): EndpointSlice {
  const labels = labelsFor(service);
  return sameJson(labels, slice.metadata.labels)
    ? slice
    : { ...slice, metadata: { ...slice.metadata, labels } };
}

/** What is written anyway says what it is written for. */
function stamped(
  slice: EndpointSlice,
  time: string | undefined,
): EndpointSlice {
  const annotations = withTriggerTime(slice.metadata.annotations, time);
  return { ...slice, metadata: { ...slice.metadata, annotations } };
}

function newSlice(
  service: Service,
  part: Pick<EndpointSlice, "addressType" | "ports" | "endpoints">,
): EndpointSlice {
  return {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: {
      generateName: `${service.metadata.name}-`,
      namespace: service.metadata.namespace,
      labels: labelsFor(service),
      ownerReferences: [controllerReference(services, service)],
    } as EndpointSlice["metadata"],
    ...part,
  };
}

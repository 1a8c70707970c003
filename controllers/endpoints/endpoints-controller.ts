// Keeps the older Endpoints object of every Service with a selector: addresses grouped by the ports they serve, ready
// ones apart from not ready ones, at most 1000 in all.
import { isNotFound } from "../../api/errors.ts";
import { splitKey } from "../../api/object.ts";
import { selectorFromMap } from "../../api/selectors.ts";
import type {
  EndpointAddress,
  Endpoints,
  EndpointSubset,
  Pod,
  Service,
} from "../../api/types/core-v1.ts";
import { sameJson } from "../../api/objects/json-equality.ts";
import { endpoints, pods, services } from "../../client/resources.ts";
import type { Controller, ControllerContext } from "../context.ts";
import { isNamespaceTerminating } from "../workloads/pod-control.ts";
import { Reconciler } from "../reconciler.ts";
import { headlessLabel } from "./endpoint-slice-controller.ts";
import {
  addressOf,
  hostnameOf,
  isHeadless,
  mayServe,
  portsOn,
} from "./service-pods.ts";
import { conditionsOf } from "./service-pods.ts";
import { TriggerTimes, withTriggerTime } from "./trigger-times.ts";
import { watchServicePods } from "./watch-service-pods.ts";

const maxAddresses = 1000;
const overCapacity = "endpoints.kubernetes.io/over-capacity";

export function createEndpointsController(
  context: ControllerContext,
): Controller {
  const { client } = context;
  const serviceInformer = client.informer(services);
  const podInformer = client.informer(pods);
  const endpointsInformer = client.informer(endpoints);
  const reconciler = new Reconciler({
    name: "endpoints-controller",
    context,
    concurrency: context.options.concurrentEndpointSyncs,
    reconcile,
  });

  const triggers = new TriggerTimes();

  async function reconcile(key: string): Promise<void> {
    const { name, namespace } = splitKey(key);
    const service = serviceInformer.lister.get(name, namespace);
    const existing = endpointsInformer.lister.get(name, namespace);
    const resource = client.resource(endpoints);
    if (!service) {
      triggers.forget(key);
      if (!existing) return;
      try {
        await resource.delete(name, namespace);
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
      return;
    }
    // Without a selector the object belongs to the client that made it.
    if (!service.spec.selector || service.spec.type === "ExternalName") return;
    const wanted = wantedEndpoints(key, service, existing);
    try {
      if (!existing) await resource.create(wanted);
      else if (
        !sameJson(existing.subsets ?? [], wanted.subsets ?? []) ||
        !sameJson(existing.metadata.labels ?? {}, wanted.metadata.labels) ||
        !sameJson(
          withTriggerTime(existing.metadata.annotations, undefined),
          withTriggerTime(wanted.metadata.annotations, undefined),
        )
      )
        await resource.update(wanted);
    } catch (error) {
      if (!isNamespaceTerminating(error)) throw error;
    }
  }

  function wantedEndpoints(
    key: string,
    service: Service,
    existing: Endpoints | undefined,
  ): Endpoints {
    const selector = selectorFromMap(service.spec.selector);
    const serving = podInformer.lister
      .list(service.metadata.namespace)
      .filter((pod) => mayServe(pod) && selector.matches(pod.metadata.labels));
    const time = triggers.next(key, service, serving);
    const { subsets, truncated } = subsetsOf(service, serving);
    const { [headlessLabel]: _, ...labels } = service.metadata.labels ?? {};
    const { [overCapacity]: __, ...annotations } =
      existing?.metadata.annotations ?? {};
    return {
      apiVersion: "v1",
      kind: "Endpoints",
      metadata: {
        ...existing?.metadata,
        name: service.metadata.name,
        namespace: service.metadata.namespace!,
        labels: {
          ...labels,
          ...(isHeadless(service) ? { [headlessLabel]: "" } : {}),
        },
        annotations: {
          ...withTriggerTime(annotations, time),
          ...(truncated ? { [overCapacity]: "truncated" } : {}),
        },
      },
      subsets,
    };
  }

  reconciler.watch(endpointsInformer, {
    onDelete: ({ metadata }) =>
      reconciler.queue.add(`${metadata.namespace}/${metadata.name}`),
  });
  return watchServicePods(
    reconciler,
    serviceInformer,
    podInformer,
    context.options.endpointUpdatesBatchPeriodMs,
  );
}

/** As the reference: by the text of the address, then by the target. */
function byAddress(a: EndpointAddress, b: EndpointAddress): number {
  const keyOf = ({ ip, targetRef }: EndpointAddress): string =>
    `${ip} ${targetRef?.uid ?? ""}`;
  return keyOf(a) < keyOf(b) ? -1 : 1;
}

function subsetsOf(
  service: Service,
  serving: readonly Pod[],
): { subsets: EndpointSubset[]; truncated: boolean } {
  const family = service.spec.ipFamilies?.[0] ?? "IPv4";
  const groups = new Map<string, EndpointSubset>();
  let count = 0;
  const byName = [...serving].sort((a, b) =>
    a.metadata.name < b.metadata.name ? -1 : 1,
  );
  for (const pod of byName) {
    const { ready, terminating } = conditionsOf(pod, service);
    if (terminating && !service.spec.publishNotReadyAddresses) continue;
    const ip = addressOf(pod, family);
    if (!ip || count >= maxAddresses) continue;
    const ports = portsOn(service, pod).map(({ name, ...port }) => ({
      ...(name ? { name } : {}),
      ...port,
      port: port.port!,
    }));
    if (ports.length === 0 && !isHeadless(service)) continue;
    count++;
    const hostname = hostnameOf(pod, service);
    const { name, namespace, uid } = pod.metadata;
    const address: EndpointAddress = {
      ip,
      ...(hostname ? { hostname } : {}),
      ...(pod.spec.nodeName ? { nodeName: pod.spec.nodeName } : {}),
      targetRef: {
        kind: "Pod",
        name,
        ...(namespace ? { namespace } : {}),
        ...(uid ? { uid } : {}),
      },
    };
    const id = JSON.stringify(ports);
    let group = groups.get(id);
    if (!group) groups.set(id, (group = ports.length > 0 ? { ports } : {}));
    const list = ready ? "addresses" : "notReadyAddresses";
    group[list] = [...(group[list] ?? []), address];
  }
  for (const group of groups.values()) {
    group.addresses?.sort(byAddress);
    group.notReadyAddresses?.sort(byAddress);
  }
  return {
    subsets: [...groups.values()],
    truncated: count >= maxAddresses && serving.length > maxAddresses,
  };
}

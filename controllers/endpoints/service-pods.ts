// What a Service's pods mean for its endpoints: which count, in which state, on which ports.
import type { Pod, Service, ServicePort } from "../../api/types/core-v1.ts";
import type { EndpointPort } from "../../api/types/discovery-v1.ts";
import { isPodReady, isPodTerminal } from "../../api/objects/pod-state.ts";

/** Pods that have an address and may still serve: also those that are ending. */
export function mayServe(pod: Pod): boolean {
  return !isPodTerminal(pod) && (pod.status?.podIP ?? "") !== "";
}

export function conditionsOf(
  pod: Pod,
  service: Service,
): { ready: boolean; serving: boolean; terminating: boolean } {
  const serving = isPodReady(pod);
  const terminating = pod.metadata.deletionTimestamp !== undefined;
  return {
    ready:
      service.spec.publishNotReadyAddresses === true ||
      (serving && !terminating),
    serving,
    terminating,
  };
}

/** The pod's address of a family, "IPv4" or "IPv6". */
export function addressOf(pod: Pod, family: string): string | undefined {
  const addresses = pod.status?.podIPs?.map(({ ip }) => ip) ?? [];
  if (addresses.length === 0 && pod.status?.podIP)
    addresses.push(pod.status.podIP);
  return addresses.find(
    (address) => address.includes(":") === (family === "IPv6"),
  );
}

/** The number of a service port on one pod; undefined when the pod has no port of that name. */
function targetPort(port: ServicePort, pod: Pod): number | undefined {
  const { targetPort: target = port.port } = port;
  if (typeof target === "number") return target;
  const sidecars = (pod.spec.initContainers ?? []).filter(
    ({ restartPolicy }) => restartPolicy === "Always",
  );
  for (const container of [...pod.spec.containers, ...sidecars])
    for (const candidate of container.ports ?? [])
      if (
        candidate.name === target &&
        (candidate.protocol ?? "TCP") === (port.protocol ?? "TCP")
      )
        return candidate.containerPort;
  return undefined;
}

/** The ports of a service as one pod serves them. A headless service may have none. */
export function portsOn(service: Service, pod: Pod): EndpointPort[] {
  return (service.spec.ports ?? []).flatMap((port) => {
    const number = targetPort(port, pod);
    return number === undefined
      ? []
      : [
          {
            name: port.name ?? "",
            port: number,
            protocol: port.protocol ?? "TCP",
            ...(port.appProtocol ? { appProtocol: port.appProtocol } : {}),
          },
        ];
  });
}

export const isHeadless = (service: Service): boolean =>
  service.spec.clusterIP === "None";

/** The pod's stable name under a headless service. */
export function hostnameOf(pod: Pod, service: Service): string | undefined {
  return pod.spec.hostname && pod.spec.subdomain === service.metadata.name
    ? pod.spec.hostname
    : undefined;
}

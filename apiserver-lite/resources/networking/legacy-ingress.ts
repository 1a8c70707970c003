// Ingresses as servers of the years before wrote them into etcd (strategy.ts, `upgrades`).
import type { Upgrade } from "../strategy.ts";

interface Backend {
  serviceName?: string;
  servicePort?: string | number;
}

function backend(old: Backend): object {
  const { serviceName, servicePort, ...rest } = old;
  if (serviceName === undefined && servicePort === undefined) return rest;
  const numeric =
    typeof servicePort === "number" || /^\d+$/.test(servicePort ?? "");
  const port = numeric
    ? { number: Number(servicePort) }
    : { name: String(servicePort) };
  return { ...rest, service: { name: serviceName ?? "", port } };
}
const ingress: Upgrade = ({ spec }) => {
  if (!spec) return;
  if (spec.backend) spec.defaultBackend = backend(spec.backend);
  delete spec.backend;
  for (const { http } of spec.rules ?? [])
    for (const path of http?.paths ?? []) {
      path.pathType ??= "ImplementationSpecific";
      path.backend = backend(path.backend ?? {});
    }
};

export const ingressUpgrades: Readonly<Record<string, Upgrade>> = {
  "extensions/v1beta1": ingress,
  "networking.k8s.io/v1beta1": ingress,
};

// A container's environment: service variables, then envFrom, then env with every valueFrom, later names winning and
// $(VAR) seeing the variables before it. Missing objects are errors unless optional (→ CreateContainerConfigError).
import type {
  ConfigMap,
  Container,
  Pod,
  Secret,
  Service,
} from "../../../api/types/core-v1.ts";
import { expand } from "../shape/expansion.ts";
import {
  podFieldValue,
  resourceFieldValue,
  type NodeResources,
} from "../shape/field-paths.ts";
import { ownValue } from "../../../api/objects/own-value.ts";

export interface EnvironmentSource {
  configMap(namespace: string, name: string): Promise<ConfigMap | undefined>;
  secret(namespace: string, name: string): Promise<Secret | undefined>;
  /** Services of a namespace; undefined while they are not known. */
  services(namespace: string): readonly Service[] | undefined;
  nodeResources(): NodeResources;
}

interface EnvironmentVariable {
  name: string;
  value: string;
}

/** `pod` carries the status with the pod's addresses. Rejects with a message fit for the container's state. */
export async function containerEnvironment(
  pod: Pod,
  container: Container,
  source: EnvironmentSource,
): Promise<EnvironmentVariable[]> {
  const namespace = pod.metadata.namespace ?? "default";
  const result = new Map<string, string>();
  const services = serviceVariables(
    source,
    namespace,
    pod.spec.enableServiceLinks ?? true,
  );

  for (const from of container.envFrom ?? []) {
    const prefix = from.prefix ?? "";
    let data: Record<string, string> = {};
    if (from.configMapRef) {
      const name = from.configMapRef.name ?? "";
      const found = await source.configMap(namespace, name);
      if (!found && !from.configMapRef.optional)
        throw new Error(`configmap "${name}" not found`);
      data = found?.data ?? {};
    } else if (from.secretRef) {
      const name = from.secretRef.name ?? "";
      const found = await source.secret(namespace, name);
      if (!found && !from.secretRef.optional)
        throw new Error(`secret "${name}" not found`);
      data = decodeSecret(found);
    }
    // Any key of theirs is a name, also one that begins with a digit.
    for (const [key, value] of Object.entries(data))
      result.set(prefix + key, value);
  }

  const lookup = (name: string): string | undefined =>
    result.get(name) ?? services.get(name);
  for (const variable of container.env ?? []) {
    let value: string | undefined;
    const from = variable.valueFrom;
    if (from === undefined) value = expand(variable.value ?? "", lookup);
    else if (from.fieldRef) value = podFieldValue(pod, from.fieldRef);
    else if (from.resourceFieldRef)
      value = resourceFieldValue(
        pod,
        container,
        from.resourceFieldRef,
        source.nodeResources(),
      );
    else if (from.configMapKeyRef) {
      const { name = "", key, optional } = from.configMapKeyRef;
      const found = await source.configMap(namespace, name);
      if (!found && !optional) throw new Error(`configmap "${name}" not found`);
      value = ownValue(found?.data, key);
      if (found && value === undefined && !optional)
        throw new Error(
          `couldn't find key ${key} in ConfigMap ${namespace}/${name}`,
        );
    } else if (from.secretKeyRef) {
      const { name = "", key, optional } = from.secretKeyRef;
      const found = await source.secret(namespace, name);
      if (!found && !optional) throw new Error(`secret "${name}" not found`);
      const encoded = ownValue(found?.data, key);
      value =
        encoded === undefined
          ? undefined
          : Buffer.from(encoded, "base64").toString("utf8");
      if (found && value === undefined && !optional)
        throw new Error(
          `couldn't find key ${key} in Secret ${namespace}/${name}`,
        );
    }
    if (value !== undefined) result.set(variable.name, value);
  }
  for (const [name, value] of services)
    if (!result.has(name)) result.set(name, value);
  return [...result].map(([name, value]) => ({ name, value }));
}

function decodeSecret(secret: Secret | undefined): Record<string, string> {
  const data = secret?.data ?? {};
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [
      key,
      Buffer.from(value, "base64").toString("utf8"),
    ]),
  );
}

/** Headless ones have no variables, and take none of another's name away. */
const isAddressed = ({ spec }: Service): boolean =>
  Boolean(spec?.clusterIP) &&
  spec!.clusterIP !== "None" &&
  (spec!.ports ?? []).length > 0;

/** The kubernetes service always; the pod's own namespace's when links are on. */
function serviceVariables(
  source: EnvironmentSource,
  namespace: string,
  links: boolean,
): Map<string, string> {
  const variables = new Map<string, string>();
  const chosen = new Map<string, Service>();
  const master = source
    .services("default")
    ?.find(({ metadata }) => metadata.name === "kubernetes");
  if (master && isAddressed(master)) chosen.set("kubernetes", master);
  if (links)
    for (const service of (source.services(namespace) ?? []).filter(
      isAddressed,
    ))
      chosen.set(service.metadata.name, service);
  for (const service of chosen.values()) {
    const address = service.spec!.clusterIP!;
    const ports = service.spec!.ports!;
    const prefix = service.metadata.name.toUpperCase().replaceAll("-", "_");
    variables.set(`${prefix}_SERVICE_HOST`, address);
    variables.set(`${prefix}_SERVICE_PORT`, String(ports[0]!.port));
    for (const port of ports)
      if (port.name)
        variables.set(
          `${prefix}_SERVICE_PORT_${port.name.toUpperCase().replaceAll("-", "_")}`,
          String(port.port),
        );
    const host = address.includes(":") ? `[${address}]` : address;
    ports.forEach((port, index) => {
      const protocol = (port.protocol ?? "TCP").toLowerCase();
      const url = `${protocol}://${host}:${port.port}`;
      const portPrefix = `${prefix}_PORT_${port.port}_${protocol.toUpperCase()}`;
      if (index === 0) variables.set(`${prefix}_PORT`, url);
      variables.set(portPrefix, url);
      variables.set(`${portPrefix}_PROTO`, protocol);
      variables.set(`${portPrefix}_PORT`, String(port.port));
      variables.set(`${portPrefix}_ADDR`, address);
    });
  }
  return variables;
}

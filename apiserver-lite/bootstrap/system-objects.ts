// What an API server puts into an empty cluster: the system namespaces, the system priority classes and the `kubernetes`
// service; and that service's endpoints. Flow control's objects are kept by flow-objects.ts.
import { isLoopbackAddress } from "../../api/address-kind.ts";
import type { Logger } from "pino";
import { formatTime, type Clock } from "../../api/clock.ts";
import { errors, isAlreadyExists, isNotFound } from "../../api/errors.ts";
import type { AnyObject, GroupVersionResource } from "../../api/object.ts";
import type { Transport } from "../../client/transport.ts";

interface SystemObjectsOptions {
  readonly transport: Pick<Transport, "request">;
  readonly logger: Logger;
  /** Where pods reach the API servers. */
  readonly advertisePort: number;
  /** First address of the service range, e.g. 10.96.0.1; undefined: no `kubernetes` service. */
  readonly serviceAddress: string | undefined;
}

const core = (resource: string): GroupVersionResource => ({
  group: "",
  version: "v1",
  resource,
});

const systemNamespaces = [
  "kube-system",
  "kube-public",
  "kube-node-lease",
  "default",
];

export async function createSystemNamespaces(
  options: Pick<SystemObjectsOptions, "transport">,
): Promise<void> {
  for (const name of systemNamespaces)
    await ensure(options, core("namespaces"), { metadata: { name } });
}

/** Creates what is missing. */
export async function createSystemObjects(
  options: SystemObjectsOptions,
): Promise<void> {
  await createSystemNamespaces(options);
  const scheduling = {
    group: "scheduling.k8s.io",
    version: "v1",
    resource: "priorityclasses",
  };
  await ensure(options, scheduling, {
    metadata: { name: "system-node-critical" },
    value: 2_000_001_000,
    description:
      "Used for system critical pods that must not be moved from their current node.",
  });
  await ensure(options, scheduling, {
    metadata: { name: "system-cluster-critical" },
    value: 2_000_000_000,
    description:
      "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.",
  });
  if (options.serviceAddress)
    await ensureKubernetesService(options, options.serviceAddress);
}

async function ensureKubernetesService(
  options: SystemObjectsOptions,
  clusterIP: string,
): Promise<void> {
  const { advertisePort: port } = options;
  await ensure(options, core("services"), {
    metadata: {
      name: "kubernetes",
      namespace: "default",
      labels: { component: "apiserver", provider: "kubernetes" },
    },
    spec: {
      type: "ClusterIP",
      clusterIP,
      clusterIPs: [clusterIP],
      ipFamilies: [clusterIP.includes(":") ? "IPv6" : "IPv4"],
      ipFamilyPolicy: "SingleStack",
      sessionAffinity: "None",
      ports: [{ name: "https", protocol: "TCP", port: 443, targetPort: port }],
    },
  });
}

/** Records since when the use of legacy tokens is tracked: the controller that removes unused ones goes by this date. */
export async function createTokenTracking(
  transport: Pick<Transport, "request">,
  clock: Clock,
): Promise<void> {
  await ensure({ transport }, core("configmaps"), {
    metadata: {
      name: "kube-apiserver-legacy-service-account-token-tracking",
      namespace: "kube-system",
    },
    data: { since: formatTime(clock.now()).slice(0, 10) },
  });
}

/** The endpoints of the `kubernetes` service. Loopback addresses are none: the rules of endpoints refuse them. */
export async function publishEndpoints(
  options: Pick<SystemObjectsOptions, "transport" | "advertisePort">,
  given: readonly string[],
): Promise<void> {
  const { advertisePort: port } = options;
  const addresses = given.filter((ip) => ip !== "" && !isLoopbackAddress(ip));
  if (addresses.length === 0) return;
  const family = addresses[0]!.includes(":") ? "IPv6" : "IPv4";
  await put(options, core("endpoints"), {
    metadata: {
      name: "kubernetes",
      namespace: "default",
      labels: { "endpointslice.kubernetes.io/skip-mirror": "true" },
    },
    subsets: [
      {
        addresses: addresses.map((ip) => ({ ip })),
        ports: [{ name: "https", port, protocol: "TCP" }],
      },
    ],
  });
  await put(
    options,
    { group: "discovery.k8s.io", version: "v1", resource: "endpointslices" },
    {
      metadata: {
        name: "kubernetes",
        namespace: "default",
        labels: { "kubernetes.io/service-name": "kubernetes" },
      },
      addressType: family,
      endpoints: addresses.map((ip) => ({
        addresses: [ip],
        conditions: { ready: true },
      })),
      ports: [{ name: "https", port, protocol: "TCP" }],
    },
  );
}

async function ensure(
  { transport }: Pick<SystemObjectsOptions, "transport">,
  resource: GroupVersionResource,
  object: Omit<AnyObject, "kind">,
): Promise<void> {
  const { name, namespace } = object.metadata as {
    name: string;
    namespace?: string;
  };
  const where = { resource, ...(namespace ? { namespace } : {}) };
  try {
    await transport.request({ verb: "get", name, ...where });
    return;
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  try {
    await transport.request({ verb: "create", ...where, body: object });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}

/** Creates or brings up to date. */
async function put(
  options: Pick<SystemObjectsOptions, "transport">,
  resource: GroupVersionResource,
  object: Omit<AnyObject, "kind">,
): Promise<void> {
  const { name, namespace } = object.metadata as {
    name: string;
    namespace?: string;
  };
  if (!name) throw errors.internal("a system object without a name");
  await ensure(options, resource, object);
  await options.transport.request({
    verb: "update",
    resource,
    name,
    ...(namespace ? { namespace } : {}),
    body: object,
  });
}

// A pod's SandboxConfig: names, DNS, ports, cgroup, security. The hostname rules and DNS policies are the reference's.
import type { Pod } from "../../../api/types/core-v1.ts";
import type { SandboxConfig } from "../../../cri/runtime.ts";
import type { AgentConfig } from "../../config/agent-config.ts";
import { podLogDirectory, podNames } from "../shape/pod-names.ts";
import { sysctlName } from "../shape/sysctl-name.ts";
import { cpuMillis, memoryBytes } from "../shape/pod-shape.ts";
import { podSandboxAnnotations, podSandboxLabels } from "../shape/labels.ts";
import {
  cpuQuota,
  cpuShares,
  podResources,
} from "../../resources/linux-resources.ts";
import { podDns, type DnsWarning } from "./pod-dns.ts";
import { sandboxSecurity } from "./security-context.ts";

export async function sandboxConfig(
  pod: Pod,
  attempt: number,
  cgroupParent: string,
  config: AgentConfig,
  nodeIPs: readonly string[],
): Promise<{ config: SandboxConfig; warnings: readonly DnsWarning[] }> {
  const { hostname, domain } = podNames(
    pod,
    config.clusterDomain || "cluster.local",
  );
  const fqdn =
    domain && pod.spec.setHostnameAsFQDN ? `${hostname}.${domain}` : hostname;
  if (fqdn.length > 64)
    throw new Error(
      `failed to construct FQDN from pod hostname and cluster domain, FQDN ${fqdn} is too long (64 characters is the max, ${fqdn.length} characters requested)`,
    );
  const { dns, warnings } = await podDns(pod, config, nodeIPs);
  const resources = podResources(pod);
  const periodMicroseconds = config.cpuCfsQuotaPeriodMs * 1000;
  const quota =
    config.cpuCfsQuota && resources.cpuLimited
      ? cpuQuota(resources.cpuLimitMillis, periodMicroseconds)
      : undefined;
  const ports = pod.spec.hostNetwork ? [] : portMappings(pod);
  const made: SandboxConfig = {
    metadata: {
      name: pod.metadata.name,
      namespace: pod.metadata.namespace ?? "default",
      uid: pod.metadata.uid ?? "",
      attempt,
    },
    hostname: pod.spec.hostNetwork ? "" : fqdn,
    logDirectory: podLogDirectory(config, pod),
    dns: {
      servers: [...dns.servers],
      searches: [...dns.searches],
      options: [...dns.options],
    },
    portMappings: ports,
    labels: podSandboxLabels(pod),
    annotations: podSandboxAnnotations(pod, config.rootDirectory, ports),
    cgroupParent,
    sysctls: Object.fromEntries(
      (pod.spec.securityContext?.sysctls ?? []).map(({ name, value }) => [
        sysctlName(name),
        value,
      ]),
    ),
    security: sandboxSecurity(pod),
    ...overheadOf(pod, config),
    resources: {
      cpuShares: cpuShares(resources.cpuRequestMillis),
      ...(quota === undefined
        ? {}
        : { cpuQuota: quota, cpuPeriod: periodMicroseconds }),
      ...(resources.memoryLimited && resources.memoryLimitBytes > 0
        ? { memoryLimitBytes: resources.memoryLimitBytes }
        : {}),
    },
  };
  return { config: made, warnings };
}

function portMappings(pod: Pod): SandboxConfig["portMappings"] {
  const containers = [
    ...(pod.spec.initContainers ?? []).filter(
      (c) => c.restartPolicy === "Always",
    ),
    ...pod.spec.containers,
  ];
  return containers.flatMap((container) =>
    (container.ports ?? [])
      .filter(({ hostPort }) => hostPort !== undefined && hostPort > 0)
      .map(({ containerPort, hostPort, hostIP, protocol }) => ({
        protocol: (protocol ?? "TCP") as "TCP" | "UDP" | "SCTP",
        containerPort,
        hostPort: hostPort!,
        hostIP: hostIP ?? "",
      })),
  );
}

/** What the sandbox itself takes, as its RuntimeClass says. */
function overheadOf(
  { spec: { overhead } }: Pod,
  { cpuCfsQuota, cpuCfsQuotaPeriodMs }: AgentConfig,
): Pick<SandboxConfig, "overhead"> {
  if (!overhead) return {};
  const cpuPeriod = cpuCfsQuotaPeriodMs * 1000;
  const millis = cpuMillis(overhead);
  const quota = cpuCfsQuota ? cpuQuota(millis, cpuPeriod) : undefined;
  const memoryLimitBytes = memoryBytes(overhead);
  return {
    overhead: {
      cpuShares: cpuShares(millis),
      ...(quota === undefined ? {} : { cpuQuota: quota, cpuPeriod }),
      ...(memoryLimitBytes > 0 ? { memoryLimitBytes } : {}),
    },
  };
}

// A pod's SandboxConfig: names, DNS, ports, cgroup, security. The hostname rules and DNS policies are the reference's.
import { readFile } from "node:fs/promises";
import type { Pod } from "../../../api/types/core-v1.ts";
import type { SandboxConfig } from "../../../cri/runtime.ts";
import type { AgentConfig } from "../../config/agent-config.ts";
import { podLogDirectory, podNames } from "../shape/pod-names.ts";
import { podSandboxAnnotations, podSandboxLabels } from "../shape/labels.ts";
import {
  cpuQuota,
  cpuShares,
  podResources,
} from "../../resources/linux-resources.ts";
import { sandboxSecurity } from "./security-context.ts";

export async function sandboxConfig(
  pod: Pod,
  attempt: number,
  cgroupParent: string,
  config: AgentConfig,
): Promise<SandboxConfig> {
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
  const dns = await podDns(pod, config);
  const resources = podResources(pod);
  const periodMicroseconds = config.cpuCfsQuotaPeriodMs * 1000;
  const quota =
    config.cpuCfsQuota && resources.cpuLimited
      ? cpuQuota(resources.cpuLimitMillis, periodMicroseconds)
      : undefined;
  const ports = pod.spec.hostNetwork ? [] : portMappings(pod);
  return {
    metadata: {
      name: pod.metadata.name,
      namespace: pod.metadata.namespace ?? "default",
      uid: pod.metadata.uid ?? "",
      attempt,
    },
    hostname: pod.spec.hostNetwork ? "" : fqdn,
    logDirectory: podLogDirectory(config, pod),
    ...(dns ? { dns } : {}),
    portMappings: ports,
    labels: podSandboxLabels(pod),
    annotations: podSandboxAnnotations(pod, config.rootDirectory, ports),
    cgroupParent,
    sysctls: Object.fromEntries(
      (pod.spec.securityContext?.sysctls ?? []).map(({ name, value }) => [
        name,
        value,
      ]),
    ),
    security: sandboxSecurity(pod),
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

interface Dns {
  servers: string[];
  searches: string[];
  options: string[];
}

/** By dnsPolicy, then dnsConfig added; undefined leaves the runtime's default (the host's). */
async function podDns(pod: Pod, config: AgentConfig): Promise<Dns | undefined> {
  const policy = pod.spec.dnsPolicy ?? "ClusterFirst";
  const host = async (): Promise<Dns> =>
    parseResolvConf(await readFile(config.resolvConf, "utf8").catch(() => ""));
  let dns: Dns;
  const clusterFirst =
    policy === "ClusterFirstWithHostNet" ||
    (policy === "ClusterFirst" && pod.spec.hostNetwork !== true);
  if (policy === "None") dns = { servers: [], searches: [], options: [] };
  else if (clusterFirst && config.clusterDns.length > 0) {
    const hostDns = await host();
    const domain = config.clusterDomain;
    const own = domain
      ? [
          `${pod.metadata.namespace ?? "default"}.svc.${domain}`,
          `svc.${domain}`,
          domain,
        ]
      : [];
    dns = {
      servers: [...config.clusterDns],
      searches: unique([...own, ...hostDns.searches]),
      options: ["ndots:5"],
    };
  } else dns = await host();
  const extra = pod.spec.dnsConfig;
  if (!extra) return dns;
  const options = new Map(
    dns.options.map((option) => [option.split(":")[0]!, option]),
  );
  for (const { name = "", value } of extra.options ?? [])
    options.set(name, value ? `${name}:${value}` : name);
  return {
    servers: unique([...dns.servers, ...(extra.nameservers ?? [])]),
    searches: unique([...dns.searches, ...(extra.searches ?? [])]),
    options: [...options.values()],
  };
}

function parseResolvConf(text: string): Dns {
  const dns: Dns = { servers: [], searches: [], options: [] };
  for (const line of text.split("\n")) {
    const [keyword, ...values] = line
      .replace(/[#;].*/, "")
      .trim()
      .split(/\s+/);
    if (keyword === "nameserver" && values[0]) dns.servers.push(values[0]);
    else if (keyword === "search" || keyword === "domain")
      dns.searches = values.filter((value) => value !== ".");
    else if (keyword === "options") dns.options.push(...values);
  }
  return dns;
}

function unique(values: string[]): string[] {
  return [...new Set(values)];
}

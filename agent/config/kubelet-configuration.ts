// The configuration as the reference's KubeletConfiguration, for /configz.
import { formatDuration } from "../../api/duration.ts";
import type { AgentConfig } from "./agent-config.ts";

/** The settings as the ecosystem's KubeletConfiguration, for /configz. */
export function kubeletConfiguration(config: AgentConfig): object {
  const duration = (ms: number): string => formatDuration(ms);
  return {
    kind: "KubeletConfiguration",
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    staticPodPath: config.manifestsDirectory ?? "",
    staticPodURL: config.manifestUrl ?? "",
    syncFrequency: duration(config.syncFrequencyMs),
    fileCheckFrequency: duration(config.fileCheckFrequencyMs),
    httpCheckFrequency: duration(config.httpCheckFrequencyMs),
    port: config.port,
    registryPullQPS: config.registryQps,
    registryBurst: config.registryBurst,
    eventRecordQPS: config.eventQps,
    eventBurst: config.eventBurst,
    clusterDomain: config.clusterDomain,
    clusterDNS: config.clusterDns,
    nodeStatusUpdateFrequency: duration(config.nodeStatusUpdateFrequencyMs),
    nodeStatusReportFrequency: duration(config.nodeStatusReportFrequencyMs),
    nodeLeaseDurationSeconds: config.nodeLeaseDurationSeconds,
    nodeStatusMaxImages: config.nodeStatusMaxImages,
    imageMinimumGCAge: duration(config.minimumImageTtlMs),
    imageGCHighThresholdPercent: config.imageGcHighThresholdPercent,
    imageGCLowThresholdPercent: config.imageGcLowThresholdPercent,
    cgroupRoot: config.cgroupRoot,
    cgroupsPerQOS: config.cgroupsPerQos,
    cgroupDriver: config.cgroupDriver,
    runtimeRequestTimeout: duration(config.runtimeRequestTimeoutMs),
    maxPods: config.maxPods,
    podsPerCore: config.podsPerCore,
    podPidsLimit: config.podMaxPids,
    resolvConf: config.resolvConf,
    cpuCFSQuota: config.cpuCfsQuota,
    cpuCFSQuotaPeriod: duration(config.cpuCfsQuotaPeriodMs),
    serializeImagePulls: config.serializeImagePulls,
    evictionHard: config.evictionHard,
    evictionPressureTransitionPeriod: duration(
      config.evictionPressureTransitionPeriodMs,
    ),
    containerLogMaxSize: String(config.containerLogMaxSizeBytes),
    containerLogMaxFiles: config.containerLogMaxFiles,
    systemReserved: config.systemReserved,
    kubeReserved: config.kubeReserved,
    registerNode: config.registerNode,
    registerWithTaints: config.registerWithTaints,
    seccompDefault: config.seccompDefault,
  };
}

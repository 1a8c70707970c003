// Fields of KubeletConfiguration (kubelet.config.k8s.io/v1beta1 of 1.32) that no option sets and that have no effect
// yet. As with options, one that limits, protects, authenticates, encrypts or audits is refused unless it asks for what
// the agent does anyway; the others are warned about.
import { optionDurationMs } from "../values/value.ts";

interface KubeletField {
  readonly kind: "restricts" | "harmless";
  /** Values that ask for what the agent does anyway; null and an empty list always do. */
  readonly accepted?: readonly unknown[];
  /** Why it is refused; default: it is not built. */
  readonly refusal?: string;
  /** Whole numbers outside of these bounds are refused. */
  readonly range?: readonly [number, number];
}

const restricts = (...accepted: readonly unknown[]): KubeletField => ({
  kind: "restricts",
  accepted,
});
/** It has no effect at the reference, either. */
const bitOfMark: KubeletField = { kind: "harmless", range: [0, 31] };
const alphaLogging = (...accepted: readonly unknown[]): KubeletField => ({
  kind: "restricts",
  accepted,
  refusal: "Forbidden: Feature LoggingAlphaOptions is disabled",
});

/** By path; a list or map below a path belongs to it. */
export const kubeletFields: Readonly<Record<string, KubeletField>> = {
  iptablesDropBit: bitOfMark,
  iptablesMasqueradeBit: bitOfMark,
  kernelMemcgNotification: { kind: "harmless" },
  "logging.options.json.infoBufferSize": alphaLogging("0", 0),
  "logging.options.json.splitStream": alphaLogging(false),
  "logging.options.text.infoBufferSize": alphaLogging("0", 0),
  "logging.options.text.splitStream": alphaLogging(false),
  mergeDefaultEvictionSettings: restricts(false),
  runOnce: {
    ...restricts(false),
    refusal: "Runonce mode has been deprecated and should not be set",
  },
};

/**
 * Fields whose zero ("", 0, 0s) is the same as leaving them out, as the reference's types have no other way to say so:
 * tools that write whole configurations (kubeadm) write it. All others distinguish the two.
 */
const unsetWhenZero: ReadonlySet<string> = new Set([
  "address",
  "authentication.webhook.cacheTTL",
  "authorization.mode",
  "authorization.webhook.cacheAuthorizedTTL",
  "authorization.webhook.cacheUnauthorizedTTL",
  "cgroupDriver",
  "configMapAndSecretChangeDetectionStrategy",
  "containerLogMaxSize",
  "containerRuntimeEndpoint",
  "contentType",
  "cpuManagerPolicy",
  "cpuManagerReconcilePeriod",
  "eventBurst",
  "evictionPressureTransitionPeriod",
  "fileCheckFrequency",
  "hairpinMode",
  "healthzBindAddress",
  "httpCheckFrequency",
  "imageMinimumGCAge",
  "kubeAPIBurst",
  "logging.flushFrequency",
  "logging.format",
  "maxOpenFiles",
  "maxPods",
  "memoryManagerPolicy",
  "memorySwap.swapBehavior",
  "nodeLeaseDurationSeconds",
  "nodeStatusReportFrequency",
  "nodeStatusUpdateFrequency",
  "podLogsDir",
  "port",
  "registryBurst",
  "runtimeRequestTimeout",
  "streamingConnectionIdleTimeout",
  "syncFrequency",
  "tlsMinVersion",
  "topologyManagerPolicy",
  "topologyManagerScope",
  "volumePluginDir",
  "volumeStatsAggPeriod",
]);

/** Whether a field's value is as good as none. */
export const isUnset = (path: string, value: unknown): boolean =>
  value === null || (unsetWhenZero.has(path) && isZero(value));

const isZero = (value: unknown): boolean =>
  value === 0 ||
  (typeof value === "string" &&
    (value === "" || optionDurationMs(value) === 0));

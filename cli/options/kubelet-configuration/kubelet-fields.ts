// Fields of KubeletConfiguration (kubelet.config.k8s.io/v1beta1 of 1.32) that no option sets and that have no effect
// yet. As with options, one that limits, protects, authenticates, encrypts or audits is refused unless it asks for what
// the agent does anyway; the others are warned about.

interface KubeletField {
  readonly kind: "restricts" | "harmless";
  /** Values that ask for what the agent does anyway; null and an empty list always do. */
  readonly accepted?: readonly unknown[];
}

const harmless: KubeletField = { kind: "harmless" };
const restricts = (...accepted: readonly unknown[]): KubeletField => ({
  kind: "restricts",
  accepted,
});

/** By path; a list or map below a path belongs to it. */
export const kubeletFields: Readonly<Record<string, KubeletField>> = {
  iptablesDropBit: harmless,
  iptablesMasqueradeBit: harmless,
  kernelMemcgNotification: harmless,
  "logging.options": harmless,
  mergeDefaultEvictionSettings: restricts(false),
  protectKernelDefaults: restricts(false),
  runOnce: restricts(false),
};
